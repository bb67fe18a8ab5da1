"""What surrounds the sums of the FFT repulsion: points into the order of their cells, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from dtsne.forces.fft._plan import far_kernel
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from torch import Tensor


# A stencil reaches two nodes beyond the one before a point.
EDGE = 2.01


class Arranged(NamedTuple):
    """The points in order of their cells."""

    relative: Tensor  # (n, axes): coordinates, from the origin on
    positions: Tensor  # (n, axes): in steps of the grid
    scales: Tensor  # (n,)
    weights: Tensor  # (n, nodes)


def arrange(
    y: Tensor,
    scales: Tensor,
    weights: Tensor,
    order: Tensor,
    origin: Tensor,
    spacing: float,
    lengths: tuple[int, ...],
) -> Arranged:
    """Take the points in an order, as the grid and the near pairs want them.

    Positions beyond the grid, of these lengths along the map's axes, are brought to its edge.
    """
    if runs_triton(y):
        from dtsne.forces.fft._arrange_triton import arrange_triton

        return arrange_triton(y, scales, weights, order, origin, spacing, lengths)
    return arrange_torch(y, scales, weights, order, origin, spacing, lengths)


def arrange_torch(
    y: Tensor,
    scales: Tensor,
    weights: Tensor,
    order: Tensor,
    origin: Tensor,
    spacing: float,
    lengths: tuple[int, ...],
) -> Arranged:
    """Do the same by PyTorch alone, on any device."""
    relative = (y - origin)[order]
    last = torch.tensor(lengths, dtype=y.dtype, device=y.device) - EDGE
    positions = torch.minimum(relative * (1.0 / spacing) + 1.0, last)
    return Arranged(relative, positions, scales[order], weights[order])


def join(
    far: Tensor, near: Tensor | None, scales: Tensor, order: Tensor, cutoff: float, spacing: float
) -> Tensor:
    """Add far and near part, and take the points' own share away, in the order of the map.

    Parameters
    ----------
    far : Tensor of shape (n, 4)
        Gradient along three axes, in steps of the grid, and value of the potential.
    near : Tensor of shape (n, 4) or None
        Forces, and Σ_j w u³; None without a cutoff.
    scales : Tensor of shape (n,)
        In the order of these.
    order : Tensor of shape (n,)
        Where each of these belongs.
    cutoff, spacing : float

    Returns
    -------
    Tensor of shape (n, 4)
        Forces, and Σ_j w.
    """
    if runs_triton(far):
        from dtsne.forces.fft._arrange_triton import join_triton

        return join_triton(far, near, scales, order, cutoff, spacing)
    return join_torch(far, near, scales, order, cutoff, spacing)


def join_torch(
    far: Tensor, near: Tensor | None, scales: Tensor, order: Tensor, cutoff: float, spacing: float
) -> Tensor:
    """Do the same by PyTorch alone, on any device."""
    found = far.clone()
    found[:, :3] *= -0.5 / spacing
    if near is None:
        found[:, 3] -= 1.0  # without a near part each point was summed along, and its w is 1
    else:
        found += near
        found[:, 3] -= far_kernel(0.0, 2.0 * scales, cutoff)
    in_order = torch.empty_like(found)
    in_order[order] = found
    return in_order
