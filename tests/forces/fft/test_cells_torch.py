"""Points into the order of their cells and back, on the device: kernels and twins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from gpu_ways import both_ways, going, torch

from dtsne.forces.fft import _cells
from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._cells_torch import arrange, count_cells, join, sort_into_cells
from dtsne.forces.fft._plan import far_kernel

N = 300


@both_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
@pytest.mark.parametrize(("width", "dtype"), [(0.4, torch.int16), (0.03, torch.int32)])
def test_cells_are_those_of_the_cpu(rng, way, n_axes, width, dtype):
    if n_axes == 1:
        width, dtype = width / 100, torch.int16
    if n_axes == 3:
        width = 2 * width
    points = rng.normal(size=(300, n_axes))
    points[:50] = points[0]
    origin = points.min(axis=0)
    expected = _cells.sort_into_cells(points.T, origin, width)
    counts = count_cells(points.max(axis=0) - origin, width)
    with going(way) as device:
        y = torch.tensor(points, device=device)
        cells = sort_into_cells(y, torch.tensor(origin, device=device), width, counts)
    assert cells.counts == tuple(expected.counts)
    assert cells.cell_of.dtype == dtype
    np.testing.assert_array_equal(cells.order.cpu(), expected.order)
    np.testing.assert_array_equal(cells.starts.cpu(), expected.starts)
    of_points, _ = _cells.cells_of(points.T, origin, width)
    np.testing.assert_array_equal(cells.cell_of.cpu(), of_points[expected.order])


@both_ways
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_points_outside_are_brought_in(rng, way, dtype):
    """Far beyond integers, too, and what is no number: all have a cell within the border."""
    points = torch.tensor(rng.normal(size=(60, 2)), dtype=dtype)
    points[:6, 0] = torch.tensor([-1e30, 1e30, torch.inf, -torch.inf, torch.nan, 5.0])
    counts = (9, 8)
    with going(way) as device:
        origin = torch.full((2,), -1.0, dtype=dtype, device=device)
        cells = sort_into_cells(points.to(device), origin, 0.5, counts)
    x, y = cells.cell_of.cpu().numpy() % counts[0], cells.cell_of.cpu().numpy() // counts[0]
    assert x.min() == y.min() == BORDER
    assert x.max() == counts[0] - 1 - BORDER
    assert y.max() == counts[1] - 1 - BORDER
    assert sorted(cells.order.tolist()) == list(range(60))
    assert cells.starts[-1] == 60


def drawn(n_axes, device, dtype=torch.float32):
    rng = np.random.default_rng(n_axes)

    def tensor(*shape):
        return torch.tensor(rng.normal(size=shape), dtype=dtype, device=device)

    return rng, tensor


@both_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_points_are_taken_in_order(way, n_axes):
    with going(way) as device:
        rng, tensor = drawn(n_axes, device)
        y, scales, weights = tensor(n_axes, N).T, tensor(N).abs(), tensor(5, N).T
        order = torch.tensor(rng.permutation(N), device=device)
        lengths = (18, 100, 100)[:n_axes]  # too short along the first axis
        plan = SimpleNamespace(weights=weights, spacing=0.25, grid_shape=lengths)
        found = arrange(y, scales, order, y.amin(dim=0), plan)
        relative = y.cpu().numpy()[order.cpu()] - y.cpu().numpy().min(axis=0)
        np.testing.assert_allclose(found.relative.cpu(), relative, rtol=1e-6)
        positions = np.minimum(relative / 0.25 + 1.0, np.array(lengths) - 2.01)
        assert (positions[:, 0] == 15.99).any()
        np.testing.assert_allclose(found.positions.cpu(), positions, rtol=1e-5)
        assert torch.equal(found.scales, scales[order])
        assert torch.equal(found.weights, weights[order])


@both_ways
@pytest.mark.parametrize("has_near", [True, False])
def test_parts_are_joined_in_the_order_of_the_map(way, has_near):
    with going(way) as device:
        rng, tensor = drawn(2, device)
        far, near, scales = tensor(N, 4), tensor(N, 4), tensor(N).abs() + 0.1
        order = torch.tensor(rng.permutation(N), device=device)
        cutoff = 1.5 if has_near else 0.0
        found = join(far, near if has_near else None, scales, order, cutoff, 0.25)
        expected = far.cpu().numpy().astype(float)
        expected[:, :3] *= -2.0
        if has_near:
            expected += near.cpu().numpy()
            expected[:, 3] -= far_kernel(0.0, 2.0 * scales.cpu().numpy(), cutoff)
        else:
            expected[:, 3] -= 1.0
        np.testing.assert_allclose(found.cpu()[order.cpu()], expected, rtol=1e-4, atol=1e-5)
