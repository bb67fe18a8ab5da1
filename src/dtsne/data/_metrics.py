"""Points with a distance other than the Euclidean one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne._config import OTHER_METRICS
from dtsne.data._base import all_rows_equal, group_equal_rows, sample_rows
from dtsne.data._distances import PairwiseData, scale_to_distances
from dtsne.data._points import principal_components
from dtsne.runtime._errors import DataError, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

# Those of differences: they know no origin, and grow with the data.
_OF_DIFFERENCES = ("manhattan", "chebyshev")
# Those of sets: numerator and denominator from the numbers of columns that are not 0 in both rows
# and in one of them alone, and of all columns.
_OF_SETS: dict[str, Callable[[FloatArray, FloatArray, int], tuple[FloatArray, FloatArray]]] = {
    "jaccard": lambda both, one, _: (one, both + one),
    "dice": lambda both, one, _: (one, 2 * both + one),
    "sokalsneath": lambda both, one, _: (2 * one, both + 2 * one),
    "rogerstanimoto": lambda _, one, d: (2 * one, d + one),
}
METRICS = OTHER_METRICS

_SCIPY_NAMES = {"manhattan": "cityblock"}
# The scale of the initialisation is that of the nearest few of some rows.
_N_NEAREST = 10


@dataclass(frozen=True)
class MetricPoints(PairwiseData):
    """A table with a distance between its rows; see :class:`dtsne.data._base.Data`."""

    table: FloatArray
    metric: str
    offsets: FloatArray | None = None  # that keep duplicates apart

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n_dimensions(self) -> int:
        """Columns of the table."""
        return int(self.table.shape[1])

    def between(self, rows: IntArray, others: IntArray | slice) -> FloatArray:
        """See :class:`PairwiseData`."""
        distances = distances_between(self.table[rows], self.table[others], self.metric)
        if self.offsets is None:
            return distances
        from scipy.spatial.distance import cdist

        moved: FloatArray = np.hypot(distances, cdist(self.offsets[rows], self.offsets[others]))
        return moved

    def from_new(self, new: FloatArray) -> FloatArray:
        """See :class:`PairwiseData`."""
        return distances_between(new, self.table, self.metric)

    def with_offsets(self, offsets: FloatArray) -> MetricPoints:
        """See :class:`Data`."""
        return replace(self, offsets=offsets)

    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """See :class:`Data`."""
        return group_equal_rows(self.table[rows])

    def principal_axes(self, n_axes: int, threads: Threads, /) -> FloatArray:
        """Principal components of the table, at the scale of the distances between neighbours."""
        rows = sample_rows(len(self))
        k = min(len(self) - 1, _N_NEAREST)
        indices, distances = self.nearest(rows, k, threads)
        table = self.table.astype(np.float64)
        pairs = np.repeat(rows, k), indices.ravel(), distances.ravel()
        return scale_to_distances(table, *pairs) * principal_components(table, n_axes)

    def in_single_precision(self) -> FloatArray:
        """Return the table in float32, with as many digits as can be kept."""
        known_origin = self.metric not in _OF_DIFFERENCES
        centred = self.table if known_origin else self.table - self.table.mean(axis=0)
        return centred.astype(np.float32)


def metric_points(X: FloatArray, metric: str, unit: float) -> MetricPoints:
    """Take the rows of X, given in some unit, as points with a distance."""
    if metric == "braycurtis" and (X < 0).any():
        raise DataError(
            f"X has negative values, for which {setting('metric', 'braycurtis')} is not defined",
            f"use {setting('metric', 'canberra')} or {setting('metric', 'manhattan')}",
        )
    # Counts of up to 2²⁴ columns are exact in float32.
    table: FloatArray = (X != 0).astype(np.float32) if metric in _OF_SETS else X
    if (table == table[0]).all():
        raise all_rows_equal()
    return MetricPoints(table, metric, unit=unit if metric in _OF_DIFFERENCES else 1.0)


def distances_between(A: FloatArray, B: FloatArray, metric: str) -> FloatArray:
    """Return the distances from each row of A to each of B; for sets, rows of 0 and 1."""
    from scipy.spatial.distance import cdist

    distances: FloatArray
    if metric in _OF_SETS:
        both = (A @ B.T).astype(np.float64)
        one = A.sum(axis=1, dtype=np.float64)[:, np.newaxis] + B.sum(axis=1) - 2 * both
        parts, wholes = _OF_SETS[metric](both, one, A.shape[1])
        distances = np.divide(parts, wholes, out=np.zeros_like(both), where=wholes > 0)
    else:
        distances = cdist(A, B, _SCIPY_NAMES.get(metric, metric))
        if metric == "braycurtis":  # 0/0 between two rows of zeros, which are duplicates
            np.nan_to_num(distances, copy=False, nan=0.0)
    return distances
