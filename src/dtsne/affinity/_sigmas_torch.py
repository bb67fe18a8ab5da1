"""σ of every point on a device; :mod:`dtsne.affinity._base` defines it.

The search is the one of the CPU, step by step and in float64: the rows are few enough that a device
does it in a millisecond, and the two find the same σ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from torch import Tensor

# Entropies agree to this many nats: σ is then right to about one part in a million.
ENTROPY_TOLERANCE = 1e-7
MAX_SEARCH_STEPS = 100
# The longest row that a kernel keeps in registers.
_LONGEST_ROW = 16384
# Entries that the plain search works on at a time: some 10 numbers of 8 bytes each.
_ENTRIES_AT_ONCE = 2**22


def find_sigmas(squared: Tensor, perplexity: float, *, skip_diagonal: bool = False) -> Tensor:
    """Find each row's σ by a bracketed Newton search on log(1/2σ²).

    Parameters
    ----------
    squared : Tensor of shape (n, k)
        Squared distances from each point to its neighbours, in any order.
    perplexity : float
        Less than k.
    skip_diagonal : bool
        Set for a square matrix of distances, in which each point meets itself.

    Returns
    -------
    Tensor of shape (n,), float64
        0 where a point has at least as many copies as the perplexity: no σ gives it then.
    """
    if runs_triton(squared) and squared.shape[1] <= _LONGEST_ROW:
        from dtsne.affinity import _sigmas_triton

        return _sigmas_triton.find_sigmas(squared, perplexity, skip_diagonal=skip_diagonal)
    return find_sigmas_plainly(squared, perplexity, skip_diagonal=skip_diagonal)


def find_sigmas_plainly(
    squared: Tensor, perplexity: float, *, skip_diagonal: bool = False
) -> Tensor:
    """Do the same without Triton, for some rows at a time."""
    n, k = squared.shape
    wanted = math.log(perplexity)
    n_rows = max(1, _ENTRIES_AT_ONCE // k)
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
    # The entropy of the nearest alone may already be too large for any σ. Only copies at 0 make it
    # so in practice; equidistant points (a simplex) get the scale of their distance.
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
