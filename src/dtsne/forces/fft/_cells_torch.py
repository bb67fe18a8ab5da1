"""Points of a map sorted into square cells, on the device; twin of `forces.fft._cells`.

It runs in every iteration, so nothing here waits for the device: the number of cells comes from the
host, which knows the extent of the plan, and points outside of it go to the cells at its edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._plan import far_kernel
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.forces.fft._plan import Plan

# A radix sort passes over the points once for each byte of a key.
_MAX_SHORT = torch.iinfo(torch.int16).max
# A stencil reaches two nodes beyond the one before a point.
EDGE = 2.01


@dataclass(frozen=True)
class Cells:
    """The points in order of their cells, and where each cell's begin.

    Cells are numbered along the first axis first, with a border of empty ones, `BORDER` wide.
    """

    order: Tensor  # (n,) int64, by cell and then by index
    starts: Tensor  # (number of cells + 1,) int32
    cell_of: Tensor  # (n,) int16 or int32: of the sorted points
    counts: tuple[int, ...]  # cells along each axis, with the border


def count_cells(extent: Sequence[float], width: float) -> tuple[int, ...]:
    """Cells along each axis, border included, for points from the origin up to an extent."""
    return tuple(int(length / width) + 1 + 2 * BORDER for length in extent)


def sort_into_cells(y: Tensor, origin: Tensor, width: float, counts: tuple[int, ...]) -> Cells:
    """Sort points of shape (n, axes) into cells of a width, so many along each axis."""
    n_cells = prod(counts)
    cells = cells_of(y, origin, width, counts)
    cell_of, order = torch.sort(cells, stable=True)
    every = torch.arange(n_cells + 1, dtype=cells.dtype, device=y.device)
    # Not by `bincount`, which asks the device for the largest cell, and waits for the answer.
    starts = torch.searchsorted(cell_of, every, out_int32=True)
    return Cells(order, starts, cell_of, counts)


def cells_of(y: Tensor, origin: Tensor, width: float, counts: tuple[int, ...]) -> Tensor:
    """Return the cell of each point, as the shortest integer that a sort is quick with."""
    dtype = torch.int16 if prod(counts) < _MAX_SHORT else torch.int32
    return find_cells(y, origin, width, counts, dtype)


@dispatch("_cells_triton")
def find_cells(
    y: Tensor, origin: Tensor, width: float, counts: tuple[int, ...], dtype: torch.dtype
) -> Tensor:
    """Return the cell of each point."""
    last = torch.tensor(counts, device=y.device) - (1 + 2 * BORDER)
    # Brought into the box before it is an integer, which may not hold it, and, for what is no
    # number, after it.
    along = torch.minimum(((y - origin) / width).clamp(min=0.0), last.to(y.dtype))
    along = torch.minimum(along.to(torch.int64).clamp(min=0), last) + BORDER
    cells = along[:, -1]
    for axis in range(len(counts) - 2, -1, -1):
        cells = cells * counts[axis] + along[:, axis]
    return cells.to(dtype)


class SortedPoints(NamedTuple):
    """The points in order of their cells."""

    relative: Tensor  # (n, axes): coordinates, from the origin on
    positions: Tensor  # (n, axes): in steps of the grid
    scales: Tensor  # (n,)
    weights: Tensor  # (n, nodes)


@dispatch("_cells_triton")
def arrange(
    y: Tensor, scales: Tensor, order: Tensor, origin: Tensor, plan: Plan[Tensor]
) -> SortedPoints:
    """Take the points in an order, as the grid of a plan and the near pairs want them.

    Positions beyond the grid are brought to its edge.
    """
    relative = (y - origin)[order]
    last = torch.tensor(plan.grid_shape, dtype=y.dtype, device=y.device) - EDGE
    positions = torch.minimum(relative * (1.0 / plan.spacing) + 1.0, last)
    return SortedPoints(relative, positions, scales[order], plan.weights[order])


@dispatch("_cells_triton")
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
