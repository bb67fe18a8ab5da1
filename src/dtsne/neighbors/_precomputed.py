"""Neighbours that are stored in a precomputed graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._precomputed import check_degrees
from dtsne.neighbors._base import NeighborIndex, Neighbors
from dtsne.runtime._errors import DataError
from dtsne.runtime._jit import compiled

if TYPE_CHECKING:
    from dtsne.data._precomputed import PrecomputedNeighbors
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray


class GraphIndex(NeighborIndex):
    """Takes the nearest of each row; what share of the true ones that is, is not known."""

    def __init__(self, data: PrecomputedNeighbors, threads: Threads) -> None:
        self._graph, self._threads = data.graph, threads

    @property
    def recall(self) -> float:
        """Not known."""
        return math.nan

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        check_degrees(self._graph, k)
        n = self._graph.shape[0]
        indices, distances = np.empty((n, k), np.int32), np.empty((n, k))
        row_starts = self._graph.indptr.astype(np.int64)
        columns = self._graph.indices.astype(np.int32)
        self._threads.for_rows(
            _keep_nearest, n, row_starts, columns, self._graph.data, indices, distances
        )
        return Neighbors(indices, distances, math.nan)

    def query(self, new: AnyArray, k: int) -> Neighbors:
        """Raise an error: a graph knows nothing of new points."""
        raise DataError(
            f"a precomputed graph has no neighbours of {len(new)} new points (k={k})",
            "fit on the points themselves, or on all their distances",
            argument="neighbors",
        )


@compiled()
def _keep_nearest(begin, end, row_starts, columns, stored, indices, distances):  # type: ignore[no-untyped-def]
    """Fill in the nearest of each row, from near to far.

    The columns of a row are in order, and a stable sort keeps them so where distances are equal.
    """
    k = indices.shape[1]
    for i in range(begin, end):
        first, last = row_starts[i], row_starts[i + 1]
        order = first + np.argsort(stored[first:last], kind="mergesort")[:k]
        indices[i] = columns[order]
        distances[i] = stored[order]
