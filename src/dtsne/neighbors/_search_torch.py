"""Nearest neighbours on the device: exact, and beyond some number of points by inverted lists.

Both are one search. Points lie in lists (one for all, or one for each cell of a k-means), and all
points of a list are compared with those of some lists together, by a product of two matrices. Of
every row of it only the smallest values are kept; on a GPU the matrix never is in memory
(`_search_triton`). Exact distances of these few give the result, and rows for which the rounding
of the product may have hidden a neighbour are compared with all points directly.

Twin of :mod:`dtsne.neighbors._exact` and :mod:`dtsne.neighbors._ivf`.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from dtsne.data._base import MAX_SAMPLED_ROWS
from dtsne.data._points_torch import DevicePoints
from dtsne.neighbors._base import RECALL, HostNeighbors, NeighborIndex, Neighbors, check_number
from dtsne.neighbors._batches_torch import MAX_KEPT, capacity_for
from dtsne.neighbors._ivf_torch import (
    NO_KEY,
    cells_to_visit,
    divide,
    keys_of,
    nearest_cells,
    nearest_of_all,
    number_to_train,
    one_cell,
    padded,
    padded_width,
    spread_out,
    surely_nearest,
    unpack,
)
from dtsne.neighbors._recall import share_found
from dtsne.runtime._devices import free_memory, on_its_device, working_on
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.data._base import Data
    from dtsne.neighbors._ivf_torch import Lists
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray

_LOGGER = logging.getLogger(__name__)

# All pairs of so many are some 40·10⁹, a few tenths of a second; making cells, choosing among them
# and measuring the recall takes as long.
MAX_EXACT = 200_000
# Bytes that intermediate results may take at a time, and the share of what is free. The rows of a
# GiB keep a large GPU busy; how many are worked on at once changes no result.
_MAX_SCRATCH, _MIN_SCRATCH, _FREE_SHARE = 2**31, 2**26, 1 / 8
# Selected beyond what is wanted by the products in plain PyTorch, as they cannot tell neighbours of
# almost the same distance: a share of k, and a few.
_SPARE_SHARE, _SPARE = 8, 8
# float32 less these bits is exact in TF32.
_LOW_BITS = 2**13 - 1


def device_index(
    data: Data, threads: Threads, *, max_exact: int | None, recall: float
) -> NeighborIndex:
    """Return the index for data of a device."""
    if isinstance(data, DevicePoints):
        most = MAX_EXACT if max_exact is None else max_exact
        return TorchIndex(data, recall=recall, max_exact=most)
    assert data.device is not None
    index = NeighborIndex.build(data.to_host(), threads=threads, max_exact=max_exact, recall=recall)
    return HostIndex(index, data.device)


class TorchIndex(NeighborIndex):
    """Searches on the device: exact, and beyond some number of points by inverted lists."""

    def __init__(
        self, data: DevicePoints, *, recall: float = RECALL, max_exact: int = MAX_EXACT
    ) -> None:
        self._points, self._wanted, self._max_exact = data.coordinates, recall, max_exact
        self._recall = 1.0

    @property
    def recall(self) -> float:
        """See :class:`NeighborIndex`."""
        return self._recall

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        found = nearest(self._points, k, recall=self._wanted, max_exact=self._max_exact)
        self._recall = found[2]
        return Neighbors(*found)

    def query(self, new: AnyArray, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        check_number(k, len(self._points))
        rows = torch.as_tensor(new, dtype=torch.float32, device=self._points.device)
        with working_on(self._points.device):
            return Neighbors(*nearest_to_new(one_cell(self._points), rows, k), 1.0)


class HostIndex(NeighborIndex):
    """Searches on the host, and brings what it finds to a device."""

    def __init__(self, index: NeighborIndex, device: torch.device) -> None:
        self._index, self._device = index, device

    @property
    def recall(self) -> float:
        """See :class:`NeighborIndex`."""
        return self._index.recall

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        return self._on_device(self._index.neighbors(k))

    def query(self, new: AnyArray, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        return self._on_device(self._index.query(new, k))

    def neighbors_on_host(self, k: int) -> HostNeighbors:
        """See :class:`NeighborIndex`."""
        return self._index.neighbors_on_host(k)

    def _on_device(self, found: Neighbors) -> Neighbors:
        return Neighbors(
            torch.as_tensor(found.indices, dtype=torch.int32, device=self._device),
            torch.as_tensor(found.distances, dtype=torch.float32, device=self._device),
            found.recall,
        )


@on_its_device  # as a report asks for neighbours outside of a fit
def nearest(
    points: Tensor, k: int, *, recall: float = RECALL, max_exact: int = MAX_EXACT
) -> tuple[Tensor, Tensor, float]:
    """Find the k nearest other points of each row, or most of them beyond `max_exact` points.

    See :class:`dtsne.neighbors._base.NeighborIndex`; points are in float32, and k at most n − 1.
    """
    n = len(points)
    check_number(k, n - 1)
    indices = torch.empty((n, k), dtype=torch.int32, device=points.device)
    distances = torch.empty((n, k), dtype=torch.float32, device=points.device)
    scratch = scratch_of(free_memory(points.device))
    if n > max_exact:
        found = _search_lists(points, recall, indices, distances, scratch)
        if found is not None:
            return indices, distances, found
    itself = torch.zeros((1, 1), dtype=torch.int32, device=points.device)
    _search(one_cell(points), itself, indices, distances, scratch)
    return indices, distances, 1.0


def nearest_to_new(lists: Lists, new: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Compare new points with all of the lists."""
    n, m = len(lists.points), len(new)
    # The new ones lie behind the others, where no candidate is.
    both = replace(
        lists,
        points=torch.cat((lists.points, padded(new))),
        order=torch.arange(n + m, dtype=torch.int32, device=new.device),
    )
    rows = torch.arange(n, n + m, device=new.device)
    scratch = scratch_of(free_memory(new.device))
    return nearest_of_all(both, rows, k, scratch=scratch, n_candidates=n)


def scratch_of(free: int | None) -> int:
    """Bytes that intermediate results may take where so many are free, if that is known."""
    if free is None:
        return _MAX_SCRATCH
    return min(_MAX_SCRATCH, max(_MIN_SCRATCH, int(_FREE_SHARE * free)))


def peak_bytes(n: int, d: int, k: int, free: int | None = None) -> int:
    """Estimate the memory on the device that `nearest` takes at its peak, with its result."""
    result = 8 * n * k
    # Points with columns of zeros; their order, cells and bounds.
    points = 4 * n * padded_width(d) + 64 * n
    if n > MAX_EXACT:
        # Gathered in order of their cells, or some of them to find these.
        points += 4 * d * max(n, 3 * number_to_train(n))
    # Comparing all rows at once takes no more than that.
    scratch = min(scratch_of(free), 16 * n * (n + 2 * k * padded_width(d)))
    # Where it is sorted, PyTorch takes as much again.
    return result + points + 2 * scratch


def _search_lists(
    points: Tensor, recall: float, indices: Tensor, distances: Tensor, scratch: int
) -> float | None:
    """Find most neighbours; return the share, or None if that is more work than to find all."""
    rows = spread_out(len(points), min(len(points), MAX_SAMPLED_ROWS), points.device)
    lists, of_row = divide(points, scratch=scratch)
    n_cells = len(lists.centres)
    positions = torch.empty_like(of_row)
    positions[lists.order.long()] = torch.arange(len(points), device=points.device)
    true, true_distances = nearest_of_all(lists, positions[rows], indices.shape[1], scratch=scratch)
    n_visited = cells_to_visit(lists, of_row, rows, true, recall)
    while n_visited <= n_cells // 2:
        visited = nearest_cells(lists, n_visited, scratch=scratch)
        _search(lists, visited, indices, distances, scratch)
        measured = share_found(true_distances, distances[rows])
        _LOGGER.info("neighbours: %d of %d cells, recall %.4f", n_visited, n_cells, measured)
        if measured >= recall:
            return measured
        n_visited = int(1.5 * n_visited) + 1
    return None


def _search(
    lists: Lists, visited: Tensor, indices: Tensor, distances: Tensor, scratch: int
) -> None:
    """Fill in the neighbours of all points, looked for in the lists that each one visits."""
    k = indices.shape[1]
    unsure = (~search(lists, visited, indices, distances, scratch)).nonzero().flatten()
    if len(unsure):
        _LOGGER.debug("neighbours: %d rows compared with all points", len(unsure))
        rows = lists.order[unsure].long()
        indices[rows], distances[rows] = nearest_of_all(lists, unsure, k, scratch=scratch)


def _can_be_sorted(lists: Lists, visited: Tensor, indices: Tensor, *_: object) -> bool:  # noqa: ARG001
    """Whether one program of a kernel can sort the candidates of a row."""
    return capacity_for(indices.shape[1]).kept <= MAX_KEPT


@dispatch("_search_triton", when=_can_be_sorted)
def search(
    lists: Lists, visited: Tensor, indices: Tensor, distances: Tensor, scratch: int
) -> Tensor:
    """Fill in the neighbours of all points.

    Parameters
    ----------
    lists : Lists
    visited : Tensor of int32, shape (n_cells, n_visited)
        The cells that the points of each cell are compared with, in order of their number.
    indices, distances : Tensor of shape (n, k)
        The result, by row.
    scratch : int
        Bytes to use for a batch of rows.

    Returns
    -------
    Tensor of bool, shape (n,)
        For each position whether its neighbours are surely those of the points it was compared
        with.
    """
    n, width = lists.points.shape
    k = indices.shape[1]
    sure = torch.empty(n, dtype=torch.bool, device=indices.device)
    starts = lists.starts.tolist()
    for cell, (begin, end) in enumerate(pairwise(starts)):
        if begin == end:
            continue
        columns = lists.columns(visited[cell].long())
        high, low, squares = _halves(lists.points[columns] - lists.centres[cell])
        others = torch.cat((high, low, high), dim=1).T
        n_kept = min(k + 1 + k // _SPARE_SHARE + _SPARE, len(columns))
        # Fast distances and what they are selected from; then differences in float64 and squares.
        step = max(1, scratch // (16 * len(columns) + 16 * n_kept * width))
        for first in range(begin, end, step):
            positions = torch.arange(first, min(first + step, end), device=indices.device)
            own = lists.points[positions] - lists.centres[cell]
            squared = _squared_distances(own, others, squares)
            bounds, kept = squared.topk(n_kept, largest=False)
            bounds = bounds[:, -1] if n_kept < len(columns) else bounds[:, -1] + torch.inf
            counts = torch.full_like(positions, n_kept).int()
            keys = keys_of(lists, positions, columns[kept], counts).sort(dim=1).values
            missing = keys.new_full((len(keys), max(0, k - n_kept)), NO_KEY)
            keys = torch.cat((keys, missing), dim=1)[:, :k]
            rows = lists.order[positions].long()
            indices[rows], distances[rows] = unpack(keys)
            reach = own.square().sum(dim=1).sqrt()
            sure[positions] = surely_nearest(distances[rows, -1], bounds, reach, width)
    return sure


def _halves(points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Split into a part exact in TF32 and the rest; return both and the squares of the whole.

    Their products are precise whether or not PyTorch may use TF32, which is a setting of the whole
    process and nothing to change here.
    """
    high = (points.view(torch.int32) & ~_LOW_BITS).view(torch.float32)
    return high, points - high, points.square().sum(dim=1)


def _squared_distances(own: Tensor, others: Tensor, squares: Tensor) -> Tensor:
    """|b|² − 2ab + |a|², by three products of halves."""
    high, low, own_squares = _halves(own)
    left = torch.cat((high, high, low), dim=1)
    return torch.addmm(squares, left, others, alpha=-2.0).add_(own_squares[:, None])
