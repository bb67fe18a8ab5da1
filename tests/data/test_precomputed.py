"""Neighbours given by the user: as good as those found, in any form, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from fit_support import fitted
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors
from sklearn.pipeline import make_pipeline

from dtsne import DTSNE
from dtsne.data._precomputed import PrecomputedNeighbors, graph_of
from dtsne.data._prepare import prepare
from dtsne.neighbors._base import NeighborIndex
from dtsne.quality import cluster_radius_ratios
from dtsne.runtime._threads import ONE_THREAD

QUICK = {"perplexity": 10.0, "max_iter": 120, "tol": 0.0}
K = 30


@pytest.fixture(name="sparse_p")
def sparse_p_for_all():
    """P over neighbours without a graph too, and the same repulsion."""
    return {**QUICK, "method": "exact", "max_dense": 50}


@pytest.fixture(name="pair")
def neighbors_of_two_clusters(two_clusters):
    distances, indices = NearestNeighbors(n_neighbors=K).fit(two_clusters).kneighbors()
    return indices, distances


def neighbors_of(data, k):
    return NeighborIndex.build(data, threads=ONE_THREAD).neighbors(k)


def as_graph(indices, distances):
    n, k = indices.shape
    return csr_array((distances.ravel(), indices.ravel(), np.arange(n + 1) * k), shape=(n, n))


# --- the same map in every form ---


def test_same_map_as_from_the_search(two_clusters, pair, sparse_p):
    # A few steps: over neighbours all is in float32, and a descent makes more of its last digits.
    few = {**sparse_p, "max_iter": 5}
    searched = fitted(two_clusters, **few)
    given = fitted(two_clusters, neighbors=pair, **few)
    np.testing.assert_allclose(given.embedding_, searched.embedding_, atol=1e-5)
    np.testing.assert_allclose(given.sigma_, searched.sigma_, rtol=1e-6)
    assert given.kl_divergence_ == pytest.approx(searched.kl_divergence_, rel=1e-6)
    assert searched.neighbor_recall_ == 1.0
    assert np.isnan(given.neighbor_recall_)


def test_same_bits_from_the_same_distances(two_clusters, sparse_p):
    data = prepare(two_clusters, metric="euclidean", n_pcs=50)
    indices, distances, _ = neighbors_of(data, K)
    given = fitted(two_clusters, neighbors=(indices, data.unit * distances), **sparse_p)
    searched = fitted(two_clusters, **sparse_p)
    np.testing.assert_array_equal(given.embedding_, searched.embedding_)
    np.testing.assert_array_equal(given.sigma_, searched.sigma_)


def test_every_form_gives_the_same_map(two_clusters, pair):
    indices, distances = pair
    graph = as_graph(indices, distances)
    itself = np.arange(len(two_clusters))[:, None]
    shuffled = np.random.default_rng(1).permuted(
        np.broadcast_to(np.arange(K), indices.shape), axis=1
    )
    forms = [
        graph,
        csr_matrix(graph),
        csc_array(graph),
        coo_array(graph),
        [indices.tolist(), distances.tolist()],
        (indices.astype(np.uint16), distances),
        (np.hstack([itself, indices]), np.hstack([0.0 * itself, distances])),
        (np.hstack([indices, itself]), np.hstack([distances, 0.0 * itself])),
        tuple(np.take_along_axis(part, shuffled, axis=1) for part in pair),
        NearestNeighbors(n_neighbors=K).fit(two_clusters).kneighbors_graph(mode="distance"),
    ]
    expected = DTSNE(neighbors=pair, **QUICK).fit_transform(two_clusters)
    for form in forms:
        found = DTSNE(neighbors=form, **QUICK).fit_transform(two_clusters)
        np.testing.assert_array_equal(found, expected)


def test_what_is_given_is_not_changed(two_clusters, pair):
    graph = as_graph(*pair)
    copies = [part.copy() for part in (*pair, graph.data, graph.indices, graph.indptr)]
    for neighbors in (pair, graph):
        DTSNE(neighbors=neighbors, **QUICK).fit(two_clusters)
    for now, before in zip((*pair, graph.data, graph.indices, graph.indptr), copies, strict=True):
        np.testing.assert_array_equal(now, before)


def test_rows_of_different_lengths_give_their_nearest(two_clusters, pair):
    """The graph made symmetric has more entries in most rows, none of them nearer."""
    graph = as_graph(*pair)
    wide = graph.maximum(graph.T.tocsr())
    assert len(set(np.diff(wide.indptr))) > 1
    for metric, X, neighbors in [
        ("euclidean", two_clusters, wide),
        ("precomputed", wide, None),
    ]:
        data = prepare(X, metric=metric, n_pcs=None, neighbors=neighbors)
        indices, _, _ = neighbors_of(data, K)
        np.testing.assert_array_equal(indices, pair[0])
    given, symmetric = (
        DTSNE(neighbors=form, **QUICK).fit_transform(two_clusters) for form in (graph, wide)
    )
    np.testing.assert_allclose(given, symmetric, atol=1e-6)


@given(
    n=st.integers(6, 40),
    grid=st.integers(2, 20),
    seed=st.integers(0, 2**16),
    with_itself=st.booleans(),
)
def test_order_within_rows_and_the_point_itself_change_nothing(n, grid, seed, with_itself):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, grid, size=(n, 2)).astype(float)
    D = np.abs(X[:, None] - X[None]).sum(axis=-1)
    D[0, 1] = D[1, 0] = grid + 0.5  # not all equal, whatever was drawn
    full = np.array([rng.permutation(n) for _ in range(n)])
    if not with_itself:
        full = full[full != np.arange(n)[:, None]].reshape(n, n - 1)
    k = n // 2
    graph = graph_of((full, np.take_along_axis(D, full, axis=1)), n)
    indices, distances, _ = neighbors_of(PrecomputedNeighbors(graph, unit=1.0), k)
    np.fill_diagonal(D, np.inf)
    expected = np.argsort(D, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(distances, np.take_along_axis(D, expected, axis=1))


def test_same_bits_for_any_number_of_threads(two_clusters, pair):
    one, two = (
        DTSNE(neighbors=pair, n_jobs=n_jobs, **QUICK).fit_transform(two_clusters)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("exponent", [-600, 500])
def test_size_of_the_distances_changes_only_sigma(two_clusters, pair, exponent):
    indices, distances = pair
    factor = 2.0**exponent
    one = DTSNE(neighbors=pair, **QUICK).fit(two_clusters)
    other = DTSNE(neighbors=(indices, factor * distances), **QUICK).fit(two_clusters)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.testing.assert_array_equal(other.sigma_, factor * one.sigma_)


def test_start_is_at_the_scale_of_the_distances(two_clusters, pair):
    """Distances in another unit than X leave the map as large as it is."""
    indices, distances = pair
    starts = []
    for factor in (1.0, 37.0):
        DTSNE(
            neighbors=(indices, factor * distances),
            callback=lambda i, kl, y: starts.append(y.copy()) or True,
            **QUICK,
        ).fit(two_clusters)
    np.testing.assert_allclose(starts[1], starts[0], rtol=0.01)


def test_size_means_spread(two_clusters):
    labels = np.repeat([0, 1], 60)
    graph = NearestNeighbors(n_neighbors=45).fit(two_clusters).kneighbors_graph(mode="distance")
    for model, X, bound in [
        (DTSNE(perplexity=15.0, neighbors=graph), two_clusters, 0.1),
        # From a spectral start it is no better with the points themselves.
        (DTSNE(perplexity=15.0, metric="precomputed"), graph, 0.25),
    ]:
        error = cluster_radius_ratios(two_clusters, model.fit_transform(X), labels).largest_error
        assert abs(error) < bound


# --- a graph instead of the points ---


def test_pipeline_from_a_transformer_of_neighbors(two_clusters, pair):
    """Its rows hold the point itself, as scikit-learn's convention has it."""
    search = KNeighborsTransformer(mode="distance", n_neighbors=K)
    piped = make_pipeline(search, DTSNE(metric="precomputed", **QUICK)).fit_transform(two_clusters)
    alone = DTSNE(metric="precomputed", **QUICK).fit_transform(as_graph(*pair))
    np.testing.assert_array_equal(piped, alone)


def test_graph_alone_starts_spectrally(two_clusters, pair):
    graph = as_graph(*pair)
    pca, spectral = (
        DTSNE(metric="precomputed", init=init, **QUICK).fit(graph) for init in ("pca", "spectral")
    )
    np.testing.assert_array_equal(pca.embedding_, spectral.embedding_)
    beside = DTSNE(neighbors=graph, init="spectral", **QUICK).fit_transform(two_clusters)
    np.testing.assert_array_equal(beside, spectral.embedding_)
    first, second, other = (
        DTSNE(metric="precomputed", init="random", random_state=s, **QUICK).fit_transform(graph)
        for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_graph_of_two_parts_without_ties(rng):
    X = np.vstack([rng.normal(size=(80, 4)), 1000 + rng.normal(size=(80, 4))])
    graph = NearestNeighbors(n_neighbors=K).fit(X).kneighbors_graph(mode="distance")
    assert np.isfinite(DTSNE(metric="precomputed", **QUICK).fit_transform(graph)).all()


def test_clone_and_params(two_clusters, pair):
    model = DTSNE(neighbors=pair, **QUICK)
    assert model.get_params()["neighbors"] is pair
    again = clone(model).fit_transform(two_clusters)
    np.testing.assert_array_equal(again, model.fit_transform(two_clusters))
    assert "DTSNE" in repr(model)


# --- copies ---


def test_copies_are_neighbors_at_zero(rng):
    X = rng.normal(size=(60, 3))
    X[30:] = X[:30]
    # By differences: by products of matrices the distance of copies is rounding on some machines.
    search = NearestNeighbors(n_neighbors=K, algorithm="kd_tree").fit(X)
    graph = search.kneighbors_graph(mode="distance")
    assert (graph.data == 0).sum() >= 60
    indices, distances, _ = neighbors_of(prepare(graph, metric="precomputed", n_pcs=None), K)
    np.testing.assert_array_equal(indices[:, 0], np.roll(np.arange(60), 30))
    assert not distances[:, 0].any()


@pytest.mark.parametrize("n_copies", [40, 200])
@pytest.mark.parametrize("alone", [False, True])
def test_more_copies_than_the_perplexity(rng, n_copies, alone):
    """They are a tight cluster, and the others keep their sizes, as where neighbours are found."""
    X = np.vstack([rng.normal(size=(100, 10)), 30 + 3 * rng.normal(size=(100, 10))])
    copied = np.vstack([X, np.full((n_copies, 10), -20.0)])
    graph = NearestNeighbors(n_neighbors=60).fit(copied).kneighbors_graph(mode="distance")
    parameters = {"metric": "precomputed"} if alone else {"neighbors": graph}
    with pytest.warns(UserWarning, match=f"{n_copies} rows of X have at least as many duplicates"):
        model = DTSNE(perplexity=20.0, **parameters).fit(graph if alone else copied)
    labels = np.repeat([0, 1], 100)
    assert abs(cluster_radius_ratios(X, model.embedding_[:200], labels).largest_error) < 0.2
    spread_of_copies = model.embedding_[200:].std(axis=0).max()
    assert spread_of_copies < 0.2 * model.embedding_[:100].std(axis=0).mean()


# --- refusals ---


def test_graph_with_too_few_neighbors(two_clusters):
    graph = NearestNeighbors(n_neighbors=15).fit(two_clusters).kneighbors_graph(mode="distance")
    message = (
        r"has 15 neighbours other than itself, and 90 are needed.*"
        r"at least 90 neighbours, or set perplexity to at most 5\."
    )
    with pytest.raises(ValueError, match=message):
        DTSNE(perplexity=30.0, neighbors=graph).fit(two_clusters)
    with pytest.raises(ValueError, match=message):
        DTSNE(perplexity=30.0, metric="precomputed").fit(graph)
    DTSNE(perplexity=5.0, max_iter=20, tol=0.0, metric="precomputed").fit(graph)


def test_the_perplexity_named_is_one_that_works(two_clusters):
    distances, indices = NearestNeighbors(n_neighbors=14).fit(two_clusters).kneighbors()
    with pytest.raises(ValueError, match=r"at most 4\.66\."):
        DTSNE(perplexity=30.0, neighbors=(indices, distances)).fit(two_clusters)
    model = DTSNE(perplexity=4.66, neighbors=(indices, distances), max_iter=20, tol=0.0)
    model.fit(two_clusters)
    few = (indices[:, :3], distances[:, :3])
    with pytest.raises(ValueError, match=r"at least 90 neighbours\.$"):
        DTSNE(perplexity=30.0, neighbors=few).fit(two_clusters)


def test_the_point_itself_does_not_count(two_clusters):
    distances, indices = NearestNeighbors(n_neighbors=K).fit(two_clusters).kneighbors(two_clusters)
    with pytest.raises(ValueError, match="has 29 neighbours other than itself, and 30 are needed"):
        DTSNE(neighbors=(indices, distances), **QUICK).fit(two_clusters)


def test_one_short_row_is_named(two_clusters, pair):
    graph = as_graph(*pair).tolil()
    graph[17, graph.rows[17][:3]] = 0
    with pytest.raises(ValueError, match="row 17 of the precomputed graph has 27"):
        DTSNE(neighbors=graph, **QUICK).fit(two_clusters)


@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (ValueError, "NaN or infinite", lambda i, d: (i, np.where(d == d[3, 3], np.nan, d))),
        (ValueError, "NaN or infinite", lambda i, d: (i, np.where(d == d[3, 3], np.inf, d))),
        (ValueError, "Negative values", lambda i, d: (i, d - d[0, 3])),
        (ValueError, "all distances of the neighbours are 0", lambda i, d: (i, 0 * d)),
        (ValueError, "mode='distance'", lambda i, d: (i, np.ones_like(d))),
        (ValueError, "mode='distance'", lambda i, d: as_graph(i, np.ones_like(d))),
        (
            ValueError,
            "row 0 .* index -1; .* from 0 to 119",
            lambda i, d: (np.where(i == i[0, 0], -1, i), d),
        ),
        (ValueError, "index 120", lambda i, d: (np.where(i == i[5, 0], 120, i), d)),
        (
            ValueError,
            "more than once",
            lambda i, d: (np.hstack([i, i[:, :1]]), d[:, [*range(K), 0]]),
        ),
        (ValueError, "same shape", lambda i, d: (i, d[:, :-1])),
        (ValueError, "same shape", lambda i, d: (i[0], d[0])),
        (ValueError, "119 rows and X has 120", lambda i, d: (i[:-1], d[:-1])),
        (ValueError, r"shape \(119, 119\).*\(120, 120\)", lambda i, d: as_graph(i, d)[:-1, :-1]),
        (ValueError, "other way round", lambda i, d: (d, i)),
        (ValueError, "real numbers", lambda i, d: (i, d + 1j)),
        (ValueError, "real numbers", lambda i, d: as_graph(i, d > 0)),
        (ValueError, "not symmetric", lambda i, d: (i, d * np.linspace(1, 2, 120)[:, None])),
        (TypeError, "metric='precomputed'", lambda i, d: as_graph(i, d).toarray()),
        (TypeError, "pair of arrays", lambda i, d: (i, d, d)),
        (TypeError, "pair of arrays", lambda i, d: 15),
    ],
)
def test_what_cannot_be_used_is_refused(two_clusters, pair, error, message, change):
    neighbors = change(*pair)
    with pytest.raises(error, match=message) as raised:
        DTSNE(neighbors=neighbors, **QUICK).fit(two_clusters)
    assert raised.value.argument == "neighbors"


def test_a_repeated_entry_of_a_sparse_graph_is_refused(two_clusters, pair):
    indices, distances = pair
    twice = as_graph(np.hstack([indices, indices[:, :1]]), np.hstack([distances, distances[:, :1]]))
    with pytest.raises(ValueError, match="more than once"):
        DTSNE(neighbors=twice, **QUICK).fit(two_clusters)


def test_graph_beside_precomputed_distances_is_refused(pair):
    graph = as_graph(*pair)
    with pytest.raises(ValueError, match="remove one of the two"):
        DTSNE(metric="precomputed", neighbors=graph, **QUICK).fit(graph)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_graph_alone_with_bad_values(pair, value):
    indices, distances = pair
    distances[3, 4] = value
    with pytest.raises(ValueError, match=r"NaN|inf|Negative"):
        DTSNE(metric="precomputed", **QUICK).fit(as_graph(indices, distances))


def test_graph_alone_has_to_be_square(pair):
    with pytest.raises(ValueError, match=r"shape \(120, 119\)"):
        DTSNE(metric="precomputed", **QUICK).fit(as_graph(*pair)[:, :-1])


def test_refused_before_the_reduction(two_clusters, pair, monkeypatch):
    def reduce(*_):
        raise AssertionError

    monkeypatch.setattr("dtsne.data._prepare._reduced", reduce)
    with pytest.raises(ValueError, match="needed"):
        DTSNE(perplexity=30.0, neighbors=pair).fit(two_clusters)
