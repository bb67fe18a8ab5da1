"""Radii of neighbourhoods in the map, by Triton; see :mod:`dtsne.optimize._radii_torch`.

Where the distance of some rank lies is found by counting those up to a trial, again and again: they
are not kept, as they are computed sooner than read, and the points of a list stay in the
first-level cache. Each pass also tells the distances next to the trial: the bounds are distances
themselves, so that it ends after few passes, and exactly, even where many are equal.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.optimize._leaves_torch import GROUP, LEAF, SLACK

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.optimize._leaves_torch import Leaves

# Points that those of a leaf are compared with at once, by bytes of a coordinate: with eight warps
# each thread has 8 pairs, or 4, and for each a count and two distances in registers. The longest
# lists, of outliers, are what the device waits for in the end: many warps are for them.
_TILES, _WARPS = {4: 2 * LEAF, 8: LEAF}, 8


def lower_to_rank(
    leaves: Leaves, starts: Tensor, members: Tensor, rank: int, squared: Tensor, first: int = 0
) -> None:
    """Lower the squared radii to the squared distance of some rank, from 1, among listed leaves."""
    _lower_to_rank[(len(starts) - 1,)](
        leaves.points, starts, members, squared, first, rank,
        AXES=leaves.points.shape[1], LEAF=LEAF, TILE=_TILES[squared.element_size()],
        LARGEST=torch.finfo(squared.dtype).max, num_warps=_WARPS,
    )  # fmt: skip


def count_close(leaves: Leaves, squared: Tensor) -> Tensor:
    """Count the leaves that may have points nearer than the radius to one of a leaf's."""
    counts = torch.empty(leaves.n_leaves, dtype=torch.int64, device=squared.device)
    _launch_close(leaves, squared, counts, counts, 0, fills=False)
    return counts


def list_close(leaves: Leaves, squared: Tensor, starts: Tensor, first: int) -> Tensor:
    """List those leaves, for all from `first` on that have a start, in ascending order."""
    members = torch.empty(int(starts[-1]), dtype=torch.int32, device=squared.device)
    _launch_close(leaves, squared, starts[:-1], members, first, fills=True)
    return members


def _launch_close(
    leaves: Leaves, squared: Tensor, starts: Tensor, found: Tensor, first: int, *, fills: bool
) -> None:
    _find_close[(len(starts),)](
        leaves.points, squared, leaves.low, leaves.high, leaves.group_low, leaves.group_high,
        starts, found, first, len(leaves.order), len(leaves.group_low), SLACK,
        AXES=leaves.points.shape[1], LEAF=LEAF, GROUP=GROUP, FILLS=fills,
        num_warps=_WARPS,
    )  # fmt: skip


@triton.jit(do_not_specialize=["first", "rank"])
def _lower_to_rank(
    points, starts, members, squared, first, rank,
    AXES: tl.constexpr, LEAF: tl.constexpr, TILE: tl.constexpr, LARGEST: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0)
    begin, end = tl.load(starts + at), tl.load(starts + at + 1)
    i = (first + at) * LEAF + tl.arange(0, LEAF)
    x0 = tl.load(points + i * AXES)
    x1 = tl.load(points + i * AXES + 1) if AXES > 1 else x0
    x2 = tl.load(points + i * AXES + 2) if AXES > 2 else x0
    # The distance looked for is one of [low, high]; so many are below, and up to high.
    high = tl.load(squared + i)
    low = tl.zeros_like(high)
    n_below = tl.zeros([LEAF], tl.int32)
    n_within = tl.zeros([LEAF], tl.int32)
    trial = tl.minimum(high, LARGEST)
    n_passes = 0
    while tl.max((low < high).to(tl.int32), axis=0) > 0:
        n_found, below, above = _pass(
            points, members, begin, end, x0, x1, x2, trial, AXES, LEAF, TILE
        )
        is_open = low < high
        is_enough = is_open & (n_found >= rank)
        is_short = is_open & (n_found < rank)
        high = tl.where(is_enough, below, high)
        n_within = tl.where(is_enough, n_found, n_within)
        low = tl.where(is_short, tl.minimum(above, high), low)
        n_below = tl.where(is_short, n_found, n_below)
        low = tl.where(is_enough & (n_found == rank), high, low)
        trial = _next_trial(low, high, n_below, n_within, rank, n_passes)
        n_passes += 1
    tl.store(squared + i, high)


@triton.jit
def _pass(
    points, members, begin, end, x0, x1, x2, trial,
    AXES: tl.constexpr, LEAF: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Count the squared distances up to a trial; the largest of those, and the smallest above."""
    place = tl.arange(0, TILE)
    count = tl.zeros([LEAF, TILE], tl.int32)
    below = tl.zeros([LEAF, TILE], trial.dtype)
    above = tl.full([LEAF, TILE], float("inf"), trial.dtype)
    for entry in range(begin, end, TILE // LEAF):
        is_listed = entry + place // LEAF < end
        leaf = tl.load(members + entry + place // LEAF, mask=is_listed, other=0)
        j = leaf * LEAF + place % LEAF
        # What is not listed is as far as can be.
        z0 = tl.load(points + j * AXES, mask=is_listed, other=float("inf"))
        d0 = x0[:, None] - z0[None, :]
        distance = d0 * d0
        if AXES > 1:
            z1 = tl.load(points + j * AXES + 1, mask=is_listed, other=0.0)
            d1 = x1[:, None] - z1[None, :]
            distance += d1 * d1
        if AXES > 2:
            z2 = tl.load(points + j * AXES + 2, mask=is_listed, other=0.0)
            d2 = x2[:, None] - z2[None, :]
            distance += d2 * d2
        is_within = distance <= trial[:, None]
        count += is_within.to(tl.int32)
        below = tl.where(is_within & (distance > below), distance, below)
        above = tl.where((distance > trial[:, None]) & (distance < above), distance, above)
    return tl.sum(count, axis=1), tl.max(below, axis=1), tl.min(above, axis=1)


@triton.jit
def _next_trial(low, high, n_below, n_within, rank, n_passes):
    """Try where the rank should be if distances are even between the bounds, or the middle."""
    expected = (rank - n_below - 0.5) / tl.maximum(n_within - n_below, 1).to(tl.float32)
    even = low + (high - low) * expected
    # Of bounds that differ by decades, the middle of their logarithms.
    middle = tl.where(high > 8.0 * low, tl.sqrt(low) * tl.sqrt(high), low + 0.5 * (high - low))
    trial = tl.where(n_passes % 3 == 2, middle, even)
    return tl.where((trial > low) & (trial < high), trial, low)


@triton.jit(do_not_specialize=["first", "n", "n_groups"])
def _find_close(
    points, squared, low, high, group_low, group_high, starts, found, first, n, n_groups, slack,
    AXES: tl.constexpr, LEAF: tl.constexpr, GROUP: tl.constexpr, FILLS: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0)
    own = first + at
    i = own * LEAF + tl.arange(0, LEAF)
    x0 = tl.load(points + i * AXES)
    x1 = tl.load(points + i * AXES + 1) if AXES > 1 else x0
    x2 = tl.load(points + i * AXES + 2) if AXES > 2 else x0
    bound = tl.where(i < n, tl.load(squared + i) * slack, 0.0)
    place = tl.arange(0, GROUP)
    total = tl.load(starts + at) if FILLS else tl.zeros([], tl.int64)
    for begin in range(0, n_groups, GROUP):
        g = begin + place
        away = _box_gap(low, high, own, group_low, group_high, g, g < n_groups, 0, AXES)
        if AXES > 1:
            away += _box_gap(low, high, own, group_low, group_high, g, g < n_groups, 1, AXES)
        if AXES > 2:
            away += _box_gap(low, high, own, group_low, group_high, g, g < n_groups, 2, AXES)
        is_close = (g < n_groups) & (away < tl.max(bound, axis=0))
        # Group after group of those that may have close leaves.
        group = tl.min(tl.where(is_close, g, n_groups), axis=0)
        while group < n_groups:
            leaf = group * GROUP + place
            gap = _gap(x0, low, high, leaf, 0, AXES)
            if AXES > 1:
                gap += _gap(x1, low, high, leaf, 1, AXES)
            if AXES > 2:
                gap += _gap(x2, low, high, leaf, 2, AXES)
            is_listed = tl.max((gap < bound[:, None]).to(tl.int32), axis=0)
            if FILLS:
                after = tl.cumsum(is_listed, axis=0)
                tl.store(found + total + after - 1, leaf, mask=is_listed > 0)
            total += tl.sum(is_listed, axis=0)
            group = tl.min(tl.where(is_close & (g > group), g, n_groups), axis=0)
    if not FILLS:
        tl.store(found + at, total)


@triton.jit
def _box_gap(
    low, high, own, group_low, group_high, g, mask, axis: tl.constexpr, AXES: tl.constexpr
):
    """Squared gap along an axis between the box of a leaf and those of groups."""
    own_low, own_high = tl.load(low + own * AXES + axis), tl.load(high + own * AXES + axis)
    above = tl.load(group_low + g * AXES + axis, mask=mask, other=0.0) - own_high
    below = own_low - tl.load(group_high + g * AXES + axis, mask=mask, other=0.0)
    gap = tl.maximum(tl.maximum(above, below), 0.0)
    return gap * gap


@triton.jit
def _gap(x, low, high, leaf, axis: tl.constexpr, AXES: tl.constexpr):
    """Squared gap along an axis between points and the boxes of leaves."""
    above = tl.load(low + leaf * AXES + axis)[None, :] - x[:, None]
    below = x[:, None] - tl.load(high + leaf * AXES + axis)[None, :]
    gap = tl.maximum(tl.maximum(above, below), 0.0)
    return gap * gap
