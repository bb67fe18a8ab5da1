"""Repulsion in linear time on a device: the pieces of `_repulsion` as tensors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dtsne.forces._exact_torch import exact_repulsion, four_numbers
from dtsne.forces.fft._base import FftNumerics, ForceSample, PlannedRepulsion
from dtsne.forces.fft._cells_torch import arrange, cells_of, count_cells, join, sort_into_cells
from dtsne.forces.fft._controller import evaluations_before_check, used
from dtsne.forces.fft._cost_model import Work
from dtsne.forces.fft._grid_torch import convolve, gather, make_plan, spread
from dtsne.forces.fft._kernels import STENCIL
from dtsne.forces.fft._near_torch import sum_near
from dtsne.forces.fft._plan import Box

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.forces.fft._plan import Plan, Resolution
    from dtsne.runtime._typing import FloatArray, IntArray

# More cells than this for each point are more work than the points in them.
_MAX_CELLS_PER_POINT = 64
# So many take no time, however few the points are.
_FEW_CELLS = 2**18
# More room than on the CPU, above all while the map grows fast: to outgrow its grid is a loss of
# time, and the grid is not what takes it (docs/gpu.md).
_ROOM, _EARLY_ROOM = 1.15, 1.5


class TorchFftRepulsion(PlannedRepulsion[Tensor]):
    """For coordinates of shape (n, n_components), in float32, and scales likewise."""

    def __init__(self, n_components: int, tolerance: float, **limits: float) -> None:
        super().__init__(TorchNumerics(n_components), tolerance, **limits)
        self._is_frozen = False
        # Of all maps that nobody looked at, where a recording can write to it.
        self._largest_extent: Tensor | None = None

    def __call__(
        self, coordinates: Tensor, scales: Tensor, *, epoch: int | None = None
    ) -> tuple[Tensor, Tensor | float]:
        """See :class:`PlannedRepulsion`; nothing waits for the device while the plan is frozen."""
        if not self._is_frozen:
            return super().__call__(coordinates, scales, epoch=epoch)
        assert self.plan is not None
        low, high = torch.aminmax(coordinates, dim=0)
        if self._largest_extent is None:
            self._largest_extent = torch.zeros_like(low)
        torch.maximum(self._largest_extent, high - low, out=self._largest_extent)
        # The largest box that the plan holds, as nobody knows that of the map.
        extent = (np.array(self.plan.grid_shape) - STENCIL) * self.plan.spacing
        box = Box(coordinates, len(coordinates), low, extent)
        return self._numerics.forces_and_normaliser(self._evaluate(box, scales))

    def evaluations_before_check(self, epoch: int | None) -> int:
        """Count the evaluations that may follow with the plan as it is: none if it is young."""
        return evaluations_before_check(self._state, epoch)

    @contextmanager
    def frozen_plan(self, n: int) -> Iterator[None]:
        """Take the plan as it is within, for so many evaluations, and decide nothing."""
        self._is_frozen = True
        if self._largest_extent is not None:
            self._largest_extent.zero_()
        try:
            yield
        finally:
            self._is_frozen = False
        self._state = used(self._state, n)

    def stayed_within_grid(self) -> bool:
        """Whether all maps since the plan was frozen lay within its grid."""
        assert self.plan is not None
        assert self._largest_extent is not None
        return self.plan.holds(self._largest_extent.double().cpu().numpy())


class TorchNumerics(FftNumerics[Tensor]):
    """What is found has shape (n, 4): forces along three axes, and shares of Z."""

    work = Work(fft=0.002, product=0.004, stencil=0.01, pair=0.002, launched=1e5)
    cell_counts_are_expensive = True

    def __init__(self, n_components: int) -> None:
        self._n_components = n_components

    def measure(self, coordinates: Tensor) -> Box[Tensor]:
        """See :class:`FftNumerics`."""
        low, high = torch.aminmax(coordinates, dim=0)
        ends = torch.stack([low, high]).double().cpu().numpy()
        return Box(coordinates, len(coordinates), low, ends[1] - ends[0])

    def exact(self, coordinates: Tensor, scales: Tensor) -> tuple[Tensor, Tensor]:
        """See :class:`FftNumerics`."""
        forces, sums = exact_repulsion(four_numbers(coordinates, scales), n_axes=self._n_components)
        return forces, sums.sum()

    def sample_truth(self, rows: IntArray, coordinates: Tensor, scales: Tensor) -> ForceSample:
        """See :class:`FftNumerics`."""
        points = four_numbers(coordinates, scales)
        chosen = torch.as_tensor(rows, device=points.device)
        forces, sums = exact_repulsion(points, chosen, n_axes=self._n_components)
        used_axes = forces[:, : self._n_components].double().T
        return ForceSample(used_axes.cpu().numpy(), sums.double().cpu().numpy())

    def make_plan(
        self, resolution: Resolution, extent: FloatArray, scales: Tensor, *, is_early: bool
    ) -> Plan[Tensor]:
        """See :class:`FftNumerics`."""
        room = _EARLY_ROOM if is_early else _ROOM
        return make_plan(resolution, room * extent, scales)

    def evaluate(self, plan: Plan[Tensor], box: Box[Tensor], scales: Tensor) -> Tensor:
        """See :class:`FftNumerics`."""
        width = plan.cell_width
        counts = count_cells(box.extent.tolist(), width)
        cells = sort_into_cells(box.coordinates, box.origin, width, counts)
        points = arrange(box.coordinates, scales, cells.order, box.origin, plan)
        grid = spread(points.positions, points.weights, plan.grid_shape[::-1])
        potentials = convolve(grid, plan.spectra, plan.padded_shape[::-1])
        far = gather(points.positions, points.weights, potentials)
        near = None
        if plan.cutoff > 0:
            near = sum_near(points.relative, points.scales, cells, plan.cutoff)
        else:
            whole = plan.constants @ points.weights.sum(dim=0, dtype=torch.float64)
            far[:, 3] += (points.weights.double() @ whole).float()
        return join(far, near, points.scales, cells.order, plan.cutoff, plan.spacing)

    def sample(self, found: Tensor, rows: IntArray) -> ForceSample:
        """See :class:`FftNumerics`."""
        chosen = found[torch.as_tensor(rows, device=found.device)].double().cpu().numpy()
        return ForceSample(chosen[:, : self._n_components].T, chosen[:, 3])

    def forces_and_normaliser(self, found: Tensor) -> tuple[Tensor, Tensor]:
        """See :class:`FftNumerics`."""
        return found[:, :3], found[:, 3].sum(dtype=torch.float64)

    def pairs_in_cells(self, box: Box[Tensor], width: float) -> float:
        """See :class:`FftNumerics`."""
        counts = count_cells(box.extent.tolist(), width)
        n_cells = int(np.prod(counts, dtype=np.int64))
        if n_cells > max(_MAX_CELLS_PER_POINT * box.n, _FEW_CELLS):
            return float("inf")  # cells of hardly any points: larger ones are better
        cells = cells_of(box.coordinates, box.origin, width, counts).long()
        in_cell = torch.zeros(n_cells, dtype=torch.int32, device=cells.device)
        in_cell.scatter_add_(0, cells, torch.ones_like(cells, dtype=torch.int32))
        return float((in_cell.double() ** 2).sum())
