"""Exact nearest neighbours, by direct differences in float64, or by any distance.

Differences rather than the expansion |a|² + |b|² − 2ab, which loses all digits of a small distance
between points far from the origin: σ, and with it the size of everything in the map, comes from
these distances, and duplicates of a point must lie at exactly 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._distances import as_kernel_input, joined, nearest_in_matrix
from dtsne.neighbors._base import NeighborIndex, Neighbors, check_number
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD

if TYPE_CHECKING:
    from dtsne.data._distances import PairwiseData
    from dtsne.data._points import Points
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

# Queries that share a pass over the points, and points that stay in the cache for it.
_QUERIES_PER_BLOCK = 8
_POINTS_PER_TILE = 128


class ExactIndex(NeighborIndex):
    """Compares all points with coordinates."""

    def __init__(self, data: Points, threads: Threads) -> None:
        # Writeable, though nothing is written: numba compiles anew for read-only arrays.
        self._points = np.require(data.coordinates, np.float64, ["C", "W"])
        self._threads = threads

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        n = len(self._points)
        if not 1 <= k < n:
            check_number(k, n - 1)
        found = _search_all(self._points, self._points, np.arange(n), k, self._threads)
        return Neighbors(*found, 1.0)

    def query(self, new: AnyArray, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        return Neighbors(*nearest_to_new(self._points, new, k, threads=self._threads), 1.0)


class PairwiseIndex(NeighborIndex):
    """Looks at all distances of data that has them by pairs."""

    def __init__(self, data: PairwiseData, threads: Threads) -> None:
        self._data, self._threads = data, threads

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        check_number(k, self._data.max_neighbors)
        rows = np.arange(len(self._data))
        return Neighbors(*self._data.nearest(rows, k, self._threads), 1.0)

    def query(self, new: AnyArray, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        check_number(k, len(self._data))
        rows = as_kernel_input(new)

        def search(part: IntArray) -> tuple[IntArray, FloatArray]:
            return nearest_in_matrix(self._data.from_new(rows[part]), k)

        parts = self._data.by_blocks(search, np.arange(len(rows)), len(self._data), self._threads)
        return Neighbors(*joined(parts), 1.0)


def nearest_neighbors(
    X: FloatArray, k: int, *, queries: IntArray | None = None, threads: Threads = ONE_THREAD
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of each row.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    k : int
        At most n − 1.
    queries : ndarray of int, optional
        The rows whose neighbours are wanted; all of them by default.
    threads : Threads

    Returns
    -------
    indices : ndarray of int32, shape (len(queries), k)
    distances : ndarray of float64, shape (len(queries), k)
        Sorted by distance, then by index, so that ties and duplicates have one order. A row is not
        its own neighbour; its duplicates are.
    """
    X = as_kernel_input(X)
    check_number(k, len(X) - 1)
    if queries is None:
        return _search_all(X, X, np.arange(len(X)), k, threads)
    rows = np.asarray(queries, np.int64)
    return _search_all(X, X[rows], rows, k, threads)


def nearest_to_new(
    X: FloatArray, new: AnyArray, k: int, *, threads: Threads = ONE_THREAD
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest points of each new one; see `nearest_neighbors`."""
    X = as_kernel_input(X)
    check_number(k, len(X))
    return _search_all(X, as_kernel_input(new), np.full(len(new), -1), k, threads)


def _search_all(
    X: FloatArray, queries: FloatArray, own: IntArray, k: int, threads: Threads
) -> tuple[IntArray, FloatArray]:
    indices = np.empty((len(queries), k), np.int32)
    squared = np.empty((len(queries), k), np.float64)
    n_blocks = -(-len(queries) // _QUERIES_PER_BLOCK)
    threads.for_rows(_search, n_blocks, X, queries, own, indices, squared, min_rows=1)
    return indices, np.sqrt(squared)


def nearest_in_cells(
    points: FloatArray,
    order: IntArray,
    starts: IntArray,
    visited: IntArray,
    new: FloatArray,
    k: int,
    threads: Threads,
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest of each new point in the cells that it visits.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        In the order of their cells.
    order : ndarray of shape (n,)
        The index of each point.
    starts : ndarray of shape (n_cells + 1,)
        Where each cell begins.
    visited : ndarray of shape (m, n_visited)
    new : ndarray of shape (m, d)
    k : int
    threads : Threads

    Returns
    -------
    indices, distances : ndarray of shape (m, k)
        As from `nearest_neighbors`; where there are too few points, the rest is at infinity.
    """
    indices = np.empty((len(new), k), np.int32)
    squared = np.empty((len(new), k), np.float64)
    threads.for_rows(
        _search_cells, len(new), points, order, starts, visited, as_kernel_input(new), indices,
        squared, min_rows=16,
    )  # fmt: skip
    return indices, np.sqrt(squared)


@compiled()
def _search(begin, end, X, queries, own, indices, squared):  # type: ignore[no-untyped-def]
    n = X.shape[0]
    for block in range(begin, end):
        first = block * _QUERIES_PER_BLOCK
        last = min(first + _QUERIES_PER_BLOCK, len(queries))
        squared[first:last] = np.inf
        indices[first:last] = n
        for tile in range(0, n, _POINTS_PER_TILE):
            tile_end = min(tile + _POINTS_PER_TILE, n)
            for q in range(first, last):
                row = own[q]
                for j in range(tile, tile_end):
                    if j == row:
                        continue
                    distance = 0.0
                    for f in range(X.shape[1]):
                        difference = queries[q, f] - X[j, f]
                        distance += difference * difference
                    # Points come in order of index, so a tie with the farthest kept one is farther.
                    if distance < squared[q, 0]:
                        _replace_farthest(squared[q], indices[q], distance, j)
        for q in range(first, last):
            _sort_heap(squared[q], indices[q])


@compiled()
def _search_cells(begin, end, points, order, starts, visited, new, indices, squared):  # type: ignore[no-untyped-def]
    for q in range(begin, end):
        squared[q] = np.inf
        indices[q] = len(points)
        for cell in visited[q]:
            for j in range(starts[cell], starts[cell + 1]):
                distance = 0.0
                for f in range(points.shape[1]):
                    difference = new[q, f] - points[j, f]
                    distance += difference * difference
                if _is_farther(squared[q, 0], indices[q, 0], distance, order[j]):
                    _replace_farthest(squared[q], indices[q], distance, order[j])
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
