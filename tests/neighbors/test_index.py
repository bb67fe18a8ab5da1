"""What every index promises, whatever it is an index of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from dtsne.data._distances import Distances, pairwise_squared_distances
from dtsne.data._metrics import distances_between
from dtsne.data._points import Points
from dtsne.data._prepare import prepare
from dtsne.neighbors._base import NeighborIndex
from dtsne.neighbors._exact import ExactIndex, PairwiseIndex
from dtsne.neighbors._ivf import IvfIndex
from dtsne.neighbors._nndescent import NNDescentIndex
from dtsne.neighbors._precomputed import GraphIndex
from dtsne.runtime._errors import DataError, ParameterError
from dtsne.runtime._threads import ONE_THREAD, Threads

KINDS = ["exact", "ivf", "manhattan", "jaccard", "distances", "torch", "torch, from the host"]
# All that find all neighbours; the lists do, where all cells are visited.
EVERY_CELL = 2.0


def index_of(kind, X, threads=ONE_THREAD, recall=EVERY_CELL):
    """Build an index of one of the kinds, of which X are the points."""
    if kind == "exact":
        return ExactIndex(Points(X, unit=1.0), threads)
    if kind == "ivf":
        return IvfIndex(Points(X, unit=1.0), threads, recall=recall)
    if kind == "distances":
        D = np.sqrt(pairwise_squared_distances(X))
        return PairwiseIndex(Distances(D, unit=1.0), threads)
    if kind.startswith("torch"):
        torch = pytest.importorskip("torch")
        from dtsne.data._points_torch import DevicePoints, HostData

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = DevicePoints(torch.as_tensor(X, dtype=torch.float32, device=device), unit=1.0)
        if kind != "torch":
            data = HostData(Points(X, unit=1.0), device, unit=1.0)
        return NeighborIndex.build(data, threads=threads)
    return NeighborIndex.build(prepare(X, metric=kind, n_pcs=None), threads=threads)


def as_rows(kind, X, new):
    """Return new points as the index takes them, and their distances to all of X."""
    if kind in ("manhattan", "jaccard"):
        data = prepare(X, metric=kind, n_pcs=None)
        rows = (new != 0).astype(np.float32) if kind == "jaccard" else new / data.unit
        return rows, distances_between(rows, data.table, kind)
    D = np.sqrt(((new[:, None] - X[None]) ** 2).sum(axis=-1))
    return (D if kind == "distances" else new), D


def by_sorting(D, k):
    order = np.lexsort((np.broadcast_to(np.arange(D.shape[1]), D.shape), D), axis=-1)[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def on_host(found):
    return np.asarray(found.indices), np.asarray(found.distances), found.recall


def whole_numbers(n, d, grid, seed):
    """Points whose distances have exact sums, so that ties are ties, and a small grid has many."""
    X = np.random.default_rng(seed).integers(0, grid, size=(n, d)).astype(float)
    X[0], X[1] = 0.0, 1.0
    return X


@pytest.mark.parametrize("kind", KINDS)
@given(
    n=st.integers(4, 120),
    m=st.integers(1, 20),
    d=st.integers(1, 6),
    grid=st.integers(2, 20),
    seed=st.integers(0, 2**16),
    data=st.data(),
)
def test_new_points_have_the_neighbors_of_sorting_all_distances(kind, n, m, d, grid, seed, data):
    X, new = whole_numbers(n, d, grid, seed), whole_numbers(m + 2, d, grid, seed + 1)
    k = data.draw(st.integers(1, n))
    rows, D = as_rows(kind, X, new)
    indices, distances, recall = on_host(index_of(kind, X).query(rows, k))
    expected, expected_distances = by_sorting(D, k)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(distances, expected_distances.astype(distances.dtype))
    assert indices.dtype == np.int32
    assert recall == 1.0


@pytest.mark.parametrize("kind", KINDS)
@given(
    n=st.integers(4, 150),
    d=st.integers(1, 9),
    grid=st.integers(2, 50),
    seed=st.integers(0, 2**16),
    data=st.data(),
)
def test_neighbors_are_those_of_sorting_all_distances(kind, n, d, grid, seed, data):
    X = whole_numbers(n, d, grid, seed)
    k = data.draw(st.integers(1, n - 1))
    _, D = as_rows(kind, X, X)
    np.fill_diagonal(D, np.inf)
    index = index_of(kind, X)
    expected, expected_distances = by_sorting(D, k)
    found, host = index.neighbors(k), index.neighbors_on_host(k)
    for indices, distances, recall in (on_host(found), host):
        np.testing.assert_array_equal(indices, expected)
        digits = np.float32 if kind == "torch" else distances.dtype
        np.testing.assert_array_equal(distances.astype(digits), expected_distances.astype(digits))
        assert recall == index.recall == 1.0
    assert host.distances.dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_the_data_find_themselves_first(kind, rng):
    X = np.abs(rng.normal(size=(300, 30))) * (rng.random((300, 30)) < 0.5)
    X[:, 0] = 1.0
    rows, _ = as_rows(kind, X, X)
    index = index_of(kind, X, recall=0.95)
    indices, distances, _ = on_host(index.query(rows, 6))
    np.testing.assert_array_equal(indices[:, 0], np.arange(300))
    assert not distances[:, 0].any()
    if index.recall == 1.0:
        others = index.neighbors_on_host(5)
        np.testing.assert_array_equal(indices[:, 1:], others.indices)
        np.testing.assert_allclose(distances[:, 1:], others.distances, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_in_any_batch_and_for_any_number_of_threads(kind, rng):
    X, new = np.abs(rng.normal(size=(2, 400, 7))) * (rng.random((2, 400, 7)) < 0.7)
    rows, _ = as_rows(kind, X, new)
    whole = on_host(index_of(kind, X, recall=0.9).query(rows, 15))
    with Threads(3) as threads:
        index = index_of(kind, X, threads, recall=0.9)
        for batch in (1, 7, 400):
            parts = [on_host(index.query(rows[i : i + batch], 15)) for i in range(0, 400, batch)]
            for one, many in zip(whole[:2], list(zip(*parts, strict=True))[:2], strict=True):
                np.testing.assert_array_equal(one, np.concatenate(many))


def test_new_points_among_many_find_the_wanted_share(rng):
    centres = 5 * rng.normal(size=(20, 10))
    X, new = (c + rng.normal(size=c.shape) for c in centres[rng.integers(20, size=(2, 4000))])
    index = IvfIndex(Points(X, unit=1.0), ONE_THREAD, recall=0.95)
    indices, distances, recall = index.query(new[:1000], 30)
    assert 0.95 <= recall == index.recall < 1.0
    _, true = by_sorting(np.sqrt(((new[:1000, None] - X[None]) ** 2).sum(axis=-1)), 30)
    assert (distances <= true[:, -1:] * (1 + 1e-12)).mean() == pytest.approx(recall, abs=0.02)
    expected = np.linalg.norm(new[:1000, None] - X[indices], axis=-1)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


def test_a_new_point_far_from_all_finds_all_that_it_asks_for(rng):
    X = np.exp(4 * rng.normal(size=(1000, 3)))
    index = IvfIndex(Points(X, unit=1.0), ONE_THREAD, recall=0.5)
    indices, distances, _ = index.query(np.full((3, 3), 1e9), 900)
    assert np.isfinite(distances).all()
    assert all(len(set(row)) == 900 for row in indices)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k_neighbors", "k_new"), [(0, 0), (20, 21)])
def test_impossible_number_of_neighbors(kind, k_neighbors, k_new):
    X = whole_numbers(20, 3, 9, 0)
    index = index_of(kind, X)
    with pytest.raises(ParameterError) as error:
        index.neighbors(k_neighbors)
    assert (error.value.parameter, error.value.value) == ("k", k_neighbors)
    assert error.value.allowed.endswith("from 1 to 19")
    with pytest.raises(ParameterError) as error:
        index.query(as_rows(kind, X, X)[0], k_new)
    assert error.value.allowed.endswith("from 1 to 20")


def test_the_class_follows_from_the_data_and_its_size(rng):
    X = np.abs(rng.normal(size=(60, 4)))
    graph = NearestNeighbors(n_neighbors=9).fit(X).kneighbors_graph(mode="distance")
    cases = [
        (X, "euclidean", ExactIndex, IvfIndex),
        (X, "cosine", ExactIndex, IvfIndex),
        (X, "manhattan", PairwiseIndex, NNDescentIndex),
        (np.sqrt(pairwise_squared_distances(X)), "precomputed", PairwiseIndex, PairwiseIndex),
        (graph, "precomputed", GraphIndex, GraphIndex),
    ]
    for values, metric, few, many in cases:
        data = prepare(values, metric=metric, n_pcs=None)
        for max_exact, expected in ((60, few), (59, many)):
            index = NeighborIndex.build(data, threads=ONE_THREAD, max_exact=max_exact)
            assert type(index) is expected


def test_a_graph_knows_nothing_of_new_points(rng):
    X = rng.normal(size=(60, 4))
    graph = NearestNeighbors(n_neighbors=9).fit(X).kneighbors_graph(mode="distance")
    index = NeighborIndex.build(
        prepare(graph, metric="precomputed", n_pcs=None), threads=ONE_THREAD
    )
    assert np.isnan(index.recall)
    with pytest.raises(DataError) as error:
        index.query(X, 3)
    assert error.value.argument == "neighbors"
