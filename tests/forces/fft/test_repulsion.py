"""The linear-time repulsion against the exact one: over scales, densities and dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ways import device_for

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.forces._exact import exact_repulsion
from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._repulsion import FftRepulsion
from dtsne.quality import density_correlation
from dtsne.runtime._errors import UserNotice
from dtsne.runtime._threads import Threads


def padded(points: np.ndarray) -> np.ndarray:
    coordinates = np.zeros((3, len(points)))
    coordinates[: points.shape[1]] = points.T
    return coordinates


def repulsion_by(
    way: str, points: np.ndarray, scales: np.ndarray, tolerance: float = 0.01
) -> tuple[np.ndarray, float]:
    """Forces of shape (3, n), and Z."""
    with device_for(way) as device:
        if device is None:
            repulsion = FftRepulsion(points.shape[1], tolerance)
            forces, normaliser = repulsion(padded(points), scales)
            return forces, float(normaliser)
        import torch

        from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion

        arrays = (
            torch.tensor(array, dtype=torch.float32, device=device) for array in (points, scales)
        )
        found, total = TorchFftRepulsion(points.shape[1], tolerance)(*arrays)
        return found[:, :3].double().cpu().numpy().T, float(total)


def errors(
    way: str, points: np.ndarray, scales: np.ndarray, tolerance: float = 0.01
) -> tuple[float, float]:
    """Relative error of the force (median over points), and of Z."""
    forces, total = exact_repulsion(padded(points), scales)
    found, found_total = repulsion_by(way, points, scales, tolerance)
    relative = np.linalg.norm(found - forces, axis=0) / np.linalg.norm(forces, axis=0)
    return float(np.median(relative)), abs(found_total / total - 1)


def clustered(rng: np.random.Generator, n: int, n_axes: int, extent: float) -> np.ndarray:
    """Clusters of very different density."""
    centres = rng.normal(size=(8, n_axes))
    widths = np.geomspace(0.01, 0.5, 8)
    which = rng.integers(8, size=n)
    return extent * (centres[which] + widths[which, None] * rng.normal(size=(n, n_axes)))


numba_and_twin = pytest.mark.parametrize("way", ["numba", "twin"])


@numba_and_twin
@given(
    n_axes=st.integers(1, 3),
    log_extent=st.floats(-4, 3.5),
    log_range=st.floats(0, 3),
    n=st.integers(300, 1500),
    seed=st.integers(0, 999),
)
def test_error_is_within_the_promise(way, n_axes, log_extent, log_range, n, seed):
    """Maps far smaller and far larger than their scales, which differ by up to 1000 : 1."""
    rng = np.random.default_rng(seed)
    points = clustered(rng, n, n_axes, 10.0**log_extent)
    scales = 10.0 ** (log_range * (rng.random(n) - 0.5))
    force_error, total_error = errors(way, points, scales)
    assert force_error < 0.01
    assert total_error < 0.002


@numba_and_twin
def test_tolerance_is_followed(way, rng):
    points, scales = clustered(rng, 2000, 2, 20.0), np.exp(0.4 * rng.normal(size=2000))
    loose, usual, tight = (
        errors(way, points, scales, tolerance)[0] for tolerance in (0.05, 0.01, 0.001)
    )
    assert tight < usual < loose
    assert tight < 0.001


def test_outliers_do_not_blow_the_grid_up(rng):
    points = np.vstack([rng.normal(size=(1000, 2)), [[1e5, 1e5], [-1e6, 0.0]]])
    assert errors("numba", points, np.full(1002, 0.05))[0] < 0.01


@numba_and_twin
@pytest.mark.parametrize("extent", [0.0, 1e-8, 1e5, 1e10, 1e30])
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_maps_of_any_size_are_handled(way, rng, n_axes, extent):
    points = extent * rng.normal(size=(200, n_axes))
    forces, total = exact_repulsion(padded(points), np.ones(200))
    found, found_total = repulsion_by(way, points, np.ones(200))
    assert np.isfinite(found).all()
    if way == "twin" and extent > 1e5:  # where float32 has no digits left
        return
    assert found_total == pytest.approx(total, rel=0.01, abs=1e-30)
    if extent >= 1e5:
        np.testing.assert_allclose(found, forces, rtol=0.05, atol=1e-3 * np.abs(forces).max())


def test_plan_has_a_limit_of_memory(rng):
    """One outlier in three dimensions asks for a grid of many gigabytes, and does not get it."""
    points = np.vstack([rng.normal(size=(3000, 3)), [[3000.0, 0.0, 3000.0]]])
    repulsion = FftRepulsion(3, 0.01)
    repulsion(padded(points), np.full(3001, 0.3))
    assert repulsion.plan.spectra.nbytes < 2**30


def test_diverging_descent_is_an_error_here_too(rng):
    model = DTSNE(perplexity=10.0, method="fft", optimizer="paper", learning_rate=1e300)
    with pytest.raises(FloatingPointError, match="learning_rate='auto'"), np.errstate(all="ignore"):
        model.fit(rng.normal(size=(60, 4)))


def test_plan_is_kept_and_renewed(rng):
    repulsion = FftRepulsion(2, 0.01)
    scales = np.exp(0.3 * rng.normal(size=1000))
    points = 10 * rng.normal(size=(1000, 2))
    repulsion(padded(points), scales, epoch=0)
    plan = repulsion.plan
    # The number of the scales counts, not the array that they are in.
    repulsion(padded(1.01 * points), scales.copy(), epoch=0)
    assert repulsion.plan is plan
    # A map that outgrows the grid, and other scales, need another plan; results stay right.
    for y, s, epoch in [(30 * points, scales, 0), (30 * points, 2 * scales, 1)]:
        forces, _ = repulsion(padded(y), s, epoch=epoch)
        assert repulsion.plan is not plan
        expected, _ = exact_repulsion(padded(y), s)
        assert np.linalg.norm(forces - expected) < 0.01 * np.linalg.norm(expected)
        plan = repulsion.plan


def test_scales_without_a_number_are_new_ones_in_every_call(rng):
    """Also in the same memory: a plan of others would be wrong without a word."""
    repulsion = FftRepulsion(2, 0.01)
    scales = np.exp(0.3 * rng.normal(size=1000))
    points = padded(10 * rng.normal(size=(1000, 2)))
    for _ in range(3):
        found, _ = repulsion(points, scales)
        expected, _ = exact_repulsion(points, scales)
        assert np.linalg.norm(found - expected) < 0.01 * np.linalg.norm(expected)
        scales *= rng.uniform(0.2, 5.0, size=1000)


@pytest.mark.parametrize("n_axes", [1, 2, 3])
@pytest.mark.parametrize(("extent", "refinement"), [(30.0, 1.0), (3000.0, 0.4)])
def test_same_bits_for_any_number_of_threads(rng, n_axes, extent, refinement):
    """Also on the coarsest grid, where bands of cells come closest to each other."""
    points = padded(clustered(rng, 3000, n_axes, extent))
    scales = np.exp(0.4 * rng.normal(size=3000))
    results = []
    for n_threads in (1, 3):
        with Threads(n_threads) as threads:
            repulsion = FftRepulsion(n_axes, 0.1, threads, refinement=refinement)
            results.append(repulsion(points, scales))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]


@numba_and_twin
def test_forces_cancel(way, rng):
    """Every push has its counterpart: the sum over all points is 0, within the tolerance."""
    points, scales = clustered(rng, 1500, 2, 10.0), np.exp(0.3 * rng.normal(size=1500))
    forces, _ = repulsion_by(way, points, scales)
    assert np.abs(forces.sum(axis=1)).max() < 0.01 * np.abs(forces).sum(axis=1).max()


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_descent_follows_the_exact_one(n_components):
    """For 40 iterations; later, and first of all in one dimension, any difference grows."""
    X = load("G3-d").X
    exact, fast = (
        DTSNE(method=method, n_components=n_components, max_iter=40, tol=0.0).fit(X)
        for method in ("exact", "fft")
    )
    np.testing.assert_allclose(fast.history_, exact.history_, rtol=0.005)
    apart = np.linalg.norm(fast.embedding_ - exact.embedding_, axis=1)
    assert np.median(apart) < 0.05 * np.linalg.norm(exact.embedding_.std(axis=0))


def test_whole_descent_gives_the_map_of_the_exact_one():
    X = load("G10-d").X
    exact, fast = (DTSNE(method=method).fit(X) for method in ("exact", "fft"))
    assert fast.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.005)
    densities = [density_correlation(X, model.embedding_) for model in (exact, fast)]
    assert densities[1] == pytest.approx(densities[0], abs=0.01)


def test_bands_of_every_plan_are_wide_enough_to_be_spread_at_once(rng):
    for n_axes, extent, tolerance in [(1, 1e3, 0.1), (2, 1e4, 0.1), (3, 1e3, 0.1), (2, 50, 0.01)]:
        repulsion = FftRepulsion(n_axes, tolerance, refinement=0.4)
        repulsion(padded(clustered(rng, 1000, n_axes, extent)), np.ones(1000))
        assert repulsion.plan.cell_width * BORDER > 2 * repulsion.plan.spacing


def test_missed_tolerance_is_said(rng):
    points = padded(clustered(rng, 500, 2, 10.0))
    with pytest.warns(UserNotice, match="fft_tolerance=1e-09; .* method='exact'"):
        FftRepulsion(2, 1e-9, max_refinement=0.0)(points, np.ones(500))
