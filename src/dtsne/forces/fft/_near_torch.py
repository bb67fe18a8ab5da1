"""Near pairs of the FFT repulsion, on the device; see :mod:`dtsne.forces.fft._repulsion`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtsne.forces.fft._cells import BORDER, steps_to_rows
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.forces.fft._cells_torch import Cells

# Points, and candidates of each, that are compared at once.
_CHUNK, _TILE = 4096, 256


@dispatch("_near_triton")
def sum_near(y: Tensor, s: Tensor, cells: Cells, cutoff: float) -> Tensor:
    """Sum w u³ over the pairs nearer than the cutoff.

    Parameters
    ----------
    y : Tensor of shape (n, axes)
        The map, in order of the cells, which are half as wide as the cutoff.
    s : Tensor of shape (n,)
        Scales, in the same order.
    cells : Cells
    cutoff : float

    Returns
    -------
    Tensor of shape (n, 4), float32
        Force along three axes, −½ ∇ Σ_j w u³, and Σ_j w u³.
    """
    # In units of the cutoff: float32 would not hold its fourth power in all maps.
    y, s = y / cutoff, (s / cutoff).to(torch.float32)
    found = torch.zeros(len(s), 4, dtype=torch.float32, device=y.device)
    n_axes = y.shape[1]
    for begin in range(0, len(s), _CHUNK):
        own = torch.arange(begin, min(begin + _CHUNK, len(s)), device=y.device)
        for other in _candidates(own, cells):
            other_or_own = torch.where(other < 0, own[:, None], other)
            offsets = (y[own, None] - y[other_or_own]).to(torch.float32)
            is_pair = other_or_own != own[:, None]
            push, total = _near_kernel(offsets, s[own, None] + s[other_or_own], is_pair)
            found[own, :n_axes] += (push[..., None] * offsets).sum(dim=1)
            found[own, 3] += total.sum(dim=1)
    found[:, :3] /= cutoff
    return found


def _candidates(own: Tensor, cells: Cells) -> Iterator[Tensor]:
    """Yield the points of the cells around each, of shape (len(own), ≤ tile), and −1 after them."""
    cell = cells.cell_of[own].to(torch.int64)
    for step in steps_to_rows(cells.counts).tolist():
        first = cells.starts[cell + step - BORDER].to(torch.int64)
        after = cells.starts[cell + step + BORDER + 1].to(torch.int64)
        most = int((after - first).max())
        for begin in range(0, most, _TILE):
            end = min(begin + _TILE, most)
            other = first[:, None] + torch.arange(begin, end, device=own.device)
            yield torch.where(other < after[:, None], other, -1)


def _near_kernel(offsets: Tensor, scale: Tensor, is_pair: Tensor) -> tuple[Tensor, Tensor]:
    """Return −d(w u³)/d(d²) and w u³ in units of the cutoff; 0 where there is no pair."""
    squared = (offsets * offsets).sum(dim=-1)
    scale2 = scale * scale
    v, c = 1.0 / (scale2 + 4.0 * squared), 1.0 / (scale2 + 4.0)
    u = torch.where(is_pair, 4.0 * (1.0 - squared).clamp(min=0.0) * c, 0.0)
    w_u2 = scale2 * v * u * u
    # As w' = −4 v w and u' = −4 c.
    return w_u2 * (4.0 * v * u + 12.0 * c), w_u2 * u
