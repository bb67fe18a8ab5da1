"""Near pairs of the repulsion, by all implementations, against the sum over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from ways import all_ways, device_for, is_slow

from dtsne.forces.fft import _cells
from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._repulsion import sum_near_pairs
from dtsne.runtime._threads import ONE_THREAD


def by_hand(points, scales, cutoff):
    """−½ ∇ Σ_j w u³ along three axes, and Σ_j w u³, with all n × n arrays; cutoff 1."""
    points, scales = points / cutoff, scales / cutoff
    difference = points[:, None] - points
    squared, S = (difference**2).sum(axis=2), scales[:, None] + scales
    w = S**2 / (S**2 + 4 * squared)
    u = 4 * np.maximum(1 - squared, 0) / (S**2 + 4)
    np.fill_diagonal(u, 0)
    # w' = −4 w / (S² + 4 d²) and u' = −4 / (S² + 4), by d².
    slope = -4 * w / (S**2 + 4 * squared) * u**3 - 12 * w * u**2 / (S**2 + 4)
    found = np.zeros((len(points), 4))
    found[:, : points.shape[1]] = (-slope[..., None] * difference).sum(axis=1) / cutoff
    found[:, 3] = (w * u**3).sum(axis=1)
    return found


def near_by(way, points, scales, cutoff, dtype=np.float64):
    """Sums in order of the points."""
    origin, width = points.min(axis=0), cutoff / BORDER
    with device_for(way) as device:
        if device is None:
            cells = _cells.sort_into_cells(points.T, origin, width)
            padded = np.zeros((3, len(points)))
            padded[: points.shape[1]] = (points - origin).T[:, cells.order]
            found = np.empty((len(points), 4), np.float32)
            found[cells.order] = sum_near_pairs(
                cutoff, padded, scales[cells.order], cells, ONE_THREAD
            ).T
            return found
        import torch

        from dtsne.forces.fft._cells_torch import count_cells, sort_into_cells
        from dtsne.forces.fft._near_torch import sum_near

        counts = count_cells(points.max(axis=0) - origin, width)
        y, s, at = (
            torch.tensor(array.astype(dtype), device=device) for array in (points, scales, origin)
        )
        cells = sort_into_cells(y, at, width, counts)
        found = torch.empty(len(points), 4, device=device)
        found[cells.order] = sum_near(y[cells.order], s[cells.order], cells, cutoff)
        return found.cpu().numpy()


def assert_close(found, expected, tolerance=1e-5):
    """Forces cancel: they are as exact as the largest of them."""
    assert found.dtype == np.float32
    size = np.abs(expected).max(axis=0)
    assert (np.abs(found - expected) <= tolerance * np.maximum(size, 1e-30)).all()


def clustered(rng, n, n_axes):
    widths = np.geomspace(0.01, 1.0, 4)[rng.integers(4, size=n)]
    return rng.normal(size=(4, n_axes))[rng.integers(4, size=n)] + widths[:, None] * rng.normal(
        size=(n, n_axes)
    )


@all_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
@pytest.mark.parametrize("cutoff", [0.5, 20.0])
def test_sums_are_those_over_all_pairs(rng, way, n_axes, cutoff):
    """Clusters in many cells, and all in one, with scales over three decades."""
    points = clustered(rng, 40 if is_slow(way) else 500, n_axes)
    scales = 10.0 ** rng.uniform(-2, 1, size=len(points))
    found = near_by(way, points, scales, cutoff)
    # In units of a cutoff that is large beside them, float32 has fewer digits for distances.
    assert_close(found, by_hand(points, scales, cutoff), 1e-5 * max(cutoff, 1.0))


@all_ways
def test_rows_of_few_cells_are_not_counted_twice(rng, way):
    """In a map one cell wide, cells that follow each other lie in rows above each other."""
    points = rng.random((40, 2)) * [0.4, 5.0]
    scales = np.full(40, 0.3)
    assert_close(near_by(way, points, scales, 1.0), by_hand(points, scales, 1.0))


@all_ways
@pytest.mark.parametrize("cutoff", [1e-12, 1e12])
def test_units_do_not_matter(rng, way, cutoff):
    points, scales = cutoff * clustered(rng, 40, 2), cutoff * np.exp(rng.normal(size=40))
    assert_close(near_by(way, points, scales, cutoff), by_hand(points, scales, cutoff))


@all_ways
def test_float64_keeps_its_digits_far_from_the_origin(rng, way):
    points, scales = clustered(rng, 60, 2), np.full(60, 0.1)
    points[30:] += 1e7
    points[30:] = np.round(points[30:] * 2**20) / 2**20
    found = near_by(way, points[30:], scales[30:], 1.0)
    assert_close(found, by_hand(points[30:] - 1e7, scales[30:], 1.0))


@all_ways
def test_float32_is_enough_for_a_map(rng, way):
    points, scales = clustered(rng, 40, 2).astype(np.float32), np.full(40, 0.1, np.float32)
    found = near_by(way, points, scales, 0.5, np.float32)
    assert_close(found, by_hand(points.astype(float), scales.astype(float), 0.5))


@all_ways
def test_points_on_one_spot(way):
    """They feel no force, and the same w u³ from all others."""
    n, scale, cutoff = 70, 0.5, 2.0
    found = near_by(way, np.ones((n, 2)), np.full(n, scale), cutoff)
    u = 4 * cutoff**2 / (4 * scale**2 + 4 * cutoff**2)
    np.testing.assert_array_equal(found[:, :3], 0.0)
    np.testing.assert_allclose(found[:, 3], (n - 1) * u**3, rtol=1e-6)


@all_ways
def test_a_crowd_beside_a_few(rng, way):
    """Points of one block on both sides of a crowd: pieces far apart, and candidates in between."""
    crowd = [5.0, 5.2] + 0.3 * rng.random((60, 2))
    few = np.c_[np.linspace(0, 10, 30), np.full(30, 5.0)]
    points = np.vstack([crowd, few])
    scales = np.full(90, 0.05)
    assert_close(near_by(way, points, scales, 0.4), by_hand(points, scales, 0.4))


@all_ways
def test_same_bits_twice(rng, way):
    points, scales = clustered(rng, 40, 2), np.exp(rng.normal(size=40))
    first, second = (near_by(way, points, scales, 2.0) for _ in range(2))
    np.testing.assert_array_equal(first, second)
