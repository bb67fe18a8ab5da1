"""Principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# Up to this many features the principal components come from the covariance matrix, exactly.
MAX_EXACT_FEATURES = 2000


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

    It is the median over the pairs, rounded to less than one percent: no initialisation needs more,
    and distances that are those of the coordinates, in whatever unit, leave every digit as it is.
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
