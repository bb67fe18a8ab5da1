"""Nearest neighbours of many points, by inverted lists, with a measured recall.

The points are divided into cells around k-means centres (FAISS), and the neighbours of all points
of a cell are looked for together, in the cells nearest to it: that is a product of two matrices,
which a processor does at its full speed, where a search for each point on its own is bound by
memory. How many cells to look at follows from a sample of points whose true neighbours are known:
the ranks of the cells that these lie in say which share of them any number of cells would find.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.neighbors._exact import nearest_neighbors, share_found
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import for_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.runtime._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

_N_SAMPLED = 500
# Smaller cells fit the neighbourhoods more closely, and cost more to make; there are at least 4√n.
_POINTS_PER_CELL, _MOST_CELLS = 64, 2**14
# Two levels of cells take less time to make, but a fifth more of them to search.
_CELLS_AT_ONCE = 2**12
# Points that are assigned to their cells at once.
_ASSIGNED_AT_ONCE = 4096
# A neighbourhood of less than this share of the whole is too narrow for float32.
_NARROW = 1e-5
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
# Values that are compared at once, to skip those without any small one.
_BLOCK = 16


def approximate_neighbors(
    X: FloatArray, k: int, *, recall: float
) -> tuple[IntArray, FloatArray, float]:
    """Find most of the k nearest others of each row.

    Returns
    -------
    indices, distances : ndarray of shape (n, k)
        As from :func:`dtsne.neighbors._exact.nearest_neighbors`; distances are exact.
    recall : float
        Share of the true neighbours found, measured on a sample of rows.
    """
    n = len(X)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _N_SAMPLED), replace=False))
    true, true_distances = nearest_neighbors(X, k, queries=rows)
    # Neighbourhoods so narrow that float32 cannot tell their points apart are searched in float64.
    narrow = true_distances[:, -1].min() < _NARROW * np.abs(X).max()
    lists = _divide(X, np.float64 if narrow else np.float32)
    n_cells = len(lists.centres)
    n_visited = _cells_to_visit(lists, rows, true, recall)
    indices = np.empty((n, k), np.int32)
    distances = np.empty((n, k))

    def search(begin: int, end: int) -> None:
        room = np.empty(2 * _DISTANCES_AT_ONCE, lists.single.dtype)
        for cell in range(begin, end):
            room = _search_cell(lists, cell, n_visited, room, indices, distances)

    while True:
        for_rows(search, n_cells, least=4)
        # A point far from all others may find too few in the cells it looked at.
        short = np.flatnonzero(~np.isfinite(distances[:, -1]))
        if len(short):
            indices[short], distances[short] = nearest_neighbors(X, k, queries=short)
        measured = share_found(true_distances, distances[rows])
        _LOGGER.info("neighbours: %d of %d cells, recall %.4f", n_visited, n_cells, measured)
        if measured >= recall or n_visited == n_cells:
            return indices, distances, measured
        n_visited = min(n_cells, int(1.5 * n_visited) + 1)


@dataclass(frozen=True)
class _Lists:
    """The points in order of their cells."""

    points: FloatArray  # (n, d), sorted
    single: FloatArray  # the same in float32, if that is precise enough
    order: IntArray  # the row of X that each is
    starts: IntArray
    of_row: IntArray  # the cell of each row of X
    centres: FloatArray

    def members(self, cell: int) -> slice:
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def distances_from(self, cell: int) -> FloatArray:
        """Squared distances of all centres from one, which itself comes first whatever happens."""
        squared: FloatArray = ((self.centres - self.centres[cell]) ** 2).sum(axis=1)
        squared[cell] = -1.0
        return squared


def _divide(X: FloatArray, dtype: type) -> _Lists:
    n = len(X)
    n_cells = max(int(4 * np.sqrt(n)), min(n // _POINTS_PER_CELL, _MOST_CELLS))
    centres, of_row = _cells_around_centres(np.ascontiguousarray(X, dtype=np.float32), n_cells)
    order = np.argsort(of_row, kind="stable")
    starts = np.zeros(len(centres) + 1, np.int64)
    np.cumsum(np.bincount(of_row, minlength=len(centres)), out=starts[1:])
    points = X[order]
    return _Lists(points, points.astype(dtype, copy=False), order, starts, of_row, centres)


def _cells_around_centres(single: FloatArray, n_cells: int) -> tuple[FloatArray, IntArray]:
    """Divide points by k-means; where that makes many cells, into few first, then each of these.

    All at once would compare every point with every centre, of which there are more for more
    points; otherwise with about the square root of their number, twice.
    """
    if n_cells <= _CELLS_AT_ONCE:
        k_means = _k_means(single, n_cells)
        return np.asarray(k_means.centroids), _nearest_centres(k_means, single)
    n = len(single)
    coarse = _k_means(single, int(np.sqrt(n_cells)))
    of_coarse = _nearest_centres(coarse, single)
    sizes = np.bincount(of_coarse, minlength=len(coarse.centroids))
    members = np.split(np.argsort(of_coarse, kind="stable"), np.cumsum(sizes)[:-1])
    n_parts = np.maximum(1, np.round(n_cells * sizes / n).astype(np.int64))
    first = np.concatenate([[0], np.cumsum(n_parts)])
    centres = np.repeat(coarse.centroids, n_parts, axis=0)
    of_row = np.empty(n, np.int64)
    fine: dict[int, Any] = {}

    def divide(begin: int, end: int) -> None:
        for cell in range(begin, end):
            if sizes[cell]:
                fine[cell] = _k_means(single[members[cell]], int(n_parts[cell]))

    for_rows(divide, len(members), least=1)
    for cell, k_means in fine.items():
        centres[first[cell] : first[cell + 1]] = k_means.centroids
        of_row[members[cell]] = first[cell] + _nearest_centres(k_means, single[members[cell]])
    return centres, of_row


def _k_means(points: FloatArray, n_centres: int) -> Any:
    """Return FAISS's k-means, trained on one thread: more would share sums in another way."""
    import faiss

    with _single_threaded_faiss():
        k_means = faiss.Kmeans(
            points.shape[1], n_centres, niter=_N_ROUNDS, seed=1,
            max_points_per_centroid=_POINTS_PER_CENTRE,
            min_points_per_centroid=1,  # otherwise FAISS prints a warning
        )  # fmt: skip
        k_means.train(points)
    return k_means


def _nearest_centres(k_means: Any, points: FloatArray) -> IntArray:
    """Return the centre nearest to each point."""
    nearest = np.empty(len(points), np.int64)

    def assign(begin: int, end: int) -> None:
        with _single_threaded_faiss():  # of this thread: OpenMP has a setting for each
            for part in range(begin, end):
                some = slice(part * _ASSIGNED_AT_ONCE, (part + 1) * _ASSIGNED_AT_ONCE)
                nearest[some] = k_means.index.search(points[some], 1)[1].ravel()

    for_rows(assign, -(-len(points) // _ASSIGNED_AT_ONCE), least=1)
    return nearest


def _cells_to_visit(lists: _Lists, rows: IntArray, true: IntArray, recall: float) -> int:
    """Fewest cells among which the wanted share of the true neighbours lie."""
    n_cells = len(lists.centres)
    ranks = np.empty(true.shape, np.int64)
    for i, row in enumerate(rows):
        rank = np.empty(n_cells, np.int64)
        rank[np.argsort(lists.distances_from(lists.of_row[row]))] = np.arange(n_cells)
        ranks[i] = rank[lists.of_row[true[i]]]
    found = np.cumsum(np.bincount(ranks.ravel(), minlength=n_cells)) / ranks.size
    return 1 + int(np.searchsorted(found, recall))


def _search_cell(
    lists: _Lists,
    cell: int,
    n_visited: int,
    room: FloatArray,
    indices: IntArray,
    distances: FloatArray,
) -> FloatArray:
    """Find the neighbours of all points of one cell; return the room for distances, for the next.

    Memory that is asked for and given back at every cell would cost as much as the distances.
    """
    own = lists.members(cell)
    if own.start == own.stop:
        return room
    visited = np.sort(np.argpartition(lists.distances_from(cell), n_visited - 1)[:n_visited])
    at = _ranges(lists.starts[visited], lists.starts[visited + 1])
    # Around the centre: what is squared is then of the size of the distances themselves.
    centre = lists.centres[cell].astype(room.dtype)
    candidates = _with_column(lists.single[at] - centre)
    np.einsum("ij,ij->i", candidates[:, :-1], candidates[:, :-1], out=candidates[:, -1])
    n_wanted = min(indices.shape[1] + 1 + _SPARE, len(at))
    n_sampled = int(_GUESS_MARGIN * n_wanted / _GUESS_EVERY) + _SPARE
    n_sampled = min(n_sampled, (len(at) - 1) // _GUESS_EVERY)
    step = max(1, _DISTANCES_AT_ONCE // len(at))
    if step * len(at) > len(room):
        room = np.empty(step * len(at), room.dtype)
    for start in range(own.start, own.stop, step):
        members = np.arange(start, min(start + step, own.stop))
        # |b|² − 2 ab as one product: |a − b|² less |a|², which does not change the order.
        queries = _with_column(-2.0 * (lists.single[members] - centre))
        queries[:, -1] = 1.0
        squared = room[: len(members) * len(at)].reshape(len(members), len(at))
        np.matmul(queries, candidates.T, out=squared)
        guesses = np.partition(squared[:, ::_GUESS_EVERY], n_sampled, axis=1)[:, n_sampled].copy()
        _keep_nearest(
            lists.points, lists.order, members, at, squared, guesses, n_wanted, indices, distances
        )
    return room


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
    # Still too many are equal, as copies are: any of them, here the first, will do.
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


@contextmanager
def _single_threaded_faiss() -> Iterator[None]:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
