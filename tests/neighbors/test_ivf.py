from __future__ import annotations

import numpy as np
import pytest
from fit_support import fitted

from dtsne import DTSNE
from dtsne.data._points import Points
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.neighbors._ivf import IvfIndex
from dtsne.runtime._threads import ONE_THREAD, Threads


@pytest.fixture(name="search", params=[2**12, 16], ids=["one level", "two levels"])
def search_by_lists(request):
    """Search with cells made at once, and with cells within cells."""

    def search(X, k, *, recall, threads=ONE_THREAD):
        points = Points(X, unit=1.0)
        index = IvfIndex(points, threads, recall=recall, max_cells_at_once=request.param)
        found = index.neighbors(k)
        assert found.recall == index.recall
        return found

    return search


@pytest.fixture(name="points")
def clustered_points(rng):
    centres = 5 * rng.normal(size=(20, 10))
    return centres[rng.integers(20, size=4000)] + rng.normal(size=(4000, 10))


def test_recall_is_reached_and_truly_measured(points, search):
    indices, distances, recall = search(points, 30, recall=0.99)
    true, true_distances = nearest_neighbors(points, 30)
    whole = np.mean([np.isin(a, b).mean() for a, b in zip(true, indices, strict=True)])
    assert recall >= 0.99
    assert whole == pytest.approx(recall, abs=0.01)
    found_all = (indices == true).all(axis=1)
    assert found_all.mean() > 0.5
    np.testing.assert_allclose(distances[found_all], true_distances[found_all], rtol=1e-12)


def test_distances_are_exact_sorted_and_without_the_point_itself(points, search):
    points[7] = points[3]
    indices, distances, _ = search(points, 15, recall=0.9)
    assert not (indices == np.arange(4000)[:, None]).any()
    assert (np.diff(distances, axis=1) >= 0).all()
    assert indices[3, 0] == 7
    assert distances[3, 0] == distances[7, 0] == 0
    expected = np.linalg.norm(points[:, None] - points[indices], axis=-1)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*as many duplicates:UserWarning")
def test_every_row_has_all_its_neighbors(rng, search):
    """Heavy tails and copies leave some cells with next to no points."""
    lognormal = np.exp(4 * rng.normal(size=(4000, 3)))
    copies = rng.normal(size=(4000, 3))
    copies[:2800] = copies[0]
    for X in (lognormal, copies):
        indices, distances, _ = search(X, 100, recall=0.9)
        assert np.isfinite(distances).all()
        assert (indices >= 0).all()
        assert all(len(set(row)) == 100 for row in indices)


def test_same_bits_for_any_number_of_threads(points, search):
    results = []
    for n_threads in (1, 3):
        with Threads(n_threads) as threads:
            results.append(search(points, 20, recall=0.95, threads=threads))
    one, two = results
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_estimator_keeps_the_recall(points):
    assert DTSNE(perplexity=10.0, max_iter=20, tol=0.0).fit(points[:500]).neighbor_recall_ == 1.0
    few = {"max_dense": 1000, "max_exact_neighbors": 1000}
    model = fitted(points, perplexity=10.0, max_iter=20, tol=0.0, **few)
    assert 0.99 <= model.neighbor_recall_ <= 1.0


@pytest.mark.parametrize("kind", ["integers", "copies", "narrow"])
def test_all_cells_give_exactly_the_true_neighbors(rng, kind, search):
    """Ties at the last rank, more copies than neighbours, and clusters too narrow for float32."""
    X = rng.integers(0, 4, size=(3000, 3)).astype(float)
    if kind == "copies":
        X = rng.normal(size=(3000, 3))
        X[100:400] = X[0]
        X[-200:] = X[-1]
    elif kind == "narrow":
        X = 1e3 * rng.normal(size=(6, 3))[np.arange(3000) % 6] + 1e-6 * rng.normal(size=(3000, 3))
    # More than all neighbours are in no number of cells, so that all are visited.
    indices, distances, recall = search(X, 50, recall=2.0)
    _, true_distances = nearest_neighbors(X, 50)
    np.testing.assert_allclose(distances, true_distances, rtol=1e-12)
    assert recall == 1.0
    assert all(len(set(row)) == 50 for row in indices)
    ties = np.diff(distances, axis=1) == 0
    assert (np.diff(indices, axis=1)[ties] > 0).all()
    expected = np.linalg.norm(X[:, None] - X[indices], axis=-1)
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-15)
