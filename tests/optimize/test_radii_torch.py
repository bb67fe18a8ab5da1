"""Radii in the map, on the device, against a tree of scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_ways import both_ways, going, is_slow, torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from dtsne.optimize import _radii_torch as _map_radii
from dtsne.optimize._leaves_torch import GROUP, LEAF, make_leaves
from dtsne.optimize._radii_torch import neighbor_radii


def by_tree(embedding, ks):
    embedding = embedding.astype(float)
    return cKDTree(embedding).query(embedding, k=[k + 1 for k in ks])[0].T


def by_device(way, embedding, ks):
    with going(way) as device:
        return neighbor_radii(torch.tensor(embedding, device=device), ks).cpu().numpy()


def assert_right(way, embedding, ks):
    """In both types, each to its own digits."""
    single = embedding.astype(np.float32)
    found = by_device(way, single, ks)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_tree(single, ks), rtol=1e-5)
    if not is_slow(way):
        found = by_device(way, embedding, ks)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, by_tree(embedding, ks), rtol=1e-9)


@given(
    n=st.integers(30, 600),
    n_axes=st.integers(1, 3),
    log_contrast=st.floats(0, 3),
    n_copies=st.integers(0, 60),
    seed=st.integers(0, 99),
)
def test_radii_are_those_of_a_tree(n, n_axes, log_contrast, n_copies, seed):
    """Clusters of different density, and copies."""
    rng = np.random.default_rng(seed)
    widths = 10.0 ** (-log_contrast * rng.integers(2, size=(n, 1)))
    embedding = 50 * rng.normal(size=n_axes) + widths * rng.normal(size=(n, n_axes))
    embedding[:n_copies] = embedding[0]
    assert_right("twin", embedding, (1, 5, 29))


def uneven(rng, n, n_axes):
    """Clusters whose widths differ by three decades, copies, and one point far out."""
    widths = np.geomspace(0.001, 1.0, 4)[rng.integers(4, size=n)]
    centres = 5 * rng.normal(size=(4, n_axes))[rng.integers(4, size=n)]
    embedding = centres + widths[:, None] * rng.normal(size=(n, n_axes))
    embedding[: n // 8] = embedding[0]
    embedding[-1] = 1e6
    return embedding


@both_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_uneven_maps(rng, way, n_axes):
    assert_right(way, uneven(rng, 70 if is_slow(way) else 2000, n_axes), (20,))


@both_ways
def test_branches_of_many_leaves(rng, way):
    """So many points that first bounds come from a branch, and lists from more than one group."""
    n = 150 if is_slow(way) else 2 * GROUP * LEAF + 10
    assert_right(way, rng.normal(size=(n, 2)), (1,) if is_slow(way) else (10, 100))


@both_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_points_on_one_spot(way, n_axes):
    embedding = np.ones((70, n_axes))
    np.testing.assert_array_equal(by_device(way, embedding, (1, 50)), 0.0)
    embedding[0] = 3.0
    assert_right(way, embedding, (50,))


@both_ways
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_points_on_a_line_and_many_of_one_distance(way, direction):
    embedding = np.arange(70.0)[:, np.newaxis] * direction
    assert_right(way, embedding, (3,) if is_slow(way) else (1, 2, 40))


@both_ways
@pytest.mark.parametrize("outlier", [1e9, 1e18])
def test_outliers(rng, way, outlier):
    embedding = rng.normal(size=(70, 2))
    embedding[0] = outlier
    assert_right(way, embedding, (10,))


@both_ways
@pytest.mark.parametrize("n", [2, 32, 33, 65])
def test_few_points_and_all_ranks(rng, way, n):
    assert_right(way, rng.normal(size=(n, 2)), (1, n - 1))


@both_ways
def test_what_is_no_number_is_no_crash(rng, way):
    embedding = rng.normal(size=(70, 2))
    embedding[3], embedding[5] = np.nan, np.inf
    assert by_device(way, embedding, (3,)).shape == (1, 70)


def test_lists_too_long_are_made_in_parts(rng, monkeypatch):
    monkeypatch.setattr(_map_radii, "_MAX_LISTED", 50)
    assert_right("twin", uneven(rng, 1000, 2), (3, 30))


@both_ways
def test_same_bits_twice_and_in_another_order(rng, way):
    embedding = uneven(rng, 40 if is_slow(way) else 2000, 2).astype(np.float32)
    order = rng.permutation(len(embedding))
    radii, again = (by_device(way, embedding, (10,)) for _ in range(2))
    np.testing.assert_array_equal(again, radii)
    np.testing.assert_array_equal(by_device(way, embedding[order], (10,)), radii[:, order])


@both_ways
def test_lists_have_all_leaves_that_are_close(rng, way):
    """Of two groups, against the boxes of the leaves' points, from some leaf on."""
    n, first = GROUP * LEAF + 100, 50
    y = rng.normal(size=(n, 2)).astype(np.float32)
    with going(way) as device:
        leaves = make_leaves(torch.tensor(y, device=device))
        squared = torch.full_like(leaves.points[:, 0], torch.inf)  # also of what is no point
        squared[:n] = torch.tensor(rng.uniform(0, 0.1, size=n))
        counts = _map_radii.count_close(leaves, squared).cpu()
        starts = torch.zeros(leaves.n_leaves - first + 1, dtype=torch.int64)
        starts[1:] = counts[first:].cumsum(dim=0)
        members = _map_radii.list_close(leaves, squared, starts.to(device), first).cpu()
    y = y[leaves.order.cpu()]
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in np.split(y, range(LEAF, n, LEAF))]
    gaps = np.array([np.maximum(0, np.maximum(low - y, y - high)) for low, high in boxes])
    is_close = (gaps**2).sum(axis=2) < squared[:n].cpu().numpy()  # (leaves, points)
    is_close = np.logical_or.reduceat(is_close, range(0, n, LEAF), axis=1).T
    np.testing.assert_array_equal(counts, is_close.sum(axis=1))
    np.testing.assert_array_equal(members, np.nonzero(is_close[first:])[1])


def test_leaves_are_compact(rng):
    """Whatever the densities: boxes of leaves hardly overlap, so that few are close to one."""
    y = torch.tensor(uneven(rng, 4000, 2)[500:])
    leaves = make_leaves(y)
    assert sorted(leaves.order.tolist()) == list(range(len(y)))
    squared = torch.zeros_like(leaves.points[:, 0])
    squared[: len(y)] = 1e-30  # a radius of hardly anything
    counts = _map_radii.count_close(leaves, squared)
    assert counts.double().mean() < 2.0
