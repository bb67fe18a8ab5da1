"""Searches by inverted lists, on the CPU with one and two levels of cells, and by PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from fit_support import fitted

from dtsne import DTSNE
from dtsne.data._points import Points
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.neighbors._ivf import IvfIndex
from dtsne.runtime._threads import ONE_THREAD, Threads

LEVELS = {"one level": 2**12, "two levels": 16}


@dataclass
class Search:
    """A search by lists, of points as float32 holds them, and how precise its distances are."""

    way: str

    @property
    def rtol(self):
        return 2e-7 if self.way == "torch" else 1e-12

    def __call__(self, X, k, *, recall, threads=ONE_THREAD):
        if self.way == "torch":
            torch = pytest.importorskip("torch")
            from dtsne.data._points_torch import DevicePoints
            from dtsne.neighbors._search_torch import TorchIndex

            device = "cuda" if torch.cuda.is_available() else "cpu"
            points = DevicePoints(torch.as_tensor(X, dtype=torch.float32, device=device), unit=1.0)
            index = TorchIndex(points, recall=recall, max_exact=100)
        else:
            levels = LEVELS[self.way]
            points = Points(X, unit=1.0)
            index = IvfIndex(points, threads, recall=recall, max_cells_at_once=levels)
        found = index.neighbors_on_host(k)
        assert found.recall == index.recall
        return found


@pytest.fixture(name="search", params=[*LEVELS, "torch"])
def search_by_lists(request):
    return Search(request.param)


@pytest.fixture(name="points")
def clustered_points(rng):
    centres = 5 * rng.normal(size=(20, 10))
    points = centres[rng.integers(20, size=4000)] + rng.normal(size=(4000, 10))
    return points.astype(np.float32).astype(float)


def assert_in_order(indices, distances):
    assert (np.diff(distances, axis=1) >= 0).all()
    ties = np.diff(distances, axis=1) == 0
    assert (np.diff(indices, axis=1)[ties] > 0).all()
    assert not (indices == np.arange(len(indices))[:, None]).any()


def test_recall_is_reached_and_truly_measured(points, search):
    indices, distances, recall = search(points, 30, recall=0.99)
    true, true_distances = nearest_neighbors(points, 30)
    whole = np.mean([np.isin(a, b).mean() for a, b in zip(true, indices, strict=True)])
    assert 0.99 <= recall < 1.0
    assert whole == pytest.approx(recall, abs=0.01)
    found_all = (indices == true).all(axis=1)
    assert found_all.mean() > 0.5
    np.testing.assert_allclose(distances[found_all], true_distances[found_all], rtol=search.rtol)


def test_distances_are_exact_sorted_and_without_the_point_itself(points, search):
    points[7] = points[3]
    indices, distances, _ = search(points, 15, recall=0.9)
    assert_in_order(indices, distances)
    assert indices[3, 0] == 7
    assert distances[3, 0] == distances[7, 0] == 0
    expected = np.linalg.norm(points[:, None] - points[indices], axis=-1)
    np.testing.assert_allclose(distances, expected, rtol=search.rtol)


@pytest.mark.parametrize("kind", ["heavy tails", "duplicates"])
def test_every_row_has_all_its_neighbors(rng, search, kind):
    """Heavy tails and duplicates leave some cells with next to no points."""
    n, k = (1000, 60) if search.way == "torch" else (4000, 100)
    X = rng.normal(size=(n, 3))
    if kind == "duplicates":
        X[: int(0.7 * n)] = X[0]
    else:
        X = np.exp(4 * X)
    indices, distances, _ = search(X, k, recall=0.9)
    assert np.isfinite(distances).all()
    assert (indices >= 0).all()
    assert all(len(set(row)) == k for row in indices)
    assert_in_order(indices, distances)


def test_same_bits_at_every_call(points, search):
    for one, other in zip(*(search(points[:1000], 10, recall=0.99) for _ in range(2)), strict=True):
        np.testing.assert_array_equal(one, other)


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
    if search.way == "torch":
        X = X.astype(np.float32).astype(float)
    # More than all neighbours are in no number of cells, so that all are visited.
    indices, distances, recall = search(X, 50, recall=2.0)
    _, true_distances = nearest_neighbors(X, 50)
    np.testing.assert_allclose(distances, true_distances, rtol=search.rtol)
    assert recall == 1.0
    assert all(len(set(row)) == 50 for row in indices)
    ties = np.diff(distances, axis=1) == 0
    assert (np.diff(indices, axis=1)[ties] > 0).all()
    expected = np.linalg.norm(X[:, None] - X[indices], axis=-1)
    np.testing.assert_allclose(distances, expected, rtol=max(1e-9, search.rtol), atol=1e-15)
