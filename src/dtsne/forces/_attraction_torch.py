"""The attractive half of the objective on a device, over the pairs of P.

Points are four numbers (2y, s), unused axes 0: with D = (2y_i − 2y_j, s_i + s_j) and S = s_i + s_j,

* the force on point i is Σ_j p_ij γ_ij w_ij (y_i − y_j) = Σ_j 2 p_ij (2y_i − 2y_j) / |D|²,
* its share of the cost is Σ_j p_ij log(1/w_ij) = Σ_j p_ij log(|D|² / S²).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from dtsne.affinity._sparse_torch import DenseAffinities, SparseAffinities
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.affinity._sparse_torch import Affinities

# Pairs that plain PyTorch works on at a time: some 10 numbers of 4 bytes each.
_PAIRS_AT_ONCE = 2**23


def attractive_forces(affinities: Affinities, points: Tensor, *, n_axes: int = 3) -> Tensor:
    """Σ_j p_ij γ_ij w_ij (y_i − y_j) for every point.

    Parameters
    ----------
    affinities : DenseAffinities or SparseAffinities
    points : Tensor of shape (n, 4)
        (2y, s) of every point, unused axes 0.
    n_axes : int
        How many axes are in use: a kernel does not compute the others.

    Returns
    -------
    Tensor of shape (n, 3), of the type of the points
    """
    return _attraction(affinities, points, n_axes, with_cost=False)[0]


def attractive_cost(affinities: Affinities, points: Tensor, *, n_axes: int = 3) -> Tensor:
    """Σ_ij p_ij log(1/w_ij), a tensor of no dimensions in float64."""
    return attractive_forces_and_cost(affinities, points, n_axes=n_axes)[1]


def attractive_forces_and_cost(
    affinities: Affinities, points: Tensor, *, n_axes: int = 3
) -> tuple[Tensor, Tensor]:
    """Both of them, P being read once."""
    forces, costs = _attraction(affinities, points, n_axes, with_cost=True)
    return forces, costs.sum(dtype=torch.float64)


def _attraction(
    affinities: Affinities, points: Tensor, n_axes: int, *, with_cost: bool
) -> tuple[Tensor, Tensor]:
    """Compute the forces and, if asked for, shares of the cost."""
    if runs_triton(points) and points.dtype == torch.float32:
        from dtsne.forces import _attraction_triton

        if isinstance(affinities, DenseAffinities):
            return _attraction_triton.dense_attraction(
                affinities, points, n_axes, with_cost=with_cost
            )
        return _attraction_triton.sparse_attraction(affinities, points, n_axes, with_cost=with_cost)
    return attraction_plainly(affinities, points, with_cost=with_cost)


def attraction_plainly(
    affinities: Affinities, points: Tensor, *, with_cost: bool
) -> tuple[Tensor, Tensor]:
    """Do the same without Triton, for some rows at a time and in the type of the points."""
    if isinstance(affinities, DenseAffinities):
        return _dense_attraction(affinities, points, with_cost=with_cost)
    return _sparse_attraction(affinities, points, with_cost=with_cost)


def _dense_attraction(
    affinities: DenseAffinities, points: Tensor, *, with_cost: bool
) -> tuple[Tensor, Tensor]:
    n = len(points)
    forces = points.new_empty((n, 3))
    costs = []
    n_rows = max(1, _PAIRS_AT_ONCE // (4 * n))
    for first in range(0, n, n_rows):
        rows = slice(first, first + n_rows)
        p, own = affinities.values[rows], points[rows, None]
        difference = own[..., :3] - points[:, :3]
        squared_scale = (own[..., 3] + points[:, 3]).square_()
        divisor = difference.square().sum(dim=2).add_(squared_scale)
        forces[rows] = 2.0 * ((p / divisor)[..., None] * difference).sum(dim=1)
        if with_cost:
            costs.append((p * divisor.div_(squared_scale).log_()).sum(dtype=torch.float64))
    return forces, torch.stack(costs) if with_cost else points.new_empty(0)


def _sparse_attraction(
    affinities: SparseAffinities, points: Tensor, *, with_cost: bool
) -> tuple[Tensor, Tensor]:
    forces = points.new_empty((len(points), 3))
    costs = []
    for first, last, begin, end in affinities.rows_at_once:
        lengths = affinities.row_starts[first : last + 1].diff()
        own = torch.repeat_interleave(points[first:last], lengths, dim=0, output_size=end - begin)
        p, other = affinities.values[begin:end], points[affinities.columns[begin:end].long()]
        difference = own[:, :3] - other[:, :3]
        squared_scale = (own[:, 3] + other[:, 3]).square_()
        divisor = difference.square().sum(dim=1).add_(squared_scale)
        pulls = (p / divisor)[:, None] * difference
        # Of each row in its order, so that two runs give the same bits.
        forces[first:last] = 2.0 * torch.segment_reduce(
            pulls, "sum", lengths=lengths, axis=0, unsafe=True
        )
        if with_cost:
            costs.append((p * divisor.div_(squared_scale).log_()).sum(dtype=torch.float64))
    return forces, torch.stack(costs) if with_cost else points.new_empty(0)
