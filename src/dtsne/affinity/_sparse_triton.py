# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-decorators=False
"""From squared distances to sparse P by kernels with a program for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.affinity._sparse_torch import SparseAffinities

# Four entries a lane: exponentials in float64 take many registers.
_ENTRIES_AT_ONCE = 256
_WARPS = 2


def put_affinities(affinities: SparseAffinities, sigmas: Tensor) -> None:
    """See :func:`dtsne.affinity._sparse_torch.put_affinities_plainly`."""
    n = len(sigmas)
    shifts, norms = torch.empty_like(sigmas), torch.empty_like(sigmas)
    _normalise[(n,)](
        affinities.row_starts,
        affinities.columns,
        affinities.values,
        sigmas,
        shifts,
        norms,
        WIDTH=_ENTRIES_AT_ONCE,
        num_warps=_WARPS,
    )
    _squares_to_affinities[(n,)](
        affinities.row_starts,
        affinities.columns,
        affinities.values,
        sigmas,
        shifts,
        norms,
        n,
        WIDTH=_ENTRIES_AT_ONCE,
        num_warps=_WARPS,
    )


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
