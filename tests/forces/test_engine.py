from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtsne.affinity._affinities import _exp, dense_affinities, find_sigmas, sparse_affinities
from dtsne.data._distances import pairwise_squared_distances
from dtsne.forces._attraction import _log
from dtsne.forces._engine import CpuEngine
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.runtime._threads import Threads


def problem(n: int, n_components: int, seed: int = 0, *, dense: bool = True, **options):
    """An engine in float64, a map and kernel scales over a wide range."""
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
    return CpuEngine(affinities, **options), affinities, embedding, sigmas / np.median(sigmas)


def by_hand(P: np.ndarray, Y: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray]:
    """KL and gradient as the paper writes them, with all n × n arrays."""
    gamma = 4 / (s[:, None] + s[None]) ** 2
    difference = Y[:, None] - Y[None]
    w = 1 / (1 + gamma * (difference**2).sum(axis=-1))
    np.fill_diagonal(w, 0)
    Q = w / w.sum()
    off = P > 0
    kl = float((P[off] * np.log(P[off] / Q[off])).sum())
    return kl, 4 * (((P - Q) * gamma * w)[..., None] * difference).sum(axis=1)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_kl_and_gradient_equal_the_formulas(n_components):
    engine, affinities, Y, s = problem(60, n_components)
    found = engine.evaluate(Y, s, with_kl=True)
    kl, gradient = by_hand(affinities.values, Y, s)
    assert found.kl == pytest.approx(kl, rel=1e-10)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-14)


@given(
    n_components=st.integers(1, 3),
    dense=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_gradient_against_finite_differences(n_components, dense, seed):
    engine, _, Y, s = problem(30, n_components, seed, dense=dense)
    gradient = engine.evaluate(Y, s).gradient
    direction = np.random.default_rng(seed + 1).normal(size=Y.shape)
    h = 1e-4

    def kl(t: float) -> float:
        return engine.evaluate(Y + t * direction, s, with_kl=True).kl

    # Fourth-order differences: their own error stays below the 1e-6 that is asked of the gradient.
    slope = (8 * (kl(h) - kl(-h)) - (kl(2 * h) - kl(-2 * h))) / (12 * h)
    size = np.abs(gradient * direction).sum()
    assert abs(slope - (gradient * direction).sum()) < 1e-6 * size


@given(seed=st.integers(0, 1000), factor=st.floats(0.1, 10))
def test_common_factor_of_the_scales_only_rescales_the_map(seed, factor):
    engine, _, Y, s = problem(30, 2, seed)
    one = engine.evaluate(Y, s, with_kl=True)
    other = engine.evaluate(factor * Y, factor * s, with_kl=True)
    assert other.kl == pytest.approx(one.kl, rel=1e-9)
    np.testing.assert_allclose(other.gradient, one.gradient / factor, rtol=1e-8, atol=1e-12)


def test_exaggeration_multiplies_the_attraction_and_leaves_kl():
    engine, _, Y, s = problem(40, 2)
    once, twice, thrice = (engine.evaluate(Y, s, exaggeration=e, with_kl=True) for e in (1, 2, 3))
    np.testing.assert_allclose(
        thrice.gradient - twice.gradient, twice.gradient - once.gradient, rtol=1e-9, atol=1e-15
    )
    assert once.kl == twice.kl == thrice.kl


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
    engine, _, Y, s = problem(500, 2, dense=dense)
    one = engine.evaluate(Y, s, with_kl=True)
    with Threads(3) as threads:
        engine, *_ = problem(500, 2, dense=dense, threads=threads)
        many = engine.evaluate(Y, s, with_kl=True)
    assert one.kl == many.kl
    np.testing.assert_array_equal(one.gradient, many.gradient)


@given(st.floats(1, 1e300))
def test_vector_logarithm(x):
    assert _log(x) == pytest.approx(np.log(x), rel=1e-12, abs=1e-12)


@given(st.floats(-700, 0))
def test_vector_exponential(x):
    assert _exp(x) == pytest.approx(np.exp(x), rel=1e-12)


def test_vector_exponential_of_what_is_as_good_as_0():
    assert 0 <= _exp(-1e4) < 1e-300
    assert 0 <= _exp(-np.inf) < 1e-300
