"""What the FFT repulsion works on: the scale nodes, the cutoff, the grid.

All of it is chosen for the least work that keeps the tolerance, by a model of the work and of the
error whose constants were measured; the error is then tried on a sample of the points
(:mod:`dtsne.forces.fft._repulsion`), and the plan refined where the model was too hopeful.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace
from scipy import fft

from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._kernels import LANES, STENCIL
from dtsne.runtime._arrays import at_least, like

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray

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
# On the ladder of cutoffs, work that is so many times what it was will not be less again.
_HOPELESS = 4.0


@dataclass(frozen=True)
class Box:
    """The used axes of a map, and the box it lies in."""

    used: Any  # (axes, n)
    origin: Any
    extent: FloatArray  # always of numpy, as decisions depend on it


@dataclass(frozen=True)
class Work:
    """What the steps take on a device, in nanoseconds; only their ratios matter."""

    fft: float  # a transform, there and back: each point of the padded grid, node and doubling
    product: float  # the product of the spectra: each point and pair of nodes
    stencil: float  # spreading and gathering: each point, node of its stencil and scale node
    pair: float  # a pair of points in one cell or no more than two apart
    launched: float = 0.0  # whatever the size


@dataclass(frozen=True)
class ScaleNodes:
    """Chebyshev nodes between the smallest and the largest scale, in log(s + shift).

    In the far part of the kernel scales much smaller than the cutoff are all alike, but for their
    squares, and larger ones differ by their ratios: with half the cutoff as the shift, it is smooth
    in this variable over any range of scales.
    """

    values: FloatArray
    shift: float

    def weights(self, scales: Any) -> Any:
        """Lagrange polynomials of the nodes, of shape (n, nodes)."""
        xp = array_namespace(scales)
        at, points = _shifted_log(self.values, self.shift), _shifted_log(scales, self.shift)
        # Factors (points, polynomial a, zero b); the one that a polynomial has not is 1.
        itself = np.eye(len(at), dtype=bool)
        apart = like(np.where(itself, 1.0, at[:, None] - at), points)
        factors = (points[:, None, None] - like(at, points)) / apart
        return xp.where(like(itself, points) > 0, 1.0, factors).prod(-1)


def fewest_nodes(smallest: float, largest: float, cutoff: float, tolerance: float) -> ScaleNodes:
    """Fewest nodes that give the far part of the kernel to a share of the tolerance."""
    if largest < smallest * (1.0 + 1e-6):
        return ScaleNodes(np.array([np.sqrt(smallest * largest)]), 0.5 * cutoff)
    for n_nodes in range(2, _MAX_NODES + 1):
        nodes, error = _nodes_and_error(smallest, largest, cutoff, n_nodes)
        if error < _NODES_SHARE * tolerance:
            break
    return nodes


@lru_cache(maxsize=1024)  # asked for again with every plan, while the scales stay as they are
def _nodes_and_error(
    smallest: float, largest: float, cutoff: float, n_nodes: int
) -> tuple[ScaleNodes, float]:
    """So many nodes, and the largest relative error that they leave in the far part."""
    shift = 0.5 * cutoff
    low, high = _shifted_log(np.array([smallest, largest]), shift)
    angles = np.pi * (2.0 * np.arange(n_nodes) + 1.0) / (2 * n_nodes)
    along = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angles)
    values = shift * np.expm1(along) if shift > 0 else np.exp(along)
    nodes = ScaleNodes(values, shift)
    samples = np.geomspace(smallest, largest, _N_SAMPLES)
    nearest = max(0.5 * cutoff, smallest)
    distances = np.geomspace(nearest, 20.0 * max(largest, nearest), _N_DISTANCES)
    if cutoff > 0:
        distances[0] = 0.0  # a point feels itself, too
    true = _kernel(samples, distances, cutoff)
    weights = nodes.weights(samples)
    found = weights @ _kernel(values, distances, cutoff) @ weights.T
    errors = np.abs(found - true).mean(axis=(1, 2)) / true.mean(axis=(1, 2))
    return nodes, float(errors.max())


def _shifted_log(scales: Any, shift: float) -> Any:
    """Return log(s + shift), less log(shift): differences of small scales keep their digits."""
    xp = array_namespace(scales)
    return xp.log1p(scales / shift) if shift > 0 else xp.log(scales)


def _kernel(scales: FloatArray, distances: FloatArray, cutoff: float) -> FloatArray:
    """Return the far kernel for every distance and pair of scales."""
    squared = distances[:, np.newaxis, np.newaxis] ** 2
    kernel: FloatArray = far_kernel(squared, scales[:, np.newaxis] + scales, cutoff)
    return kernel


@dataclass(frozen=True)
class Plan:
    """A grid, and the spectra of the far kernel on it; shapes are in order of the map's axes."""

    cutoff: float
    spacing: float
    grid_shape: tuple[int, ...]
    padded_shape: tuple[int, ...]
    nodes: ScaleNodes
    weights: Any  # (n, nodes rounded up): L_a(s_i)
    spectra: Any  # (pairs of nodes, *spectrum), real as the kernel is even
    constants: Any  # (nodes rounded up, twice): what was subtracted from the kernel

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


def far_kernel(squared: Any, scale: Any, cutoff: float) -> Any:
    """Return w (1 − u³), for squared distances and sums of two scales.

    As w (1 − u) is what w is at the cutoff, no digits are lost to a difference.
    """
    u = 4.0 * at_least(cutoff**2 - squared, 0.0) / (scale**2 + 4.0 * cutoff**2)
    outer = scale**2 / (scale**2 + 4.0 * at_least(squared, cutoff**2))
    return outer * (1.0 + u + u**2)


def grid_shape(extent: FloatArray, spacing: float) -> tuple[int, ...]:
    """Nodes along each axis that a map of some extent needs, with room to grow."""
    steps = np.ceil(extent * _MARGIN / spacing).astype(int)
    return tuple(int(length) for length in steps + STENCIL)


def padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Twice the grid, so that no point feels the periodic copies, in sizes quick to transform."""
    return tuple(2 * fft.next_fast_len(length, real=True) for length in shape)


@dataclass(frozen=True)
class Options:
    """What the work of a cutoff depends on; a cutoff of 0 is a grid that resolves everything."""

    box: Box
    smallest_scale: float
    largest_scale: float
    tolerance: float
    limit: float  # what of it the error may take
    refinement: float
    work: Work
    pairs_in_cells: Callable[[Box, float], float]

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
        transform = self.work.fft * float(np.log2(size)) * n_nodes
        product = self.work.product * 0.5 * n_nodes**2
        stencil = self.work.stencil * STENCIL**n_axes * -(-n_nodes // LANES) * LANES
        total = self.work.launched + size * (transform + product) + n * stencil
        if cutoff > 0:
            n_around = (2.0 * BORDER + 1.0) ** n_axes
            pairs = n_around * self.pairs_in_cells(self.box, cutoff / BORDER)
            total += self.work.pair * pairs
        return float(total)

    def cheapest(self, known: float = 0.0) -> tuple[float, float]:
        """Find the cutoff of least work, none or one of a ladder; its work.

        From large to small, or, if one is known that was good, from there as long as it gets
        better. The steps are powers of √2 of the smallest scale, so that what depends on a cutoff
        and the scales alone is found once.
        """
        best, least = 0.0, self.cost(0.0)
        highest = _step_of(float(self.box.extent.max()) / 2.0 / self.smallest_scale)
        if known > 0:
            start = min(round(2.0 * np.log2(known / self.smallest_scale)), highest)
            ladders = [range(start, 0, -1), range(start + 1, highest + 1)]
        else:
            ladders = [range(highest, 0, -1)]
        for ladder in ladders:
            previous = np.inf
            for step in ladder:
                cutoff = float(self.smallest_scale * 2.0 ** (step / 2))
                cost = self.cost(cutoff)
                if cost < least:
                    best, least = cutoff, cost
                if cost > (1.0 if known > 0 else _HOPELESS) * previous:
                    break
                previous = min(cost, previous)
        return best, least


def _step_of(ratio: float) -> int:
    """Count the steps of √2 that a ratio holds."""
    return int(np.floor(2.0 * np.log2(ratio))) if ratio > 1.0 else 0
