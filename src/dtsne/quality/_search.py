"""Neighbourhoods of the same points in the data and in the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.quality._inputs import RandomState, Spaces, choose_rows
from dtsne.quality._loops import data_neighbors

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# In more dimensions than this a tree visits most points, and comparing with all is faster.
_MAX_TREE_DIMENSIONS = 8


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
        """Keep the k nearest of the neighbours."""
        return Neighborhoods(
            self.rows,
            self.data_indices[:, :k],
            self.data_distances[:, :k],
            self.map_indices[:, :k],
            self.map_distances[:, :k],
        )


def find_neighborhoods(
    spaces: Spaces, k: int, max_rows: int, random_state: RandomState
) -> Neighborhoods:
    """Search for the k nearest neighbours, around all rows or around a sample of them."""
    rows = choose_rows(spaces.n, max_rows, random_state)
    data_indices, data_distances = data_neighbors(spaces.data, k, queries=rows)
    map_indices, map_distances = map_neighbors(spaces.map, k, queries=rows)
    return Neighborhoods(rows, data_indices, data_distances, map_indices, map_distances)


def map_neighbors(
    Y: Any, k: int, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of rows of a map, as ``nearest_neighbors`` does, by a tree.

    Of points equally far from a row, those kept are sorted by index, but which of them are kept
    when not all can be is up to the tree.
    """
    if Y.shape[1] > _MAX_TREE_DIMENSIONS or not isinstance(Y, np.ndarray):
        return data_neighbors(Y, k, queries=queries)
    from scipy.spatial import cKDTree

    rows = np.arange(len(Y)) if queries is None else queries
    distances, indices = cKDTree(Y).query(Y[rows], k=k + 1, workers=-1)
    order = np.lexsort((indices, distances))
    indices = np.take_along_axis(indices, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    dropped = indices == rows[:, None]
    # A row with more than k copies may not be among its own nearest: any copy stands for it.
    dropped[~dropped.any(axis=1), -1] = True
    shape = (len(rows), k)
    return indices[~dropped].astype(np.int32).reshape(shape), distances[~dropped].reshape(shape)
