"""The grid of the FFT repulsion on the CPU: the spectra of the kernel, and the convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from dtsne.forces.fft._kernels import BLOCK, LANES, multiply
from dtsne.forces.fft._plan import Plan, far_kernel, grid_shape, padded_shape
from dtsne.runtime._threads import ONE_THREAD, Threads

if TYPE_CHECKING:
    from dtsne.forces.fft._plan import Resolution
    from dtsne.runtime._typing import FloatArray


def make_plan(
    resolution: Resolution,
    extent: FloatArray,
    scales: FloatArray,
    threads: Threads = ONE_THREAD,
) -> Plan[FloatArray]:
    """Make the grid for a map of some extent, and the spectra of the far kernel on it."""
    cutoff, spacing, nodes = resolution.cutoff, resolution.spacing, resolution.nodes
    shape = grid_shape(extent, spacing)
    padded = padded_shape(shape)
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
        spectra[index] = (
            _spectrum_of_even(kernel - constants[a, b], padded[::-1], threads) / transfer
        )
    return Plan(cutoff, spacing, nodes, shape, padded, weights, spectra, constants)


def _squared_distances_on(shape: tuple[int, ...], spacing: float) -> FloatArray:
    """Squared distance of the nodes of a periodic grid from its first, up to half of each axis."""
    squared = np.zeros(1)
    for length in shape:
        squared = squared[..., np.newaxis] + (np.arange(length // 2 + 1) * spacing) ** 2
    whole: FloatArray = squared[0]
    return whole


def _spectrum_of_even(half: FloatArray, shape: tuple[int, ...], threads: Threads) -> FloatArray:
    """Return the spectrum of an even function on a periodic grid, given up to half of each axis.

    A cosine transform of that part has all of it, but for the mirror images that `rfftn` also has
    along every axis but the last.
    """
    spectrum = fft.dctn(half, type=1, workers=threads.number)
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
    rounded: FloatArray = np.zeros((n, -(-n_nodes // LANES) * LANES), np.float32)
    rounded[:, :n_nodes] = weights
    return rounded


def convolve(plan: Plan[FloatArray], grid: FloatArray, threads: Threads = ONE_THREAD) -> None:
    """Turn the weights of each node on the grid into the potential that each node feels.

    Axis by axis, as the padding, half of each axis, then needs no transforms along the others.
    """
    n_nodes, padded = len(plan.nodes.values), plan.padded_shape[::-1]
    last = len(padded) - 1
    charges = np.moveaxis(grid, -1, 0)[:n_nodes]
    charges = fft.rfft(charges, padded[last], axis=last + 1, workers=threads.number)
    for axis in range(last - 1, -1, -1):
        charges = fft.fft(charges, padded[axis], axis=axis + 1, workers=threads.number)
    felt = np.empty(charges.shape, charges.dtype)
    flat = (n_nodes, -1)
    threads.for_rows(
        multiply, -(-charges[0].size // BLOCK), plan.spectra.reshape(len(plan.spectra), -1),
        charges.reshape(flat), felt.reshape(flat), min_rows=1,
    )  # fmt: skip
    for axis in range(last):
        felt = fft.ifft(felt, axis=axis + 1, workers=threads.number, overwrite_x=True)
        felt = np.take(felt, range(grid.shape[axis]), axis=axis + 1)
    felt = fft.irfft(felt, padded[last], axis=last + 1, workers=threads.number)
    grid[..., :n_nodes] = np.moveaxis(felt[..., : grid.shape[last]], 0, -1)
