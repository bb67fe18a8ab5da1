"""Neighbourhoods of the same points in the data and in the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from dtsne.quality._inputs import Spaces
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

# In more dimensions than this a tree visits most points, and comparing with all is faster.
_MAX_TREE_DIMENSIONS = 8
# Differences of coordinates that are held at once.
_MAX_DIFFERENCES = 2**23


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The nearest neighbours of some rows, in the data and in the map, from near to far.

    Arrays of neighbours have the shape (len(rows), k).
    """

    rows: IntArray
    data_indices: IntArray
    data_distances: FloatArray
    map_indices: IntArray
    map_distances: FloatArray

    def nearest(self, k: int) -> Neighborhoods:
        """Return the k nearest of the neighbours."""
        return Neighborhoods(
            self.rows,
            self.data_indices[:, :k],
            self.data_distances[:, :k],
            self.map_indices[:, :k],
            self.map_distances[:, :k],
        )


def find_neighborhoods(spaces: Spaces, k: int, rows: IntArray, threads: Threads) -> Neighborhoods:
    """Find the k nearest neighbours of some rows."""
    in_data = data_neighbors(spaces.data, k, threads, queries=rows)
    return Neighborhoods(rows, *in_data, *map_neighbors(spaces.map, k, threads, queries=rows))


def data_neighbors(
    points: AnyArray, k: int, threads: Threads, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of rows; see `dtsne.neighbors._exact`."""
    if isinstance(points, np.ndarray):
        from dtsne.neighbors._exact import nearest_neighbors

        return nearest_neighbors(points, k, queries=queries, threads=threads)
    from dtsne.quality import _quality_torch

    return _quality_torch.neighbors(points, k, queries)


def map_neighbors(
    Y: AnyArray, k: int, threads: Threads, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of rows of a map, as `data_neighbors` does, by a tree.

    Of points equally far from a row, those found are sorted by index, but which of them are found
    when not all can be is up to the tree.
    """
    if Y.shape[1] > _MAX_TREE_DIMENSIONS or not isinstance(Y, np.ndarray):
        return data_neighbors(Y, k, threads, queries=queries)
    from scipy.spatial import cKDTree

    rows = np.arange(len(Y)) if queries is None else queries
    distances, indices = cKDTree(Y).query(Y[rows], k=k + 1, workers=threads.number)
    order = np.lexsort((indices, distances))
    indices = np.take_along_axis(indices, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    dropped = indices == rows[:, None]
    # A row with more than k duplicates may not be found itself: any duplicate stands for it.
    dropped[~dropped.any(axis=1), -1] = True
    shape = (len(rows), k)
    return indices[~dropped].astype(np.int32).reshape(shape), distances[~dropped].reshape(shape)


def distances_between(points: AnyArray, rows: IntArray, others: IntArray) -> FloatArray:
    """Return the distances from rows[r] to each of others[r]."""
    found = np.empty(others.shape)
    step = max(1, _MAX_DIFFERENCES // max(1, others.shape[1] * points.shape[1]))
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        ends = points[others[part].astype(np.int64)]
        squared = (ends - points[rows[part].astype(np.int64)][:, None]) ** 2
        found[part] = to_host(squared.sum(-1))
    return np.sqrt(found)
