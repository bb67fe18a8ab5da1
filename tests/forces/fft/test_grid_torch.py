"""The grid of the repulsion, on the device, against the loops of the CPU and against the sum."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_ways import both_ways, going, is_slow, torch

from dtsne.forces._exact import exact_repulsion
from dtsne.forces.fft import _grid_torch as _grid
from dtsne.forces.fft import _kernels as _fft_kernels
from dtsne.forces.fft._cells_torch import count_cells, sort_into_cells
from dtsne.forces.fft._cost_model import CostModel
from dtsne.forces.fft._grid import convolve as convolve_on_cpu
from dtsne.forces.fft._grid import make_plan
from dtsne.forces.fft._grid_torch import convolve, gather, spread
from dtsne.forces.fft._near_torch import sum_near
from dtsne.forces.fft._plan import Resolution, ScaleNodes, far_kernel
from dtsne.forces.fft._repulsion import CpuNumerics

SHAPE = {1: (11,), 2: (9, 11), 3: (8, 9, 11)}  # of the grid: its last axis is the map's first
N_NODES = 4  # as many as the CPU takes at once


@pytest.fixture(params=[1, 2, 3])
def n_axes(request):
    return request.param


@pytest.fixture
def positions(rng, n_axes):
    """Some at the very ends of the grid."""
    lengths = np.array(SHAPE[n_axes][::-1])
    positions = 1.0 + rng.random((40, n_axes)) * (lengths - 4)
    positions[0], positions[1] = 1.0, lengths - 3 + 0.999
    return positions


@pytest.fixture
def weights(rng):
    return rng.uniform(-1.4, 1.4, size=(40, N_NODES)).astype(np.float32)


def for_cpu(positions):
    """Positions as the CPU wants them, its lengths of stencils, and the shape of its grid."""
    n, n_axes = positions.shape
    whole = np.zeros((3, n))
    whole[3 - n_axes :] = positions.T[::-1]
    return whole, (1,) * (3 - n_axes) + (4,) * n_axes, (1,) * (3 - n_axes) + SHAPE[n_axes]


@both_ways
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_spreading_is_that_of_the_cpu(way, n_axes, positions, weights, dtype):
    whole, lengths, shape = for_cpu(positions)
    expected = np.zeros((*shape, N_NODES), np.float32)
    _fft_kernels.spread(0, 1, 0, whole, lengths, weights, np.array([0, len(weights)]), expected)
    expected = np.moveaxis(expected, -1, 0).reshape(N_NODES, *SHAPE[n_axes])
    with going(way) as device:
        found = spread(
            torch.tensor(positions, dtype=dtype, device=device),
            torch.tensor(weights, device=device), SHAPE[n_axes],
        )  # fmt: skip
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.cpu(), expected, atol=3e-6)


@both_ways
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gathering_is_that_of_the_cpu(rng, way, n_axes, positions, weights, dtype):
    """From a part of a larger grid, as a convolution returns it."""
    part = tuple(slice(length) for length in SHAPE[n_axes])
    larger = tuple(length + 5 for length in SHAPE[n_axes])
    potentials = rng.normal(size=(N_NODES, *larger)).astype(np.float32)
    whole, lengths, shape = for_cpu(positions)
    grid = np.moveaxis(potentials[:, *part], 0, -1).reshape(*shape, N_NODES).copy()
    expected = np.empty((4, len(weights)), np.float32)
    _fft_kernels.gather(0, len(weights), whole, lengths, weights, grid, expected)
    with going(way) as device:
        found = gather(
            torch.tensor(positions, dtype=dtype, device=device),
            torch.tensor(weights, device=device),
            torch.tensor(potentials, device=device)[:, *part],
        ).cpu()
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found[:, :3], expected[2::-1].T, atol=1e-5)
    np.testing.assert_allclose(found[:, 3], expected[3], atol=1e-5)


def a_plan(n_axes, n_nodes=3):
    scales = np.geomspace(0.1, 2.0, 20)
    nodes = ScaleNodes(np.geomspace(0.1, 2.0, n_nodes), 0.5)
    return make_plan(Resolution(1.0, 0.45, nodes), np.array([3.0, 2.0, 2.5])[:n_axes], scales)


@both_ways
def test_convolution_is_that_of_the_cpu(rng, way, n_axes):
    plan = a_plan(n_axes)
    grid = rng.normal(size=(3, *plan.grid_shape[::-1])).astype(np.float32)
    expected = np.moveaxis(np.concatenate([grid, grid[:1]]), 0, -1).copy()
    convolve_on_cpu(plan, expected)
    with going(way) as device:
        found = convolve(
            torch.tensor(grid, device=device), torch.tensor(plan.spectra, device=device),
            plan.padded_shape[::-1],
        )  # fmt: skip
    expected = np.moveaxis(expected, -1, 0)[:3]
    np.testing.assert_allclose(found.cpu(), expected, atol=1e-5 * np.abs(expected).max())


@both_ways
def test_sums_on_the_grid_have_the_same_bits_in_any_order(rng, way, n_axes, positions, weights):
    order = rng.permutation(len(weights))
    with going(way) as device:
        grids = [
            spread(
                torch.tensor(positions[rows], device=device),
                torch.tensor(weights[rows], device=device), SHAPE[n_axes],
            ).cpu()
            for rows in (slice(None), order)
        ]  # fmt: skip
    np.testing.assert_array_equal(*grids)


def test_largest_sums_do_not_overflow():
    """All points on one spot, with the largest weight; the integers are as large as for 10⁷."""
    n = 20_000
    positions = torch.full((n, 1), 3.0, dtype=torch.float64)
    grid = spread(positions, torch.full((n, 1), 2.0), (8,), max_weight=2.0)
    expected = 2.0 * n * np.array([0, 0, 1, 4, 1, 0, 0, 0]) / 6
    np.testing.assert_allclose(grid[0], expected, rtol=1e-6)
    unit = 2.0 ** np.floor(_grid._BITS - np.log2(1e7 * 2.0))
    assert 1e7 * 2.0 * unit < 2**62
    assert 1.0 / unit < 1e-10


@both_ways
def test_points_outside_touch_nothing_outside(way, n_axes):
    """Next to the grid lies memory of others; here that of other scale nodes."""
    positions = torch.tensor([-1e9, 1e9, torch.inf, 0.9, torch.nan])[:, None].expand(-1, n_axes)
    with going(way) as device:
        positions = positions.to(device)
        weights = torch.tensor([0.0, 1.0, 0.0], device=device).expand(5, -1)
        grid = spread(positions[:4], weights[:4], SHAPE[n_axes]).cpu()
        found = gather(positions, weights, torch.ones(3, *SHAPE[n_axes], device=device)).cpu()
        spread(positions, weights, SHAPE[n_axes])  # what is no number is no crash
    assert (grid[[0, 2]] == 0).all()
    assert grid.sum() == pytest.approx(4.0)
    np.testing.assert_allclose(found[:4, 3], 1.0, rtol=1e-6)


def clustered(rng, n, n_axes, extent):
    """Clusters of very different density."""
    widths = np.geomspace(0.01, 0.5, 8)[rng.integers(8, size=n)]
    centres = rng.normal(size=(8, n_axes))[rng.integers(8, size=n)]
    return extent * (centres + widths[:, None] * rng.normal(size=(n, n_axes)))


def repulsion_of(plan, y, s, origin, extent):
    """Put the parts together: forces, and each point's share of Z."""
    n_nodes, n_axes = len(plan.nodes.values), y.shape[1]
    counts = count_cells(extent, plan.cell_width)
    cells = sort_into_cells(y, origin, plan.cell_width, counts)
    y, s = y[cells.order], s[cells.order]
    weights = torch.tensor(plan.weights[:, :n_nodes]).to(y.device)[cells.order]
    positions = (y - origin) / plan.spacing + 1.0
    grid = spread(positions, weights, plan.grid_shape[::-1])
    spectra = torch.tensor(plan.spectra).to(y.device)
    found = gather(positions, weights, convolve(grid, spectra, plan.padded_shape[::-1]))
    found[:, :3] *= -0.5 / plan.spacing
    constants = torch.tensor(plan.constants[:n_nodes, :n_nodes]).to(y.device)
    found[:, 3] += (weights.double() @ (constants @ weights.double().sum(dim=0))).float()
    if plan.cutoff > 0:
        found += sum_near(y, s, cells, plan.cutoff)
        of_itself = far_kernel(0.0, 2.0 * s.double().cpu().numpy(), plan.cutoff)
        found[:, 3] -= torch.tensor(of_itself).to(found)
    else:
        found[:, 3] -= 1.0
    whole = torch.empty_like(found)
    whole[cells.order] = found
    return whole[:, :n_axes].cpu().double().numpy(), whole[:, 3].cpu().double().numpy()


@both_ways
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("extent", "cutoff"), [(0.1, 0.0), (5.0, None), (200.0, None)], ids=["small", "usual", "large"]
)
def test_parts_make_the_repulsion(rng, way, n_axes, dtype, extent, cutoff):
    """To 1 % (median over points), and Z to .2 %, as on the CPU; scales differ by 30 : 1."""
    if is_slow(way) and (n_axes == 3 or dtype == torch.float64):
        pytest.skip("too slow")
    n = 50 if is_slow(way) else 600
    points = clustered(rng, n, n_axes, extent)
    scales = 10.0 ** rng.uniform(-0.75, 0.75, size=n)
    origin, size = points.min(axis=0), np.ptp(points, axis=0)
    cost = CostModel(
        n, size, scales.min(), scales.max(), tolerance=0.01, limit=0.0025, refinement=1.25,
        work=CpuNumerics.work, pairs_in_cells=lambda _: 0.0,
    )  # fmt: skip
    if cutoff is None:
        cutoff = 0.15 * size.max()
    plan = make_plan(cost.resolution(cutoff), size, scales)
    with going(way) as device:
        y, s, at = (
            torch.tensor(array, dtype=dtype, device=device) for array in (points, scales, origin)
        )
        forces, sums = repulsion_of(plan, y, s, at, size)
    coordinates = np.zeros((3, n))
    coordinates[:n_axes] = points.T
    expected, total = exact_repulsion(coordinates, scales)
    expected = expected[:n_axes].T
    errors = np.linalg.norm(forces - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert np.median(errors) < 0.01
    assert sums.sum() == pytest.approx(total, rel=0.002)
