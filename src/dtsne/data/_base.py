"""The kinds of data the method works with, behind one small interface."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from dtsne.neighbors._exact import nearest_in_matrix, nearest_neighbors, pairwise_squared_distances
from dtsne.neighbors._ivf import approximate_neighbors

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# Neighbours for each unit of perplexity: fewer would inflate σ, and σ is what sizes mean here.
NEIGHBORS_PER_PERPLEXITY = 3
# Up to this many features the principal components come from the covariance matrix, exactly.
MAX_EXACT_FEATURES = 2000
# Up to this many points all distances are computed; beyond, most neighbours are found without.
MAX_EXACT_NEIGHBORS = 20_000
RECALL = 0.99


def needed_neighbors(perplexity: float, n: int) -> int:
    """Count the neighbours of each of n points that a perplexity asks for."""
    return min(n - 1, ceil(NEIGHBORS_PER_PERPLEXITY * perplexity))


class Data(Protocol):
    """What the method asks of data of any kind: neighbours, and a first arrangement."""

    @property
    def unit(self) -> float:
        """What a distance of 1 is in the numbers of the user."""

    @property
    def has_all_distances(self) -> bool:
        """Whether `squared_distances` can be asked for."""

    @property
    def n_dimensions(self) -> int | None:
        """Numbers that a point comes with; None where these are its distances to all others."""

    def __len__(self) -> int: ...

    def neighbors(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""

    def squared_distances(self) -> FloatArray:
        """All n × n of them."""

    def apart(self, offsets: FloatArray) -> Data:
        """Return the points moved apart along axes of their own."""

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""

    def principal_axes(self, n_axes: int) -> FloatArray | None:
        """Return the first principal components; None where there is nothing to take them of."""


@dataclass(frozen=True)
class Points:
    """Data as points with coordinates, in a unit that makes them of size 1 or so."""

    coordinates: FloatArray
    unit: float
    has_all_distances: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def n_dimensions(self) -> int:
        """Coordinates of a point."""
        return int(self.coordinates.shape[1])

    def neighbors(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""
        if len(self) <= MAX_EXACT_NEIGHBORS:
            return *nearest_neighbors(self.coordinates, k), 1.0
        return approximate_neighbors(self.coordinates, k, recall=RECALL)

    def squared_distances(self) -> FloatArray:
        """All n × n of them."""
        return pairwise_squared_distances(self.coordinates)

    def apart(self, offsets: FloatArray) -> Points:
        """Return the points moved apart along axes of their own."""
        return Points(np.hstack([self.coordinates, offsets]), self.unit)

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""
        return np.unique(self.coordinates[rows], axis=0, return_inverse=True)[1].reshape(-1)

    def principal_axes(self, n_axes: int) -> FloatArray:
        """Return the first principal components; fewer if the data has fewer dimensions."""
        return principal_components(self.coordinates, n_axes)


@dataclass(frozen=True)
class Distances:
    """Data of which only the distances are known, in a unit that makes them of size 1 or so."""

    matrix: FloatArray
    unit: float
    has_all_distances: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def n_dimensions(self) -> None:
        """Unknown."""

    def neighbors(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""
        return *nearest_in_matrix(self.matrix, k), 1.0

    def squared_distances(self) -> FloatArray:
        """All n × n of them."""
        return self.matrix**2

    def apart(self, offsets: FloatArray) -> Distances:
        """Return the points moved apart along axes of their own."""
        return Distances(np.sqrt(self.matrix**2 + pairwise_squared_distances(offsets)), self.unit)

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""
        return np.unique(self.matrix[rows], axis=0, return_inverse=True)[1].reshape(-1)

    def principal_axes(self, n_axes: int) -> FloatArray:
        """Classical scaling, which for Euclidean distances is principal components."""
        from scipy.linalg import eigh

        n = len(self)
        gram = -0.5 * self.matrix**2
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1, keepdims=True)
        wanted = min(n_axes, n)
        values, vectors = eigh(gram, subset_by_index=(n - wanted, n - 1))
        if len(values) < wanted:  # LAPACK gives up where most eigenvalues are equal
            values, vectors = (part[..., -wanted:] for part in np.linalg.eigh(gram))
        return with_fixed_signs(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))


def principal_components(points: FloatArray, n_components: int) -> FloatArray:
    """Return the first principal components, at most as many as the data has."""
    from sklearn.decomposition import PCA

    n, d = points.shape
    n_components = min(n_components, n - 1, d)
    # The randomised solver has a seed of its own: the reduction is not what random_state is for.
    solver = "covariance_eigh" if d <= MAX_EXACT_FEATURES else "randomized"
    pca = PCA(n_components, svd_solver=solver, iterated_power=7, random_state=0)
    return np.asarray(pca.fit_transform(points), np.float64)


def scale_to_distances(
    coordinates: FloatArray, rows: IntArray, others: IntArray, distances: FloatArray
) -> float:
    """Return the factor that gives the pairs of some rows the distances that they should have.

    It is the median over the pairs, rounded to less than one percent: no start needs more, and
    distances that are those of the coordinates, in whatever unit, leave every digit as it is.
    """
    euclidean = np.sqrt(((coordinates[rows] - coordinates[others]) ** 2).sum(axis=1))
    both = (euclidean > 0) & (distances > 0)
    if not both.any():
        return 1.0
    ratio = np.median(distances[both] / euclidean[both])
    return float(2.0 ** np.round(np.log2(ratio), 2))


def with_fixed_signs(axes: FloatArray) -> FloatArray:
    """Make the entry of largest size of each axis positive: eigenvectors come with either sign."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    fixed: FloatArray = axes * np.where(largest < 0, -1.0, 1.0)
    return fixed
