"""Distances other than the Euclidean one."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from fit_support import fitted
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances

from dtsne import DTSNE
from dtsne.data._metrics import METRICS, distances_between
from dtsne.data._prepare import prepare
from dtsne.neighbors._base import NeighborIndex
from dtsne.neighbors._nndescent import NNDescentIndex
from dtsne.quality import cluster_radius_ratios
from dtsne.runtime._errors import MissingPackageError, OutOfMemoryError, UserNotice
from dtsne.runtime._threads import ONE_THREAD, Threads

QUICK = {"perplexity": 10.0, "max_iter": 120, "tol": 0.0}
SETS = ("jaccard", "dice", "sokalsneath", "rogerstanimoto")


@pytest.fixture(name="positive")
def two_positive_clusters(two_clusters):
    return two_clusters - two_clusters.min() + 1


def sets_of_two_kinds(rng, n=120, d=40):
    shares = rng.random((2, d))[np.repeat([0, 1], n // 2)]
    return (rng.random((n, d)) < shares).astype(float)


def neighbors_of(data, k, **options):
    return NeighborIndex.build(data, threads=ONE_THREAD, **options).neighbors(k)


def data_for(metric, positive, rng):
    return sets_of_two_kinds(rng) if metric in (*SETS, "hamming") else positive


def reference(X, metric):
    return pairwise_distances(X.astype(bool) if metric in SETS else X, metric=metric)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_scikit_learn_and_pynndescent(positive, rng, metric):
    named_distances = pytest.importorskip("pynndescent.distances").named_distances
    X = data_for(metric, positive, rng)
    found = distances_between(X, X, metric)
    np.testing.assert_allclose(found, reference(X, metric), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found, found.T)
    theirs = [named_distances[metric](X[0].astype(np.float32), x) for x in X.astype(np.float32)]
    np.testing.assert_allclose(found[0], theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows_are_at_zero_and_only_they(rng, metric):
    X = data_for(metric, rng.integers(0, 3, size=(30, 4)).astype(float), rng)[:30, :4]
    X[7], X[8:10] = X[3], 0.0
    equal = (X[:, None] == X[None]).all(axis=-1)
    np.testing.assert_array_equal(distances_between(X, X, metric) == 0, equal)


@pytest.mark.parametrize("metric", METRICS)
def test_same_as_precomputed(positive, rng, metric):
    X = data_for(metric, positive, rng)
    start = rng.normal(size=(120, 2))
    from_points = DTSNE(metric=metric, init=start, **QUICK).fit(X)
    from_distances = DTSNE(metric="precomputed", init=start, **QUICK).fit(reference(X, metric))
    np.testing.assert_allclose(from_points.sigma_, from_distances.sigma_, rtol=1e-9)
    np.testing.assert_allclose(from_points.embedding_, from_distances.embedding_, atol=1e-5)
    assert from_points.neighbor_recall_ == 1.0


@pytest.mark.parametrize("metric", ["manhattan", "jaccard"])
def test_same_over_neighbors_as_the_graph_of_them(positive, rng, metric):
    X = data_for(metric, positive, rng)
    D = reference(X, metric)
    np.fill_diagonal(D, np.inf)
    nearest = np.argsort(D, axis=1, kind="stable")[:, :30]
    pair = nearest, np.take_along_axis(D, nearest, axis=1)
    start = rng.normal(size=(120, 2))
    # A few steps: over neighbours all is in float32, and a descent makes more of its last digits.
    few = {**QUICK, "init": start, "method": "exact", "max_iter": 5}
    searched = fitted(X, metric=metric, max_dense=50, **few)
    given_ones = DTSNE(neighbors=pair, **few).fit(X)
    np.testing.assert_allclose(searched.sigma_, given_ones.sigma_, rtol=1e-6)
    np.testing.assert_allclose(searched.embedding_, given_ones.embedding_, atol=1e-5)


@given(
    metric=st.sampled_from(METRICS),
    n=st.integers(5, 60),
    grid=st.integers(2, 6),
    seed=st.integers(0, 2**16),
    data=st.data(),
)
def test_neighbors_equal_sorting_all_distances(metric, n, grid, seed, data):
    X = np.random.default_rng(seed).integers(0, grid, size=(n, 3)).astype(float)
    X[0], X[1] = 0.0, 1.0
    k = data.draw(st.integers(1, n - 1))
    points = prepare(X, metric=metric, n_pcs=None)
    indices, distances, recall = neighbors_of(points, k)
    D = points.unit * distances_between(points.table, points.table, metric)
    np.testing.assert_array_equal(D, D.T)
    np.fill_diagonal(D, np.inf)
    expected = np.argsort(D, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(points.unit * distances, np.take_along_axis(D, expected, axis=1))
    assert recall == 1.0


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
@pytest.mark.parametrize("exponent", [-600, 500])
def test_size_of_the_numbers_changes_only_sigma(two_clusters, metric, exponent):
    factor = 2.0**exponent
    one, other = (DTSNE(metric=metric, **QUICK).fit(f * two_clusters) for f in (1.0, factor))
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.testing.assert_array_equal(other.sigma_, factor * one.sigma_)


@pytest.mark.parametrize("metric", ["canberra", "braycurtis", "hamming", "jaccard"])
def test_distances_without_a_unit_do_not_see_one(positive, rng, metric):
    X = data_for(metric, positive, rng)
    one, other = (DTSNE(metric=metric, **QUICK).fit(f * X) for f in (1.0, 2.0**40))
    np.testing.assert_array_equal(one.sigma_, other.sigma_)


def test_size_means_spread(two_clusters):
    labels = np.repeat([0, 1], 60)
    for metric in ("manhattan", "chebyshev"):
        embedding = DTSNE(perplexity=15.0, metric=metric).fit_transform(two_clusters)
        assert abs(cluster_radius_ratios(two_clusters, embedding, labels).largest_error) < 0.2


@pytest.mark.parametrize("metric", METRICS)
def test_start_is_at_the_scale_of_the_distances(positive, rng, metric):
    """Whatever their unit, it is about as large as for Euclidean ones."""
    X = data_for(metric, positive, rng)
    sizes = []

    def note_size_and_stop(iteration, kl, embedding):
        sizes.append(embedding.std())
        return True

    for name in (metric, "euclidean"):
        DTSNE(metric=name, perplexity=15.0, callback=note_size_and_stop).fit(X)
    assert 0.4 < sizes[0] / sizes[1] < 2.5


def test_number_of_components_does_not_matter(rng):
    X = rng.normal(size=(100, 60)) * np.geomspace(10, 0.1, 60)
    three, none = (DTSNE(metric="manhattan", n_pcs=p, **QUICK).fit(X) for p in (3, None))
    np.testing.assert_array_equal(three.embedding_, none.embedding_)


@pytest.mark.parametrize("metric", ["manhattan", "braycurtis", "jaccard", "correlation"])
def test_sparse_is_the_same_as_dense(rng, metric):
    X = rng.poisson(0.5, size=(80, 40)).astype(float)
    dense, sparse = (
        DTSNE(metric=metric, **QUICK).fit_transform(form) for form in (X, csr_array(X))
    )
    np.testing.assert_array_equal(dense, sparse)


def test_sparse_too_large_for_memory(rng, monkeypatch):
    monkeypatch.setattr("dtsne.runtime._memory.available_memory", lambda: 1000)
    X = csr_array(rng.poisson(0.5, size=(80, 40)).astype(float))
    with pytest.raises(OutOfMemoryError, match="neighbors"):
        DTSNE(metric="manhattan", **QUICK).fit(X)


def test_order_of_memory_changes_nothing(positive):
    c_order, fortran_order = (
        DTSNE(metric="canberra", **QUICK).fit_transform(np.asarray(positive, order=order))
        for order in "CF"
    )
    np.testing.assert_array_equal(c_order, fortran_order)


@pytest.mark.parametrize("metric", ["manhattan", "jaccard"])
def test_same_bits_for_any_number_of_threads(positive, rng, metric):
    X = data_for(metric, positive, rng)
    one, two = (DTSNE(metric=metric, n_jobs=j, **QUICK).fit_transform(X) for j in (1, 2))
    np.testing.assert_array_equal(one, two)
    points = prepare(X, metric=metric, n_pcs=None)
    in_blocks, rows = replace(points, max_block=1000), np.arange(len(X))
    with Threads(3) as threads:
        for part, whole in (
            (in_blocks.squared_distances(threads), points.squared_distances(ONE_THREAD)),
            (in_blocks.principal_axes(2, threads), points.principal_axes(2, ONE_THREAD)),
            *zip(
                in_blocks.nearest(rows, 9, threads), points.nearest(rows, 9, ONE_THREAD),
                strict=True,
            ),
        ):  # fmt: skip
            np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("metric", ["manhattan", "hamming", "jaccard"])
def test_more_copies_than_the_perplexity(rng, metric):
    X = np.vstack([sets_of_two_kinds(rng, 200), np.zeros((100, 40))])
    with pytest.warns(UserWarning, match="100 rows of X have at least as many duplicates"):
        embedding = DTSNE(metric=metric, perplexity=20.0).fit_transform(X)
    assert embedding[200:].std(axis=0).max() < 0.2 * embedding[:100].std(axis=0).mean()


# --- correlation ---


def test_correlation_is_cosine_between_centred_rows(two_clusters, rng):
    X = two_clusters * rng.uniform(0.5, 20, size=(120, 1)) + rng.normal(size=(120, 1))
    correlation = DTSNE(metric="correlation", **QUICK).fit(X)
    cosine = DTSNE(metric="cosine", **QUICK).fit(X - X.mean(axis=1, keepdims=True))
    np.testing.assert_array_equal(correlation.embedding_, cosine.embedding_)
    D = np.sqrt(2 * np.maximum(pairwise_distances(X, metric="correlation"), 0))
    np.fill_diagonal(D, 0)
    from_distances = DTSNE(metric="precomputed", **QUICK).fit((D + D.T) / 2)
    np.testing.assert_allclose(correlation.sigma_, from_distances.sigma_, rtol=1e-6)


def test_correlation_of_a_constant_row(two_clusters):
    two_clusters[5] = 0.1
    with pytest.raises(ValueError, match="correlate with nothing"):
        DTSNE(metric="correlation", **QUICK).fit(two_clusters)


# --- refusals ---


def test_what_cannot_be_used_is_refused(two_clusters):
    with pytest.raises(ValueError, match=r"negative values.*'manhattan'"):
        DTSNE(metric="braycurtis", **QUICK).fit(two_clusters)
    for metric, X in [("manhattan", np.ones((50, 3))), ("jaccard", 1 + two_clusters**2)]:
        with pytest.raises(ValueError, match="all rows of X are equal"):
            DTSNE(metric=metric, **QUICK).fit(X)


def test_many_points_without_pynndescent(two_clusters, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(MissingPackageError, match=r"pip install dtsne\[metrics\]") as error:
        fitted(two_clusters, metric="manhattan", max_exact_neighbors=100, **QUICK)
    assert error.value.package == "pynndescent"
    fitted(two_clusters[:100], metric="manhattan", max_exact_neighbors=100, **QUICK)


# --- many points ---


@pytest.fixture(name="many")
def as_if_many(rng):
    centres = 5 * rng.normal(size=(5, 6))
    return centres[rng.integers(5, size=1500)] + rng.normal(size=(1500, 6))


def test_pynndescent_finds_the_neighbors(many, capfd):
    """On any number of threads the same ones, quietly, and leaving everything as it was."""
    pytest.importorskip("pynndescent")
    import numba

    state = np.random.get_state()[1].copy()  # noqa: NPY002
    threads = numba.get_num_threads()
    many[7] = many[3]
    many += 1e5  # which float32 would not survive
    parameters = {"metric": "manhattan", "perplexity": 10.0, "max_iter": 20, "tol": 0.0}
    parameters |= {"max_dense": 200, "max_exact_neighbors": 200}
    one, two = (fitted(many, n_jobs=j, **parameters) for j in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert 0.99 <= one.neighbor_recall_ <= 1.0
    assert numba.get_num_threads() == threads
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert capfd.readouterr() == ("", "")

    points = prepare(many, metric="manhattan", n_pcs=None)
    indices, distances, _ = neighbors_of(points, 30, max_exact=200)
    assert not (indices == np.arange(1500)[:, None]).any()
    assert (np.diff(distances, axis=1) >= 0).all()
    assert indices[3, 0] == 7
    assert distances[3, 0] == distances[7, 0] == 0
    D = reference(many, "manhattan")
    np.testing.assert_allclose(points.unit * distances, np.take_along_axis(D, indices, axis=1))
    np.fill_diagonal(D, np.inf)
    found = np.take_along_axis(D, indices, axis=1) <= np.sort(D, axis=1)[:, 29:30] * (1 + 1e-9)
    assert found.mean() > 0.985


@pytest.fixture(name="poor_search")
def a_search_that_finds_less(monkeypatch, many):
    """In place of pynndescent: true neighbours, of which a share is lost to each of short lists."""
    widths = []

    def descend(points, metric, width):
        widths.append(width)
        D = np.abs(points[:, None] - points[None]).sum(axis=-1)
        found = np.argsort(D, axis=1, kind="stable")[:, :width]
        n_lost = max(0, 45 - width)
        found[:, 2 : 2 + n_lost] = -1
        return found

    monkeypatch.setattr("dtsne.neighbors._nndescent._descend", descend)
    return widths


def test_search_is_widened_until_it_finds_enough(many, poor_search):
    _, distances, recall = neighbors_of(
        prepare(many[:600], metric="manhattan", n_pcs=None), 30, max_exact=200
    )
    assert poor_search == [31, 46]
    assert recall == 1.0
    assert np.isfinite(distances).all()


def test_too_few_found_is_said(many, poor_search):
    points = prepare(many[:600], metric="manhattan", n_pcs=None)
    index = NNDescentIndex(points, ONE_THREAD, recall=0.99, max_attempts=1)
    with pytest.warns(UserNotice, match=r"only 5\d\.\d% .*metric='manhattan'.*neighbors"):
        indices, _, recall = index.neighbors(30)
    assert recall < 0.6
    # Rows that found too few were searched exactly.
    D = reference(many[:600], "manhattan")
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(indices, np.argsort(D, axis=1, kind="stable")[:, :30])


def test_copies_among_many_points(many, poor_search):
    """Each copy gets the nearest of all the others as they are moved apart, not any of them."""
    X = many[:600]
    X[:300] = X[0]
    points = prepare(X, metric="manhattan", n_pcs=None)
    offsets = np.zeros((600, 2))
    offsets[:300] = 1e-3 * np.random.default_rng(0).normal(size=(300, 2))
    indices, distances, recall = neighbors_of(points.with_offsets(offsets), 30, max_exact=200)
    assert recall > 0.99
    assert (indices[:300] < 300).all()
    apart = np.linalg.norm(offsets[:300, None] - offsets[None, :300], axis=-1)
    np.testing.assert_allclose(distances[:300], np.sort(apart, axis=1)[:, 1:31], rtol=1e-9)
