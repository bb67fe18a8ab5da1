"""What the FFT repulsion works on: the scale nodes, the cutoff, the grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic

import numpy as np
from array_api_compat import array_namespace
from scipy import fft

from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._kernels import STENCIL
from dtsne.runtime._arrays import asarray_like, clip_min
from dtsne.runtime._typing import Array

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

# The largest plan, the same on every machine; a map that would need more has a larger cutoff.
MAX_BYTES = 2**31
# Room for the map to grow before the grid has to.
MARGIN = 1.1
# Growth of a map beyond its grid, at once, after which another plan may be better.
_MAX_GROWTH = 1.5
_MAX_NODES = 24
# Share of the tolerance that the interpolation in scale may take.
_NODES_SHARE = 0.1
_N_SAMPLES, _N_DISTANCES = 40, 12


@dataclass(frozen=True)
class Box(Generic[Array]):
    """The used axes of a map, in the order that a device has them in, and the box it lies in."""

    coordinates: Array
    n: int
    origin: Array
    extent: FloatArray  # always of numpy, as decisions depend on it


@dataclass(frozen=True)
class ScaleNodes:
    """Chebyshev nodes between the smallest and the largest scale, in log(s + shift).

    In the far part of the kernel scales much smaller than the cutoff are all alike, but for their
    squares, and larger ones differ by their ratios: with half the cutoff as the shift, it is smooth
    in this variable over any range of scales.
    """

    values: FloatArray
    shift: float

    def weights(self, scales: Array) -> Array:
        """Lagrange polynomials of the nodes, of shape (n, nodes)."""
        xp = array_namespace(scales)
        at, points = _shifted_log(self.values, self.shift), _shifted_log(scales, self.shift)
        # Factors (points, polynomial a, zero b); the one that a polynomial has not is 1.
        itself = np.eye(len(at), dtype=bool)
        apart = asarray_like(np.where(itself, 1.0, at[:, None] - at), points)
        factors = (points[:, None, None] - asarray_like(at, points)) / apart
        weights: Array = xp.where(asarray_like(itself, points) > 0, 1.0, factors).prod(-1)
        return weights


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


def _shifted_log(scales: Array, shift: float) -> Array:
    """Return log(s + shift), less log(shift): differences of small scales keep their digits."""
    xp = array_namespace(scales)
    logarithm: Array = xp.log1p(scales / shift) if shift > 0 else xp.log(scales)
    return logarithm


def _kernel(scales: FloatArray, distances: FloatArray, cutoff: float) -> FloatArray:
    """Return the far kernel for every distance and pair of scales."""
    squared = distances[:, np.newaxis, np.newaxis] ** 2
    return far_kernel(squared, scales[:, np.newaxis] + scales, cutoff)


@dataclass(frozen=True)
class Resolution:
    """How the kernel is split and sampled, on a grid of any size."""

    cutoff: float
    spacing: float
    nodes: ScaleNodes


@dataclass(frozen=True)
class Plan(Resolution, Generic[Array]):
    """A grid, and the spectra of the far kernel on it; shapes are in order of the map's axes."""

    grid_shape: tuple[int, ...]
    padded_shape: tuple[int, ...]
    weights: Array  # (n, nodes rounded up): L_a(s_i)
    spectra: Array  # (pairs of nodes, *spectrum), real as the kernel is even
    constants: Array  # (nodes rounded up, twice): what was subtracted from the kernel

    @property
    def cell_width(self) -> float:
        """Width of the cells to sort points into; without a cutoff any of a few steps will do."""
        return self.cutoff / BORDER if self.cutoff > 0 else 8.0 * self.spacing

    def holds(self, extent: FloatArray) -> bool:
        """Whether a map of this extent lies within the grid."""
        return bool((extent / self.spacing + STENCIL <= self.grid_shape).all())

    def could_hold(self, extent: FloatArray) -> bool:
        """Whether a map of this extent lies within a somewhat larger grid, and there is room."""
        grown = extent / self.spacing <= _MAX_GROWTH * np.array(self.grid_shape)
        return bool(grown.all()) and self.spectra.nbytes < MAX_BYTES / 8


def far_kernel(squared: Array | float, scale: Array, cutoff: float) -> Array:
    """Return w (1 − u³), for squared distances and sums of two scales.

    As w (1 − u) is what w is at the cutoff, no digits are lost to a difference.
    """
    u = 4.0 * clip_min(cutoff**2 - squared, 0.0) / (scale**2 + 4.0 * cutoff**2)
    outer = scale**2 / (scale**2 + 4.0 * clip_min(squared, cutoff**2))
    kernel: Array = outer * (1.0 + u + u**2)
    return kernel


def grid_shape(extent: FloatArray, spacing: float) -> tuple[int, ...]:
    """Nodes along each axis that a map of some extent needs, with room to grow."""
    steps = np.ceil(extent * MARGIN / spacing).astype(int)
    return tuple(int(length) for length in steps + STENCIL)


def padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Twice the grid, so that no point feels the periodic copies, in sizes quick to transform."""
    return tuple(2 * fft.next_fast_len(length, real=True) for length in shape)
