"""Points of a map sorted into square cells, on the device; twin of `forces.fft._cells`.

It runs in every iteration, so nothing here waits for the device: the number of cells comes from the
host, which knows the extent of the plan, and points outside of it go to the cells at its edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtsne.forces.fft._cells import BORDER
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from collections.abc import Sequence

# A radix sort passes over the points once for each byte of a key.
_MOST_SHORT = torch.iinfo(torch.int16).max


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
    dtype = torch.int16 if prod(counts) < _MOST_SHORT else torch.int32
    if runs_triton(y):
        from dtsne.forces.fft._cells_triton import find_cells_triton

        return find_cells_triton(y, origin, width, counts, dtype)
    return find_cells(y, origin, width, counts, dtype)


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
