"""Repulsion in linear time: near pairs one by one, the rest by FFT in scale-space.

The kernel w(d, s_i, s_j) = S²/(S² + 4d²), S = s_i + s_j, is not a function of y_i − y_j alone,
which is what an FFT needs. But it is smooth in s, so it can be interpolated there::

    w(d, s_i, s_j) ≈ Σ_ab L_a(s_i) L_b(s_j) w(d, S_a, S_b)

with a few nodes S_a among the scales and their Lagrange polynomials L_a. Every pair of nodes is a
plain convolution: the points' weights L_b are spread on a regular grid, multiplied in Fourier
space, added over b, and gathered with the L_a.

A grid that resolves the smallest scale would be far too large for the map. So the kernel is split
at a distance R::

    w = w u³ + w (1 − u³),    u = 4 (R² − d²)/(S² + 4R²), 0 beyond R

The first part is summed over the pairs nearer than R, exactly, with the true scales. The second is
w beyond R and within it the first three terms of its Taylor series in d² around R²: it has no
feature smaller than R, however small the scales are, and where they are larger than R it is hardly
different from w itself. So a spacing of R/2 or so is grid enough. R is free, and chosen for the
least work: where points are dense, or few, it is small or large. A map that is small beside its own
scales (as a random start is) needs no near part: then the grid resolves the whole kernel, less the
constant that would drown its small differences in float32.

Spreading and gathering use cubic B-splines, whose transfer function is divided out of the kernel's
spectrum. The force is the gradient of the gathered potential, Σ_j γ w² (y_i − y_j) = −½ ∇ Σ_j w,
which takes one inverse FFT for each node instead of three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.forces._exact import exact_repulsion, repulsion_of_rows
from dtsne.forces.fft._base import FftNumerics, ForceSample, PlannedRepulsion
from dtsne.forces.fft._cells import BORDER, cells_of, sort_into_cells, steps_to_rows
from dtsne.forces.fft._cost_model import Work
from dtsne.forces.fft._grid import convolve, make_plan
from dtsne.forces.fft._kernels import STENCIL, gather, spread, sum_near
from dtsne.forces.fft._plan import Box, far_kernel
from dtsne.runtime._threads import ONE_THREAD, Threads
from dtsne.runtime._typing import FloatArray

if TYPE_CHECKING:
    from dtsne.forces.fft._cells import Cells
    from dtsne.forces.fft._plan import Plan, Resolution
    from dtsne.runtime._typing import IntArray

# More cells than this for each point are counted by sorting the points.
_MAX_CELLS_PER_POINT = 4


class FftRepulsion(PlannedRepulsion[FloatArray]):
    """That of the CPU, for coordinates of shape (3, n)."""

    def __init__(
        self, n_components: int, tolerance: float, threads: Threads = ONE_THREAD, **limits: float
    ) -> None:
        super().__init__(CpuNumerics(n_components, threads), tolerance, **limits)


class CpuNumerics(FftNumerics[FloatArray]):
    """What is found has shape (4, n): forces along three axes, and shares of Z."""

    work = Work(fft=0.4, product=1.0, stencil=1.5, pair=0.45)
    cell_counts_are_expensive = False

    def __init__(self, n_components: int, threads: Threads) -> None:
        self._n_components = n_components
        self._threads = threads

    def measure(self, coordinates: FloatArray) -> Box[FloatArray]:
        """See :class:`FftNumerics`."""
        used = coordinates[: self._n_components]
        origin = used.min(axis=1)
        return Box(used, used.shape[1], origin, used.max(axis=1) - origin)

    def exact(self, coordinates: FloatArray, scales: FloatArray) -> tuple[FloatArray, float]:
        """See :class:`FftNumerics`."""
        return exact_repulsion(coordinates, scales, self._threads)

    def sample_truth(
        self, rows: IntArray, coordinates: FloatArray, scales: FloatArray
    ) -> ForceSample:
        """See :class:`FftNumerics`."""
        forces, sums = repulsion_of_rows(rows, coordinates, scales, self._threads)
        return ForceSample(forces[: self._n_components], sums)

    def make_plan(
        self,
        resolution: Resolution,
        extent: FloatArray,
        scales: FloatArray,
        *,
        is_early: bool,  # noqa: ARG002
    ) -> Plan[FloatArray]:
        """See :class:`FftNumerics`."""
        return make_plan(resolution, extent, scales, self._threads)

    def evaluate(
        self, plan: Plan[FloatArray], box: Box[FloatArray], scales: FloatArray
    ) -> FloatArray:
        """See :class:`FftNumerics`."""
        n_axes, n = box.coordinates.shape
        cells = sort_into_cells(box.coordinates, box.origin, plan.cell_width)
        points = np.zeros((3, n))
        points[:n_axes] = (box.coordinates - box.origin[:, np.newaxis])[:, cells.order]
        found = sum_far(plan, points, cells, self._threads)
        if plan.cutoff > 0:
            found += sum_near_pairs(plan.cutoff, points, scales[cells.order], cells, self._threads)
            found[3] -= far_kernel(0.0, 2.0 * scales[cells.order], plan.cutoff)
        else:
            found[3] -= 1.0  # without a near part each point was summed along, and its w is 1
        whole = np.empty_like(found)
        whole[:, cells.order] = found
        return whole

    def sample(self, found: FloatArray, rows: IntArray) -> ForceSample:
        """See :class:`FftNumerics`."""
        return ForceSample(found[: self._n_components, rows], found[3, rows])

    def forces_and_normaliser(self, found: FloatArray) -> tuple[FloatArray, float]:
        """See :class:`FftNumerics`."""
        forces = found[:3].copy()
        forces[self._n_components :] = 0.0
        return forces, float(found[3].sum())

    def pairs_in_cells(self, box: Box[FloatArray], width: float) -> float:
        """See :class:`FftNumerics`."""
        cells, counts = cells_of(box.coordinates, box.origin, width)
        many = np.prod(counts.astype(float)) > _MAX_CELLS_PER_POINT * len(cells)
        in_cell = np.unique(cells, return_counts=True)[1] if many else np.bincount(cells)
        return float((in_cell.astype(float) ** 2).sum())


def sum_far(
    plan: Plan[FloatArray], points: FloatArray, cells: Cells, threads: Threads
) -> FloatArray:
    """Sum the far part of the kernel on the grid, in order of the cells."""
    # The last axis of the grid is the first of the map; axes that are not used have length 1.
    n_axes = len(plan.grid_shape)
    positions = points / plan.spacing
    positions[:n_axes] += 1.0
    positions = positions[::-1].copy()
    shape, lengths = _to_three(plan.grid_shape), _to_three((STENCIL,) * n_axes)
    weights = plan.weights[cells.order]
    grid = np.zeros((*shape, weights.shape[1]), np.float32)
    band_starts = cells.band_starts()
    for third in range(3):
        n_bands = (len(band_starts) + 1 - third) // 3
        threads.for_rows(
            spread, n_bands, third, positions, lengths, weights, band_starts, grid, min_rows=1
        )
    convolve(plan, grid.reshape(*plan.grid_shape[::-1], -1), threads)
    single = np.empty((4, points.shape[1]), np.float32)
    threads.for_rows(gather, points.shape[1], positions, lengths, weights, grid, single)
    found = single.astype(np.float64)
    found[:3] = found[2::-1] * (-0.5 / plan.spacing)
    found[3] += weights @ (plan.constants @ weights.sum(axis=0, dtype=np.float64))
    return found


def sum_near_pairs(
    cutoff: float, points: FloatArray, scales: FloatArray, cells: Cells, threads: Threads
) -> FloatArray:
    """Sum w u³ over the pairs nearer than the cutoff: forces along three axes, and Σ_j w u³."""
    # In units of the cutoff: float32 would not hold its fourth power in all maps.
    found = np.empty((4, len(scales)), np.float32)
    threads.for_rows(
        sum_near, len(cells.starts) - 1, points / cutoff, (scales / cutoff).astype(np.float32),
        cells.starts, steps_to_rows(cells.counts), BORDER, found, min_rows=16,
    )  # fmt: skip
    found[:3] /= np.float32(cutoff)
    return found


def _to_three(lengths: tuple[int, ...]) -> tuple[int, int, int]:
    """Lengths along the axes of the grid: reversed, with unused axes, of length 1, in front."""
    padded = (*lengths, *(1,) * (3 - len(lengths)))[::-1]
    return padded[0], padded[1], padded[2]
