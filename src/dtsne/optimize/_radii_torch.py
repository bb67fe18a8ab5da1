"""Radii of neighbourhoods in the map, on the device; the twin of :mod:`dtsne.optimize._radii`.

Cells of one width suit no map whose densities differ by decades: the CPU leaves those to a tree. So
points are sorted into leaves of one (`_leaves_torch`). The branch around a leaf gives a
first bound to the radii of its points: the distance to the k-th other point within it. Then all
leaves are listed whose boxes are nearer than that to one of the points, and theirs searched, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtsne.optimize._leaves_torch import LEAF, SLACK, make_leaves
from dtsne.runtime._devices import on_its_device
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dtsne.optimize._leaves_torch import Leaves

# A branch that gives a first bound has at least so many times the points that are looked for: in a
# larger one more points have all their neighbours, but a smaller one is searched sooner.
_BRANCH = 2
# Entries of lists that are kept at once: only maps without any order need more.
_MAX_LISTED = 2**26
# Distances that are compared at once.
_CHUNK = 2**22


@on_its_device
def neighbor_radii(y: Tensor, ks: Sequence[int]) -> Tensor:
    """Distance of each point to its k-th nearest other, for ascending ks below n.

    Parameters
    ----------
    y : Tensor of shape (n, axes)
    ks : sequence of int

    Returns
    -------
    Tensor of shape (len(ks), n), of the map's type
    """
    leaves = make_leaves(y)
    radii = torch.empty(len(ks), len(y), dtype=y.dtype, device=y.device)
    for of_k, k in zip(radii, ks, strict=True):
        of_k[leaves.order] = _squared_radii(leaves, k)[: len(y)].sqrt_()
    return radii


def _squared_radii(leaves: Leaves, k: int) -> Tensor:
    """Squared radii of the points, in order of the leaves."""
    squared = torch.full_like(leaves.points[:, 0], torch.inf)
    starts, members = _own_branches(leaves, k)
    lower_to_rank(leaves, starts, members, k + 1, squared)
    if len(members) < leaves.n_leaves**2:  # else each leaf has seen all others
        ends = torch.cumsum(count_close(leaves, squared), dim=0)
        for first, last in _ranges(ends):
            starts = torch.zeros(last - first + 1, dtype=torch.int64, device=ends.device)
            starts[1:] = ends[first:last] - (ends[first - 1] if first else 0)
            members = list_close(leaves, squared, starts, first)
            lower_to_rank(leaves, starts, members, k + 1, squared, first)
    return squared


def _own_branches(leaves: Leaves, k: int) -> tuple[Tensor, Tensor]:
    """List the leaves of the branch of each leaf, as many for the last as for the others."""
    least = max(-(-_BRANCH * (k + 1) // LEAF), 2)  # the last leaf may have a single point
    size = min(1 << (least - 1).bit_length(), leaves.n_leaves)
    device = leaves.points.device
    branch = torch.arange(leaves.n_leaves, device=device) // size * size
    members = branch.clamp(max=leaves.n_leaves - size)[:, None] + torch.arange(size, device=device)
    starts = torch.arange(leaves.n_leaves + 1, device=device) * size
    return starts, members.ravel().to(torch.int32)


def _ranges(ends: Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of leaves whose lists, which end there, can be kept at once."""
    host = ends.cpu()
    first = 0
    while first < len(host):
        before = int(host[first - 1]) if first else 0
        last = int(torch.searchsorted(host, before + _MAX_LISTED, right=True))
        last = max(last, first + 1)
        yield first, last
        first = last


@dispatch("_radii_triton")
def lower_to_rank(
    leaves: Leaves, starts: Tensor, members: Tensor, rank: int, squared: Tensor, first: int = 0
) -> None:
    """Lower the squared radii to the squared distance of some rank, from 1, among listed leaves.

    Lists are of the leaves from `first` on; the i-th is members[starts[i] : starts[i + 1]].
    """
    points = leaves.points.view(-1, LEAF, leaves.points.shape[1])
    nowhere = torch.full_like(points[:1], torch.inf)
    points, absent = torch.cat([points, nowhere]), len(points)
    sizes = starts.diff().cpu()
    begin = 0
    while begin < len(sizes):
        end, most = _fill_chunk(sizes, begin)
        places = starts[begin:end, None] + torch.arange(most, device=starts.device)
        is_listed = places < starts[begin + 1 : end + 1, None]
        listed = members[torch.where(is_listed, places, 0)] if most else members[places]
        others = points[torch.where(is_listed, listed, absent)].flatten(1, 2)
        own = slice((first + begin) * LEAF, (first + end) * LEAF)
        if others.shape[1] >= rank:
            found = _of_rank(points[first + begin : first + end], others, rank)
            squared[own] = torch.minimum(squared[own], found.ravel())
        begin = end


@dispatch("_radii_triton")
def count_close(leaves: Leaves, squared: Tensor) -> Tensor:
    """Count the leaves that may have points nearer than the radius to one of a leaf's."""
    closeness = [close.sum(dim=1) for close in _close(leaves, squared, 0, leaves.n_leaves)]
    return torch.cat(closeness)


@dispatch("_radii_triton")
def list_close(leaves: Leaves, squared: Tensor, starts: Tensor, first: int) -> Tensor:
    """List those leaves, for all from `first` on that have a start, in ascending order."""
    last = first + len(starts) - 1
    lists = [close.nonzero()[:, 1] for close in _close(leaves, squared, first, last)]
    return torch.cat(lists).to(torch.int32)


def _close(leaves: Leaves, squared: Tensor, first: int, last: int) -> Iterator[Tensor]:
    """Yield for some leaves at a time whether each leaf is close to them."""
    low, high = leaves.low[: leaves.n_leaves], leaves.high[: leaves.n_leaves]
    points, bounds = leaves.points.view(-1, LEAF, leaves.points.shape[1]), squared.view(-1, LEAF, 1)
    is_point = torch.arange(len(squared), device=squared.device) < len(leaves.order)
    bounds = torch.where(is_point.view_as(bounds), bounds * SLACK, 0.0)
    step = max(_CHUNK // (LEAF * leaves.n_leaves), 1)
    for begin in range(first, last, step):
        part = slice(begin, min(begin + step, last))
        away = torch.zeros((), dtype=squared.dtype, device=squared.device)
        for axis in range(points.shape[2]):
            x = points[part, :, None, axis]
            gap = torch.maximum(low[:, axis] - x, x - high[:, axis]).clamp(min=0.0)
            away = away + gap * gap
        yield (away < bounds[part]).any(dim=1)


def _fill_chunk(sizes: Tensor, begin: int) -> tuple[int, int]:
    """Last of the leaves, exclusive, that can be searched at once, and its longest list."""
    end, most = begin, 0
    while end < len(sizes):
        longer = max(most, int(sizes[end]))
        if end > begin and (end + 1 - begin) * longer * LEAF**2 > _CHUNK:
            break
        end, most = end + 1, longer
    return end, most


def _of_rank(own: Tensor, others: Tensor, rank: int) -> Tensor:
    """Squared distance of some rank from each point to those of its leaf's list."""
    distances = torch.zeros((), dtype=own.dtype, device=own.device)
    for axis in range(own.shape[2]):
        apart = own[:, :, None, axis] - others[:, None, :, axis]
        distances = distances + apart * apart
    # From an infinitely far point to another it is no number.
    distances = distances.nan_to_num_(nan=torch.inf, posinf=torch.inf)
    return distances.topk(rank, dim=2, largest=False).values.amax(dim=2)
