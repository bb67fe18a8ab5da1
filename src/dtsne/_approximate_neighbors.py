"""Nearest neighbours of many points, by inverted lists, with a measured recall.

The points are divided into cells around k-means centres (FAISS), and the neighbours of all points
of a cell are looked for together, in the cells nearest to it: that is a product of two matrices,
which a processor does at its full speed, where a search for each point on its own is bound by
memory. How many cells to look at follows from a sample of points whose true neighbours are known:
the ranks of the cells that these lie in say which share of them any number of cells would find.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne._compile import compiled
from dtsne._neighbors import nearest_neighbors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

_N_SAMPLED = 500
# Smaller cells fit the neighbourhoods more closely, and cost more to make; there are at least 4√n.
_POINTS_PER_CELL = 64
# k-means only has to be good enough for the cells to be compact: more points or rounds than these
# gave the same recall for the same work.
_POINTS_PER_CENTRE, _N_ROUNDS = 32, 5
# Distances, in float32, that are computed at once; they should stay in the cache.
_DISTANCES_AT_ONCE = 2**20
# Selected beyond what is wanted, as float32 cannot tell neighbours of almost the same distance.
_SPARE = 8
# Every so many-th distance is looked at to guess how far the wanted ones reach; the guess is wide
# enough to hold them nearly always.
_GUESS_EVERY, _GUESS_MARGIN = 16, 1.3
# Halvings of the range of what lies within the guess, to come close to the number wanted.
_N_HALVINGS = 8
# Values that are compared at once, to skip those without any small one.
_BLOCK = 16


def approximate_neighbors(
    X: FloatArray, k: int, *, recall: float, n_jobs: int
) -> tuple[IntArray, FloatArray, float]:
    """Find most of the k nearest others of each row.

    Returns
    -------
    indices, distances : ndarray of shape (n, k)
        As from :func:`dtsne._neighbors.nearest_neighbors`; distances are exact.
    recall : float
        Share of the true neighbours found, measured on a sample of rows.
    """
    n = len(X)
    cells = _divide(X, n_jobs)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _N_SAMPLED), replace=False))
    true, _ = nearest_neighbors(X, k, queries=rows)
    n_visited, measured = _cells_to_visit(cells, rows, true, recall)
    n_cells = len(cells.centres)
    _LOGGER.info("neighbours: %d of %d cells, recall %.4f", n_visited, n_cells, measured)
    indices = np.empty((n, k), np.int32)
    distances = np.empty((n, k))

    def search(first: int) -> None:
        room = np.empty(2 * _DISTANCES_AT_ONCE, np.float32)
        for cell in range(first, n_cells, n_jobs):
            room = _search_cell(cells, cell, n_visited, room, indices, distances)

    with ThreadPoolExecutor(n_jobs) as pool:
        for _ in pool.map(search, range(n_jobs)):
            pass
    # A point far from all others may find too few in the cells it looked at.
    short = np.flatnonzero(~np.isfinite(distances[:, -1]))
    if len(short):
        indices[short], distances[short] = nearest_neighbors(X, k, queries=short)
    return indices, distances, measured


@dataclass(frozen=True)
class _Cells:
    """The points in order of their cells."""

    points: FloatArray  # (n, d), sorted
    single: FloatArray  # the same in float32
    order: IntArray  # the row of X that each is
    starts: IntArray
    of_row: IntArray  # the cell of each row of X
    centres: FloatArray

    def members(self, cell: int) -> slice:
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def distances_from(self, cell: int) -> FloatArray:
        """Squared distances of all centres from one."""
        squared: FloatArray = ((self.centres - self.centres[cell]) ** 2).sum(axis=1)
        return squared


def _divide(X: FloatArray, n_jobs: int) -> _Cells:
    import faiss

    n, d = X.shape
    n_cells = max(int(4 * np.sqrt(n)), n // _POINTS_PER_CELL)
    single = np.ascontiguousarray(X, dtype=np.float32)
    with _faiss_threads(n_jobs):
        k_means = faiss.Kmeans(
            d, n_cells, niter=_N_ROUNDS, seed=1,
            max_points_per_centroid=_POINTS_PER_CENTRE,
            min_points_per_centroid=1,  # otherwise FAISS prints a warning
        )  # fmt: skip
        k_means.train(single)
        of_row = k_means.index.search(single, 1)[1].ravel()
    order = np.argsort(of_row, kind="stable")
    starts = np.zeros(n_cells + 1, np.int64)
    np.cumsum(np.bincount(of_row, minlength=n_cells), out=starts[1:])
    centres = np.asarray(k_means.centroids)
    return _Cells(X[order], single[order], order, starts, of_row, centres)


def _cells_to_visit(
    cells: _Cells, rows: IntArray, true: IntArray, recall: float
) -> tuple[int, float]:
    """Fewest cells among which the wanted share of the true neighbours lie, and that share."""
    n_cells = len(cells.centres)
    ranks = np.empty(true.shape, np.int64)
    for i, row in enumerate(rows):
        rank = np.empty(n_cells, np.int64)
        rank[np.argsort(cells.distances_from(cells.of_row[row]))] = np.arange(n_cells)
        ranks[i] = rank[cells.of_row[true[i]]]
    found = np.cumsum(np.bincount(ranks.ravel(), minlength=n_cells)) / ranks.size
    n_visited = 1 + int(np.searchsorted(found, recall))
    return n_visited, float(found[n_visited - 1])


def _search_cell(
    cells: _Cells,
    cell: int,
    n_visited: int,
    room: FloatArray,
    indices: IntArray,
    distances: FloatArray,
) -> FloatArray:
    """Find the neighbours of all points of one cell; return the room for distances, for the next.

    Memory that is asked for and given back at every cell would cost as much as the distances.
    """
    own = cells.members(cell)
    if own.start == own.stop:
        return room
    visited = np.sort(np.argpartition(cells.distances_from(cell), n_visited - 1)[:n_visited])
    at = _ranges(cells.starts[visited], cells.starts[visited + 1])
    # Around the centre: what is squared is then of the size of the distances themselves.
    centre = cells.centres[cell]
    candidates = _with_column(cells.single[at] - centre)
    np.einsum("ij,ij->i", candidates[:, :-1], candidates[:, :-1], out=candidates[:, -1])
    n_wanted = min(indices.shape[1] + 1 + _SPARE, len(at))
    n_sampled = int(_GUESS_MARGIN * n_wanted / _GUESS_EVERY) + _SPARE
    n_sampled = min(n_sampled, (len(at) - 1) // _GUESS_EVERY)
    step = max(1, _DISTANCES_AT_ONCE // len(at))
    if step * len(at) > len(room):
        room = np.empty(step * len(at), np.float32)
    for start in range(own.start, own.stop, step):
        members = np.arange(start, min(start + step, own.stop))
        # |b|² − 2 ab as one product: |a − b|² less |a|², which does not change the order.
        queries = _with_column(-2.0 * (cells.single[members] - centre))
        queries[:, -1] = 1.0
        squared = room[: len(members) * len(at)].reshape(len(members), len(at))
        np.matmul(queries, candidates.T, out=squared)
        guesses = np.partition(squared[:, ::_GUESS_EVERY], n_sampled, axis=1)[:, n_sampled].copy()
        _keep_nearest(
            cells.points, cells.order, members, at, squared, guesses, n_wanted, indices, distances
        )
    return room


def _ranges(starts: IntArray, stops: IntArray) -> IntArray:
    """All integers from each start up to each stop, one range after the other."""
    sizes = stops - starts
    return np.repeat(stops - np.cumsum(sizes), sizes) + np.arange(sizes.sum())


def _with_column(points: FloatArray) -> FloatArray:
    wider = np.empty((len(points), points.shape[1] + 1), np.float32)
    wider[:, :-1] = points
    return wider


@compiled()
def _keep_nearest(  # type: ignore[no-untyped-def]
    points, order, members, at, squared, guesses, n_wanted, indices, distances
):
    """Select by the distances in float32, then sort by exact ones, and by index where equal."""
    k = indices.shape[1]
    for m in range(len(members)):
        own, row = members[m], order[members[m]]
        kept = _smallest(squared[m], guesses[m], n_wanted)
        exact = np.empty(len(kept))
        for c in range(len(kept)):
            other = at[kept[c]]
            total = 0.0
            for f in range(points.shape[1]):
                difference = points[own, f] - points[other, f]
                total += difference * difference
            exact[c] = total
        n_found = 0
        for c in np.argsort(exact):
            name, distance = order[at[kept[c]]], np.sqrt(exact[c])
            if name == row:
                continue
            # Those of the same distance come in any order, and leave here in that of their index.
            place = n_found
            while place > 0 and distances[row, place - 1] == distance:
                if indices[row, place - 1] < name:
                    break
                if place < k:
                    indices[row, place] = indices[row, place - 1]
                place -= 1
            if place < k:
                indices[row, place], distances[row, n_found] = name, distance
            n_found = min(n_found + 1, k)
        distances[row, n_found:] = np.inf


@compiled()
def _smallest(values, guess, n_wanted):  # type: ignore[no-untyped-def]
    """Where the n_wanted smallest values are, and a few more, in any order."""
    within = _up_to(values, guess, 4 * n_wanted)
    if len(within) < n_wanted:
        within = _up_to(values, np.float32(np.inf), len(values))
    inner = values[within]
    low, high = inner.min(), inner.max()
    for _ in range(_N_HALVINGS):
        middle = np.float32(0.5) * (low + high)
        count = 0
        for i in range(len(inner)):
            count += inner[i] <= middle
        if count < n_wanted:
            low = middle
        else:
            high = middle
    return within[inner <= high]


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


@contextmanager
def _faiss_threads(n_jobs: int) -> Iterator[None]:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_jobs)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
