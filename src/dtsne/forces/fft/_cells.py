"""Points of a map sorted into square cells, so that those near to each other can be found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._jit import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.runtime._typing import FloatArray, IntArray

# Cells are half as wide as what is looked for around them: 5² of these are less than 3² whole ones.
BORDER = 2


@dataclass(frozen=True)
class Cells:
    """The points in order of their cells, and where each cell's begin.

    Cells are numbered along the first axis first. Around those of the map lies a border of empty
    ones, `BORDER` wide, so that each cell with points has all its neighbours.
    """

    order: IntArray  # (n,), by cell and then by index
    starts: IntArray  # (number of cells + 1,)
    counts: IntArray  # cells along each axis

    def band_starts(self) -> IntArray:
        """Where the points of each band begin: `BORDER` places along the last axis."""
        per_band = BORDER * int(np.prod(self.counts[:-1]))
        return np.append(self.starts[:-1:per_band], self.starts[-1])


def steps_to_rows(counts: Sequence[int] | IntArray) -> IntArray:
    """From a cell to the middles of the rows of cells, within the border's width of it."""
    steps, stride = np.zeros(1, np.int64), 1
    for count in counts[:-1]:
        stride *= int(count)
        steps = (steps[:, np.newaxis] + stride * np.arange(-BORDER, BORDER + 1)).ravel()
    return steps


def sort_into_cells(points: FloatArray, origin: FloatArray, width: float) -> Cells:
    """Sort points of shape (axes, n), none below the origin."""
    cells, counts = cells_of(points, origin, width)
    starts = np.zeros(int(np.prod(counts)) + 1, np.int64)
    np.cumsum(np.bincount(cells, minlength=len(starts) - 1), out=starts[1:])
    order = np.empty(len(cells), np.int64)
    _place(cells, starts[:-1].copy(), order)
    return Cells(order, starts, counts)


def cells_of(points: FloatArray, origin: FloatArray, width: float) -> tuple[IntArray, IntArray]:
    """Return the cell of each point, and the number of cells along each axis."""
    along = ((points - origin[:, np.newaxis]) / width).astype(np.int64) + BORDER
    counts = along.max(axis=1) + 1 + BORDER
    cells = along[-1]
    for axis in range(len(points) - 2, -1, -1):
        cells = cells * counts[axis] + along[axis]
    return cells, counts


@compiled()
def _place(cells, ends, order):  # type: ignore[no-untyped-def]
    for i in range(len(cells)):
        order[ends[cells[i]]] = i
        ends[cells[i]] += 1
