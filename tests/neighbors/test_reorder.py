from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtsne import Config, embed
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.neighbors._reorder import breadth_first_order, inverse_of, reorder_lists


@given(n=st.integers(4, 80), k=st.integers(1, 3), seed=st.integers(0, 99))
def test_order_has_every_row_once_and_lists_say_the_same(n, k, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    indices, distances = nearest_neighbors(X, k)
    order = breadth_first_order(indices)
    assert sorted(order) == list(range(n))
    np.testing.assert_array_equal(order[inverse_of(order)], np.arange(n))
    moved, moved_distances = reorder_lists(indices, distances, order)
    np.testing.assert_array_equal(order[moved], indices[order])
    expected = np.linalg.norm(X[order][:, None] - X[order][moved], axis=-1)
    np.testing.assert_allclose(moved_distances, expected, rtol=1e-9)


def test_neighbors_come_closer_together(rng):
    X = rng.normal(size=(3000, 2))
    indices, distances = nearest_neighbors(X, 20)
    moved, _ = reorder_lists(indices, distances, breadth_first_order(indices))
    rows = np.arange(3000)[:, None]
    assert np.median(np.abs(moved - rows)) < 0.2 * np.median(np.abs(indices - rows))


def test_results_are_in_the_order_of_the_rows(rng):
    """Two clusters that alternate in the data, the second one wider, over neighbours only."""
    wide = np.arange(400) % 2 == 1
    X = rng.normal(size=(400, 5)) * np.where(wide, 4.0, 1.0)[:, None] + 30.0 * wide[:, None]
    shown = []
    config = Config(perplexity=15.0, max_dense=50)
    found = embed(X, config, callback=lambda iteration, kl, map_: shown.append(map_.copy()))
    embedding = found.coordinates
    centres = [embedding[wide].mean(axis=0), embedding[~wide].mean(axis=0)]
    nearer = np.linalg.norm(embedding[:, None] - centres, axis=-1).argmin(axis=1)
    assert (nearer == ~wide).mean() > 0.95
    for scale in (found.sigma, found.kernel_scales.values):
        assert np.quantile(scale[wide], 0.05) > np.quantile(scale[~wide], 0.95)
    np.testing.assert_array_equal(shown[-1], embedding)


def test_own_start_is_taken_row_by_row(rng):
    X = rng.normal(size=(200, 5))
    start = rng.normal(size=(200, 2))
    config = Config(
        perplexity=10.0, init=start, max_iter=1, tol=0.0, learning_rate=1e-9, max_dense=50
    )
    assert embed(X, config).coordinates == pytest.approx(start, abs=1e-3)
