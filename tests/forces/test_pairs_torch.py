"""Attraction and exact repulsion on a device: the pairs of P, and all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_ways import DEVICE, kernels, torch
from hypothesis import given
from hypothesis import strategies as st

from dtsne.affinity import _base as cpu_affinities
from dtsne.affinity import _sparse_torch as _affinities
from dtsne.affinity._affinities import dense_affinities, find_sigmas, sparse_affinities
from dtsne.data._distances import pairwise_squared_distances
from dtsne.forces import _attraction as cpu_attraction
from dtsne.forces import _attraction_torch as _attraction
from dtsne.forces import _exact as cpu_repulsion
from dtsne.forces import _exact_torch as _repulsion
from dtsne.forces._attraction_torch import attraction
from dtsne.forces._exact_torch import exact_repulsion
from dtsne.neighbors._exact import nearest_neighbors


def a_map(n: int, n_axes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of shape (3, n) and scales over three decades, with some copies."""
    rng = np.random.default_rng(seed)
    coordinates = np.zeros((3, n))
    coordinates[:n_axes] = rng.normal(size=(n_axes, n)) * 10 ** rng.uniform(-1, 1.5, size=n)
    coordinates[:, 1] = coordinates[:, 0]
    coordinates -= coordinates.mean(axis=1, keepdims=True)
    return coordinates, 10 ** rng.uniform(-1.5, 1.5, size=n)


def four_numbers(coordinates: np.ndarray, scales: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.vstack([2 * coordinates, scales]).T.copy())


def some_affinities(n: int, seed: int, *, dense: bool) -> Any:
    """P in float64, on the CPU."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * rng.choice([1.0, 6.0], size=(n, 1))
    if dense:
        squared = pairwise_squared_distances(X)
        sigmas = find_sigmas(squared, n / 6, skip_diagonal=True)
        return dense_affinities(squared, sigmas, np.float64)
    indices, distances = nearest_neighbors(X, n // 2)
    sigmas = find_sigmas(distances**2, n / 6)
    return sparse_affinities(indices, distances**2, sigmas, np.float64)


def on_device(affinities: Any, dtype: torch.dtype, device: str = "cpu") -> _affinities.Affinities:
    values = torch.from_numpy(affinities.values).to(device, dtype)
    if isinstance(affinities, cpu_affinities.DenseAffinities):
        return _affinities.DenseAffinities(values)
    return _affinities.SparseAffinities(
        torch.from_numpy(affinities.row_starts).to(device),
        torch.from_numpy(affinities.columns).to(device),
        values,
    )


def assert_close(found: torch.Tensor, expected: Any, tolerance: float) -> None:
    """Within a share of the largest: forces may cancel in single points."""
    expected = np.asarray(expected)
    np.testing.assert_allclose(
        found.cpu(), expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
    )


@given(n_axes=st.integers(1, 3), dense=st.booleans(), seed=st.integers(0, 999))
def test_attraction_is_that_of_the_cpu(n_axes, dense, seed):
    affinities = some_affinities(40, seed, dense=dense)
    coordinates, scales = a_map(40, n_axes, seed)
    forces, cost = cpu_attraction.attraction(affinities, coordinates, scales, with_cost=True)
    for dtype, tolerance in [(torch.float64, 1e-10), (torch.float32, 1e-5)]:
        points = four_numbers(coordinates, scales).to(dtype)
        given_affinities = on_device(affinities, dtype)
        found, none = attraction(given_affinities, points, n_axes=n_axes)
        assert none is None
        assert found.dtype == dtype
        assert_close(found, forces.T, tolerance)
        found, found_cost = attraction(given_affinities, points, n_axes=n_axes, with_cost=True)
        assert_close(found, forces.T, tolerance)
        assert found_cost.dtype == torch.float64
        assert float(found_cost) == pytest.approx(cost, rel=tolerance)


@given(n_axes=st.integers(1, 3), seed=st.integers(0, 999))
def test_repulsion_is_that_of_the_cpu(n_axes, seed):
    coordinates, scales = a_map(50, n_axes, seed)
    forces, normaliser = cpu_repulsion.exact_repulsion(coordinates, scales)
    for dtype, tolerance in [(torch.float64, 1e-10), (torch.float32, 1e-5)]:
        points = four_numbers(coordinates, scales).to(dtype)
        found, sums = exact_repulsion(points, n_axes=n_axes)
        assert (found.dtype, sums.dtype) == (dtype, torch.float64)
        assert_close(found, forces.T, tolerance)
        assert float(sums.sum()) == pytest.approx(normaliser, rel=tolerance)


def test_plain_sums_are_the_same_in_any_chunks(monkeypatch):
    affinities = on_device(some_affinities(40, 0, dense=False), torch.float64)
    dense = on_device(some_affinities(40, 0, dense=True), torch.float64)
    points = four_numbers(*a_map(40, 2, 0))
    at_once = [
        *attraction(affinities, points, with_cost=True),
        *attraction(dense, points, with_cost=True),
        *exact_repulsion(points),
    ]
    monkeypatch.setattr(_attraction, "_PAIRS_AT_ONCE", 500)
    monkeypatch.setattr(_affinities, "_MAX_ENTRIES", 100)
    monkeypatch.setattr(_repulsion, "_PAIRS_AT_ONCE", 150)
    affinities = on_device(some_affinities(40, 0, dense=False), torch.float64)
    in_chunks = [
        *attraction(affinities, points, with_cost=True),
        *attraction(dense, points, with_cost=True),
        *exact_repulsion(points),
    ]
    for one, other in zip(in_chunks, at_once, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@given(n_axes=st.integers(1, 3), dense=st.booleans(), seed=st.integers(0, 999))
def test_gradient_of_the_parts_against_finite_differences(n_axes, dense, seed):
    n = 30
    affinities = on_device(some_affinities(n, seed, dense=dense), torch.float64)
    rng = np.random.default_rng(seed)
    coordinates = np.zeros((3, n))
    coordinates[:n_axes] = 3 * rng.normal(size=(n_axes, n))
    scales = 10 ** rng.uniform(-0.5, 0.5, size=n)
    direction = np.zeros((3, n))
    direction[:n_axes] = rng.normal(size=(n_axes, n))

    def kl(t: float) -> float:
        points = four_numbers(coordinates + t * direction, scales)
        _, cost = attraction(affinities, points, with_cost=True)
        return float(cost + exact_repulsion(points)[1].sum().log())

    points = four_numbers(coordinates, scales)
    repulsion, sums = exact_repulsion(points)
    along = 4 * (attraction(affinities, points)[0] - repulsion / sums.sum()).numpy() * direction.T
    h = 1e-4
    slope = (8 * (kl(h) - kl(-h)) - (kl(2 * h) - kl(-2 * h))) / (12 * h)
    assert abs(slope - along.sum()) < 1e-6 * np.abs(along).sum()


def test_sum_of_a_lonely_point_keeps_its_digits(rng):
    # Its own w = 1 is a million times the rest.
    coordinates = np.zeros((3, 40))
    coordinates[:2] = 1000 * rng.normal(size=(2, 40))
    scales = np.full(40, 0.5)
    points = four_numbers(coordinates, scales).float()
    _, expected = cpu_repulsion.repulsion_of_rows(np.arange(40), coordinates, scales)
    assert expected.min() < 1e-4
    np.testing.assert_allclose(exact_repulsion(points)[1], expected, rtol=1e-5)
    _, found = kernels("forces._exact").exact_repulsion(points.to(DEVICE), n_axes=2)
    np.testing.assert_allclose(found.cpu(), expected, rtol=1e-5)


@pytest.mark.parametrize("n_axes", [1, 2, 3])
@pytest.mark.parametrize("with_cost", [True, False])
@pytest.mark.parametrize("dense", [True, False])
def test_kernels_of_the_attraction(n_axes, with_cost, dense):
    n = 37
    affinities = some_affinities(n, 0, dense=dense)
    points = four_numbers(*a_map(n, n_axes, 0)).float()
    expected, cost = attraction(on_device(affinities, torch.float32), points, with_cost=True)
    summing = kernels("forces._attraction")
    there = on_device(affinities, torch.float32, DEVICE)
    forces, found = summing.attraction(there, points.to(DEVICE), n_axes=n_axes, with_cost=with_cost)
    assert forces.shape == (n, 3)
    assert_close(forces, expected, 1e-5)
    assert (found is not None) == with_cost
    if with_cost:
        assert float(found) == pytest.approx(float(cost), rel=1e-5)


@pytest.mark.parametrize("longest", [2048, 40])
def test_kernel_takes_hubs_and_empty_rows(rng, monkeypatch, longest):
    summing = kernels("forces._attraction")
    monkeypatch.setattr(_affinities, "_MIN_CUT", longest)
    monkeypatch.setattr(summing, "_TILE", 32)
    monkeypatch.setattr(summing, "_JOINED_AT_ONCE", 8)
    lengths = np.array([0, 0, 5, 32, 299, 0, 1, 33, 64, 70, 0])
    row_starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = rng.integers(0, len(lengths), size=row_starts[-1]).astype(np.int32)
    values = rng.random(row_starts[-1])
    affinities = cpu_affinities.SparseAffinities(row_starts, columns, values)
    points = four_numbers(*a_map(len(lengths), 2, 0)).float()
    expected, cost = attraction(on_device(affinities, torch.float32), points, with_cost=True)
    there = on_device(affinities, torch.float32, DEVICE)
    assert (there.pieces.rows is None) == (longest == 2048)
    forces, found = summing.attraction(there, points.to(DEVICE), n_axes=2, with_cost=True)
    assert_close(forces, expected, 1e-5)
    assert (forces[lengths == 0] == 0).all()
    assert float(found) == pytest.approx(float(cost), rel=1e-5)


@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_kernel_of_the_repulsion(monkeypatch, n_axes):
    summing = kernels("forces._exact")
    monkeypatch.setattr(summing, "_MIN_PART", 32)
    monkeypatch.setattr(summing, "_MAX_PARTIAL_SUMS", 1000)
    n = 101
    points = four_numbers(*a_map(n, n_axes, 0))
    expected, sums = exact_repulsion(points, n_axes=n_axes)
    there = points.float().to(DEVICE)
    found, found_sums = summing.exact_repulsion(there, n_axes=n_axes)
    assert found.shape == (n, 3)
    assert (found.dtype, found_sums.dtype) == (torch.float32, torch.float64)
    assert_close(found, expected, 1e-5)
    np.testing.assert_allclose(found_sums.cpu(), sums, rtol=1e-5)
    rows = torch.tensor([100, 3, 3, 64])
    of_rows, sums_of_rows = summing.exact_repulsion(there, rows.to(DEVICE), n_axes=n_axes)
    assert_close(of_rows, expected[rows], 1e-5)
    np.testing.assert_allclose(sums_of_rows.cpu(), sums[rows], rtol=1e-5)
    of_rows, sums_of_rows = exact_repulsion(points, rows, n_axes=n_axes)
    np.testing.assert_allclose(of_rows, expected[rows], rtol=1e-12)
    np.testing.assert_allclose(sums_of_rows, sums[rows], rtol=1e-12)


def test_parts_of_the_columns_are_whole_tiles_and_short_enough():
    summing = kernels("forces._exact")
    for n in (5, 300, 10_000, 70_000, 1_000_000):
        length = summing._length_of_parts(n, n)
        assert length % summing._COLUMNS == 0
        assert length <= summing._MAX_PART


def test_two_runs_give_the_same_bits():
    affinities = on_device(some_affinities(37, 0, dense=False), torch.float32, DEVICE)
    points = four_numbers(*a_map(37, 2, 0)).float().to(DEVICE)

    def run() -> list[torch.Tensor]:
        return [
            *attraction(affinities, points, with_cost=True),
            *kernels("forces._attraction").attraction(affinities, points, with_cost=True),
            *exact_repulsion(points),
            *kernels("forces._exact").exact_repulsion(points),
        ]

    for one, other in zip(run(), run(), strict=True):
        assert torch.equal(one, other)
