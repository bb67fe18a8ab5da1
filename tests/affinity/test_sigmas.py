"""σ of every point, by all implementations."""

from __future__ import annotations

import numpy as np
import pytest
from affinity_ways import implementation
from hypothesis import given
from hypothesis import strategies as st
from ways import all_ways

from dtsne.affinity._affinities import _exp, find_sigmas
from dtsne.affinity._base import gaussians_of_neighbors
from dtsne.data._distances import pairwise_squared_distances
from dtsne.runtime._threads import ONE_THREAD, Threads


def perplexity_of(squared: np.ndarray, sigma: float) -> float:
    p = np.exp(-(squared - squared.min()) / (2 * sigma**2))
    p /= p.sum()
    p = p[p > 0]
    return float(np.exp(-(p * np.log(p)).sum()))


def rows_of_all_kinds(k: int) -> np.ndarray:
    """Rows over twelve decades, with duplicates, too many of them, and equidistant points."""
    rng = np.random.default_rng(0)
    size = 10 ** rng.uniform(-6, 6, size=(9, 1))
    spread = rng.uniform(0.01, 3, size=(9, 1))
    rows = size * np.exp(spread * rng.normal(size=(9, k)))
    rows[1, : k // 2] = 0
    rows[4] = 2.5
    rows[6, :3] = 0
    return rows.astype(np.float32)


@all_ways
@given(
    scale=st.floats(-6, 6),
    spread=st.floats(0.01, 3),
    perplexity=st.floats(2, 60),
    seed=st.integers(0, 999),
)
def test_sigma_gives_the_wanted_perplexity(way, scale, spread, perplexity, seed):
    rng = np.random.default_rng(seed)
    squared = 10.0**scale * np.exp(spread * rng.normal(size=(3, 200)))
    with implementation(way) as by:
        found = by.find_sigmas(squared, perplexity)
        single = by.find_sigmas(squared.astype(np.float32), perplexity)
    for row, sigma in zip(squared, found, strict=True):
        assert perplexity_of(row, sigma) == pytest.approx(perplexity, rel=1e-5)
    expected = find_sigmas(squared.astype(np.float32), perplexity)
    np.testing.assert_allclose(single, expected, rtol=1e-6)


@all_ways
def test_sigma_scales_with_the_data(way, rng):
    squared = rng.random((5, 100))
    with implementation(way) as by:
        found, expected = by.find_sigmas(9 * squared, 20), 3 * by.find_sigmas(squared, 20)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@all_ways
@pytest.mark.parametrize("k", [17, 32, 40, 300])
def test_duplicates_and_equidistant_points(way, k):
    squared = rows_of_all_kinds(k)
    with implementation(way) as by:
        found = by.find_sigmas(squared, 8.0)
    np.testing.assert_allclose(found, find_sigmas(squared, 8.0), rtol=1e-6)
    assert found[1] == 0
    assert found[4] == pytest.approx(np.sqrt(2.5))
    assert found[6] > 0


@all_ways
@pytest.mark.parametrize("max_entries", [2**22, 100])
def test_diagonal_is_left_out_of_a_square_matrix(way, rng, max_entries, monkeypatch):
    if way != "numba":
        pytest.importorskip("torch")
        monkeypatch.setattr("dtsne.affinity._sigmas_torch._MAX_ENTRIES", max_entries)
    squared = pairwise_squared_distances(rng.normal(size=(31, 4)))
    others = squared[~np.eye(31, dtype=bool)].reshape(31, 30)
    with implementation(way) as by:
        found, expected = by.find_sigmas(squared, 5, skip_diagonal=True), by.find_sigmas(others, 5)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(found, find_sigmas(squared, 5, skip_diagonal=True), rtol=1e-6)


def test_same_bits_for_any_number_of_threads(rng):
    squared = rng.random((1000, 40))
    with Threads(3) as threads:
        found = find_sigmas(squared, 10.0, threads=threads)
    np.testing.assert_array_equal(found, find_sigmas(squared, 10.0))


def test_points_with_too_many_duplicates_get_the_floor():
    squared = np.vstack([np.r_[np.zeros(12), np.arange(1.0, 20)], np.arange(1.0, 32)])
    sigmas = find_sigmas(squared, 10)
    assert sigmas[0] == 0
    assert sigmas[1] > 0
    gaussians = gaussians_of_neighbors(np.sqrt(squared), 10, ONE_THREAD)
    assert 0 < gaussians.sigmas[0] < 0.1 * gaussians.sigmas[1]
    assert gaussians.sigmas[1] == pytest.approx(sigmas[1], rel=1e-6)
    np.testing.assert_array_equal(gaussians.is_clipped, [True, False])


@given(st.floats(-700, 0))
def test_vector_exponential(x):
    assert _exp(x) == pytest.approx(np.exp(x), rel=1e-12)


def test_vector_exponential_of_what_is_as_good_as_0():
    assert 0 <= _exp(-1e4) < 1e-300
    assert 0 <= _exp(-np.inf) < 1e-300
