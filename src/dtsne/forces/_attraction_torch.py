"""The attractive half of the objective on a device, over the pairs of P.

Points are four numbers (2y, s), unused axes 0: with D = (2y_i − 2y_j, s_i + s_j) and S = s_i + s_j,

* the force on point i is Σ_j p_ij γ_ij w_ij (y_i − y_j) = Σ_j 2 p_ij (2y_i − 2y_j) / |D|²,
* its share of the cost is Σ_j p_ij log(1/w_ij) = Σ_j p_ij log(|D|² / S²).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from dtsne.affinity._base import DenseAffinities
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.affinity._sparse_torch import Affinities, SparseAffinities

# Pairs that plain PyTorch works on at a time: some 10 numbers of 4 bytes each.
_PAIRS_AT_ONCE = 2**23


def _is_single(affinities: Affinities, points: Tensor, **_: object) -> bool:  # noqa: ARG001
    return points.dtype == torch.float32


@dispatch("_attraction_triton", when=_is_single)
def attraction(
    affinities: Affinities, points: Tensor, *, n_axes: int = 3, with_cost: bool = False
) -> tuple[Tensor, Tensor | None]:
    """Attractive force on every point, and the attractive part of KL(P‖Q) if asked for.

    Parameters
    ----------
    affinities : DenseAffinities or SparseAffinities
    points : Tensor of shape (n, 4)
        (2y, s) of every point, unused axes 0.
    n_axes : int
        How many axes are in use: a kernel does not compute the others.
    with_cost : bool
        Whether to compute the cost as well, P being read once.

    Returns
    -------
    forces : Tensor of shape (n, 3), of the type of the points
        Σ_j p_ij γ_ij w_ij (y_i − y_j).
    cost : Tensor of no dimensions in float64, or None
        Σ_ij p_ij log(1/w_ij).
    """
    del n_axes  # the axes that are not in use are 0
    if isinstance(affinities, DenseAffinities):
        forces, costs = _dense(affinities, points, with_cost=with_cost)
    else:
        forces, costs = _sparse(affinities, points, with_cost=with_cost)
    return forces, torch.stack(costs).sum() if with_cost else None


def _dense(
    affinities: DenseAffinities[Tensor], points: Tensor, *, with_cost: bool
) -> tuple[Tensor, list[Tensor]]:
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
    return forces, costs


def _sparse(
    affinities: SparseAffinities, points: Tensor, *, with_cost: bool
) -> tuple[Tensor, list[Tensor]]:
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
    return forces, costs
