"""What the FFT repulsion works on: the scale nodes, the cutoff, the grid, the kernel's spectra.

All of it is chosen for the least work that keeps the tolerance, by a model of the work and of the
error whose constants were measured; the error is then tried on a sample of the points
(:mod:`dtsne._fft_repulsion`), and the plan refined where the model was too hopeful.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import fft

from dtsne._cells import BORDER, cells_of
from dtsne._fft_kernels import BLOCK, LANES, STENCIL, multiply
from dtsne._threads import current_n_threads, for_rows

if TYPE_CHECKING:
    from dtsne._typing import FloatArray

# Measured: the median relative error of the force is about a factor (by number of axes) times
# (h/R)³; the spacing h follows from it. In one dimension forces from the two sides cancel, and
# leave more of the error.
_ERROR_FACTOR, _ERROR_POWER = {1: 1.4, 2: 0.09, 3: 0.09}, 3.0
# Bands of cells are as wide as the cutoff; of less than two steps, those three apart would share
# nodes.
_SMALLEST_RATIO = 2.05
# Spacing that resolves a kernel, as a share of its scale.
_RESOLVING = 0.25
_FEWEST_STEPS = 8
# Work, in nanoseconds on a common processor (only their ratios matter): of a transform, there and
# back, for each point of the padded grid, node and doubling; of the product of the spectra, for
# each point and pair of nodes; of spreading and gathering, for each point, node of its stencil and
# scale node; and of a pair of points in one cell or no more than two apart.
_FFT_WORK, _PRODUCT_WORK, _STENCIL_WORK, _PAIR_WORK = 0.4, 1.0, 1.5, 0.45
# The largest plan, the same on every machine; a map that would need more has a larger cutoff.
_MOST_BYTES = 2**31
# Room for the map to grow before the grid has to.
_MARGIN = 1.1
# Growth of a map beyond its grid, at once, after which another plan may be better.
_MOST_GROWTH = 1.5
_MAX_NODES = 24
# Share of the tolerance that the interpolation in scale may take.
_NODES_SHARE = 0.1
_N_SAMPLES, _N_DISTANCES = 40, 12
# More cells than this for each point are counted by sorting the points.
_MANY_CELLS_PER_POINT = 4


@dataclass(frozen=True)
class Box:
    """The used axes of a map, and the box it lies in."""

    used: FloatArray  # (axes, n)
    origin: FloatArray
    extent: FloatArray


@dataclass(frozen=True)
class ScaleNodes:
    """Chebyshev nodes between the smallest and the largest scale, in log(s + shift).

    In the far part of the kernel scales much smaller than the cutoff are all alike, but for their
    squares, and larger ones differ by their ratios: with half the cutoff as the shift, it is smooth
    in this variable over any range of scales.
    """

    values: FloatArray
    shift: float

    def weights(self, scales: FloatArray) -> FloatArray:
        """Lagrange polynomials of the nodes, of shape (n, nodes)."""
        at, points = _shifted_log(self.values, self.shift), _shifted_log(scales, self.shift)
        weights = np.ones((len(scales), len(at)))
        for a in range(len(at)):
            for b in range(len(at)):
                if a != b:
                    weights[:, a] *= (points - at[b]) / (at[a] - at[b])
        return weights


def fewest_nodes(smallest: float, largest: float, cutoff: float, tolerance: float) -> ScaleNodes:
    """Fewest nodes that give the far part of the kernel to a share of the tolerance."""
    shift = 0.5 * cutoff
    if largest < smallest * (1.0 + 1e-6):
        return ScaleNodes(np.array([np.sqrt(smallest * largest)]), shift)
    low, high = _shifted_log(np.array([smallest, largest]), shift)
    samples = np.geomspace(smallest, largest, _N_SAMPLES)
    nearest = max(0.5 * cutoff, smallest)
    distances = np.geomspace(nearest, 20.0 * max(largest, nearest), _N_DISTANCES)
    if cutoff > 0:
        distances[0] = 0.0  # a point feels itself, too
    true = _kernel(samples, distances, cutoff)
    for n_nodes in range(2, _MAX_NODES + 1):
        angles = np.pi * (2.0 * np.arange(n_nodes) + 1.0) / (2 * n_nodes)
        along = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angles)
        values = shift * np.expm1(along) if shift > 0 else np.exp(along)
        nodes = ScaleNodes(values, shift)
        weights = nodes.weights(samples)
        found = weights @ _kernel(values, distances, cutoff) @ weights.T
        errors = np.abs(found - true).mean(axis=(1, 2)) / true.mean(axis=(1, 2))
        if errors.max() < _NODES_SHARE * tolerance:
            break
    return nodes


def _shifted_log(scales: FloatArray, shift: float) -> FloatArray:
    """Return log(s + shift), less log(shift): differences of small scales keep their digits."""
    return np.log1p(scales / shift) if shift > 0 else np.log(scales)


def _kernel(scales: FloatArray, distances: FloatArray, cutoff: float) -> FloatArray:
    """Return the far kernel for every distance and pair of scales."""
    squared = distances[:, np.newaxis, np.newaxis] ** 2
    return far_kernel(squared, scales[:, np.newaxis] + scales, cutoff)


@dataclass(frozen=True)
class Plan:
    """A grid, and the spectra of the far kernel on it; shapes are in order of the map's axes."""

    cutoff: float
    spacing: float
    grid_shape: tuple[int, ...]
    padded_shape: tuple[int, ...]
    nodes: ScaleNodes
    weights: FloatArray  # (n, nodes rounded up): L_a(s_i)
    spectra: FloatArray  # (pairs of nodes, *spectrum), real as the kernel is even
    constants: FloatArray  # (nodes rounded up, twice): what was subtracted from the kernel

    @property
    def cell_width(self) -> float:
        """Width of the cells to sort points into; without a cutoff any of a few steps will do."""
        return self.cutoff / BORDER if self.cutoff > 0 else 8.0 * self.spacing

    def holds(self, extent: FloatArray) -> bool:
        """Whether a map of this extent lies within the grid."""
        return bool((extent / self.spacing + STENCIL <= self.grid_shape).all())

    def could_hold(self, extent: FloatArray) -> bool:
        """Whether a map of this extent lies within a somewhat larger grid, and there is room."""
        grown = extent / self.spacing <= _MOST_GROWTH * np.array(self.grid_shape)
        return bool(grown.all()) and self.spectra.nbytes < _MOST_BYTES / 8

    def convolve(self, grid: FloatArray) -> None:
        """Turn the weights of each node on the grid into the potential that each node feels.

        Axis by axis, as the padding, half of each axis, then needs no transforms along the others.
        """
        n_nodes, padded = len(self.nodes.values), self.padded_shape[::-1]
        last = len(padded) - 1
        charges = np.moveaxis(grid, -1, 0)[:n_nodes]
        charges = fft.rfft(charges, padded[last], axis=last + 1, workers=current_n_threads())
        for axis in range(last - 1, -1, -1):
            charges = fft.fft(charges, padded[axis], axis=axis + 1, workers=current_n_threads())
        felt = np.empty(charges.shape, charges.dtype)
        flat = (n_nodes, -1)
        for_rows(
            multiply, -(-charges[0].size // BLOCK), self.spectra.reshape(len(self.spectra), -1),
            charges.reshape(flat), felt.reshape(flat), least=1,
        )  # fmt: skip
        for axis in range(last):
            felt = fft.ifft(felt, axis=axis + 1, workers=current_n_threads(), overwrite_x=True)
            felt = np.take(felt, range(grid.shape[axis]), axis=axis + 1)
        felt = fft.irfft(felt, padded[last], axis=last + 1, workers=current_n_threads())
        grid[..., :n_nodes] = np.moveaxis(felt[..., : grid.shape[last]], 0, -1)


def far_kernel(squared: Any, scale: Any, cutoff: float) -> FloatArray:
    """Return w (1 − u³), for squared distances and sums of two scales.

    As w (1 − u) is what w is at the cutoff, no digits are lost to a difference.
    """
    u = 4.0 * np.maximum(cutoff**2 - squared, 0.0) / (scale**2 + 4.0 * cutoff**2)
    outer: FloatArray = scale**2 / (scale**2 + 4.0 * np.maximum(squared, cutoff**2))
    far: FloatArray = outer * (1.0 + u + u**2)
    return far


def make_plan(
    cutoff: float,
    spacing: float,
    extent: FloatArray,
    nodes: ScaleNodes,
    scales: FloatArray,
) -> Plan:
    grid_shape = _grid_shape(extent * _MARGIN, spacing)
    padded = _padded_shape(grid_shape)
    squared = _squared_distances_on(padded[::-1], spacing)
    weights = _in_lanes(nodes.weights(scales))
    constants = np.zeros((weights.shape[1], weights.shape[1]))
    transfer = _spline_transfer(padded[::-1])
    pairs = [(a, b) for a in range(len(nodes.values)) for b in range(a, len(nodes.values))]
    spectra = np.empty((len(pairs), *transfer.shape), np.float32)
    for index, (a, b) in enumerate(pairs):
        kernel = far_kernel(squared, nodes.values[a] + nodes.values[b], cutoff)
        if cutoff == 0:
            constants[a, b] = constants[b, a] = kernel.min()
        spectra[index] = _spectrum_of_even(kernel - constants[a, b], padded[::-1]) / transfer
    return Plan(cutoff, spacing, grid_shape, padded, nodes, weights, spectra, constants)


def _squared_distances_on(shape: tuple[int, ...], spacing: float) -> FloatArray:
    """Squared distance of the nodes of a periodic grid from its first, up to half of each axis."""
    squared = np.zeros(1)
    for length in shape:
        squared = squared[..., np.newaxis] + (np.arange(length // 2 + 1) * spacing) ** 2
    whole: FloatArray = squared[0]
    return whole


def _spectrum_of_even(half: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return the spectrum of an even function on a periodic grid, given up to half of each axis.

    A cosine transform of that part has all of it, but for the mirror images that `rfftn` also has
    along every axis but the last.
    """
    spectrum = fft.dctn(half, type=1, workers=current_n_threads())
    for axis, length in enumerate(shape[:-1]):
        steps = np.arange(length)
        spectrum = np.take(spectrum, np.minimum(steps, length - steps), axis=axis)
    return np.asarray(spectrum)


def _spline_transfer(shape: tuple[int, ...]) -> FloatArray:
    """Spectrum of spreading and gathering with cubic B-splines, (1, 4, 1)/6 on the grid, twice."""
    transfer = np.ones(1)
    for axis, length in enumerate(shape):
        last = axis == len(shape) - 1
        frequency = fft.rfftfreq(length) if last else fft.fftfreq(length)
        along = ((2.0 + np.cos(2.0 * np.pi * frequency)) / 3.0) ** 2
        transfer = transfer[..., np.newaxis] * along if axis else along
    return transfer


def _in_lanes(weights: FloatArray) -> FloatArray:
    """Weights in float32, with nodes of no weight up to a whole number of lanes."""
    n, n_nodes = weights.shape
    rounded: FloatArray = np.zeros((n, _in_whole_lanes(n_nodes)), np.float32)
    rounded[:, :n_nodes] = weights
    return rounded


def _in_whole_lanes(n_nodes: int) -> int:
    return -(-n_nodes // LANES) * LANES


def _grid_shape(extent: FloatArray, spacing: float) -> tuple[int, ...]:
    return tuple(int(length) for length in np.ceil(extent / spacing).astype(int) + STENCIL)


def _padded_shape(grid_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Twice the grid, so that no point feels the periodic copies, in sizes quick to transform."""
    return tuple(2 * fft.next_fast_len(length, real=True) for length in grid_shape)


@dataclass(frozen=True)
class Options:
    """What the work of a cutoff depends on; a cutoff of 0 is a grid that resolves everything."""

    box: Box
    smallest_scale: float
    largest_scale: float
    tolerance: float
    limit: float  # what of it the error may take
    refinement: float

    def nodes(self, cutoff: float) -> ScaleNodes:
        """Scale nodes that keep the error below the tolerance."""
        tolerance = self.tolerance / self.refinement**2
        return fewest_nodes(self.smallest_scale, self.largest_scale, cutoff, tolerance)

    def spacing(self, cutoff: float) -> float:
        """Spacing of the grid that keeps the error below the tolerance."""
        if cutoff == 0:
            few = float(self.box.extent.max()) / _FEWEST_STEPS
            return min(_RESOLVING * self.smallest_scale, few) / self.refinement
        error = _ERROR_FACTOR[len(self.box.extent)]
        ratio = max((error / self.limit) ** (1.0 / _ERROR_POWER), _SMALLEST_RATIO)
        return float(cutoff / max(self.refinement * ratio, _SMALLEST_RATIO))

    def cost(self, cutoff: float) -> float:
        """Work of one evaluation; infinite if it does not fit into memory."""
        steps = np.ceil(self.box.extent * _MARGIN / self.spacing(cutoff)) + STENCIL
        n_nodes = len(self.nodes(cutoff).values)
        return self._cost(cutoff, float(np.prod(2.0 * steps)), n_nodes)

    def cost_of(self, plan: Plan) -> float:
        """Work of one evaluation on the grid that a plan has."""
        size = float(np.prod(np.array(plan.padded_shape, dtype=float)))
        return self._cost(plan.cutoff, size, len(plan.nodes.values))

    def _cost(self, cutoff: float, size: float, n_nodes: int) -> float:
        # Spectra of the pairs of nodes; charges, potentials and grids of the nodes; and the kernel.
        n_bytes = size * (n_nodes * (n_nodes + 1.0) + 16.0 * n_nodes + 32.0)
        if n_bytes > _MOST_BYTES:
            return float("inf")
        n_axes, n = self.box.used.shape
        transform = _FFT_WORK * float(np.log2(size)) * n_nodes
        product = _PRODUCT_WORK * 0.5 * n_nodes**2
        stencil = _STENCIL_WORK * STENCIL**n_axes * _in_whole_lanes(n_nodes)
        work = size * (transform + product) + n * stencil
        if cutoff > 0:
            cells, counts = cells_of(self.box.used, self.box.origin, cutoff / BORDER)
            many = np.prod(counts.astype(float)) > _MANY_CELLS_PER_POINT * n
            per_cell = np.unique(cells, return_counts=True)[1] if many else np.bincount(cells)
            n_around = (2.0 * BORDER + 1.0) ** n_axes
            work += _PAIR_WORK * n_around * float((per_cell.astype(float) ** 2).sum())
        return float(work)

    def cheapest(self) -> tuple[float, float]:
        """Find the cutoff of least work, none or one of a ladder from large to small; its work."""
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
        return best, least
