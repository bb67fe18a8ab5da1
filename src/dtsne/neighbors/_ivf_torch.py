"""Points in cells around k-means centres, and exact distances to candidates, all on the device.

Twin of the first half of :mod:`dtsne.neighbors._ivf`. The same bits at every call: sums of
points are of whole numbers, which are the same in any order.

Candidates are chosen by fast and slightly wrong distances. What is returned comes from differences
taken in float64, as keys that sort by distance and then by index; and whether the choice can have
missed a neighbour is checked for every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from dtsne.runtime._triton import dispatch, runs_triton

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

# A program works on 64 points of a cell at once (_neighbor_batches), so that smaller cells than
# these, which fit the neighbourhoods more closely, would leave half of its work for nothing.
_POINTS_PER_CELL, _MAX_CELLS = 128, 2**14
# As on the CPU: more points or rounds gave the same recall for the same work.
_POINTS_PER_CENTRE, _N_ROUNDS = 32, 5
# Sums of up to 2²² points of a cell then stay below 2⁶².
_FIXED_POINT_BITS = 40
# Behind all others: what stands where there is no candidate.
NO_KEY = 2**63 - 1
_INDEX_BITS = 32
_EPSILON = 2.0**-23


@dataclass(frozen=True)
class Lists:
    """The points in order of their cells."""

    points: Tensor  # (n, width) float32, sorted; columns beyond those of the data are 0
    order: Tensor  # (n,) int32: the row that each is
    starts: Tensor  # (n_cells + 1,) int64
    centres: Tensor  # (n_cells, width) float32

    @property
    def sizes(self) -> Tensor:
        """How many points are in each cell."""
        return self.starts.diff()

    def columns(self, cells: Tensor) -> Tensor:
        """Return the positions, int32, of the points of some cells, one cell after the other."""
        sizes = self.sizes[cells]
        ends = sizes.cumsum(0)
        first = self.starts[cells] - (ends - sizes)
        total = int(ends[-1])
        positions = torch.arange(total, device=cells.device)
        positions += first.repeat_interleave(sizes, output_size=total)
        return positions.int()


def padded_width(d: int) -> int:
    """Columns that the kernels want: one block of 16, 32 or 64, or blocks of 32."""
    return next((width for width in (16, 32, 64) if d <= width), -(-d // 32) * 32)


def one_cell(points: Tensor) -> Lists:
    """All points in one list, as they are."""
    n = len(points)
    return Lists(
        padded(points),
        torch.arange(n, dtype=torch.int32, device=points.device),
        torch.tensor([0, n], device=points.device),
        padded(points.mean(dim=0, dtype=torch.float64).float()[None]),
    )


def divide(points: Tensor, *, scratch: int) -> tuple[Lists, Tensor]:
    """Divide points by k-means; return also the cell of each row."""
    n = len(points)
    n_cells = number_of_cells(n)
    # Around the mean: what is squared is then of the size of the distances themselves.
    mean = points.mean(dim=0, dtype=torch.float64).float()
    sample = points[spread_out(n, number_to_train(n), points.device)] - mean
    centres = sample[spread_out(len(sample), n_cells, points.device)]
    for _ in range(_N_ROUNDS):
        centres = _means(sample, _nearest_centres(sample, centres, scratch), centres, scratch)
    of_row = _nearest_centres(points, centres, scratch, origin=mean)
    order = of_row.argsort(stable=True)
    starts = torch.zeros(n_cells + 1, dtype=torch.int64, device=points.device)
    starts[1:] = torch.bincount(of_row, minlength=n_cells).cumsum(0)
    lists = Lists(padded(points, order), order.int(), starts, padded(centres + mean))
    return lists, of_row


def number_of_cells(n: int) -> int:
    """Cells that so many points are divided into, at least 4√n."""
    return min(n, max(int(4 * n**0.5), min(n // _POINTS_PER_CELL, _MAX_CELLS)))


def number_to_train(n: int) -> int:
    """How many of so many points the centres are found from."""
    return min(n, _POINTS_PER_CENTRE * number_of_cells(n))


def spread_out(n: int, count: int, device: torch.device) -> Tensor:
    """Choose rows at random, one from each of as many equal parts, in order."""
    # On the host, also where the user's tensors are elsewhere by default.
    generator = torch.Generator("cpu").manual_seed(0)
    offsets = torch.randint(n, (count,), generator=generator, device="cpu")
    return ((torch.arange(count, device="cpu") * n + offsets) // count).to(device)


def cells_to_visit(lists: Lists, of_row: Tensor, rows: Tensor, true: Tensor, recall: float) -> int:
    """Fewest cells among which the wanted share of the true neighbours lie."""
    ranks = _from_centres(lists, of_row[rows]).argsort(dim=1, stable=True).argsort(dim=1)
    ranks = ranks.gather(1, of_row[true.long()])
    found = torch.bincount(ranks.flatten(), minlength=len(lists.centres)).cumsum(0).cpu()
    return 1 + int((found < recall * ranks.numel()).sum())


def nearest_cells(lists: Lists, n_visited: int, *, scratch: int) -> Tensor:
    """Return the cells nearest to each, itself among them, in order of their number."""
    n_cells = len(lists.centres)
    visited = torch.empty((n_cells, n_visited), dtype=torch.int32, device=lists.points.device)
    step = max(1, scratch // (16 * n_cells))
    for begin in range(0, n_cells, step):
        cells = torch.arange(begin, min(begin + step, n_cells), device=visited.device)
        nearest = _from_centres(lists, cells).topk(n_visited, largest=False).indices
        visited[begin : begin + step] = nearest.sort(dim=1).values
    return visited


def _from_centres(lists: Lists, cells: Tensor) -> Tensor:
    """Squared distances of all centres from some, less a number of each of these.

    A cell itself comes first whatever happens.
    """
    centres = lists.centres - lists.centres.mean(dim=0)
    squared = torch.addmm(centres.square().sum(dim=1), centres[cells], centres.T, alpha=-2.0)
    return squared.scatter_(1, cells[:, None], -torch.inf)


def padded(points: Tensor, order: Tensor | None = None) -> Tensor:
    """Return points, perhaps in another order, with columns of zeros as the kernels need them."""
    n, d = points.shape
    width = padded_width(d)
    if order is None and width == d:
        return points.contiguous()
    wider = torch.zeros((n, width), dtype=torch.float32, device=points.device)
    wider[:, :d] = points if order is None else points[order]
    return wider


def _nearest_centres(
    points: Tensor, centres: Tensor, scratch: int, *, origin: Tensor | float = 0.0
) -> Tensor:
    """Return the centre nearest to each point, which lie around an origin of their own.

    Whatever precision PyTorch is set to use for products will do: cells need not be exact.
    """
    half_squares = centres.square().sum(dim=1) / 2
    step = max(1, scratch // (8 * len(centres)))
    parts = [
        torch.addmm(half_squares, some - origin, centres.T, alpha=-1.0).argmin(dim=1)
        for some in torch.split(points, step)
    ]
    return torch.cat(parts)


def _means(points: Tensor, cell: Tensor, centres: Tensor, scratch: int) -> Tensor:
    """Return the mean of the points of each cell; an empty one stays where it is."""
    largest = points.abs().max().double().clamp_min(torch.finfo(torch.float32).tiny)
    scale = torch.exp2(_FIXED_POINT_BITS - largest.log2().ceil())
    sums = torch.zeros(centres.shape, dtype=torch.int64, device=points.device)
    step = max(1, scratch // (32 * points.shape[1]))
    for some, its_cell in zip(torch.split(points, step), torch.split(cell, step), strict=True):
        sums.index_add_(0, its_cell, (some.double() * scale).round().long())
    counts = torch.bincount(cell, minlength=len(centres))[:, None]
    means = (sums.double() / scale / counts.clamp_min(1)).float()
    return torch.where(counts > 0, means, centres)


@dispatch("_search_triton")
def keys_of(lists: Lists, rows: Tensor, candidates: Tensor, counts: Tensor) -> Tensor:
    """Return a key for each candidate: the bits of its distance, then its index.

    Distances are not negative, so their bits as a whole number are in the order of their values.

    Parameters
    ----------
    lists : Lists
    rows : Tensor of int64, shape (r,)
        Positions of points in the lists.
    candidates : Tensor of int32, shape (r, c)
        Positions of the points to compare each with.
    counts : Tensor of int32, shape (r,)
        How many of these there are; the rest of the row means nothing.

    Returns
    -------
    Tensor of int64, shape (r, c)
        `NO_KEY` where there is no candidate, and where it is the point itself.
    """
    positions = candidates.long()
    absent = torch.arange(candidates.shape[1], device=rows.device) >= counts[:, None]
    positions = positions.masked_fill(absent, 0)
    differences = lists.points[rows].double()[:, None] - lists.points[positions]
    distances = differences.square().sum(dim=-1).sqrt().float()
    keys = distances.view(torch.int32).long() << _INDEX_BITS | lists.order[positions].long()
    return keys.masked_fill(absent | (positions == rows[:, None]), NO_KEY)


def unpack(keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices and the distances that keys are made of; NaN where there is none."""
    distances = (keys >> _INDEX_BITS).int().view(torch.float32)
    return keys.int(), distances


def nearest_of_all(
    lists: Lists, rows: Tensor, k: int, *, scratch: int, n_candidates: int | None = None
) -> tuple[Tensor, Tensor]:
    """Compare some points with all others, or the first: exact whatever the data is."""
    indices = torch.empty((len(rows), k), dtype=torch.int32, device=rows.device)
    distances = torch.empty((len(rows), k), dtype=torch.float32, device=rows.device)
    for part, keys in keys_of_all(lists, rows, scratch=scratch, n_candidates=n_candidates):
        # No two keys are equal, so that there is one answer.
        nearest = keys.topk(k, largest=False, sorted=True).values
        indices[part], distances[part] = unpack(nearest)
    return indices, distances


def keys_of_all(
    lists: Lists, rows: Tensor, *, scratch: int, n_candidates: int | None = None
) -> Iterator[tuple[slice, Tensor]]:
    """Yield the keys of all points, from some of the rows at a time: which, and (r, n) of them."""
    n, width = lists.points.shape
    n = n if n_candidates is None else n_candidates
    everyone = torch.arange(n, dtype=torch.int32, device=rows.device)
    # In plain PyTorch the differences are in memory, in float64, and their squares.
    bytes_per_row = 8 * n * (2 if runs_triton(lists.points) else 2 + 2 * width)
    step = max(1, scratch // bytes_per_row)
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        some = rows[part]
        counts = torch.full_like(some, n).int()
        yield part, keys_of(lists, some, everyone.expand(len(some), n), counts)


def surely_nearest(farthest: Tensor, bounds: Tensor, reach: Tensor, n_features: int) -> Tensor:
    """Tell for which rows no neighbour can have been missed for the error of the fast distances.

    Parameters
    ----------
    farthest : Tensor of shape (r,)
        Exact distance of the last neighbour found.
    bounds : Tensor of shape (r,)
        All points with a fast squared distance below it were candidates.
    reach : Tensor of shape (r,)
        Distance of the point from the centre that the products were taken around.
    n_features : int

    Notes
    -----
    A point b missed though nearer than `farthest` has |b| ≤ |a| + farthest. The error of
    |a|² + |b|² − 2ab is at most a number of roundings of (|a| + |b|)²: d/4 for the sum of products,
    some for the squares, the subtraction of the centre and what three products of parts leave out.
    So it matters how far a point is, but not how far others are.
    """
    farthest = farthest.double()
    error = (16 + n_features / 4) * _EPSILON * (2 * reach.double() + farthest).square()
    return farthest.square() + error < bounds
