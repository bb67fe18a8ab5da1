"""σ of every point on a device; the twin of :mod:`dtsne.affinity._affinities`.

The search is the one of the CPU, step by step and in float64: the rows are few enough that a device
does it in a millisecond, and the two find the same σ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from dtsne.affinity._affinities import ENTROPY_TOLERANCE, MAX_SEARCH_STEPS
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from torch import Tensor

# The longest row that a kernel keeps in registers.
_MAX_ROW = 16384
# Entries that the plain search works on at a time: some 10 numbers of 8 bytes each.
_MAX_ENTRIES = 2**22


def _fits_registers(squared: Tensor, *_: object, **__: object) -> bool:
    return squared.shape[1] <= _MAX_ROW


@dispatch("_sigmas_triton", when=_fits_registers)
def find_sigmas(squared: Tensor, perplexity: float, *, skip_diagonal: bool = False) -> Tensor:
    """See :func:`dtsne.affinity._affinities.find_sigmas`."""
    n, k = squared.shape
    wanted = math.log(perplexity)
    n_rows = max(1, _MAX_ENTRIES // k)
    sigmas = torch.empty(n, dtype=torch.float64, device=squared.device)
    for first in range(0, n, n_rows):
        rows = squared[first : first + n_rows].double()
        if skip_diagonal:
            rows = _without_diagonal(rows, first)
        sigmas[first : first + n_rows] = _sigmas_of_rows(rows, wanted)
    return sigmas


def _without_diagonal(rows: Tensor, first: int) -> Tensor:
    """Leave out the entry of row r in column first + r."""
    n_rows, k = rows.shape
    others = torch.arange(k - 1, device=rows.device)
    own = torch.arange(first, first + n_rows, device=rows.device)[:, None]
    return rows.gather(1, others + (others >= own))


def _sigmas_of_rows(rows: Tensor, wanted: float) -> Tensor:
    nearest = rows.amin(dim=1)
    gaps = rows - nearest[:, None]
    excess = gaps.mean(dim=1)
    # The entropy of the nearest alone may already be too large for any σ. Only duplicates at 0
    # make it so in practice; equidistant points (a simplex) get the scale of their distance.
    hopeless = ((gaps == 0).sum(dim=1).double().log() >= wanted) | (excess == 0)
    log_precision = _search(gaps, -excess.log(), hopeless, wanted)
    return torch.where(hopeless, nearest.sqrt(), (0.5 / log_precision.exp()).sqrt())


def _search(gaps: Tensor, log_precision: Tensor, done: Tensor, wanted: float) -> Tensor:
    """Newton's method on the entropy as a function of log(1/2σ²), kept within a bracket."""
    lowest = torch.full_like(log_precision, -math.inf)
    highest = torch.full_like(log_precision, math.inf)
    for _ in range(MAX_SEARCH_STEPS):
        precision = log_precision.exp()
        weights = (-precision[:, None] * gaps).exp_()
        total = weights.sum(dim=1)
        weights *= gaps
        mean = weights.sum(dim=1) / total
        second = (weights * gaps).sum(dim=1) / total
        surplus = total.log() + precision * mean - wanted
        done = done | (surplus.abs() < ENTROPY_TOLERANCE)
        if bool(done.all()):
            break
        lowest = torch.where(surplus > 0, log_precision, lowest)
        highest = torch.where(surplus > 0, highest, log_precision)
        slope = precision * precision * (second - mean * mean)
        moved = log_precision + torch.where(slope > 0, surplus / slope, math.inf)
        halved = torch.where(
            highest == math.inf,
            lowest + 1.0,
            torch.where(lowest == -math.inf, highest - 1.0, 0.5 * (lowest + highest)),
        )
        moved = torch.where((lowest < moved) & (moved < highest), moved, halved)
        log_precision = torch.where(done, log_precision, moved)
    return log_precision
