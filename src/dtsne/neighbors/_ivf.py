"""Nearest neighbours of many points, by inverted lists, with a measured recall.

The points are divided into cells around k-means centres, and the neighbours of all points of a cell
are looked for together, in the cells nearest to it: that is a product of two matrices, which a
processor does at its full speed, where a search for each point on its own is bound by memory. How
many cells to look at follows from a sample of points whose true neighbours are known: the ranks of
the cells that these lie in say which share of them any number of cells would find.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._base import sample_rows
from dtsne.data._distances import as_kernel_input
from dtsne.neighbors._base import NeighborIndex, Neighbors, check_number
from dtsne.neighbors._exact import nearest_in_cells, nearest_neighbors, nearest_to_new
from dtsne.neighbors._kmeans import divide
from dtsne.neighbors._recall import TrueNeighbors
from dtsne.runtime._jit import compiled

if TYPE_CHECKING:
    from dtsne.data._points import Points
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

# Smaller cells fit the neighbourhoods more closely, and cost more to make; there are at least 4√n.
_POINTS_PER_CELL, _MAX_CELLS = 64, 2**14
# Two levels of cells take less time to make, but a fifth more of them to search.
_MAX_CELLS_AT_ONCE = 2**12
# A neighbourhood of less than this share of the whole is too narrow for float32.
_NARROW = 1e-5
# Distances, in float32, that are computed at once; they should stay in the cache.
_MAX_DISTANCES = 2**20
# Selected beyond what is wanted, as float32 cannot tell neighbours of almost the same distance.
_SPARE = 8
# Every so many-th distance is looked at to guess how far the wanted ones reach; the guess is wide
# enough to hold them nearly always.
_GUESS_EVERY, _GUESS_MARGIN = 16, 1.3
# Values that are compared at once, to skip those without any small one.
_BLOCK = 16


class IvfIndex(NeighborIndex):
    """Looks in the cells nearest to a point, as many as it takes to find the wanted share."""

    def __init__(
        self,
        data: Points,
        threads: Threads,
        *,
        recall: float,
        max_cells_at_once: int = _MAX_CELLS_AT_ONCE,
    ) -> None:
        self._wanted, self._threads, self._recall = recall, threads, math.nan
        self._X = as_kernel_input(data.coordinates)
        self._cells = _divide(self._X, threads, max_cells_at_once)
        self._visits_of_new: dict[int, tuple[int, float]] = {}

    @property
    def recall(self) -> float:
        """See :class:`NeighborIndex`."""
        return self._recall

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        true = self._true_neighbors(k)
        # Neighbourhoods so narrow that float32 cannot tell their points apart are searched in
        # float64.
        narrow = true.distances[:, -1].min() < _NARROW * np.abs(self._X).max()
        rough = self._cells.points if narrow else self._cells.points.astype(np.float32)
        cells = self._cells.of_row[true.rows]
        ranks = _ranks(np.stack([self._cells.distances_from(cell) for cell in cells]))
        n_cells = self._cells.number
        n_visited = self._cells_to_visit(ranks, true)
        while True:
            indices, distances = self._search(rough, k, n_visited)
            self._recall = true.share_found(distances[true.rows])
            _LOGGER.info(
                "neighbours: %d of %d cells, recall %.4f", n_visited, n_cells, self._recall
            )
            if self._recall >= self._wanted or n_visited == n_cells:
                return Neighbors(indices, distances, self._recall)
            n_visited = min(n_cells, int(1.5 * n_visited) + 1)

    def query(self, new: AnyArray, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        from scipy.spatial.distance import cdist

        check_number(k, len(self._X))
        rows, cells = as_kernel_input(new), self._cells
        n_visited, self._recall = self._cells_to_visit_from_new(k)
        indices, distances = np.empty((len(rows), k), np.int32), np.empty((len(rows), k))
        step = max(1, _MAX_DISTANCES // cells.number)
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            to_centres = cdist(rows[part], cells.centres)
            visited = np.argsort(to_centres, axis=1, kind="stable")[:, :n_visited]
            indices[part], distances[part] = nearest_in_cells(
                cells.points, cells.order, cells.starts, visited, rows[part], k, self._threads
            )
        short = np.flatnonzero(~np.isfinite(distances[:, -1]))
        if len(short):
            indices[short], distances[short] = nearest_to_new(
                self._X, rows[short], k, threads=self._threads
            )
        return Neighbors(indices, distances, self._recall)

    def _true_neighbors(self, k: int) -> TrueNeighbors:
        rows = sample_rows(len(self._X))
        found = nearest_neighbors(self._X, k, queries=rows, threads=self._threads)
        return TrueNeighbors(rows, *found)

    def _cells_to_visit(self, ranks: IntArray, true: TrueNeighbors) -> int:
        """Fewest cells among which the wanted share of the true neighbours lie."""
        ranks = np.take_along_axis(ranks, self._cells.of_row[true.indices], axis=1)
        found = np.cumsum(np.bincount(ranks.ravel(), minlength=self._cells.number)) / ranks.size
        return min(self._cells.number, 1 + int(np.searchsorted(found, self._wanted)))

    def _cells_to_visit_from_new(self, k: int) -> tuple[int, float]:
        """Return how many cells nearest to a point to visit, and the share found in them."""
        from scipy.spatial.distance import cdist

        if k not in self._visits_of_new:
            true = self._true_neighbors(min(k, len(self._X) - 1))
            ranks = _ranks(cdist(self._X[true.rows], self._cells.centres))
            # The cell of a point itself may be the second nearest, by rounding.
            n_visited = min(self._cells.number, max(2, self._cells_to_visit(ranks, true)))
            reached = np.take_along_axis(ranks, self._cells.of_row[true.indices], axis=1)
            self._visits_of_new[k] = n_visited, float((reached < n_visited).mean())
        return self._visits_of_new[k]

    def _search(self, rough: FloatArray, k: int, n_visited: int) -> tuple[IntArray, FloatArray]:
        n = len(self._X)
        indices, distances = np.empty((n, k), np.int32), np.empty((n, k))

        def search(begin: int, end: int) -> None:
            buffer = np.empty(2 * _MAX_DISTANCES, rough.dtype)
            for cell in range(begin, end):
                buffer = _search_cell(
                    self._cells, rough, cell, n_visited, buffer, indices, distances
                )

        self._threads.for_rows(search, self._cells.number, min_rows=4)
        # A point far from all others may find too few in the cells it looked at.
        short = np.flatnonzero(~np.isfinite(distances[:, -1]))
        if len(short):
            indices[short], distances[short] = nearest_neighbors(
                self._X, k, queries=short, threads=self._threads
            )
        return indices, distances


@dataclass(frozen=True)
class _Cells:
    """The points in order of their cells."""

    points: FloatArray  # (n, d), sorted
    order: IntArray  # the row that each is
    starts: IntArray
    of_row: IntArray  # the cell of each row
    centres: FloatArray

    @property
    def number(self) -> int:
        return len(self.centres)

    def members(self, cell: int) -> slice:
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def distances_from(self, cell: int) -> FloatArray:
        """Squared distances of all centres from one, which itself comes first whatever happens."""
        squared: FloatArray = ((self.centres - self.centres[cell]) ** 2).sum(axis=1)
        squared[cell] = -1.0
        return squared


def _divide(X: FloatArray, threads: Threads, max_cells_at_once: int) -> _Cells:
    n = len(X)
    n_cells = max(int(4 * np.sqrt(n)), min(n // _POINTS_PER_CELL, _MAX_CELLS))
    single = np.ascontiguousarray(X, dtype=np.float32)
    centres, of_row = divide(single, n_cells, threads, max_cells_at_once)
    order = np.argsort(of_row, kind="stable")
    starts = np.zeros(len(centres) + 1, np.int64)
    np.cumsum(np.bincount(of_row, minlength=len(centres)), out=starts[1:])
    return _Cells(X[order], order, starts, of_row, centres)


def _ranks(distances: FloatArray) -> IntArray:
    """Return the place of each value in the order of its row."""
    ranks = np.empty(distances.shape, np.int64)
    places = np.broadcast_to(np.arange(distances.shape[1]), distances.shape)
    np.put_along_axis(ranks, np.argsort(distances, axis=1, kind="stable"), places, axis=1)
    return ranks


def _search_cell(
    cells: _Cells,
    rough: FloatArray,
    cell: int,
    n_visited: int,
    buffer: FloatArray,
    indices: IntArray,
    distances: FloatArray,
) -> FloatArray:
    """Find the neighbours of all points of one cell; return the buffer of distances, for the next.

    Memory that is asked for and given back at every cell would cost as much as the distances.
    """
    own = cells.members(cell)
    if own.start == own.stop:
        return buffer
    visited = np.sort(np.argpartition(cells.distances_from(cell), n_visited - 1)[:n_visited])
    at = _ranges(cells.starts[visited], cells.starts[visited + 1])
    # Around the centre: what is squared is then of the size of the distances themselves.
    centre = cells.centres[cell].astype(buffer.dtype)
    candidates = _with_column(rough[at] - centre)
    np.einsum("ij,ij->i", candidates[:, :-1], candidates[:, :-1], out=candidates[:, -1])
    n_wanted = min(indices.shape[1] + 1 + _SPARE, len(at))
    n_sampled = int(_GUESS_MARGIN * n_wanted / _GUESS_EVERY) + _SPARE
    n_sampled = min(n_sampled, (len(at) - 1) // _GUESS_EVERY)
    step = max(1, _MAX_DISTANCES // len(at))
    if step * len(at) > len(buffer):
        buffer = np.empty(step * len(at), buffer.dtype)
    for start in range(own.start, own.stop, step):
        members = np.arange(start, min(start + step, own.stop))
        # |b|² − 2 ab as one product: |a − b|² less |a|², which does not change the order.
        queries = _with_column(-2.0 * (rough[members] - centre))
        queries[:, -1] = 1.0
        squared = buffer[: len(members) * len(at)].reshape(len(members), len(at))
        np.matmul(queries, candidates.T, out=squared)
        guesses = np.partition(squared[:, ::_GUESS_EVERY], n_sampled, axis=1)[:, n_sampled].copy()
        _keep_nearest(
            cells.points, cells.order, members, at, squared, guesses, n_wanted, indices, distances
        )
    return buffer


def _ranges(starts: IntArray, stops: IntArray) -> IntArray:
    """All integers from each start up to each stop, one range after the other."""
    sizes = stops - starts
    return np.repeat(stops - np.cumsum(sizes), sizes) + np.arange(sizes.sum())


def _with_column(points: FloatArray) -> FloatArray:
    wider = np.empty((len(points), points.shape[1] + 1), points.dtype)
    wider[:, :-1] = points
    return wider


@compiled()
def _keep_nearest(  # type: ignore[no-untyped-def]
    points, order, members, at, squared, guesses, n_wanted, indices, distances
):
    """Select by the distances in float32, then sort by exact ones, and by index where equal."""
    for m in range(len(members)):
        row = order[members[m]]
        kept = at[_smallest(squared[m], guesses[m], n_wanted)]
        exact = np.empty(len(kept))
        for c in range(len(kept)):
            total = 0.0
            for f in range(points.shape[1]):
                difference = points[members[m], f] - points[kept[c], f]
                total += difference * difference
            exact[c] = total
        nearest = np.argsort(exact)
        names = order[kept[nearest]]
        others = names != row
        _fill_row(names[others], np.sqrt(exact[nearest][others]), indices[row], distances[row])


@compiled()
def _fill_row(names, sorted_distances, indices, distances):  # type: ignore[no-untyped-def]
    """Fill a row in order of distance, those equally far in order of their index."""
    n_found = min(len(names), len(indices))
    distances[:n_found] = sorted_distances[:n_found]
    distances[n_found:] = np.inf
    first = 0
    while first < n_found:
        last = first + 1
        while last < len(names) and sorted_distances[last] == sorted_distances[first]:
            last += 1
        if last > first + 1:
            names[first:last] = np.sort(names[first:last])
        first = last
    indices[:n_found] = names[:n_found]


@compiled()
def _smallest(values, guess, n_wanted):  # type: ignore[no-untyped-def]
    """Where the n_wanted smallest values are, and a few more, in any order."""
    most = 4 * n_wanted
    within = _up_to(values, guess, most)
    if len(within) < n_wanted:
        within = _up_to(values, values.dtype.type(np.inf), len(values))
    inner = values[within]
    low, high, n_within = -values.dtype.type(np.inf), inner.max(), len(inner)
    lowest = inner.min()
    while n_within > n_wanted + n_wanted // 8:
        # Halved until it is close to what is wanted, or the values left are all equal.
        middle = (max(low, lowest) + high) / values.dtype.type(2)
        if not low < middle < high:
            break
        count = 0
        for i in range(len(inner)):
            count += inner[i] <= middle
        if count < n_wanted:
            low = middle
        else:
            high, n_within = middle, count
    surely, perhaps = within[inner <= low], within[(inner > low) & (inner <= high)]
    # Still too many are equal, as duplicates are: any of them, here the first, will do.
    return np.concatenate((surely, perhaps[:most]))


@compiled()
def _up_to(values, bound, most):  # type: ignore[no-untyped-def]
    """Where values are at most the bound, which few of them are; none if there are too many."""
    within = np.empty(most, np.int32)
    found = 0
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        any_within = False
        for i in range(len(block)):
            any_within |= block[i] <= bound
        if any_within:
            if found + len(block) > most and bound < np.inf:
                return within[:0]
            for i in range(len(block)):
                if block[i] <= bound:
                    within[found] = start + i
                    found += 1
    return within[:found]
