"""P, dense and sparse, by all implementations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from affinity_ways import implementation
from hypothesis import given
from hypothesis import strategies as st
from ways import all_ways

from dtsne.affinity import _affinities
from dtsne.affinity._affinities import find_sigmas
from dtsne.affinity._base import gaussians_of_all, gaussians_of_neighbors
from dtsne.data._distances import pairwise_squared_distances
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.runtime._threads import ONE_THREAD, Threads


def affinities_by_hand(X: np.ndarray, sigmas: np.ndarray) -> np.ndarray:
    """The formulas of the paper, as they stand."""
    n = len(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    sigma_ij = (sigmas[:, None] + sigmas[None]) / 2
    kernel = np.exp(-squared / (2 * sigma_ij**2))
    np.fill_diagonal(kernel, 0)
    conditional = kernel / kernel.sum(axis=1, keepdims=True)
    return (conditional + conditional.T) / (2 * n)


def lists(n: int, k: int, copies: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours and squared distances not quite the same both ways, with a hub and an outlier."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:copies] = X[0]
    X[-1] = 0
    X[-2] = 20
    indices, distances = nearest_neighbors(X, k)
    squared = np.square(distances * rng.uniform(0.99, 1.01, size=distances.shape))
    return indices.astype(np.int32), squared.astype(np.float32)


@all_ways
def test_dense_affinities_are_those_of_the_paper(way, rng):
    X = rng.normal(size=(40, 3)) * np.repeat([1, 5], 20)[:, None]
    sigmas = rng.uniform(0.5, 3, size=40)
    squared = pairwise_squared_distances(X)
    expected = affinities_by_hand(X, sigmas)
    with implementation(way) as by:
        found = by.dense_affinities(squared, sigmas, np.float64).as_matrix()
        single = by.dense_affinities(squared, sigmas).as_matrix()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found, found.T)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-6, atol=1e-38)


@all_ways
def test_sparse_affinities_over_all_neighbors_are_the_dense_ones(way, rng):
    X = rng.normal(size=(40, 3))
    sigmas = rng.uniform(0.5, 3, size=40)
    indices, distances = nearest_neighbors(X, 39)
    with implementation(way) as by:
        found = by.sparse_affinities(indices, distances**2, sigmas, np.float64).as_matrix()
    np.testing.assert_allclose(found.toarray(), affinities_by_hand(X, sigmas), rtol=1e-12)


@all_ways
@given(
    n=st.integers(12, 60), k=st.integers(3, 11), copies=st.integers(0, 4), seed=st.integers(0, 99)
)
def test_sparse_affinities_are_a_symmetric_distribution(way, n, k, copies, seed):
    n = min(n, 24) if way == "triton" else n
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:copies] = X[0]
    indices, distances = nearest_neighbors(X, k)
    with implementation(way) as by:
        found = by.sparse_affinities(indices, distances**2, np.full(n, 0.7), np.float64)
    P = found.as_matrix().toarray()
    np.testing.assert_allclose(P, P.T, rtol=1e-12)
    assert P.sum() == pytest.approx(1)
    assert (P >= 0).all()
    assert not np.diag(P).any()


@all_ways
def test_graph_keeps_duplicates_and_has_sorted_unique_columns(way, rng):
    X = rng.normal(size=(30, 2))
    X[5] = X[20]
    indices, distances = nearest_neighbors(X, 4)
    with implementation(way) as by:
        row_starts, columns, squared = by.symmetric_graph(indices, distances**2)
    neighbors = [set(columns[a:b]) for a, b in pairwise(row_starts)]
    expected = [{j for j in range(30) if j in indices[i] or i in indices[j]} for i in range(30)]
    assert neighbors == expected
    row_of_5 = slice(row_starts[5], row_starts[6])
    assert squared[row_of_5][columns[row_of_5] == 20] == 0
    assert all((np.diff(columns[a:b]) > 0).all() for a, b in pairwise(row_starts))


@all_ways
@given(
    n=st.integers(12, 60), k=st.integers(1, 11), copies=st.integers(0, 4), seed=st.integers(0, 99)
)
def test_graph_has_the_same_bits_by_all_implementations(way, n, k, copies, seed):
    arrays = lists(min(n, 24) if way == "triton" else n, k, copies, seed)
    with implementation(way) as by:
        found = by.symmetric_graph(*arrays)
    dtypes = (np.int64, np.int32, np.float32)
    for one, other, dtype in zip(found, _affinities.symmetric_graph(*arrays), dtypes, strict=True):
        assert one.dtype == other.dtype == dtype
        np.testing.assert_array_equal(one, other)


@all_ways
@pytest.mark.parametrize("max_entries", [2**23, 50])
def test_sparse_affinities_are_the_same_by_all_implementations(way, max_entries, monkeypatch):
    if way != "numba":
        pytest.importorskip("torch")
        monkeypatch.setattr("dtsne.affinity._sparse_torch._MAX_ENTRIES", max_entries)
    indices, squared = lists(60, 9)
    squared[5] *= 1e4  # all of whose exponentials would be 0 without the shift
    sigmas = np.random.default_rng(1).uniform(0.3, 2, size=60)
    expected = _affinities.sparse_affinities(indices, squared, sigmas)
    with implementation(way) as by:
        found = by.sparse_affinities(indices, squared, sigmas)
        exact = by.sparse_affinities(indices, squared.astype(np.float64), sigmas, np.float64)
        assert found.negative_entropy == pytest.approx(expected.negative_entropy, rel=1e-12)
    P, expected_P = found.as_matrix(), expected.as_matrix()
    np.testing.assert_array_equal(P.indptr, expected_P.indptr)
    np.testing.assert_array_equal(P.indices, expected_P.indices)
    np.testing.assert_allclose(P.data, expected_P.data, rtol=1e-6)
    np.testing.assert_array_equal(P.toarray(), P.toarray().T)
    assert P.sum() == pytest.approx(1, rel=1e-5)
    double = _affinities.sparse_affinities(indices, squared.astype(np.float64), sigmas, np.float64)
    # The exponential of numba ends at e^−700.
    np.testing.assert_allclose(exact.as_matrix().data, double.values, rtol=1e-11, atol=1e-300)


@all_ways
@pytest.mark.parametrize("max_entries", [2**23, 100])
def test_dense_affinities_are_the_same_by_all_implementations(way, rng, max_entries, monkeypatch):
    if way != "numba":
        pytest.importorskip("torch")
        monkeypatch.setattr("dtsne.affinity._sparse_torch._MAX_ENTRIES", max_entries)
    squared = pairwise_squared_distances(rng.normal(size=(40, 3)) * np.repeat([1, 9], 20)[:, None])
    sigmas = rng.uniform(0.5, 3, size=40)
    expected = _affinities.dense_affinities(squared, sigmas, np.float64)
    with implementation(way) as by:
        found = by.dense_affinities(squared, sigmas, np.float64)
        # The exponential of numba ends at e^−700.
        np.testing.assert_allclose(found.as_matrix(), expected.values, rtol=1e-10, atol=1e-300)
        assert found.negative_entropy == pytest.approx(expected.negative_entropy, rel=1e-12)


@all_ways
def test_far_outlier_does_not_underflow(way, rng):
    X = np.vstack([rng.normal(size=(50, 3)) * 1e-3, np.full((1, 3), 1e4)])
    squared = pairwise_squared_distances(X)
    with implementation(way) as by:
        sigmas = by.find_sigmas(squared, 10, skip_diagonal=True)
        P = by.dense_affinities(squared, sigmas).as_matrix()
    assert np.isfinite(P).all()
    assert P[-1].sum() >= 1 / (2 * 51) * 0.999


@all_ways
def test_negative_entropy_is_that_of_p(way, rng):
    with implementation(way) as by:
        P = by.dense_affinities(rng.random((20, 20)), np.ones(20), np.float64)
        off = P.as_matrix()[~np.eye(20, dtype=bool)]
        assert P.negative_entropy == pytest.approx((off * np.log(off)).sum())


@pytest.mark.parametrize("exponent", [-30, 0, 30])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_gaussians_of_neighbors_are_those_of_all_where_all_are_neighbors(rng, exponent, library):
    """In units in which the squares of float32 would be 0, or infinite."""
    X = 10.0**exponent * rng.normal(size=(40, 3)) * np.geomspace(1, 9, 40)[:, None]
    X[1] = X[0] * (1 + 1e-12)
    indices, distances = nearest_neighbors(X, 39)
    squared = pairwise_squared_distances(X)
    if library == "torch":
        torch = pytest.importorskip("torch")
        indices, distances, squared = map(torch.from_numpy, (indices, distances, squared))
    near, every = (
        gaussians_of_neighbors(distances, 3.0, ONE_THREAD),
        gaussians_of_all(squared, 3.0, ONE_THREAD),
    )
    np.testing.assert_allclose(near.sigmas, every.sigmas, rtol=1e-5)
    np.testing.assert_array_equal(near.is_clipped, every.is_clipped)
    assert near.unit == pytest.approx(every.unit, rel=1e-5)
    assert near.unit == pytest.approx(float(np.median(near.sigmas)), rel=0.1)
    P, Q = near.affinities(indices, ONE_THREAD), every.affinities(None, ONE_THREAD)
    np.testing.assert_allclose(P.as_matrix().toarray(), Q.as_matrix(), rtol=1e-4, atol=1e-9)


def test_near_duplicates_are_clipped(rng):
    X = rng.normal(size=(60, 3))
    X[:8] = 1e-9 * X[:8]
    gaussians = gaussians_of_neighbors(nearest_neighbors(X, 12)[1], 4.0, ONE_THREAD)
    np.testing.assert_array_equal(gaussians.is_clipped, np.arange(60) < 8)
    assert gaussians.sigmas.min() == pytest.approx(0.01 * gaussians.unit)


def test_same_bits_for_any_number_of_threads(rng):
    X = rng.normal(size=(700, 4))
    indices, distances = nearest_neighbors(X, 20)
    squared = pairwise_squared_distances(X)
    with Threads(3) as threads:
        for one, three in (
            (gaussians_of_neighbors(distances, 6.0, t).affinities(indices, t).values
             for t in (ONE_THREAD, threads)),
            (gaussians_of_all(squared, 6.0, t).affinities(None, t).values
             for t in (ONE_THREAD, threads)),
        ):  # fmt: skip
            np.testing.assert_array_equal(one, three)


def test_sigmas_of_the_entry_are_those_found(rng):
    squared = pairwise_squared_distances(rng.normal(size=(50, 3)))
    found = gaussians_of_all(squared, 8.0, ONE_THREAD)
    np.testing.assert_array_equal(found.sigmas, find_sigmas(squared, 8.0, skip_diagonal=True))
    assert not found.is_clipped.any()
