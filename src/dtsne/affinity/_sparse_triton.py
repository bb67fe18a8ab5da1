# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-decorators=False
"""Sparse P by kernels with a program for each row: merging neighbour lists, and affinities.

Lists and their transpose are sorted, so that an entry's place in their union is its place in its
own list, plus that of its column in the other list, less the number of columns before it that are
in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.affinity._sparse_torch import SparseAffinities

# 16 entries a lane of one warp: a list of 300 neighbours is ranked in one go.
_RANKED_AT_ONCE = 512
_MERGED_AT_ONCE = 128
# Four entries a lane: exponentials in float64 take many registers.
_ENTRIES_AT_ONCE = 256
_WARPS = 2


def union(
    indices: Tensor, squared: Tensor, starts: Tensor, sources: Tensor, from_sources: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """See :func:`dtsne.affinity._sparse_torch.union`."""
    m, k = indices.shape
    own, own_squared = torch.empty_like(indices), torch.empty_like(squared)
    _sort_lists[(m, triton.cdiv(k, _RANKED_AT_ONCE))](
        indices, squared, own, own_squared, k, WIDTH=_RANKED_AT_ONCE, num_warps=1
    )
    lengths = torch.empty(m, dtype=torch.int64, device=indices.device)
    _count_union[(m,)](own, starts, sources, lengths, k, WIDTH=_MERGED_AT_ONCE, num_warps=1)
    ends = lengths.cumsum(dim=0)
    n_entries = int(ends[-1])
    columns = torch.empty(n_entries, dtype=torch.int32, device=indices.device)
    merged = torch.empty(n_entries, dtype=squared.dtype, device=indices.device)
    _fill_union[(m,)](
        own, own_squared, starts, sources, from_sources, ends, lengths, columns, merged, k,
        WIDTH=_MERGED_AT_ONCE, num_warps=1,
    )  # fmt: skip
    return lengths, columns, merged


@triton.jit(do_not_specialize=["k"])
def _sort_lists(indices, squared, own, own_squared, k, WIDTH: tl.constexpr):
    """Put each list in the order of its columns.

    An entry's place is the number of smaller ones, by comparing all with all: at 300 neighbours as
    much work as a sorting network, and nothing is exchanged between the lanes.
    """
    begin = tl.program_id(0).to(tl.int64) * k
    place = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    exists = place < k
    column = tl.load(indices + begin + place, mask=exists, other=0)
    distance = tl.load(squared + begin + place, mask=exists, other=0.0)
    rank = tl.zeros((WIDTH,), tl.int32)
    for other in range(k):
        # The sign of a difference, −1 or 0: two instructions, where a comparison takes four.
        rank -= (tl.load(indices + begin + other) - column) >> 31
    tl.store(own + begin + rank, column, mask=exists)
    tl.store(own_squared + begin + rank, distance, mask=exists)


@triton.jit
def _count_less(ascending, length, numbers, exists):
    """How many of the numbers in memory are less than each of these, by halving."""
    low = tl.zeros_like(numbers)
    high = low + length
    left = length
    while left > 0:
        middle = (low + high) >> 1
        searching = exists & (low < high)
        is_less = tl.load(ascending + middle, mask=searching, other=0) < numbers
        low = tl.where(searching & is_less, middle + 1, low)
        high = tl.where(searching & (is_less == 0), middle, high)
        left = left >> 1
    return low


@triton.jit
def _find(ascending, length, numbers, exists):
    """How many are less, and whether the number itself is there."""
    low = _count_less(ascending, length, numbers, exists)
    inside = exists & (low < length)
    return low, inside & (tl.load(ascending + low, mask=inside, other=-1) == numbers)


@triton.jit(do_not_specialize=["k"])
def _count_union(own, starts, sources, lengths, k, WIDTH: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    start = tl.load(starts + i)
    n_sources = (tl.load(starts + i + 1) - start).to(tl.int32)
    in_both = tl.zeros((WIDTH,), tl.int32)
    for first in range(0, k, WIDTH):
        place = first + tl.arange(0, WIDTH)
        exists = place < k
        column = tl.load(own + i * k + place, mask=exists, other=0)
        _, found = _find(sources + start, n_sources, column, exists)
        in_both += found.to(tl.int32)
    tl.store(lengths + i, (k + n_sources - tl.sum(in_both, axis=0)).to(tl.int64))


@triton.jit(do_not_specialize=["k"])
def _fill_union(
    own, own_squared, starts, sources, from_sources, ends, lengths, columns, merged, k,
    WIDTH: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    start = tl.load(starts + i)
    n_sources = (tl.load(starts + i + 1) - start).to(tl.int32)
    begin = tl.load(ends + i) - tl.load(lengths + i)
    n_before = tl.zeros((), tl.int32)
    for first in range(0, k, WIDTH):
        place = first + tl.arange(0, WIDTH)
        exists = place < k
        column = tl.load(own + i * k + place, mask=exists, other=0)
        n_less, found = _find(sources + start, n_sources, column, exists)
        distance = tl.load(own_squared + i * k + place, mask=exists, other=0.0)
        other = tl.load(from_sources + start + n_less, mask=found, other=0.0)
        distance = tl.where(found, (distance + other) / 2, distance)
        both = found.to(tl.int32)
        new_place = begin + place + n_less - (n_before + tl.cumsum(both, axis=0) - both)
        tl.store(columns + new_place, column, mask=exists)
        tl.store(merged + new_place, distance, mask=exists)
        n_before += tl.sum(both, axis=0)
    n_before = tl.zeros((), tl.int32)
    for first in range(0, n_sources, WIDTH):
        place = first + tl.arange(0, WIDTH)
        exists = place < n_sources
        column = tl.load(sources + start + place, mask=exists, other=0)
        n_less, found = _find(own + i * k, k, column, exists)
        distance = tl.load(from_sources + start + place, mask=exists, other=0.0)
        both = found.to(tl.int32)
        new_place = begin + place + n_less - (n_before + tl.cumsum(both, axis=0) - both)
        # Those in both lists were put there above.
        is_new = exists & (found == 0)
        tl.store(columns + new_place, column, mask=is_new)
        tl.store(merged + new_place, distance, mask=is_new)
        n_before += tl.sum(both, axis=0)


def put_affinities(affinities: SparseAffinities, sigmas: Tensor) -> None:
    """See :func:`dtsne.affinity._sparse_torch.put_affinities`."""
    n = len(sigmas)
    shifts, norms = torch.empty_like(sigmas), torch.empty_like(sigmas)
    _normalise[(n,)](
        affinities.row_starts, affinities.columns, affinities.values, sigmas, shifts, norms,
        WIDTH=_ENTRIES_AT_ONCE, num_warps=_WARPS,
    )  # fmt: skip
    _squares_to_affinities[(n,)](
        affinities.row_starts, affinities.columns, affinities.values, sigmas, shifts, norms, n,
        WIDTH=_ENTRIES_AT_ONCE, num_warps=_WARPS,
    )  # fmt: skip


@triton.jit
def _exponents(columns, values, sigmas, own_sigma, place, exists):
    """‖x_i − x_j‖² / (2 σ_ij²), infinite where there is no entry; and j."""
    j = tl.load(columns + place, mask=exists, other=0)
    squared = tl.load(values + place, mask=exists, other=float("inf")).to(tl.float64)
    sigma_sum = own_sigma + tl.load(sigmas + j, mask=exists, other=1.0)
    return 2.0 * squared / (sigma_sum * sigma_sum), j


@triton.jit
def _normalise(row_starts, columns, values, sigmas, shifts, norms, WIDTH: tl.constexpr):
    """Row minima of the exponents and the sums after that shift.

    Without the shift the whole row of an outlier would underflow to 0.
    """
    i = tl.program_id(0)
    begin = tl.load(row_starts + i)
    end = tl.load(row_starts + i + 1)
    own_sigma = tl.load(sigmas + i)
    smallest = tl.full((WIDTH,), float("inf"), tl.float64)
    for first in range(begin, end, WIDTH):
        place = first + tl.arange(0, WIDTH)
        exponents, _ = _exponents(columns, values, sigmas, own_sigma, place, place < end)
        smallest = tl.minimum(smallest, exponents)
    shift = tl.min(smallest, axis=0)
    total = tl.zeros((WIDTH,), tl.float64)
    for first in range(begin, end, WIDTH):
        place = first + tl.arange(0, WIDTH)
        exponents, _ = _exponents(columns, values, sigmas, own_sigma, place, place < end)
        total += tl.exp(shift - exponents)
    tl.store(shifts + i, shift)
    tl.store(norms + i, tl.sum(total, axis=0))


@triton.jit(do_not_specialize=["n"])
def _squares_to_affinities(
    row_starts, columns, values, sigmas, shifts, norms, n, WIDTH: tl.constexpr
):
    """Put p_ij in the place of the squared distances."""
    i = tl.program_id(0)
    begin = tl.load(row_starts + i)
    end = tl.load(row_starts + i + 1)
    own_sigma, own_shift, own_norm = tl.load(sigmas + i), tl.load(shifts + i), tl.load(norms + i)
    twice_n = 2.0 * n.to(tl.float64)
    for first in range(begin, end, WIDTH):
        place = first + tl.arange(0, WIDTH)
        exists = place < end
        exponents, j = _exponents(columns, values, sigmas, own_sigma, place, exists)
        shift = tl.load(shifts + j, mask=exists, other=0.0)
        norm = tl.load(norms + j, mask=exists, other=1.0)
        ours = tl.exp(own_shift - exponents) / own_norm
        theirs = tl.exp(shift - exponents) / norm
        tl.store(values + place, (ours + theirs) / twice_n, mask=exists)
