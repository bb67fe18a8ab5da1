"""Data as points with coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._base import Data, group_equal_rows
from dtsne.data._distances import pairwise_squared_distances

if TYPE_CHECKING:
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

# Up to this many features the principal components come from the covariance matrix, exactly.
MAX_EXACT_FEATURES = 2000


@dataclass(frozen=True)
class Points(Data):
    """Points with Euclidean distances; see :class:`dtsne.data._base.Data`."""

    coordinates: FloatArray

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def n_dimensions(self) -> int:
        """Coordinates of a point."""
        return int(self.coordinates.shape[1])

    def euclidean_coordinates(self) -> FloatArray:
        """See :class:`Data`."""
        in_unit_of_user: FloatArray = self.coordinates * self.unit
        return in_unit_of_user

    def squared_distances(self, threads: Threads, /) -> FloatArray:
        """See :class:`Data`."""
        return pairwise_squared_distances(self.coordinates, threads)

    def with_offsets(self, offsets: FloatArray) -> Points:
        """See :class:`Data`."""
        return replace(self, coordinates=np.hstack([self.coordinates, offsets]))

    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """See :class:`Data`."""
        return group_equal_rows(self.coordinates[rows])

    def principal_axes(self, n_axes: int, _threads: Threads, /) -> FloatArray:
        """See :class:`Data`."""
        return principal_components(self.coordinates, n_axes)


def principal_components(points: FloatArray, n_components: int) -> FloatArray:
    """Return the first principal components, at most as many as the data has."""
    from sklearn.decomposition import PCA

    n, d = points.shape
    n_components = min(n_components, n - 1, d)
    # The randomised solver has a seed of its own: the reduction is not what random_state is for.
    solver = "covariance_eigh" if d <= MAX_EXACT_FEATURES else "randomized"
    pca = PCA(n_components, svd_solver=solver, iterated_power=7, random_state=0)
    return np.asarray(pca.fit_transform(points), np.float64)
