"""Exact distances of candidates, as keys that sort by distance and then by index.

Candidates are chosen by fast and slightly wrong distances. What is returned comes from differences
taken in float64, and whether the choice can have missed a neighbour is checked for every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from dtsne.runtime._triton import dispatch, runs_triton

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from dtsne.neighbors._ivf_torch import Lists

# Behind all others: what stands where there is no candidate.
NO_KEY = 2**63 - 1
_INDEX_BITS = 32
_EPSILON = 2.0**-23


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
