"""Repulsion in linear time: near pairs one by one, the rest by FFT in scale-space.

The kernel w(d, s_i, s_j) = S²/(S² + 4d²), S = s_i + s_j, is not a function of y_i − y_j alone,
which is what an FFT needs. But it is smooth in log s, so it can be interpolated there::

    w(d, s_i, s_j) ≈ Σ_ab L_a(s_i) L_b(s_j) w(d, S_a, S_b)

with Chebyshev nodes S_a in log s and their Lagrange polynomials L_a. Every pair of nodes is a
plain convolution: the points' weights L_b are spread on a regular grid, multiplied in Fourier
space, added over b, and gathered with the L_a.

A grid that resolves the smallest scale would be far too large for the map. So the kernel is split
at a distance R, by χ(d) = (1 − t)³(1 + 3t), t = d²/R² (0 beyond R)::

    w = w χ + w (1 − χ)

The first part is summed over the pairs nearer than R, exactly, with the true scales. The second
begins with (d/R)⁴ and has no feature much smaller than R, however small the scales are: R/4 or so
is grid enough. R is free, and chosen for the least work: where points are dense, or few, it is
small or large. A map that is small beside its own scales (as a random start is) needs no near
part: then the grid resolves the whole kernel, less the constant that would drown its small
differences in float32.

Spreading and gathering use cubic B-splines, whose transfer function is divided out of the kernel's
spectrum. The force is the gradient of the gathered potential, Σ_j γ w² (y_i − y_j) = −½ ∇ Σ_j w,
which takes one inverse FFT for each node instead of three.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from dtsne._fft_kernels import STENCIL, gather, multiply, spread, sum_near
from dtsne._repulsion import exact_repulsion, repulsion_of_rows

if TYPE_CHECKING:
    from dtsne._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

# Measured: the median relative error of the force is about a factor (by number of axes) times
# (S/R)² (h/R)^4.5, for typical S = 2, as long as S < R; the spacing h follows from it. In one
# dimension forces from the two sides cancel, and leave more of the error.
_ERROR_FACTOR, _ERROR_POWER, _TYPICAL_S = {1: 600.0, 2: 40.0, 3: 40.0}, 4.5, 2.0
_SMALLEST_RATIO = 3.0
# Spacing that resolves a kernel, as a share of its scale.
_RESOLVING = 0.25
_FEWEST_STEPS = 8
# Cost of a pair of points in one cell or two adjacent ones, relative to that of a point of an FFT.
_PAIR_COST = 1.0
# A plan is looked at again after so many uses, and kept unless another is so much better.
_PLAN_USES, _PLAN_PATIENCE = 20, 1.3
# Points whose true force a new plan is tried on, and the share of the tolerance they may take, as
# the map goes on to change under the plan. Refinement ends somewhere: float32 has its own errors.
_N_TRIED, _SAFETY, _FINEST = 256, 0.6, 4.0
# A map larger than this many scales is about to diverge, and leaves float32.
_LARGEST = 1e8
# The largest plan, the same on every machine; a map that would need more has a larger cutoff.
_MOST_BYTES = 2**31
# Room for the map to grow before the grid has to.
_MARGIN = 1.1
_MAX_NODES = 24


class FftRepulsion:
    """Repulsion of maps of n_components dimensions, to a relative error of the force.

    A callable as :func:`dtsne._repulsion.exact_repulsion`, which keeps its plan, and with it the
    spectra of the kernel, from one call to the next. A new plan is tried on a sample of points,
    whose true forces are cheap to sum, and made finer until their median error is small enough.
    """

    def __init__(self, n_components: int, tolerance: float, n_jobs: int) -> None:
        self._n_components = n_components
        self._tolerance = tolerance
        self._n_jobs = n_jobs
        self._plan: _Plan | None = None
        self._scales: FloatArray | None = None
        self._refinement = 1.0
        self._uses = 0

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
        self._uses += 1
        stale = self._scales is not scales or self._uses >= _PLAN_USES
        if self._plan is None or stale or not self._plan.holds(extent):
            self._plan = self._renew(coordinates, scales, _Box(used, origin, extent))
            self._scales, self._uses = scales, 0
        forces, sums = self._evaluate(self._plan, used, origin, scales)
        whole = np.zeros_like(coordinates)
        whole[: self._n_components] = forces
        return whole, float(sums.sum())

    def _renew(self, coordinates: FloatArray, scales: FloatArray, box: _Box) -> _Plan:
        plan = self._plan
        if plan is None or self._scales is not scales:
            plan = None
            self._refinement = 1.0
            nodes = _scale_nodes(scales, self._tolerance)
            weights = _lagrange(nodes, scales)
        else:
            nodes, weights = plan.nodes, plan.weights
        rows = np.linspace(0, len(scales) - 1, min(_N_TRIED, len(scales))).astype(np.int64)
        true, _ = repulsion_of_rows(rows, coordinates, scales)
        sizes = np.maximum(np.linalg.norm(true, axis=0), np.finfo(float).tiny)
        former_error = np.inf
        while True:
            options = _Options(
                box, float(scales.min()), len(nodes), self._tolerance, self._refinement
            )
            cutoff = options.cheapest()
            enough = _PLAN_PATIENCE * options.cost(cutoff)
            kept = plan is not None and plan.holds(box.extent) and options.cost_of(plan) <= enough
            if plan is None or not kept:
                spacing = options.spacing(cutoff)
                plan = _make_plan(cutoff, spacing, box.extent, nodes, weights, self._n_jobs)
            forces, _ = self._evaluate(plan, box.used, box.origin, scales)
            differences = np.linalg.norm(forces[:, rows] - true[: len(box.used)], axis=0)
            error = float(np.median(differences / sizes))
            if error <= _SAFETY * self._tolerance:
                return plan
            if not kept:
                if self._refinement > _FINEST or error > 0.9 * former_error:
                    _LOGGER.info("the repulsion keeps an error of %.2g", error)
                    return plan
                former_error = error
                self._refinement *= 1.25
            plan = None

    def _evaluate(
        self, plan: _Plan, used: FloatArray, origin: FloatArray, scales: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the forces on the used axes, and each point's share of Z."""
        forces, sums = self._far(plan, used, origin)
        if plan.cutoff > 0:
            near_forces, near_sums = _near(plan.cutoff, used, origin, scales)
            forces, sums = forces + near_forces, sums + near_sums
        else:
            sums = sums - 1.0  # without a near part each point was summed along, and its w is 1
        return forces, sums

    def _far(
        self, plan: _Plan, used: FloatArray, origin: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        n_axes, n = used.shape
        # The last axis of the grid is the first of the map; axes that are not used have length 1.
        positions = np.zeros((3, n))
        positions[:n_axes] = (used - origin[:, np.newaxis]) / plan.spacing + 1.0
        positions = positions[::-1].copy()
        shape, lengths = _to_three(plan.grid_shape, 1), _to_three((STENCIL,) * n_axes, 1)
        grids = np.zeros((len(plan.nodes), *shape), np.float32)
        spread(positions, lengths, plan.weights, grids)
        potentials = plan.convolve(
            grids.reshape(len(plan.nodes), *plan.grid_shape[::-1]), self._n_jobs
        )
        found = np.empty((4, n), np.float32)
        gather(positions, lengths, plan.weights, potentials.reshape(grids.shape), found)
        gradient = found[:3][::-1][:n_axes].astype(np.float64)
        constant = plan.weights.T @ (plan.constants @ plan.weights.sum(axis=1, dtype=np.float64))
        return (-0.5 / plan.spacing) * gradient, found[3] + constant


@dataclass(frozen=True)
class _Plan:
    """A grid, and the spectra of the far kernel on it; shapes are in order of the map's axes."""

    cutoff: float
    spacing: float
    grid_shape: tuple[int, ...]
    padded_shape: tuple[int, ...]
    nodes: FloatArray
    weights: FloatArray  # (nodes, n): L_a(s_i)
    spectra: FloatArray  # (pairs of nodes, *spectrum), real as the kernel is even
    constants: FloatArray  # (nodes, nodes): what was subtracted from the kernel

    def holds(self, extent: FloatArray) -> bool:
        """Whether a map of this extent lies within the grid."""
        return bool((extent / self.spacing + STENCIL <= self.grid_shape).all())

    def convolve(self, grids: FloatArray, n_jobs: int) -> FloatArray:
        """Turn the weights of each node on the grid into the potential that each node feels."""
        axes = tuple(range(1, grids.ndim))
        padded = self.padded_shape[::-1]
        charges = fft.rfftn(grids, s=padded, axes=axes, workers=n_jobs)
        felt = np.empty_like(charges)
        flat = (len(self.nodes), -1)
        multiply(
            self.spectra.reshape(len(self.spectra), -1), charges.reshape(flat), felt.reshape(flat)
        )
        potentials = fft.irfftn(felt, s=padded, axes=axes, workers=n_jobs, overwrite_x=True)
        inside = (slice(None), *(slice(length) for length in grids.shape[1:]))
        return np.ascontiguousarray(potentials[inside])


def _make_plan(
    cutoff: float,
    spacing: float,
    extent: FloatArray,
    nodes: FloatArray,
    weights: FloatArray,
    n_jobs: int,
) -> _Plan:
    grid_shape = _grid_shape(extent * _MARGIN, spacing)
    padded = _padded_shape(grid_shape)
    squared = _squared_distances_on(padded[::-1], spacing)
    far = np.ones(1)
    if cutoff > 0:
        t = np.minimum(squared / cutoff**2, 1.0)
        far = 1.0 - (1.0 - t) ** 3 * (1.0 + 3.0 * t)
    constants = np.zeros((len(nodes), len(nodes)))
    transfer = _spline_transfer(padded[::-1])
    pairs = [(a, b) for a in range(len(nodes)) for b in range(a, len(nodes))]
    spectra = np.empty((len(pairs), *transfer.shape), np.float32)
    for index, (a, b) in enumerate(pairs):
        squared_scale = (nodes[a] + nodes[b]) ** 2
        kernel = squared_scale / (squared_scale + 4.0 * squared) * far
        if cutoff == 0:
            constants[a, b] = constants[b, a] = kernel.min()
        spectra[index] = fft.rfftn(kernel - constants[a, b], workers=n_jobs).real / transfer
    return _Plan(cutoff, spacing, grid_shape, padded, nodes, weights, spectra, constants)


def _squared_distances_on(shape: tuple[int, ...], spacing: float) -> FloatArray:
    """Squared distance of every node of a periodic grid from its first."""
    squared = np.zeros(shape)
    for axis, length in enumerate(shape):
        steps = np.arange(length)
        along = (np.minimum(steps, length - steps) * spacing) ** 2
        squared += along.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return squared


def _spline_transfer(shape: tuple[int, ...]) -> FloatArray:
    """Spectrum of spreading and gathering with cubic B-splines, (1, 4, 1)/6 on the grid, twice."""
    transfer = np.ones(1)
    for axis, length in enumerate(shape):
        last = axis == len(shape) - 1
        frequency = fft.rfftfreq(length) if last else fft.fftfreq(length)
        along = ((2.0 + np.cos(2.0 * np.pi * frequency)) / 3.0) ** 2
        transfer = transfer[..., np.newaxis] * along if axis else along
    return transfer


# --- choosing scales, cutoff and grid ---


def _scale_nodes(scales: FloatArray, tolerance: float) -> FloatArray:
    """Fewest Chebyshev nodes in log s that give the kernel to a tenth of the tolerance."""
    lowest, highest = float(np.log(scales.min())), float(np.log(scales.max()))
    if highest - lowest < 1e-6:
        return np.exp([0.5 * (lowest + highest)])
    samples = np.exp(np.linspace(lowest, highest, 40))
    distances = np.geomspace(samples[0], 20.0 * samples[-1], 12)
    for n_nodes in range(2, _MAX_NODES + 1):
        angles = np.pi * (2.0 * np.arange(n_nodes) + 1.0) / (2 * n_nodes)
        nodes = np.exp(0.5 * (lowest + highest) + 0.5 * (highest - lowest) * np.cos(angles))
        weights = _lagrange(nodes, samples).astype(np.float64)
        error = 0.0
        for d in distances:
            true = _kernel(samples[:, np.newaxis] + samples, d)
            found = weights.T @ _kernel(nodes[:, np.newaxis] + nodes, d) @ weights
            error = max(error, float(np.abs(found - true).mean() / true.mean()))
        if error < 0.1 * tolerance:
            break
    return nodes


def _kernel(scale_sums: FloatArray, distance: float) -> FloatArray:
    squared = scale_sums**2
    w: FloatArray = squared / (squared + 4.0 * distance**2)
    return w


def _lagrange(nodes: FloatArray, scales: FloatArray) -> FloatArray:
    """Lagrange polynomials of the nodes in log s, of shape (nodes, n)."""
    at, points = np.log(nodes), np.log(scales)
    weights = np.ones((len(nodes), len(scales)))
    for a in range(len(nodes)):
        for b in range(len(nodes)):
            if a != b:
                weights[a] *= (points - at[b]) / (at[a] - at[b])
    return weights.astype(np.float32)


def _grid_shape(extent: FloatArray, spacing: float) -> tuple[int, ...]:
    return tuple(int(length) for length in np.ceil(extent / spacing).astype(int) + STENCIL)


def _padded_shape(grid_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Twice the grid, so that no point feels the periodic copies, in sizes quick to transform."""
    return tuple(fft.next_fast_len(2 * length, real=True) for length in grid_shape)


@dataclass(frozen=True)
class _Box:
    """The used axes of a map, and the box it lies in."""

    used: FloatArray
    origin: FloatArray
    extent: FloatArray


@dataclass(frozen=True)
class _Options:
    """What the work of a cutoff depends on; a cutoff of 0 is a grid that resolves everything."""

    box: _Box
    smallest_scale: float
    n_nodes: int
    tolerance: float
    refinement: float

    def spacing(self, cutoff: float) -> float:
        """Spacing of the grid that keeps the error below the tolerance."""
        if cutoff == 0:
            few = float(self.box.extent.max()) / _FEWEST_STEPS
            return min(_RESOLVING * self.smallest_scale, few) / self.refinement
        # A cutoff below the scales cuts where the force itself is weak, and errors weigh more.
        crowding = (_TYPICAL_S / cutoff) ** 2
        error = _ERROR_FACTOR[len(self.box.extent)] * min(1.0, crowding) * (1.0 + crowding)
        ratio = (error / self.tolerance) ** (1.0 / _ERROR_POWER)
        return float(cutoff / (self.refinement * max(ratio, _SMALLEST_RATIO)))

    def cost(self, cutoff: float) -> float:
        """Work of one evaluation, in points of an FFT; infinite if it does not fit into memory."""
        steps = np.ceil(self.box.extent * _MARGIN / self.spacing(cutoff)) + STENCIL
        return self._cost(cutoff, float(np.prod(2.0 * steps)))

    def cost_of(self, plan: _Plan) -> float:
        """Work of one evaluation on the grid that a plan has."""
        return self._cost(plan.cutoff, float(np.prod(np.array(plan.padded_shape, dtype=float))))

    def _cost(self, cutoff: float, size: float) -> float:
        # Spectra of the pairs of nodes; charges, potentials and grids of the nodes; and the kernel.
        n_bytes = size * (self.n_nodes * (self.n_nodes + 1) + 16.0 * self.n_nodes + 32.0)
        if n_bytes > _MOST_BYTES:
            return float("inf")
        far = self.n_nodes * size * (2.0 * float(np.log2(size)) + 0.5 * self.n_nodes)
        if cutoff == 0:
            return far
        cells, _ = _cells(cutoff, self.box.used, self.box.origin)
        per_cell = np.unique(cells, return_counts=True)[1].astype(np.float64)
        return far + _PAIR_COST * 3.0 ** len(self.box.extent) * float((per_cell**2).sum())

    def cheapest(self) -> float:
        """Find the cutoff of least work: none, or one of a ladder from large to small."""
        best, least = 0.0, self.cost(0.0)
        cutoff = float(self.box.extent.max()) / 2.0
        previous = np.inf
        while cutoff > self.smallest_scale:
            cost = self.cost(cutoff)
            if cost < least:
                best, least = cutoff, cost
            if cost > 4.0 * previous:
                break
            previous = min(cost, previous)
            cutoff /= np.sqrt(2.0)
        return best


def _cells(cutoff: float, used: FloatArray, origin: FloatArray) -> tuple[IntArray, IntArray]:
    """Cell of each point, and cells along each axis with a border of empty ones; x runs fastest."""
    along = ((used - origin[:, np.newaxis]) / cutoff).astype(np.int64) + 1
    counts = along.max(axis=1) + 2
    cells = along[-1]
    for axis in range(len(used) - 2, -1, -1):
        cells = cells * counts[axis] + along[axis]
    return cells, counts


def _near(
    cutoff: float, used: FloatArray, origin: FloatArray, scales: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sum w χ over the pairs nearer than the cutoff: forces (axes, n), and Σ_j w χ."""
    n_axes, n = used.shape
    cells, counts = _cells(cutoff, used, origin)
    order = np.argsort(cells, kind="stable")
    n_cells = int(np.prod(counts))
    starts = np.zeros(n_cells + 1, np.int64)
    np.cumsum(np.bincount(cells, minlength=n_cells), out=starts[1:])
    # Rows of cells to visit: neighbours along the first axis lie in one run of points.
    steps = np.zeros(1, np.int64)
    stride = 1
    for axis in range(1, n_axes):
        stride *= counts[axis - 1]
        steps = (steps[:, np.newaxis] + stride * np.array([-1, 0, 1])).ravel()
    coordinates = np.zeros((3, n))  # float64: an outlier would leave float32 no digits for the rest
    coordinates[:n_axes] = used[:, order]
    found = np.empty((4, n), np.float32)
    sum_near(coordinates, scales[order].astype(np.float32), cells[order], starts, steps,
              np.float32(1.0 / cutoff**2), found)  # fmt: skip
    whole = np.empty_like(found)
    whole[:, order] = found
    return whole[:n_axes].astype(np.float64), whole[3]


def _to_three(lengths: tuple[int, ...], fill: int) -> tuple[int, int, int]:
    """Lengths along the axes of the grid: reversed, with unused axes in front."""
    padded = (*lengths, *(fill,) * (3 - len(lengths)))[::-1]
    return padded[0], padded[1], padded[2]
