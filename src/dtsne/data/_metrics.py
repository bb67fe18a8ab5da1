"""Points with a distance other than the Euclidean one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dtsne.data import _base as _data
from dtsne.neighbors._nndescent import (
    ALL,
    find_candidates,
    in_parts,
    nearest_by,
    rank,
    require_pynndescent,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray, IntArray

# Those of differences: they know no origin, and grow with the data.
_OF_DIFFERENCES = ("manhattan", "chebyshev")
_OF_VALUES = ("canberra", "braycurtis", "hamming")
# Those of sets: numerator and denominator from the numbers of columns that are not 0 in both rows
# and in one of them alone, and of all columns.
_OF_SETS: dict[str, Callable[[FloatArray, FloatArray, int], tuple[FloatArray, FloatArray]]] = {
    "jaccard": lambda both, one, _: (one, both + one),
    "dice": lambda both, one, _: (one, 2 * both + one),
    "sokalsneath": lambda both, one, _: (2 * one, both + 2 * one),
    "rogerstanimoto": lambda _, one, d: (2 * one, d + one),
}
# What scikit-learn and pynndescent both know by this name, mean the same by and need no parameter
# for. Left out are other names and powers of the Euclidean distance, haversine, which is for two
# columns only, and yule and russellrao, by which unequal rows can be at 0, or equal ones not.
METRICS = (*_OF_DIFFERENCES, *_OF_VALUES, *_OF_SETS)

_SCIPY_NAMES = {"manhattan": "cityblock"}
# Pairs that the scale of the start is taken from: the nearest few of some rows.
_N_SAMPLED, _N_NEAREST = 500, 10


@dataclass(frozen=True)
class MetricPoints:
    """Data as a table with a distance between its rows, and offsets that keep copies apart."""

    table: FloatArray
    metric: str
    unit: float
    offsets: FloatArray | None = None
    has_all_distances: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n_dimensions(self) -> int:
        """Columns of the table."""
        return int(self.table.shape[1])

    def neighbors(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""
        n = len(self)
        rows = np.arange(n)
        if n <= _data.MAX_EXACT_NEIGHBORS:
            return *nearest_by(self.between, rows, n, k), 1.0
        candidates, recall = find_candidates(
            self._in_float32(),
            self.metric,
            replace(self, offsets=None).between,
            k,
            recall=_data.RECALL,
        )
        indices, distances = rank(self.between, rows, candidates, k)
        # Left over are those with too few candidates, and copies, that have any k of their group.
        left = np.isinf(distances[:, -1])
        if self.offsets is not None:
            left |= self.offsets.any(axis=1)
        if left.any():
            indices[left], distances[left] = nearest_by(self.between, rows[left], n, k)
        return indices, distances, recall

    def squared_distances(self) -> FloatArray:
        """All n × n of them."""
        n = len(self)
        squared = np.empty((n, n))

        def fill(rows: IntArray) -> None:
            squared[rows] = self.between(rows, ALL) ** 2

        in_parts(fill, np.arange(n), n)
        return squared

    def apart(self, offsets: FloatArray) -> MetricPoints:
        """Return the points moved apart along axes of their own."""
        return replace(self, offsets=offsets)

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""
        return np.unique(self.table[rows], axis=0, return_inverse=True)[1].reshape(-1)

    def principal_axes(self, n_axes: int) -> FloatArray:
        """Principal components of the table, at the scale of the distances between neighbours."""
        n = len(self)
        n_rows = min(n, _N_SAMPLED)
        rows = np.sort(np.random.default_rng(0).choice(n, n_rows, replace=False))
        k = min(n - 1, _N_NEAREST)
        indices, distances = nearest_by(self.between, rows, n, k)
        table = self.table.astype(np.float64)
        pairs = np.repeat(rows, k), indices.ravel(), distances.ravel()
        scale = _data.scale_to_distances(table, *pairs)
        return scale * _data.principal_components(table, n_axes)

    def between(self, rows: IntArray, others: IntArray | slice) -> FloatArray:
        """Return the distances from each of some rows to each of others."""
        distances = distances_between(self.table[rows], self.table[others], self.metric)
        if self.offsets is None:
            return distances
        from scipy.spatial.distance import cdist

        moved: FloatArray = np.hypot(distances, cdist(self.offsets[rows], self.offsets[others]))
        return moved

    def _in_float32(self) -> FloatArray:
        """Return the table as pynndescent takes it, with as many digits as can be kept."""
        known_origin = self.metric not in _OF_DIFFERENCES
        centred = self.table if known_origin else self.table - self.table.mean(axis=0)
        return centred.astype(np.float32)


def metric_points(X: FloatArray, metric: str, unit: float) -> MetricPoints:
    """Take the rows of X, given in some unit, as points with a distance."""
    if len(X) > _data.MAX_EXACT_NEIGHBORS:
        require_pynndescent()
    if metric == "braycurtis" and (X < 0).any():
        raise ValueError(
            "X has negative values, for which metric='braycurtis' has no meaning; use "
            "metric='canberra' or 'manhattan'."
        )
    # Counts of up to 2²⁴ columns are exact in float32.
    table: FloatArray = (X != 0).astype(np.float32) if metric in _OF_SETS else X
    if (table == table[0]).all():
        raise ValueError("All rows of X are equal, so there is nothing to map.")
    return MetricPoints(table, metric, unit if metric in _OF_DIFFERENCES else 1.0)


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
        if metric == "braycurtis":  # 0/0 between two rows of zeros, which are copies
            np.nan_to_num(distances, copy=False, nan=0.0)
    return distances
