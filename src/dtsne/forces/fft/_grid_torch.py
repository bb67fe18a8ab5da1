"""The grid of the FFT repulsion, on the device: points to it, its potentials, and back to points.

A grid has shape (scale nodes, *shape), as PyTorch's transforms want batches first. The last axis of
`shape` is the first of the map, as on the CPU (`_kernels`): points that follow each
other in order of their cells touch nodes that lie close together.

Shares of points are added to the grid as integers, in fixed point: then their sum does not depend
on the order that the device takes them in. The alternative, to let every node look for its points,
asks for the same number of products, but every block of nodes, of which most have few points, would
look through five rows of cells, and a small grid has too few blocks to keep the device busy.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations_with_replacement
from math import floor, log2, prod
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtsne.forces.fft._kernels import STENCIL
from dtsne.forces.fft._plan import Plan, far_kernel, grid_shape
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.forces.fft._plan import Resolution
    from dtsne.runtime._typing import FloatArray

# Lagrange polynomials of Chebyshev nodes are never larger than √2 between the ends of their range.
MAX_WEIGHT = 2.0
# Sums stay below 2 to this power, of the 63 that an integer has.
_BITS = 61
# Lengths of grids are whole numbers of this: few different ones, whose transforms stay planned.
_STEP = 32
# Nodes of kernels, in float64, that are transformed at once: half a gigabyte with all temporaries.
_NODES_AT_ONCE = 2**24
# Shares of points, one for each node of stencil and scale, that are dealt with at once.
_CHUNK = 2**22


def make_plan(resolution: Resolution, extent: FloatArray, scales: Tensor) -> Plan[Tensor]:
    """Make the grid for a map of some extent, and the spectra of the far kernel on it."""
    cutoff, spacing, nodes = resolution.cutoff, resolution.spacing, resolution.nodes
    shape = tuple(-(-length // _STEP) * _STEP for length in grid_shape(extent, spacing))
    padded = tuple(2 * length for length in shape)
    at = torch.as_tensor(nodes.values, device=scales.device)
    first, second = torch.triu_indices(len(at), len(at), device=scales.device)
    axes = [_distances_along(length, spacing, scales.device) for length in padded[::-1]]
    squared = _sum_of_axes([axis**2 for axis in axes])
    transfer = _sum_of_axes([_log_transfer(length, scales.device) for length in padded[::-1]])
    inverse = torch.exp(-transfer[..., : padded[0] // 2 + 1])
    sums = (at[first] + at[second]).reshape(-1, *[1] * len(shape))
    constants = torch.zeros((len(at), len(at)), dtype=torch.float64, device=scales.device)
    spectra = torch.empty((len(sums), *inverse.shape), dtype=torch.float32, device=scales.device)
    at_once = max(1, _NODES_AT_ONCE // squared.numel())
    for begin in range(0, len(sums), at_once):
        some = slice(begin, begin + at_once)
        kernels = far_kernel(squared, sums[some], cutoff)
        if cutoff == 0:
            least = kernels.flatten(1).amin(dim=1)
            constants[first[some], second[some]] = least
            constants[second[some], first[some]] = least
            kernels -= least.reshape(-1, *[1] * len(shape))
        spectra[some] = torch.fft.rfftn(kernels, dim=tuple(range(1, 1 + len(shape)))).real * inverse
    weights = nodes.weights(scales.double()).float()
    return Plan(cutoff, spacing, nodes, shape, padded, weights, spectra, constants)


def spread(
    positions: Tensor, weights: Tensor, shape: tuple[int, ...], max_weight: float = MAX_WEIGHT
) -> Tensor:
    """Add the weights of the points to the nodes around them, by cubic B-splines.

    Parameters
    ----------
    positions : Tensor of shape (n, axes)
        In steps of the grid, in order of the map's axes: 1 ≤ position < length − 2.
    weights : Tensor of shape (n, nodes), float32
    shape : tuple of int
        Of the grid; the last axis is the first of the map.
    max_weight : float
        Bound of the weights' absolute values.

    Returns
    -------
    Tensor of shape (nodes, *shape), float32
    """
    n, n_nodes = weights.shape
    unit = 2.0 ** floor(_BITS - log2(max(n, 1) * max_weight))
    fixed = torch.zeros(n_nodes, *shape, dtype=torch.int64, device=weights.device)
    add_shares(positions, weights, unit, fixed)
    grid = torch.empty(fixed.shape, dtype=torch.float32, device=fixed.device)
    return torch.mul(fixed, 1.0 / unit, out=grid)


@dispatch("_grid_triton")
def gather(positions: Tensor, weights: Tensor, potentials: Tensor) -> Tensor:
    """Gradient, in steps of the grid, and value of the potential that each point feels.

    Parameters
    ----------
    positions, weights
        See :func:`spread`.
    potentials : Tensor of shape (nodes, *shape), float32
        May be a part of a larger grid.

    Returns
    -------
    Tensor of shape (n, 4), float32
        Gradient along three axes of the map, and value.
    """
    n_axes = positions.shape[1]
    found = torch.zeros(len(positions), 4, dtype=torch.float32, device=weights.device)
    flat = potentials.reshape(len(potentials), -1)
    for part in _chunks(positions, weights):
        nodes, splines, slopes = _stencils(positions[part], potentials.shape[1:])
        felt = sum(weights[part, a, None] * flat[a, nodes] for a in range(len(flat)))
        for axis in range(n_axes):
            along = [*splines[:axis], slopes[axis], *splines[axis + 1 :]]
            found[part, axis] = (_over_stencil(along) * felt).sum(dim=1)
        found[part, 3] = (_over_stencil(splines) * felt).sum(dim=1)
    return found


def convolve(grid: Tensor, spectra: Tensor, padded: tuple[int, ...]) -> Tensor:
    """Turn the weights of each scale node on the grid into the potential that each node feels.

    Parameters
    ----------
    grid : Tensor of shape (nodes, *shape), float32
    spectra : Tensor of shape (pairs of nodes, *spectrum), float32
        Of the kernels of the pairs a ≤ b, which are even: they are real.
    padded : tuple of int
        Lengths of the transforms along the axes of the grid.

    Returns
    -------
    Tensor of shape (nodes, *shape), float32
        Part of the padded grid.
    """
    axes = tuple(range(1, grid.ndim))
    charges = torch.fft.rfftn(grid, s=padded, dim=axes)
    # The transforms' own factor would be another pass over the grid.
    felt = multiply_spectra(spectra, charges, 1.0 / prod(padded))
    potentials = torch.fft.irfftn(felt, s=padded, dim=axes, norm="forward")
    part: Tensor = potentials[(slice(None), *(slice(length) for length in grid.shape[1:]))]
    return part


@dispatch("_grid_triton")
def multiply_spectra(spectra: Tensor, charges: Tensor, factor: float) -> Tensor:
    """Σ_b K_ab · charge_b · factor at every frequency; K is symmetric and given once a pair."""
    felt = torch.zeros_like(charges)
    pairs = combinations_with_replacement(range(len(charges)), 2)
    for spectrum, (a, b) in zip(spectra, pairs, strict=True):
        felt[a] += spectrum * charges[b]
        if a != b:
            felt[b] += spectrum * charges[a]
    return felt.mul_(factor)


@dispatch("_grid_triton")
def add_shares(positions: Tensor, weights: Tensor, unit: float, fixed: Tensor) -> None:
    """Add the points' shares of the nodes, in fixed point, to a grid of integers."""
    flat = fixed.view(len(fixed), -1)
    for part in _chunks(positions, weights):
        nodes, splines, _ = _stencils(positions[part], fixed.shape[1:])
        shares = _over_stencil(splines) * unit
        for a in range(len(fixed)):
            flat[a].index_add_(
                0, nodes.ravel(), (shares * weights[part, a, None]).to(torch.int64).ravel()
            )


def _chunks(positions: Tensor, weights: Tensor) -> Iterator[slice]:
    n, n_axes = positions.shape
    size = max(_CHUNK // (STENCIL**n_axes * weights.shape[1]), 1)
    for begin in range(0, n, size):
        yield slice(begin, min(begin + size, n))


def _stencils(
    positions: Tensor, shape: tuple[int, ...]
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Nodes around each point, of shape (n, stencil), and splines and slopes along each axis."""
    nodes = torch.zeros(len(positions), 1, dtype=torch.int64, device=positions.device)
    around = torch.arange(-1, STENCIL - 1, device=positions.device)
    splines, slopes, stride = [], [], 1
    for along, length in zip(positions.unbind(dim=1), reversed(shape), strict=True):
        # What lies outside is not to be written outside; it is no map that the plan was made for.
        second = along.to(torch.int64).clamp(1, length - 3)
        fraction = (along - second).to(torch.float32).clamp(0.0, 1.0)
        places = (second[:, None] + around) * stride
        nodes = (places[:, :, None] + nodes[:, None, :]).flatten(start_dim=1)
        splines.append(_spline(fraction))
        slopes.append(_spline_slope(fraction))
        stride *= length
    return nodes, splines, slopes


def _over_stencil(along: list[Tensor]) -> Tensor:
    """Products over the axes, of shape (n, stencil), in the order of the nodes."""
    return reduce(lambda inner, outer: (outer[:, :, None] * inner[:, None, :]).flatten(1), along)


def _spline(f: Tensor) -> Tensor:
    """Weights of the cubic B-spline at the four nodes around a point, f behind the second."""
    g = 1.0 - f
    inner_f, inner_g = 4.0 - 6.0 * f * f + 3.0 * f * f * f, 4.0 - 6.0 * g * g + 3.0 * g * g * g
    return torch.stack([g * g * g, inner_f, inner_g, f * f * f], dim=1) * (1.0 / 6.0)


def _spline_slope(f: Tensor) -> Tensor:
    g = 1.0 - f
    slopes = [-0.5 * g * g, -2.0 * f + 1.5 * f * f, 2.0 * g - 1.5 * g * g, 0.5 * f * f]
    return torch.stack(slopes, dim=1)


def _distances_along(length: int, spacing: float, device: torch.device) -> Tensor:
    """Distance of the nodes of a periodic axis from its first."""
    steps = torch.arange(length, device=device, dtype=torch.float64)
    return torch.minimum(steps, length - steps) * spacing


def _log_transfer(length: int, device: torch.device) -> Tensor:
    """Logarithm of the spectrum of spreading and gathering with B-splines along one axis."""
    frequency = torch.arange(length, device=device, dtype=torch.float64) / length
    return 2.0 * torch.log((2.0 + torch.cos(2.0 * torch.pi * frequency)) / 3.0)


def _sum_of_axes(along: list[Tensor]) -> Tensor:
    """Add what belongs to the axes of a grid, each along its own."""
    total = along[0]
    for part in along[1:]:
        total = total[..., None] + part
    return total
