"""Points in cells, on the device, against those of the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_ways import both_ways, going, torch

from dtsne.forces.fft import _cells
from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._cells_torch import count_cells, sort_into_cells


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
