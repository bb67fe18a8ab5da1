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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtsne._cells import BORDER, sort_into_cells
from dtsne._fft_kernels import STENCIL, gather, spread, sum_near
from dtsne._fft_plan import Box, Options, far_kernel, make_plan
from dtsne._messages import warn
from dtsne._repulsion import exact_repulsion, repulsion_of_rows
from dtsne._threads import for_rows

if TYPE_CHECKING:
    from dtsne._cells import Cells
    from dtsne._fft_plan import Plan
    from dtsne._typing import FloatArray

# A plan is tried again after so many uses, at first and at most, and kept unless another is so much
# better. An error that is not small, and grows by such a factor meanwhile, is tried at the first
# interval again.
_FIRST_INTERVAL, _LONGEST_INTERVAL, _PLAN_PATIENCE = 2, 20, 1.2
_SMALL, _GROWING = 0.15, 1.5
# Points whose true force a new plan is tried on.
_N_TRIED = 256
# Finer where the error is too large, and coarser, with the next plan, where it is needlessly small:
# so much that it comes to what is aimed at, as it grows with that power of the spacing (measured,
# near the tolerance). Refinement ends somewhere: float32 has its own errors.
_REFINED_BY, _FINEST, _COARSEST, _GROWS_AS, _COARSER_AT_ONCE = 1.25, 4.0, 0.4, 2.5, 0.7


class _Shares(NamedTuple):
    """Shares of the tolerance that the error may take, and that it is to take."""

    limit: float
    aim: float


# The map goes on to change under the plan. In the first uses it changes much, and small errors may
# send it another way.
_N_FIRST, _AT_FIRST, _LATER = 50, _Shares(0.25, 0.1), _Shares(0.5, 0.35)
# Z is to be right to a fifth of the tolerance: its error is that of all forces alike.
_SUMS_WEIGHT = 5.0
# An error of this many tolerances is worth a warning.
_MISSED = 2.0
# In a map of less than this share of its smallest scale all forces cancel, and none matters yet.
_SHAPELESS = 1e-3
# A map larger than this many scales is about to diverge, and leaves float32.
_LARGEST = 1e8


class FftRepulsion:
    """Repulsion of maps of n_components dimensions, to a relative error of the force.

    A callable as :func:`dtsne._repulsion.exact_repulsion`, which keeps its plan, and with it the
    spectra of the kernel, from one call to the next. A new plan is tried on a sample of points,
    whose true forces are cheap to sum, and made finer until their median error is small enough.
    """

    def __init__(self, n_components: int, tolerance: float) -> None:
        self._n_components = n_components
        self._tolerance = tolerance
        self._plan: Plan | None = None
        self._scales: FloatArray | None = None
        self._refinement = 1.0  # of the next plan
        self._refinement_of_plan = 1.0
        self._error = 0.0  # as a share of the tolerance, when last tried
        self._interval = _FIRST_INTERVAL
        self._n_uses = self._uses_left = 0
        self._warned = False

    def __call__(self, coordinates: FloatArray, scales: FloatArray) -> tuple[FloatArray, float]:
        """Return forces of shape (3, n), and Z; see `exact_repulsion`.

        New scales have to come as a new array: that is how they are told from the former ones.
        """
        used = coordinates[: self._n_components]
        origin = used.min(axis=1)
        extent = used.max(axis=1) - origin
        if not np.isfinite(extent).all():  # diverged: the descent will say so
            return np.full_like(coordinates, np.nan), float("nan")
        if not extent.any() or extent.max() > _LARGEST * scales.max():
            return exact_repulsion(coordinates, scales)
        box = Box(used, origin, extent)
        if self._is_due(extent, scales):
            forces, sums = self._renew(coordinates, scales, box)
        else:
            forces, sums = self._evaluate(self._plan_for(extent, scales), box, scales)
        self._uses_left -= 1
        self._n_uses += 1
        whole = np.zeros_like(coordinates)
        whole[: self._n_components] = forces
        return whole, float(sums.sum())

    def _is_due(self, extent: FloatArray, scales: FloatArray) -> bool:
        """Whether to choose the plan anew, or to try whether it is still good enough."""
        plan = self._plan
        if plan is None or self._scales is not scales or self._uses_left == 0:
            return True
        return not (plan.holds(extent) or plan.could_hold(extent))

    def _plan_for(self, extent: FloatArray, scales: FloatArray) -> Plan:
        plan = self._plan
        assert plan is not None
        if not plan.holds(extent):
            # The same on a larger grid is as exact as it was, and need not be tried again.
            plan = make_plan(plan.cutoff, plan.spacing, extent, plan.nodes, scales)
            self._plan = plan
        return plan

    def _renew(
        self, coordinates: FloatArray, scales: FloatArray, box: Box
    ) -> tuple[FloatArray, FloatArray]:
        """Keep the plan, or make one, that is exact enough on a sample; return what it gives."""
        plan = self._plan if self._scales is scales else None
        rows = np.linspace(0, len(scales) - 1, min(_N_TRIED, len(scales))).astype(np.int64)
        true, true_sums = repulsion_of_rows(rows, coordinates, scales)
        sizes = np.maximum(np.linalg.norm(true, axis=0), np.finfo(float).tiny)
        former_error, is_finest = np.inf, False
        while True:
            options = self._options(box, scales)
            cutoff, least = options.cheapest()
            while not np.isfinite(least):  # a grid as fine as that has no room
                is_finest = True
                self._refinement /= _REFINED_BY
                options = self._options(box, scales)
                cutoff, least = options.cheapest()
            enough = _PLAN_PATIENCE * least
            kept = plan is not None and plan.holds(box.extent) and options.cost_of(plan) <= enough
            if plan is None or not kept:
                plan = self._plan = None  # its spectra may take a gigabyte
                spacing, nodes = options.spacing(cutoff), options.nodes(cutoff)
                plan = make_plan(cutoff, spacing, box.extent, nodes, scales)
                self._refinement_of_plan = self._refinement
            forces, sums = self._evaluate(plan, box, scales)
            differences = np.linalg.norm(forces[:, rows] - true[: len(box.used)], axis=0)
            of_sums = abs(float(sums[rows].sum() / true_sums.sum()) - 1.0)
            error = max(float(np.median(differences / sizes)), _SUMS_WEIGHT * of_sums)
            if error <= self._shares.limit * self._tolerance:
                break
            if kept:
                self._refinement = max(self._refinement, self._refinement_of_plan)
            else:
                of_no_use = self._refinement > 1.0 and error > 0.9 * former_error
                if self._refinement > _FINEST or of_no_use or is_finest:
                    self._refinement /= _REFINED_BY
                    if box.extent.max() > _SHAPELESS * scales.min():
                        self._warn_once(error)
                    break
                former_error = error
                self._refinement *= _REFINED_BY
            plan = None
        self._plan, self._scales = plan, scales
        self._plan_ahead(error / self._tolerance)
        return forces, sums

    def _options(self, box: Box, scales: FloatArray) -> Options:
        limit = self._shares.limit * self._tolerance
        smallest, largest = float(scales.min()), float(scales.max())
        return Options(box, smallest, largest, self._tolerance, limit, self._refinement)

    @property
    def _shares(self) -> _Shares:
        return _AT_FIRST if self._n_uses < _N_FIRST else _LATER

    def _warn_once(self, error: float) -> None:
        if error > _MISSED * self._tolerance and not self._warned:
            self._warned = True
            warn(
                f"The repulsive forces have a relative error of {error:.2g} (median), more than "
                f"fft_tolerance={self._tolerance:g}; raise it, or use method='exact'."
            )

    def _plan_ahead(self, error: float) -> None:
        """Decide when to try the plan next, and whether the next may be coarser.

        Where forces nearly cancel, as in a map that is still small, the error may grow tenfold in a
        few steps: then the plan is tried at every second.
        """
        grows = error > _SMALL and error > _GROWING * self._error
        self._interval = _FIRST_INTERVAL if grows else min(2 * self._interval, _LONGEST_INTERVAL)
        self._uses_left = self._interval
        self._error = error
        aim = self._shares.aim
        if error < aim:
            coarser = max((error / aim) ** (1.0 / _GROWS_AS), _COARSER_AT_ONCE)
            self._refinement = max(_COARSEST, coarser * self._refinement_of_plan)

    def _evaluate(self, plan: Plan, box: Box, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the forces on the used axes, and each point's share of Z."""
        n_axes, n = box.used.shape
        cells = sort_into_cells(box.used, box.origin, plan.cell_width)
        points = np.zeros((3, n))
        points[:n_axes] = (box.used - box.origin[:, np.newaxis])[:, cells.order]
        found = self._far(plan, points, cells)
        if plan.cutoff > 0:
            found += _near(plan.cutoff, points, scales[cells.order], cells)
            found[3] -= far_kernel(0.0, 2.0 * scales[cells.order], plan.cutoff)
        else:
            found[3] -= 1.0  # without a near part each point was summed along, and its w is 1
        whole = np.empty_like(found)
        whole[:, cells.order] = found
        return whole[:n_axes], whole[3]

    def _far(self, plan: Plan, points: FloatArray, cells: Cells) -> FloatArray:
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
            for_rows(
                spread, n_bands, third, positions, lengths, weights, band_starts, grid, least=1
            )
        plan.convolve(grid.reshape(*plan.grid_shape[::-1], -1))
        single = np.empty((4, points.shape[1]), np.float32)
        for_rows(gather, points.shape[1], positions, lengths, weights, grid, single)
        found = single.astype(np.float64)
        found[:3] = found[2::-1] * (-0.5 / plan.spacing)
        found[3] += weights @ (plan.constants @ weights.sum(axis=0, dtype=np.float64))
        return found


def _near(cutoff: float, points: FloatArray, scales: FloatArray, cells: Cells) -> FloatArray:
    """Sum w u³ over the pairs nearer than the cutoff: forces along three axes, and Σ_j w u³."""
    # In units of the cutoff: float32 would not hold its fourth power in all maps.
    found = np.empty((4, len(scales)), np.float32)
    for_rows(
        sum_near, len(cells.starts) - 1, points / cutoff, (scales / cutoff).astype(np.float32),
        cells.starts, cells.steps(), BORDER, found, least=16,
    )  # fmt: skip
    found[:3] /= np.float32(cutoff)
    return found


def _to_three(lengths: tuple[int, ...]) -> tuple[int, int, int]:
    """Lengths along the axes of the grid: reversed, with unused axes, of length 1, in front."""
    padded = (*lengths, *(1,) * (3 - len(lengths)))[::-1]
    return padded[0], padded[1], padded[2]
