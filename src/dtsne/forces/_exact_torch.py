"""The repulsive half of the objective on a device, by a sum over all pairs.

Points are four numbers (2y, s), unused axes 0: with D = (2y_i − 2y_j, s_i + s_j) and S = s_i + s_j,

* w_ij = S² / |D|²,
* the force on point i is Σ_j γ_ij w_ij² (y_i − y_j) = Σ_j 2 (2y_i − 2y_j) w_ij / |D|².
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from torch import Tensor

# Pairs that the plain sum works on at a time: some 8 numbers of 4 bytes each.
_PAIRS_AT_ONCE = 2**23


def four_numbers(centred: Tensor, scales: Tensor) -> Tensor:
    """(2y, s) of every point, side by side, of shape (n, 4); unused axes are 0."""
    n, n_axes = centred.shape
    unused = [centred.new_zeros((n, 3 - n_axes))] if n_axes < 3 else []
    return torch.cat([2.0 * centred, *unused, scales[:, None]], dim=1)


def _is_single(points: Tensor, *_: object, **__: object) -> bool:
    return points.dtype == torch.float32


@dispatch("_exact_triton", when=_is_single)
def exact_repulsion(
    points: Tensor, rows: Tensor | None = None, *, n_axes: int = 3
) -> tuple[Tensor, Tensor]:
    """Push points away from all others.

    Parameters
    ----------
    points : Tensor of shape (n, 4)
        (2y, s) of every point, unused axes 0.
    rows : Tensor of shape (r,), optional
        Which of the points to push, by default all of them.
    n_axes : int
        How many axes are in use: the others are not computed.

    Returns
    -------
    forces : Tensor of shape (r, 3), of the type of the points
        Σ_j γ_ij w_ij² (y_i − y_j), which divided by Z is Σ_j q_ij γ_ij w_ij (y_i − y_j).
    sums : Tensor of shape (r,), float64
        Σ_{j≠i} w_ij of every point; their sum over all points is Z.
    """
    if rows is None:
        rows = torch.arange(len(points), device=points.device)
    forces = points.new_zeros((len(rows), 3))
    sums = torch.empty(len(rows), dtype=torch.float64, device=points.device)
    at_once = max(1, _PAIRS_AT_ONCE // len(points))
    for first in range(0, len(rows), at_once):
        of_these = slice(first, first + at_once)
        i = rows[of_these]
        own = points[i]
        squared_scale = (own[:, 3:] + points[:, 3]).square_()
        divisor = squared_scale.clone()
        for axis in range(n_axes):
            divisor += (own[:, axis, None] - points[:, axis]).square_()
        w = squared_scale.div_(divisor)
        # Left out rather than taken off the sum, of which 1 may be the larger part by far.
        w.scatter_(1, i[:, None], 0.0)
        sums[of_these] = w.sum(dim=1, dtype=torch.float64)
        push = w.div_(divisor)
        for axis in range(n_axes):
            difference = own[:, axis, None] - points[:, axis]
            forces[of_these, axis] = 2.0 * (push * difference).sum(dim=1)
    return forces, sums
