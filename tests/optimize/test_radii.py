"""Radii in the map against a tree of scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from dtsne.optimize._radii import neighbor_radii


def by_tree(embedding, ks):
    return cKDTree(embedding).query(embedding, k=[k + 1 for k in ks])[0].T


@given(
    n=st.integers(30, 400),
    n_axes=st.integers(1, 3),
    log_contrast=st.floats(0, 3),
    n_copies=st.integers(0, 20),
    seed=st.integers(0, 99),
)
def test_radii_are_those_of_a_tree(n, n_axes, log_contrast, n_copies, seed):
    """Clusters of different density, and copies."""
    rng = np.random.default_rng(seed)
    widths = 10.0 ** (-log_contrast * rng.integers(2, size=(n, 1)))
    embedding = 50 * rng.normal(size=n_axes) + widths * rng.normal(size=(n, n_axes))
    embedding[:n_copies] = embedding[0]
    ks = (1, 5, 29)
    np.testing.assert_allclose(
        neighbor_radii(embedding, ks), by_tree(embedding, ks), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("outlier", [1e3, 1e9, 1e300])
def test_outliers_and_flat_maps_are_handled(rng, outlier):
    embedding = rng.normal(size=(200, 2))
    embedding[0] = outlier
    np.testing.assert_allclose(neighbor_radii(embedding, (3, 10)), by_tree(embedding, (3, 10)))
    embedding[:, 1] = 0.0
    np.testing.assert_allclose(neighbor_radii(embedding, (3, 10)), by_tree(embedding, (3, 10)))
