"""What a fitted model says of its map: `report` and `explore`."""

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE
from dtsne.account import account_of
from dtsne.datasets import load


@pytest.fixture(scope="module")
def blobs():
    X, labels, _ = load("2D-samples")
    return X[::2], labels[::2]


@pytest.fixture(scope="module")
def model(blobs):
    return DTSNE(perplexity=20, max_iter=50, tol=0).fit(blobs[0])


def test_the_report_is_the_account_of_data_and_map(blobs, model):
    X, labels = blobs
    by_hand = account_of(
        X, model.embedding_, labels=labels, sigma=model.sigma_, perplexity=model.perplexity_
    )
    report = model.report(labels=labels, k=100)
    for name, values in by_hand.points.columns().items():
        found = report.points.columns()[name]
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(found, values)
    assert report.ratios.sentences == by_hand.ratios.sentences
    assert report.whole.trustworthiness == pytest.approx(by_hand.whole.trustworthiness)


def test_the_report_is_of_the_data_as_the_method_saw_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) * 2.0 ** -np.arange(8)
    model = DTSNE(perplexity=20, n_pcs=2, max_iter=20, tol=0).fit(X)
    centred = X - X.mean(axis=0)
    reduced = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    expected = account_of(reduced, model.embedding_, sigma=model.sigma_)
    found = model.report(k=100)
    np.testing.assert_allclose(
        found.points.log_radius_data, expected.points.log_radius_data, atol=1e-9
    )


def test_a_model_leaves_the_data_behind_and_takes_it_again(blobs, model):
    X, labels = blobs
    data = X.tobytes()[:64]
    assert data not in pickle.dumps(model)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        with pytest.raises(ValueError, match=r"report\(X=…\)"):
            other.report()
        assert other.report(labels, X=X).to_json() == model.report(labels=labels).to_json()


def test_what_is_not_the_data_of_the_fit_is_refused(blobs, model):
    with pytest.raises(ValueError, match="X has 100 rows and the map has 400"):
        model.report(X=blobs[0][:100])
    with pytest.raises(ValueError, match="features"):
        model.report(X=np.ones((400, 5)))


def test_a_model_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        DTSNE().report()
    with pytest.raises(NotFittedError):
        DTSNE().explore()


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "precomputed"])
def test_other_metrics_have_a_report(blobs, metric):
    from scipy.spatial.distance import cdist

    X = blobs[0] + 30
    given = cdist(X, X) if metric == "precomputed" else X
    model = DTSNE(perplexity=20, metric=metric, max_iter=20, tol=0).fit(given)
    report = model.report(k=100)
    assert np.isnan(report.whole.distance_correlation) == (metric != "cosine")
    if metric == "manhattan":
        distances = np.sort(cdist(X, X, "cityblock"), axis=1)[:, 100]
        found = report.points.log_radius_data
        np.testing.assert_allclose(np.exp(found) * report.map_unit, distances, rtol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_given_neighbours_are_those_of_the_report(blobs, metric):
    X = blobs[0]
    search = NearestNeighbors(n_neighbors=70, metric=metric).fit(X)
    graph = search.kneighbors_graph(mode="distance")
    model = DTSNE(perplexity=20, metric=metric, neighbors=graph, max_iter=20, tol=0).fit(X)
    report = model.report(k=100)
    assert report.whole.k == 70
    radii = search.kneighbors()[0][:, -1]
    np.testing.assert_allclose(
        np.exp(report.points.log_radius_data) * report.map_unit, radii, rtol=1e-9
    )
    # Coordinates are known, but not as those of another metric.
    assert np.isnan(report.whole.distance_correlation) == (metric == "manhattan")


def test_the_unit_of_the_map_is_that_of_its_radii():
    X, _, _ = load("2D-density")
    account = account_of(X, X / 3.0, sigma=np.full(len(X), 0.7))
    assert account.radius_unit == pytest.approx(3.0)
    assert account_of(X, X / 3.0).radius_unit is None


def test_one_dimension_has_a_report_and_no_page(blobs):
    model = DTSNE(n_components=1, perplexity=20, max_iter=20, tol=0).fit(blobs[0])
    assert model.report().whole.n == len(blobs[0])
    with pytest.raises(ValueError, match="n_components=2"):
        model.explore()


def test_the_page_holds_map_and_account(blobs, model):
    X, labels = blobs
    account = model.report(labels=labels)
    page = model.explore(
        account=account,
        columns={"depth": X[:, 0], "flag": labels},
        others={"t-SNE": model.embedding_ + 1},
        ids=[f"cell {i}" for i in range(len(X))],
        title="Cells",
    )
    for text in ("depth", "flag (given)", "density residual", "t-SNE", "dtSNE", "Cells"):
        assert text in page.html
    for sentence in (account.readings[0], account.ratios.sentences[0]):
        assert json.dumps(sentence)[1:-1] in page.html
    assert model.explore(labels=labels).html.startswith("<!")


def test_radii_reach_to_the_perplexity(model):
    assert model.report().whole.k == 20
    assert model.report(k=7).whole.k == 7


def test_parameters_set_after_the_fit_change_no_report():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) + 5
    model = DTSNE(perplexity=20, max_iter=20, tol=0).fit(X)
    before = model.report().to_json()
    model.set_params(n_pcs=2, metric="cosine")
    assert model.report().to_json() == before
    assert model.report(X=X).to_json() == before
    assert pickle.loads(pickle.dumps(model)).report(X=X).to_json() == before


def test_an_account_is_not_given_beside_labels(blobs, model):
    with pytest.raises(ValueError, match="either account"):
        model.explore(labels=blobs[1], account=model.report())
