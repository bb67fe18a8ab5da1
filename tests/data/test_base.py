"""What every kind of data promises."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from dtsne.data._distances import pairwise_squared_distances
from dtsne.data._prepare import prepare
from dtsne.neighbors._base import NeighborIndex
from dtsne.runtime._arrays import to_host
from dtsne.runtime._threads import ONE_THREAD

N = 40
KINDS = ["points", "distances", "manhattan", "graph", "graph with points"]
WHERE = ["host", "device"]


@pytest.fixture(name="X")
def with_duplicates(rng):
    X = rng.normal(size=(N, 3)) + 5
    X[:4] = X[0]
    X[4:7] = X[4]
    return X


def data_of(kind, where, X):
    device = None
    if where == "device":
        device = pytest.importorskip("torch").device("cpu")
    graph = NearestNeighbors(n_neighbors=12).fit(X).kneighbors_graph(mode="distance")
    values, options = {
        "points": (X, {"metric": "euclidean"}),
        "distances": (np.sqrt(pairwise_squared_distances(X)), {"metric": "precomputed"}),
        "manhattan": (X, {"metric": "manhattan"}),
        "graph": (graph, {"metric": "precomputed"}),
        "graph with points": (X, {"metric": "euclidean", "neighbors": graph}),
    }[kind]
    return prepare(values, n_pcs=None, device=device, **options)


def true_distances(kind, X):
    if kind == "manhattan":
        return np.abs(X[:, None] - X[None]).sum(axis=-1)
    return np.sqrt(pairwise_squared_distances(X))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", KINDS)
def test_data_is_in_its_unit_and_where_the_map_is_made(kind, where, X):
    data = data_of(kind, where, X)
    assert len(data) == N
    assert np.log2(data.unit) % 1 == 0
    assert (data.device is None) == (where == "host")
    assert data.has_all_distances == (not kind.startswith("graph"))
    assert data.max_neighbors == (12 if kind.startswith("graph") else N - 1)
    host = data.to_host()
    assert host.device is None
    assert (len(host), host.unit) == (N, data.unit)
    for axes in (data.principal_axes(2, ONE_THREAD), host.principal_axes(2, ONE_THREAD)):
        assert (axes is None) == (kind == "graph")
        if axes is not None:
            assert axes.shape == (N, 2)
    coordinates = data.euclidean_coordinates()
    assert (coordinates is None) == (kind in ("distances", "manhattan", "graph"))
    if coordinates is not None:
        found = pairwise_squared_distances(coordinates)
        np.testing.assert_allclose(found, pairwise_squared_distances(X), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", ["points", "distances", "manhattan"])
def test_squared_distances_are_those_of_the_user_in_the_unit(kind, where, X):
    data = data_of(kind, where, X)
    squared = data.squared_distances(ONE_THREAD)
    assert isinstance(squared, np.ndarray) == (where == "host")
    found = data.unit * np.sqrt(to_host(squared).astype(float))
    np.testing.assert_allclose(found, true_distances(kind, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", KINDS)
def test_duplicates_are_groups_and_offsets_spread_them(kind, where, X):
    data = data_of(kind, where, X)
    rows = np.array([0, 1, 2, 3, 4, 5, 6, 9])
    groups = data.duplicate_groups(rows)
    assert len(set(groups[:4])) == len(set(groups[4:7])) == 1
    assert len({groups[0], groups[4], groups[7]}) == 3
    offsets = np.zeros((N, 2))
    offsets[:4] = 1e-3 * np.array([[0, 0], [1, 0], [0, 1], [3, 4]])
    spread = data.with_offsets(offsets)
    assert (len(spread), spread.unit, spread.device) == (N, data.unit, data.device)
    index = NeighborIndex.build(spread, threads=ONE_THREAD)
    indices, distances, _ = index.neighbors_on_host(3)
    np.testing.assert_array_equal(indices[0], [1, 2, 3])
    np.testing.assert_allclose(distances[0], [1e-3, 1e-3, 5e-3], rtol=1e-6)
    if spread.has_all_distances:
        found = to_host(spread.squared_distances(ONE_THREAD))
        added = pairwise_squared_distances(offsets)
        before = to_host(data.squared_distances(ONE_THREAD))
        np.testing.assert_allclose(found, before + added, rtol=1e-5, atol=1e-12)


def test_distances_of_a_graph_are_those_of_neighbors_alone(X):
    with pytest.raises(TypeError):
        data_of("graph", "host", X).squared_distances(ONE_THREAD)
