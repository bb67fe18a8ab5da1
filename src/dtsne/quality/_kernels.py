"""The loops over points that numba compiles, and for tensors those of PyTorch.

Imported inside functions, so that importing the package stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._jit import compiled

if TYPE_CHECKING:
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

# Rows that share a pass over the points, and points that stay in the cache for it.
_ROWS_PER_BLOCK = 8
_POINTS_PER_TILE = 256


def pair_sums(
    X: AnyArray, Y: AnyArray, n_offsets: int, shift_x: float, shift_y: float, threads: Threads
) -> FloatArray:
    """Sum a, b, a², b² and ab over the pairs of each point i with i + 1, …, i + n_offsets (mod n).

    a and b are the distances in X and Y less their shifts. A sum for each point, added up by the
    caller, does not depend on the number of threads.
    """
    if not isinstance(X, np.ndarray) and not isinstance(Y, np.ndarray):
        from dtsne.quality import _quality_torch

        return _quality_torch.pair_sums(X, Y, n_offsets, shift_x, shift_y)
    sums = np.zeros((len(X), 5))
    threads.for_rows(_pair_sums, len(X), X, Y, n_offsets, shift_x, shift_y, sums)
    return sums


@compiled()
def _pair_sums(begin, end, X, Y, n_offsets, shift_x, shift_y, sums):  # type: ignore[no-untyped-def]
    n = X.shape[0]
    for i in range(begin, end):
        for offset in range(1, n_offsets + 1):
            if 2 * offset == n and i >= offset:
                continue  # The pair of opposite points of the circle was met from its other end.
            j = i + offset if i + offset < n else i + offset - n
            squared_x = 0.0
            for f in range(X.shape[1]):
                difference = X[i, f] - X[j, f]
                squared_x += difference * difference
            squared_y = 0.0
            for f in range(Y.shape[1]):
                difference = Y[i, f] - Y[j, f]
                squared_y += difference * difference
            a = np.sqrt(squared_x) - shift_x
            b = np.sqrt(squared_y) - shift_y
            sums[i, 0] += a
            sums[i, 1] += b
            sums[i, 2] += a * a
            sums[i, 3] += b * b
            sums[i, 4] += a * b


def ranks(points: AnyArray, rows: IntArray, neighbors: IntArray, threads: Threads) -> IntArray:
    """Rank neighbors[r] among all points by distance, then index, from rows[r]; the nearest is 1.

    The points are columns for the kernel: a loop over points then uses vector registers without
    changing the order of any sum, and equal points get equal distances wherever they stand. For the
    same reason there is no fastmath here.
    """
    if not isinstance(points, np.ndarray):
        from dtsne.quality import _quality_torch

        return _quality_torch.ranks(points, rows, neighbors)
    columns = np.ascontiguousarray(points.T)
    rows, neighbors = rows.astype(np.int64), neighbors.astype(np.int64)
    result = np.ones(neighbors.shape, np.int64)
    threads.for_rows(
        _ranks, len(rows), columns, rows, neighbors, result, min_rows=4 * _ROWS_PER_BLOCK
    )
    return result


@compiled(exact=True)
def _ranks(begin, end, columns, rows, neighbors, result):  # type: ignore[no-untyped-def]
    n = columns.shape[1]
    for first in range(begin, end, _ROWS_PER_BLOCK):
        last = min(first + _ROWS_PER_BLOCK, end)
        limits = np.empty((last - first, neighbors.shape[1]))
        for r in range(first, last):
            for c in range(neighbors.shape[1]):
                limits[r - first, c] = _squared_distance(columns, rows[r], neighbors[r, c])
        squared = np.empty(_POINTS_PER_TILE)
        for start in range(0, n, _POINTS_PER_TILE):
            tile = squared[: min(_POINTS_PER_TILE, n - start)]
            for r in range(first, last):
                _fill_squared_distances(columns, rows[r], start, tile)
                _count_closer(tile, start, limits[r - first], neighbors[r], result[r])


@compiled(exact=True)
def _squared_distance(columns, row, other):  # type: ignore[no-untyped-def]
    squared = 0.0
    for f in range(columns.shape[0]):
        difference = columns[f, other] - columns[f, row]
        squared += difference * difference
    return squared


@compiled(exact=True)
def _fill_squared_distances(columns, row, start, squared):  # type: ignore[no-untyped-def]
    """Put the squared distances from a row to the points from ``start`` on into ``squared``."""
    squared[:] = 0.0
    for f in range(columns.shape[0]):
        center = columns[f, row]
        column = columns[f, start : start + len(squared)]
        for p in range(len(squared)):
            difference = column[p] - center
            squared[p] += difference * difference
    if start <= row < start + len(squared):
        squared[row - start] = np.inf  # A point comes before none of its neighbours.


@compiled(exact=True)
def _count_closer(squared, start, limits, neighbors, counts):  # type: ignore[no-untyped-def]
    """Count for each neighbour the points from ``start`` on that come before it.

    Ties are told apart by where the loop is cut, so that neither part needs a branch.
    """
    size = len(squared)
    for c in range(len(limits)):
        limit = limits[c]
        cut = min(max(neighbors[c] - start, 0), size)
        closer = 0
        for p in range(cut):
            closer += squared[p] <= limit
        for p in range(cut, size):
            closer += squared[p] < limit
        counts[c] += closer
