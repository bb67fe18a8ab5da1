"""Repulsion in linear time on a device: the pieces of `_repulsion` as tensors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dtsne.forces._exact_torch import exact_repulsion, four_numbers
from dtsne.forces.fft._cells_torch import arrange, cells_of, count_cells, join, sort_into_cells
from dtsne.forces.fft._controller import PlannedRepulsion, Sampled
from dtsne.forces.fft._grid_torch import convolve, gather, spread
from dtsne.forces.fft._kernels import STENCIL
from dtsne.forces.fft._near_torch import sum_near
from dtsne.forces.fft._plan import Box, Plan, Work, far_kernel, grid_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.forces.fft._plan import ScaleNodes
    from dtsne.runtime._typing import FloatArray, IntArray

# Lengths of grids are whole numbers of this: few different ones, whose transforms stay planned.
_STEP = 32
# From that one on, a plan is likely to be kept for a while.
_SETTLED_INTERVAL = 8
# More cells than this for each point are more work than the points in them.
_MANY_CELLS_PER_POINT = 64
# So many take no time, however few the points are.
_FEW_CELLS = 2**18
# More room than on the CPU, above all while the map grows fast: to outgrow its grid is a loss of
# time, and the grid is not what takes it (docs/gpu.md).
_ROOM, _ROOM_AT_FIRST, _N_FIRST = 1.15, 1.5, 50
# Nodes of kernels, in float64, that are transformed at once: half a gigabyte with all temporaries.
_NODES_AT_ONCE = 2**24


class TorchFftRepulsion(PlannedRepulsion):
    """For coordinates of shape (n, n_components), in float32, and scales likewise."""

    counts_slowly = True
    work = Work(fft=0.002, product=0.004, stencil=0.01, pair=0.002, launched=1e5)

    def __init__(self, n_components: int, tolerance: float) -> None:
        super().__init__(n_components, tolerance)
        self._is_frozen = False
        # Of all maps that nobody looked at, where a recording can write to it.
        self._largest_extent: Any = None
        self._is_roomy = False  # the plan's grid
        self.n_plans = 0  # so far: the number of the present one

    def __call__(
        self, coordinates: Any, scales: Any, *, epoch: int | None = None
    ) -> tuple[Any, Any]:
        """See :class:`PlannedRepulsion`."""
        if not self._is_frozen:
            return super().__call__(coordinates, scales, epoch=epoch)
        assert self._plan is not None
        box = self._largest_box(self._plan, coordinates)
        return self._whole(self._evaluate(self._plan, box, scales), coordinates)

    def evaluations_before_check(self, epoch: int | None) -> int:
        """Count the evaluations that may follow with the plan as it is: none if it is young."""
        if not self._is_of(epoch) or self._interval < _SETTLED_INTERVAL:
            return 0
        return self._uses_left

    @contextmanager
    def frozen_plan(self, n: int) -> Iterator[None]:
        """Take the plan as it is within, for so many evaluations, and look at nothing."""
        self._is_frozen = True
        self._forget_extents()
        try:
            yield
        finally:
            self._is_frozen = False
        self._uses_left -= n
        self._n_uses += n

    def stayed_within_grid(self) -> bool:
        """Whether all maps since :meth:`frozen_plan` was entered lay within the grid."""
        assert self._plan is not None
        return self._plan.holds(self._largest_extent.double().cpu().numpy())

    def _measured(self, coordinates: Any) -> Box:
        low, high = torch.aminmax(coordinates, dim=0)
        ends = torch.stack([low, high]).double().cpu().numpy()
        return Box(coordinates.T, low, ends[1] - ends[0])

    def _largest_box(self, plan: Plan, coordinates: Any) -> Box:
        """Return the largest box that a plan holds, and remember the map's own for later."""
        extent = (np.array(plan.grid_shape) - STENCIL) * plan.spacing
        low, high = torch.aminmax(coordinates, dim=0)
        torch.maximum(self._largest_extent, high - low, out=self._largest_extent)
        return Box(coordinates.T, low, extent)

    def _forget_extents(self) -> None:
        if self._largest_extent is None:
            assert self._plan is not None
            self._largest_extent = torch.zeros(
                self._n_components, dtype=self._plan.weights.dtype, device=self._plan.weights.device
            )
        self._largest_extent.zero_()

    def _serves_still(self, plan: Plan, box: Box) -> bool:
        grown_up = self._is_roomy and self._n_uses >= _N_FIRST
        return not grown_up and super()._serves_still(plan, box)

    def _exact(self, coordinates: Any, scales: Any) -> tuple[Any, Any]:
        forces, sums = exact_repulsion(four_numbers(coordinates, scales), n_axes=self._n_components)
        return forces, sums.sum()

    def _truth(self, rows: IntArray, coordinates: Any, scales: Any) -> Sampled:
        points = four_numbers(coordinates, scales)
        chosen = torch.as_tensor(rows, device=points.device)
        forces, sums = exact_repulsion(points, chosen, n_axes=self._n_components)
        used = forces[:, : self._n_components].double().T
        return Sampled(used.cpu().numpy(), sums.double().cpu().numpy())

    def _make_plan(
        self, cutoff: float, spacing: float, extent: FloatArray, nodes: ScaleNodes, scales: Any
    ) -> Plan:
        self._is_roomy = self._n_uses < _N_FIRST
        self.n_plans += 1
        room = _ROOM_AT_FIRST if self._is_roomy else _ROOM
        shape = tuple(-(-length // _STEP) * _STEP for length in grid_shape(room * extent, spacing))
        padded = tuple(2 * length for length in shape)
        at = torch.as_tensor(nodes.values, device=scales.device)
        first, second = torch.triu_indices(len(at), len(at), device=scales.device)
        axes = [_distances_along(length, spacing, scales.device) for length in padded[::-1]]
        squared = _sum_of_axes([axis**2 for axis in axes])
        transfer = _sum_of_axes([_log_transfer(length, scales.device) for length in padded[::-1]])
        inverse = torch.exp(-transfer[..., : padded[0] // 2 + 1])
        sums = (at[first] + at[second]).reshape(-1, *[1] * len(shape))
        constants = torch.zeros((len(at), len(at)), dtype=torch.float64, device=scales.device)
        spectra = torch.empty(
            (len(sums), *inverse.shape), dtype=torch.float32, device=scales.device
        )
        at_once = max(1, _NODES_AT_ONCE // squared.numel())
        for begin in range(0, len(sums), at_once):
            some = slice(begin, begin + at_once)
            kernels = far_kernel(squared, sums[some], cutoff)
            if cutoff == 0:
                least = kernels.flatten(1).amin(dim=1)
                constants[first[some], second[some]] = least
                constants[second[some], first[some]] = least
                kernels -= least.reshape(-1, *[1] * len(shape))
            spectra[some] = (
                torch.fft.rfftn(kernels, dim=tuple(range(1, 1 + len(shape)))).real * inverse
            )
        weights = nodes.weights(scales.double()).float()
        return Plan(cutoff, spacing, shape, padded, nodes, weights, spectra, constants)

    def _evaluate(self, plan: Plan, box: Box, scales: Any) -> Any:
        width = plan.cell_width
        coordinates = box.used.T
        counts = count_cells(box.extent.tolist(), width)
        cells = sort_into_cells(coordinates, box.origin, width, counts)
        points = arrange(
            coordinates, scales, plan.weights, cells.order, box.origin, plan.spacing,
            plan.grid_shape,
        )  # fmt: skip
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

    def _sampled(self, found: Any, rows: IntArray) -> Sampled:
        chosen = found[torch.as_tensor(rows, device=found.device)].double().cpu().numpy()
        return Sampled(chosen[:, : self._n_components].T, chosen[:, 3])

    def _whole(self, found: Any, coordinates: Any) -> tuple[Any, Any]:  # noqa: ARG002
        return found[:, :3], found[:, 3].sum(dtype=torch.float64)

    def _pairs_in_cells(self, box: Box, width: float) -> float:
        counts = count_cells(box.extent.tolist(), width)
        n_cells = int(np.prod(counts, dtype=np.int64))
        n = box.used.shape[1]
        if n_cells > max(_MANY_CELLS_PER_POINT * n, _FEW_CELLS):
            return float("inf")  # cells of hardly any points: larger ones are better
        cells = cells_of(box.used.T, box.origin, width, counts).long()
        in_cell = torch.zeros(n_cells, dtype=torch.int32, device=cells.device)
        in_cell.scatter_add_(0, cells, torch.ones_like(cells, dtype=torch.int32))
        return float((in_cell.double() ** 2).sum())


def _distances_along(length: int, spacing: float, device: Any) -> Any:
    """Distance of the nodes of a periodic axis from its first."""
    steps = torch.arange(length, device=device, dtype=torch.float64)
    return torch.minimum(steps, length - steps) * spacing


def _log_transfer(length: int, device: Any) -> Any:
    """Logarithm of the spectrum of spreading and gathering with B-splines along one axis."""
    frequency = torch.arange(length, device=device, dtype=torch.float64) / length
    return 2.0 * torch.log((2.0 + torch.cos(2.0 * torch.pi * frequency)) / 3.0)


def _sum_of_axes(along: list[Any]) -> Any:
    """Add what belongs to the axes of a grid, each along its own."""
    total = along[0]
    for part in along[1:]:
        total = total[..., None] + part
    return total
