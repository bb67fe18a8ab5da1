"""The objective and its gradient, by the engines of all devices, against their formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from force_ways import four_numbers, on_device, padded
from hypothesis import given
from hypothesis import strategies as st
from ways import all_ways, device_for

from dtsne._config import SCALED
from dtsne.affinity._affinities import dense_affinities, find_sigmas, sparse_affinities
from dtsne.data._distances import pairwise_squared_distances
from dtsne.forces._engine import CpuEngine
from dtsne.forces._step import Motion, StepSettings
from dtsne.forces.fft._repulsion import FftRepulsion
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.runtime._threads import Threads

# Relative errors of KL, and of the gradient as a share of its largest: float32 on a device.
TOLERANCES = {"numba": (1e-10, 1e-9), "twin": (1e-5, 1e-4), "triton": (1e-5, 1e-4)}


@dataclass(frozen=True)
class Problem:
    """P in float64, a map, and kernel scales over a wide range."""

    affinities: Any
    embedding: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, n: int, n_components: int, seed: int = 0, *, dense: bool = True) -> Problem:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 4)) * rng.choice([1.0, 6.0], size=(n, 1))
        if dense:
            squared = pairwise_squared_distances(X)
            sigmas = find_sigmas(squared, n / 6, skip_diagonal=True)
            affinities = dense_affinities(squared, sigmas, np.float64)
        else:
            indices, distances = nearest_neighbors(X, n // 2)
            sigmas = find_sigmas(distances**2, n / 6)
            affinities = sparse_affinities(indices, distances**2, sigmas, np.float64)
        embedding = rng.normal(size=(n, n_components)) * 3
        return cls(affinities, embedding, sigmas / np.median(sigmas))

    def evaluate(self, way: str = "numba", **options: Any) -> tuple[float | None, np.ndarray]:
        """KL and gradient."""
        with device_for(way) as device:
            if device is None:
                found = CpuEngine(self.affinities).evaluate(self.embedding, self.scales, **options)
                return found.kl, found.gradient
            import torch

            from dtsne.forces._engine_torch import TorchEngine

            engine = TorchEngine(on_device(self.affinities, torch.float32, device))
            arrays = (torch.tensor(array, device=device) for array in (self.embedding, self.scales))
            there = engine.evaluate(*arrays, **options)
            assert there.gradient.dtype == torch.float64
            return there.kl, there.gradient.cpu().numpy()


def by_hand(problem: Problem) -> tuple[float, np.ndarray]:
    """KL and gradient as the paper writes them, with all n × n arrays."""
    P, Y, s = problem.affinities.as_matrix(), problem.embedding, problem.scales
    P = P if isinstance(P, np.ndarray) else P.toarray()
    gamma = 4 / (s[:, None] + s[None]) ** 2
    difference = Y[:, None] - Y[None]
    w = 1 / (1 + gamma * (difference**2).sum(axis=-1))
    np.fill_diagonal(w, 0)
    Q = w / w.sum()
    off = P > 0
    kl = float((P[off] * np.log(P[off] / Q[off])).sum())
    return kl, 4 * (((P - Q) * gamma * w)[..., None] * difference).sum(axis=1)


@all_ways
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_kl_and_gradient_equal_the_formulas(way, n_components, dense):
    problem = Problem.of(60, n_components, dense=dense)
    found_kl, found = problem.evaluate(way, with_kl=True)
    kl, gradient = by_hand(problem)
    of_kl, of_gradient = TOLERANCES[way]
    assert found_kl == pytest.approx(kl, rel=of_kl)
    size = np.abs(gradient).max()
    atol = 1e-14 if way == "numba" else of_gradient * size
    np.testing.assert_allclose(found, gradient, rtol=of_gradient, atol=atol)
    assert problem.evaluate(way)[0] is None


@given(
    n_components=st.integers(1, 3),
    dense=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_gradient_against_finite_differences(n_components, dense, seed):
    problem = Problem.of(30, n_components, seed, dense=dense)
    engine, Y, s = CpuEngine(problem.affinities), problem.embedding, problem.scales
    gradient = engine.evaluate(Y, s).gradient
    direction = np.random.default_rng(seed + 1).normal(size=Y.shape)

    def kl(t: float) -> float:
        return engine.evaluate(Y + t * direction, s, with_kl=True).kl

    assert_slope(kl, gradient * direction)


@given(n_axes=st.integers(1, 3), dense=st.booleans(), seed=st.integers(0, 999))
def test_gradient_on_a_device_against_finite_differences(n_axes, dense, seed):
    """Of the parts, which also work in float64."""
    torch = pytest.importorskip("torch")
    from dtsne.forces._attraction_torch import attraction
    from dtsne.forces._exact_torch import exact_repulsion

    problem = Problem.of(30, n_axes, seed, dense=dense)
    affinities = on_device(problem.affinities, torch.float64)
    Y, scales = problem.embedding, problem.scales
    direction = np.random.default_rng(seed + 1).normal(size=Y.shape)

    def kl(t: float) -> float:
        points = four_numbers(Y + t * direction, scales)
        _, cost = attraction(affinities, points, with_cost=True)
        return float(cost + exact_repulsion(points)[1].sum().log())

    points = four_numbers(Y, scales)
    repulsion, sums = exact_repulsion(points)
    gradient = 4 * (attraction(affinities, points)[0] - repulsion / sums.sum()).numpy()
    assert_slope(kl, gradient * padded(direction).T)


def assert_slope(kl: Any, along: np.ndarray) -> None:
    """Fourth-order differences: their own error stays below the 1e-6 that is asked for."""
    h = 1e-4
    slope = (8 * (kl(h) - kl(-h)) - (kl(2 * h) - kl(-2 * h))) / (12 * h)
    assert abs(slope - along.sum()) < 1e-6 * np.abs(along).sum()


@given(seed=st.integers(0, 1000), factor=st.floats(0.1, 10))
def test_common_factor_of_the_scales_only_rescales_the_map(seed, factor):
    problem = Problem.of(30, 2, seed)
    scaled = Problem(problem.affinities, factor * problem.embedding, factor * problem.scales)
    kl, gradient = problem.evaluate(with_kl=True)
    other_kl, other = scaled.evaluate(with_kl=True)
    assert other_kl == pytest.approx(kl, rel=1e-9)
    np.testing.assert_allclose(other, gradient / factor, rtol=1e-8, atol=1e-12)


@all_ways
def test_exaggeration_multiplies_the_attraction_and_leaves_kl(way):
    problem = Problem.of(40, 2)
    once, twice, thrice = (
        problem.evaluate(way, exaggeration=e, with_kl=True) for e in (1.0, 2.0, 3.0)
    )
    np.testing.assert_allclose(thrice[1] - twice[1], twice[1] - once[1], rtol=1e-9, atol=1e-15)
    assert once[0] == twice[0] == thrice[0]


def test_float32_affinities_are_close_to_float64():
    X = np.random.default_rng(0).normal(size=(100, 4))
    squared = pairwise_squared_distances(X)
    sigmas = find_sigmas(squared, 15, skip_diagonal=True)
    single, double = (
        CpuEngine(dense_affinities(squared, sigmas, dtype)).evaluate(X[:, :2], sigmas, with_kl=True)
        for dtype in (np.float32, np.float64)
    )
    assert single.kl == pytest.approx(double.kl, rel=1e-6)
    np.testing.assert_allclose(single.gradient, double.gradient, rtol=1e-3, atol=1e-8)


@pytest.mark.parametrize("dense", [True, False])
def test_same_bits_for_any_number_of_threads(dense):
    problem = Problem.of(500, 2, dense=dense)
    one = problem.evaluate(with_kl=True)
    with Threads(3) as threads:
        engine = CpuEngine(problem.affinities, threads=threads)
        many = engine.evaluate(problem.embedding, problem.scales, with_kl=True)
    assert one[0] == many.kl
    np.testing.assert_array_equal(one[1], many.gradient)


@pytest.mark.parametrize("by_fft", [False, True])
def test_a_run_is_that_many_evaluations_and_steps(by_fft):
    problem = Problem.of(200, 2)
    settings = StepSettings(SCALED, momentum=0.8, learning_rate=20.0, exaggeration=1.2)
    start = Motion(problem.embedding, np.zeros((200, 2)), np.ones((200, 2)))

    def engine() -> CpuEngine:
        return CpuEngine(problem.affinities, FftRepulsion(2, 0.01) if by_fft else None)

    at_once = engine().run(5, start, problem.scales, settings, epoch=0)
    one_by_one, motion = engine(), start
    for _ in range(5):
        found = one_by_one.evaluate(motion.embedding, problem.scales, epoch=0, exaggeration=1.2)
        motion = one_by_one.step(motion, problem.scales, found.gradient, settings)
    for name in ("embedding", "velocity", "gains"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(motion, name))
