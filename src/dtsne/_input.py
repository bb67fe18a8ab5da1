"""From what the user gives to points, or distances, that the method can work with."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._approximate_neighbors import approximate_neighbors
from dtsne._memory import check_memory
from dtsne._messages import warn
from dtsne._neighbors import nearest_in_matrix, nearest_neighbors, pairwise_squared_distances

if TYPE_CHECKING:
    from dtsne._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

# Up to this many features the principal components come from the covariance matrix, exactly.
_MAX_EXACT_FEATURES = 2000
# Neighbours for each unit of perplexity: fewer would inflate σ, and σ is what sizes mean here.
NEIGHBORS_PER_PERPLEXITY = 3
# Up to this many points all distances are computed; beyond, most neighbours are found without.
_MAX_EXACT_NEIGHBORS = 20_000
_RECALL = 0.99
# The radius that copies are given, as a share of a typical one.
_COPY_RADIUS = 0.005
# Columns that vary by less than this share of the largest value are constant but for rounding.
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Points:
    """Data as points with coordinates, in a unit that makes them of size 1 or so."""

    coordinates: FloatArray
    unit: float

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def n_dimensions(self) -> int | None:
        """Coordinates of a point."""
        return int(self.coordinates.shape[1])

    def neighbors(self, k: int, n_jobs: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""
        if len(self) <= _MAX_EXACT_NEIGHBORS:
            return *nearest_neighbors(self.coordinates, k), 1.0
        return approximate_neighbors(self.coordinates, k, recall=_RECALL, n_jobs=n_jobs)

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
        return _principal_components(self.coordinates, n_axes)


@dataclass(frozen=True)
class Distances:
    """Data of which only the distances are known, in a unit that makes them of size 1 or so."""

    matrix: FloatArray
    unit: float

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def n_dimensions(self) -> int | None:
        """Unknown."""
        return None

    def neighbors(self, k: int, n_jobs: int) -> tuple[IntArray, FloatArray, float]:  # noqa: ARG002
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
        return _with_fixed_signs(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))


Data = Points | Distances


def prepare(X: Any, *, metric: str, n_pcs: int | None) -> Data:
    """Turn validated input into points or distances.

    Sparse input goes through a truncated SVD, which does not need it dense; the rest through
    principal components, if it has more than n_pcs columns. The cosine metric is the Euclidean
    distance between rows scaled to length 1, whose square is twice the cosine distance: the map is
    then one of the sphere, and "spread" means the same as elsewhere.
    """
    from scipy.sparse import issparse

    if not issparse(X):
        # In one order of memory, since sums along another one would round differently.
        X = np.asarray(X, dtype=np.float64, order="C")
    unit = _power_of_two_near(abs(X).max())
    X = X * (1.0 / unit)
    if metric == "precomputed":
        return Distances(_check_distances(X), unit)
    if metric == "cosine":
        X, unit = _with_unit_rows(X), 1.0
    points = _reduce(X, n_pcs)
    spread = np.ptp(points, axis=0)
    varies = spread > _ROUNDING * np.abs(points).max()
    if not varies.any():
        raise ValueError("All rows of X are equal, so there is nothing to map.")
    if not spread.all():
        n_constant = int((spread == 0).sum())
        _LOGGER.info("%d of %d columns are constant and say nothing", n_constant, len(spread))
    return Points(points - points.mean(axis=0), unit)


def with_copies_apart(data: Data, distances: FloatArray, perplexity: float) -> Data | None:
    """Spread groups of more copies than the perplexity a little, or return None if there are none.

    Such copies have no σ. Worse, they are all equally near to each other, which a map can only draw
    on one spot; there each pair counts fully in Z, and takes its share from the repulsion of all
    other points. As a cluster that is tight, but has a shape, they are points like others.
    """
    n_near = int(np.ceil(perplexity))
    radii = distances[:, n_near - 1]
    rows = np.flatnonzero(radii == 0)
    if not len(rows):
        return None
    warn(
        f"{len(rows)} rows of X have at least as many copies as the perplexity ({perplexity:g}); "
        "they are drawn as tight clusters, as if they differed a little. Drop the copies "
        "(numpy.unique(X, axis=0)) or raise the perplexity to change that."
    )
    if len(rows) == len(data):
        typical = float(np.median(distances[:, -1]))
        if typical == 0:
            raise ValueError(
                f"Every row of X has more than {distances.shape[1]} copies, so that no scale can "
                "be found; drop the copies (numpy.unique(X, axis=0))."
            )
    else:
        typical = float(np.median(radii[radii > 0]))
    groups = data.groups(rows)
    sizes = np.bincount(groups)[groups]
    # A cloud of N points has about the radius of its width times √(perplexity / N).
    widths = _COPY_RADIUS * typical * np.sqrt(sizes / perplexity)
    offsets = np.zeros((len(data), 2))
    offsets[rows] = widths[:, np.newaxis] * np.random.default_rng(0).normal(size=(len(rows), 2))
    return data.apart(offsets)


def fitting_perplexity(perplexity: float, n: int) -> float:
    """Return the perplexity, lowered with a warning where n points cannot have it."""
    largest = max((n - 1) / NEIGHBORS_PER_PERPLEXITY, 1.5)  # 1.5: 4 points, the fewest we take
    if perplexity < largest:
        return perplexity
    warn(
        f"perplexity={perplexity:g} is too large for {n} points and was lowered to {largest:.4g}; "
        f"set a perplexity below (n - 1) / {NEIGHBORS_PER_PERPLEXITY} to choose it yourself."
    )
    return largest


def _power_of_two_near(value: float) -> float:
    """Return a unit to compute in, as squares of 1e-200 or 1e200 leave the range of floats.

    A power of two changes no digit.
    """
    return float(2.0 ** np.floor(np.log2(value))) if value > 0 else 1.0


def _reduce(X: Any, n_pcs: int | None) -> FloatArray:
    from scipy.sparse import issparse

    n, d = X.shape
    wanted = d if n_pcs is None else min(n_pcs, n - 1)
    if issparse(X):
        if wanted < d:
            from sklearn.decomposition import TruncatedSVD

            return np.asarray(TruncatedSVD(wanted, random_state=0).fit_transform(X), np.float64)
        check_memory(8 * n * d, "X as a dense array", "set n_pcs to reduce it by a truncated SVD")
        X = np.asarray(X.toarray(), dtype=np.float64)
    points: FloatArray = X
    return _principal_components(points, wanted) if wanted < d else points


def _principal_components(points: FloatArray, n_components: int) -> FloatArray:
    from sklearn.decomposition import PCA

    n, d = points.shape
    n_components = min(n_components, n - 1, d)
    # The randomised solver has a seed of its own: the reduction is not what random_state is for.
    solver = "covariance_eigh" if d <= _MAX_EXACT_FEATURES else "randomized"
    pca = PCA(n_components, svd_solver=solver, iterated_power=7, random_state=0)
    return np.asarray(pca.fit_transform(points), np.float64)


def _with_fixed_signs(axes: FloatArray) -> FloatArray:
    """Make the entry of largest size of each axis positive: eigenvectors come with either sign."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    fixed: FloatArray = axes * np.where(largest < 0, -1.0, 1.0)
    return fixed


def _with_unit_rows(X: Any) -> Any:
    from sklearn.preprocessing import normalize
    from sklearn.utils.extmath import row_norms

    if not row_norms(X).all():
        raise ValueError(
            "X has rows of zeros, which have no direction; drop them or use metric='euclidean'."
        )
    return normalize(X)


def _check_distances(distances: FloatArray) -> FloatArray:
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix of distances, not one of shape "
            f"{distances.shape}; give the points themselves with metric='euclidean'."
        )
    if (distances < 0).any():
        raise ValueError("Negative values in data: precomputed distances have to be at least 0.")
    if np.diag(distances).any():
        raise ValueError("The precomputed distances have to be 0 on the diagonal.")
    if not distances.any():
        raise ValueError("All precomputed distances are 0, so there is nothing to map.")
    if not np.allclose(distances, distances.T, rtol=1e-6, atol=1e-8):  # the largest is about 1
        raise ValueError("The precomputed distances are not symmetric; use (D + D.T) / 2.")
    return distances
