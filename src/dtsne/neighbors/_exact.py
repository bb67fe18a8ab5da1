"""Exact nearest neighbours, by direct differences in float64.

Differences rather than the expansion |a|² + |b|² − 2ab, which loses all digits of a small distance
between points far from the origin: σ, and with it the size of everything in the map, comes from
these distances, and copies of a point have to lie at exactly 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import for_rows

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# Queries that share a pass over the points, and points that stay in the cache for it.
_QUERIES_PER_BLOCK = 8
_POINTS_PER_TILE = 128
# The same distance, summed in another order.
_ROUNDING = 1e-12


def nearest_neighbors(
    X: FloatArray, k: int, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of each row.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    k : int
        At most n − 1.
    queries : ndarray of int, optional
        The rows whose neighbours are wanted; all of them by default.

    Returns
    -------
    indices : ndarray of int32, shape (len(queries), k)
    distances : ndarray of float64, shape (len(queries), k)
        Sorted by distance, then by index, so that ties and copies have one order. A row is not its
        own neighbour; its copies are.
    """
    X = _as_kernel_input(X)
    n = len(X)
    if not 1 <= k <= n - 1:
        raise ValueError(f"k={k} neighbours asked of {n} points; it has to be from 1 to {n - 1}.")
    rows = np.arange(n) if queries is None else np.asarray(queries)
    indices = np.empty((len(rows), k), np.int32)
    squared = np.empty((len(rows), k), np.float64)
    n_blocks = -(-len(rows) // _QUERIES_PER_BLOCK)
    for_rows(_search, n_blocks, X, rows.astype(np.int64), indices, squared, least=1)
    return indices, np.sqrt(squared)


def nearest_in_matrix(
    distances: FloatArray, k: int, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest others of each row of a matrix of distances; see `nearest_neighbors`.

    With queries, the rows are those of these points alone.
    """
    rows = np.arange(len(distances)) if queries is None else queries
    indices = np.empty((len(rows), k), np.int32)
    for i, (itself, row) in enumerate(zip(rows, distances, strict=True)):
        # The point itself, at 0, is among the k + 1 nearest, or as near as the last of them.
        near = np.flatnonzero(row <= np.partition(row, k)[k])
        near = near[near != itself]
        indices[i] = near[np.argsort(row[near], kind="stable")[:k]]
    return indices, np.take_along_axis(distances, indices, axis=1)


def share_found(true: FloatArray, found: FloatArray) -> float:
    """Share of the true neighbours among those found, from the distances of both, sorted.

    By distance: of neighbours equally far, as those of whole numbers are, any will do.
    """
    return float((found <= true[:, -1:] * (1 + _ROUNDING)).mean())


def pairwise_squared_distances(X: FloatArray) -> FloatArray:
    """All n × n squared distances, symmetric to the last bit."""
    squared = np.empty((len(X), len(X)))
    for_rows(_fill_pairwise, len(X), _as_kernel_input(X), squared)
    return squared


def sort_by_distance_then_index(distances: FloatArray, indices: IntArray) -> None:
    """Sort each row in place, from near to far."""
    order = np.lexsort((indices, distances), axis=-1)
    distances[:] = np.take_along_axis(distances, order, axis=1)
    indices[:] = np.take_along_axis(indices, order, axis=1)


def _as_kernel_input(X: FloatArray) -> FloatArray:
    # Writeable, though nothing is written: numba compiles anew for read-only arrays, which is what
    # pandas and memory maps give.
    return np.require(X, np.float64, ["C", "W"])


@compiled()
def _fill_pairwise(begin, end, X, squared):  # type: ignore[no-untyped-def]
    n, d = X.shape
    for i in range(begin, end):
        for j in range(n):
            distance = 0.0
            for f in range(d):
                difference = X[i, f] - X[j, f]
                distance += difference * difference
            squared[i, j] = distance


@compiled()
def _search(begin, end, X, rows, indices, squared):  # type: ignore[no-untyped-def]
    n = X.shape[0]
    for block in range(begin, end):
        first = block * _QUERIES_PER_BLOCK
        last = min(first + _QUERIES_PER_BLOCK, len(rows))
        squared[first:last] = np.inf
        indices[first:last] = n
        for tile in range(0, n, _POINTS_PER_TILE):
            tile_end = min(tile + _POINTS_PER_TILE, n)
            for q in range(first, last):
                row = rows[q]
                for j in range(tile, tile_end):
                    if j == row:
                        continue
                    distance = 0.0
                    for f in range(X.shape[1]):
                        difference = X[row, f] - X[j, f]
                        distance += difference * difference
                    # Points come in order of index, so a tie with the farthest kept one is farther.
                    if distance < squared[q, 0]:
                        _replace_farthest(squared[q], indices[q], distance, j)
        for q in range(first, last):
            _sort_heap(squared[q], indices[q])


@compiled(inline="always")
def _is_farther(distance, index, other_distance, other_index):  # type: ignore[no-untyped-def]
    return distance > other_distance or (distance == other_distance and index > other_index)


@compiled()
def _replace_farthest(distances, indices, distance, index):  # type: ignore[no-untyped-def]
    """Put a point in place of the root of a max-heap ordered by (distance, index)."""
    size = len(distances)
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _is_farther(
            distances[right], indices[right], distances[child], indices[child]
        ):
            child = right
        if not _is_farther(distances[child], indices[child], distance, index):
            break
        distances[hole] = distances[child]
        indices[hole] = indices[child]
        hole = child
    distances[hole] = distance
    indices[hole] = index


@compiled()
def _sort_heap(distances, indices):  # type: ignore[no-untyped-def]
    """Empty the heap from its far end: the order is then from near to far."""
    for end in range(len(distances) - 1, 0, -1):
        distance = distances[end]
        index = indices[end]
        distances[end] = distances[0]
        indices[end] = indices[0]
        _replace_farthest(distances[:end], indices[:end], distance, index)
