"""Radii in the map, by all implementations, against a tree of scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from radii_support import uneven
from scipy.spatial import cKDTree
from ways import all_ways, device_for, is_slow

from dtsne.optimize._radii import neighbor_radii
from dtsne.runtime._threads import Threads


def by_tree(embedding, ks):
    embedding = embedding.astype(float)
    return cKDTree(embedding).query(embedding, k=[k + 1 for k in ks])[0].T


def radii_by(way, embedding, ks):
    with device_for(way) as device:
        if device is None:
            return neighbor_radii(embedding, ks)
        import torch

        return neighbor_radii(torch.tensor(embedding, device=device), ks).cpu().numpy()


def assert_right(way, embedding, ks):
    """On a device in both types, each to its own digits; numba has no use for float32."""
    if way != "numba":
        single = embedding.astype(np.float32)
        found = radii_by(way, single, ks)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, by_tree(single, ks), rtol=1e-5)
    if not is_slow(way):
        found = radii_by(way, embedding, ks)
        assert found.dtype == np.float64
        # Numba has distances in units of its cells.
        atol = 1e-12 if way == "numba" else 0.0
        np.testing.assert_allclose(found, by_tree(embedding, ks), rtol=1e-9, atol=atol)


@pytest.mark.parametrize("way", ["numba", "twin"])
@given(
    n=st.integers(30, 600),
    n_axes=st.integers(1, 3),
    log_contrast=st.floats(0, 3),
    n_duplicates=st.integers(0, 60),
    seed=st.integers(0, 99),
)
def test_radii_are_those_of_a_tree(way, n, n_axes, log_contrast, n_duplicates, seed):
    """Clusters of different density, and duplicates."""
    rng = np.random.default_rng(seed)
    widths = 10.0 ** (-log_contrast * rng.integers(2, size=(n, 1)))
    embedding = 50 * rng.normal(size=n_axes) + widths * rng.normal(size=(n, n_axes))
    embedding[:n_duplicates] = embedding[0]
    assert_right(way, embedding, (1, 5, 29))


@all_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_uneven_maps(rng, way, n_axes):
    assert_right(way, uneven(rng, 70 if is_slow(way) else 2000, n_axes), (20,))


@all_ways
def test_many_points(rng, way):
    """So many that, on a device, first bounds come from a branch, and lists from two groups."""
    n = 150 if is_slow(way) else 4106
    assert_right(way, rng.normal(size=(n, 2)), (1,) if is_slow(way) else (10, 100))


@all_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_points_on_one_spot(way, n_axes):
    embedding = np.ones((70, n_axes))
    np.testing.assert_array_equal(radii_by(way, embedding, (1, 50)), 0.0)
    embedding[0] = 3.0
    assert_right(way, embedding, (50,))


@all_ways
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_points_on_a_line_and_many_of_one_distance(way, direction):
    embedding = np.arange(70.0)[:, np.newaxis] * direction
    assert_right(way, embedding, (3,) if is_slow(way) else (1, 2, 40))


@all_ways
@pytest.mark.parametrize("outlier", [1e3, 1e9, 1e18, 1e300])
def test_outliers_and_flat_maps(rng, way, outlier):
    if way != "numba" and outlier > 1e18:
        pytest.skip("float32 ends before")
    embedding = rng.normal(size=(70 if is_slow(way) else 200, 2))
    embedding[0] = outlier
    assert_right(way, embedding, (10,) if is_slow(way) else (3, 10))
    embedding[:, 1] = 0.0
    assert_right(way, embedding, (10,) if is_slow(way) else (3, 10))


@all_ways
@pytest.mark.parametrize("n", [2, 32, 33, 65])
def test_few_points_and_all_ranks(rng, way, n):
    assert_right(way, rng.normal(size=(n, 2)), (1, n - 1))


@pytest.mark.parametrize("way", ["twin", "triton"])
def test_what_is_no_number_is_no_crash(rng, way):
    embedding = rng.normal(size=(70, 2))
    embedding[3], embedding[5] = np.nan, np.inf
    assert radii_by(way, embedding, (3,)).shape == (1, 70)


def test_lists_too_long_are_made_in_parts(rng, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("dtsne.optimize._radii_torch._MAX_LISTED", 50)
    assert_right("twin", uneven(rng, 1000, 2), (3, 30))


@all_ways
def test_same_bits_twice_and_in_another_order(rng, way):
    embedding = uneven(rng, 40 if is_slow(way) else 2000, 2).astype(np.float32)
    order = rng.permutation(len(embedding))
    radii, again = (radii_by(way, embedding, (10,)) for _ in range(2))
    np.testing.assert_array_equal(again, radii)
    np.testing.assert_array_equal(radii_by(way, embedding[order], (10,)), radii[:, order])


def test_same_bits_for_any_number_of_threads(rng):
    for embedding in (rng.normal(size=(2000, 2)), uneven(rng, 2000, 2)):  # by cells, by a tree
        with Threads(3) as threads:
            found = neighbor_radii(embedding, (3, 30), threads)
        np.testing.assert_array_equal(found, neighbor_radii(embedding, (3, 30)))
