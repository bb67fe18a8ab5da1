from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtsne.affinity._base import (
    dense_affinities,
    find_sigmas,
    floor_sigmas,
    sparse_affinities,
    symmetric_graph,
)
from dtsne.data._distances import pairwise_squared_distances
from dtsne.neighbors._exact import nearest_neighbors


def perplexity_of(squared: np.ndarray, sigma: float) -> float:
    p = np.exp(-(squared - squared.min()) / (2 * sigma**2))
    p /= p.sum()
    p = p[p > 0]
    return float(np.exp(-(p * np.log(p)).sum()))


def affinities_by_hand(X: np.ndarray, sigmas: np.ndarray) -> np.ndarray:
    """The formulas of the paper, as they stand."""
    n = len(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    sigma_ij = (sigmas[:, None] + sigmas[None]) / 2
    kernel = np.exp(-squared / (2 * sigma_ij**2))
    np.fill_diagonal(kernel, 0)
    conditional = kernel / kernel.sum(axis=1, keepdims=True)
    return (conditional + conditional.T) / (2 * n)


def as_dense(affinities, n: int) -> np.ndarray:
    from scipy.sparse import csr_array

    return csr_array(
        (affinities.values, affinities.columns, affinities.row_starts), shape=(n, n)
    ).toarray()


@given(
    scale=st.floats(-6, 6),
    spread=st.floats(0.01, 3),
    perplexity=st.floats(2, 60),
    seed=st.integers(0, 999),
)
def test_sigma_gives_the_wanted_perplexity(scale, spread, perplexity, seed):
    rng = np.random.default_rng(seed)
    squared = 10.0**scale * np.exp(spread * rng.normal(size=(3, 200)))
    for row, sigma in zip(squared, find_sigmas(squared, perplexity), strict=True):
        assert perplexity_of(row, sigma) == pytest.approx(perplexity, rel=1e-5)


def test_sigma_scales_with_the_data(rng):
    squared = rng.random((5, 100))
    np.testing.assert_allclose(
        find_sigmas(9 * squared, 20), 3 * find_sigmas(squared, 20), rtol=1e-6
    )


def test_diagonal_is_left_out_of_a_square_matrix(rng):
    squared = pairwise_squared_distances(rng.normal(size=(30, 4)))
    others = squared[~np.eye(30, dtype=bool)].reshape(30, 29)
    np.testing.assert_allclose(
        find_sigmas(squared, 5, skip_diagonal=True), find_sigmas(others, 5), rtol=1e-9
    )


def test_points_with_too_many_copies_get_the_floor():
    squared = np.vstack([np.r_[np.zeros(12), np.arange(1.0, 20)], np.arange(1.0, 32)])
    sigmas = find_sigmas(squared, 10)
    assert sigmas[0] == 0
    assert sigmas[1] > 0
    floored = floor_sigmas(sigmas, sigmas[1])
    assert 0 < floored[0] < 0.1 * floored[1]
    assert floored[1] == sigmas[1]


def test_dense_affinities_are_those_of_the_paper(rng):
    X = rng.normal(size=(40, 3)) * np.repeat([1, 5], 20)[:, None]
    sigmas = rng.uniform(0.5, 3, size=40)
    found = dense_affinities(pairwise_squared_distances(X), sigmas, np.float64).values
    np.testing.assert_allclose(found, affinities_by_hand(X, sigmas), rtol=1e-12)
    np.testing.assert_allclose(found, found.T)


def test_sparse_affinities_over_all_neighbors_are_the_dense_ones(rng):
    X = rng.normal(size=(40, 3))
    sigmas = rng.uniform(0.5, 3, size=40)
    indices, distances = nearest_neighbors(X, 39)
    found = sparse_affinities(indices, distances**2, sigmas, np.float64)
    np.testing.assert_allclose(as_dense(found, 40), affinities_by_hand(X, sigmas), rtol=1e-12)


@given(
    n=st.integers(12, 60), k=st.integers(3, 11), copies=st.integers(0, 4), seed=st.integers(0, 99)
)
def test_sparse_affinities_are_a_symmetric_distribution(n, k, copies, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:copies] = X[0]
    indices, distances = nearest_neighbors(X, k)
    P = as_dense(sparse_affinities(indices, distances**2, np.full(n, 0.7), np.float64), n)
    np.testing.assert_allclose(P, P.T, rtol=1e-12)
    assert P.sum() == pytest.approx(1)
    assert (P >= 0).all()
    assert not np.diag(P).any()


def test_graph_keeps_copies_and_has_sorted_unique_columns(rng):
    X = rng.normal(size=(30, 2))
    X[5] = X[20]
    indices, distances = nearest_neighbors(X, 4)
    row_starts, columns, squared = symmetric_graph(indices, distances**2)
    neighbors = [set(columns[a:b]) for a, b in pairwise(row_starts)]
    expected = [{j for j in range(30) if j in indices[i] or i in indices[j]} for i in range(30)]
    assert neighbors == expected
    row_of_5 = slice(row_starts[5], row_starts[6])
    assert squared[row_of_5][columns[row_of_5] == 20] == 0
    assert all((np.diff(columns[a:b]) > 0).all() for a, b in pairwise(row_starts))


def test_far_outlier_does_not_underflow(rng):
    X = np.vstack([rng.normal(size=(50, 3)) * 1e-3, np.full((1, 3), 1e4)])
    squared = pairwise_squared_distances(X)
    sigmas = find_sigmas(squared, 10, skip_diagonal=True)
    P = dense_affinities(squared, sigmas).values
    assert np.isfinite(P).all()
    assert P[-1].sum() >= 1 / (2 * 51) * 0.999


def test_negative_entropy_is_that_of_p(rng):
    P = dense_affinities(rng.random((20, 20)), np.ones(20), np.float64)
    off = P.values[~np.eye(20, dtype=bool)]
    assert P.negative_entropy == pytest.approx((off * np.log(off)).sum())
