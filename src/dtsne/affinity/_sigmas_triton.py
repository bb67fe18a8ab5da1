# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-decorators=False
"""The search for σ as a kernel: a program for each row, which stays in registers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.affinity._affinities import ENTROPY_TOLERANCE, MAX_SEARCH_STEPS

if TYPE_CHECKING:
    from torch import Tensor

# Eight entries a lane in float64 leave room for the exponential's temporaries, and a row of 300
# neighbours needs no more than two warps to agree on a sum. Only dense rows are longer than 4096.
_ENTRIES_PER_WARP = 256
_MAX_WARPS = 16


def find_sigmas(squared: Tensor, perplexity: float, *, skip_diagonal: bool = False) -> Tensor:
    """See :func:`dtsne.affinity._affinities.find_sigmas`."""
    n, k = squared.shape
    sigmas = torch.empty(n, dtype=torch.float64, device=squared.device)
    # By a pointer, as Triton passes plain numbers in float32.
    wanted = torch.full((1,), math.log(perplexity), dtype=torch.float64, device=squared.device)
    width = max(32, triton.next_power_of_2(k))
    _search_sigmas[(n,)](
        squared.contiguous(),
        wanted,
        sigmas,
        k,
        SKIP_DIAGONAL=skip_diagonal,
        WIDTH=width,
        TOLERANCE=ENTROPY_TOLERANCE,
        MAX_STEPS=MAX_SEARCH_STEPS,
        num_warps=min(_MAX_WARPS, max(1, width // _ENTRIES_PER_WARP)),
    )
    return sigmas


@triton.jit
def _search_sigmas(
    squared, wanted_entropy, sigmas, k, SKIP_DIAGONAL: tl.constexpr, WIDTH: tl.constexpr,
    TOLERANCE: tl.constexpr, MAX_STEPS: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    wanted = tl.load(wanted_entropy)
    places = tl.arange(0, WIDTH)
    used = places < k
    if SKIP_DIAGONAL:
        used = used & (places != i)
    row = tl.load(squared + i * k + places, mask=used, other=float("inf")).to(tl.float64)
    nearest = tl.min(row, axis=0)
    gaps = tl.where(used, row - nearest, 0.0)
    n_used = tl.sum(used.to(tl.int32), axis=0)
    excess = tl.sum(gaps, axis=0) / n_used.to(tl.float64)
    n_nearest = tl.sum((used & (gaps == 0.0)).to(tl.int32), axis=0)
    # The entropy of the nearest alone may already be too large for any σ.
    hopeless = (tl.log(n_nearest.to(tl.float64)) >= wanted) | (excess == 0.0)
    lowest = tl.full((), float("-inf"), tl.float64)
    highest = tl.full((), float("inf"), tl.float64)
    log_precision = -tl.log(tl.where(hopeless, 1.0, excess))
    searching = hopeless == 0
    step = 0
    while searching & (step < MAX_STEPS):
        precision = tl.exp(log_precision)
        weights = tl.where(used, tl.exp(-precision * gaps), 0.0)
        total = tl.sum(weights, axis=0)
        weighted = weights * gaps
        mean = tl.sum(weighted, axis=0) / total
        second = tl.sum(weighted * gaps, axis=0) / total
        surplus = tl.log(total) + precision * mean - wanted
        searching = tl.abs(surplus) >= TOLERANCE
        lowest = tl.where(surplus > 0.0, log_precision, lowest)
        highest = tl.where(surplus > 0.0, highest, log_precision)
        slope = precision * precision * (second - mean * mean)
        rises = slope > 0.0
        newton = surplus / tl.where(rises, slope, 1.0)
        moved = log_precision + tl.where(rises, newton, float("inf"))
        halved = tl.where(lowest == float("-inf"), highest - 1.0, 0.5 * (lowest + highest))
        halved = tl.where(highest == float("inf"), lowest + 1.0, halved)
        moved = tl.where((lowest < moved) & (moved < highest), moved, halved)
        log_precision = tl.where(searching, moved, log_precision)
        step += 1
    found = tl.sqrt(0.5 / tl.exp(log_precision))
    tl.store(sigmas + i, tl.where(hopeless, tl.sqrt(nearest), found))
