"""What a fitted model says of its map: `report` and `explore`."""

import copy
import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE
from dtsne._explore import _FLAGS, explorable
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
        with pytest.raises(ValueError, match=r"report\(X\)"):
            other.report()
        assert other.report(X, labels).to_json() == model.report(labels=labels).to_json()


def test_what_is_not_the_data_of_the_fit_is_refused(blobs, model):
    with pytest.raises(ValueError, match="X has 100 rows and the map has 400"):
        model.report(blobs[0][:100])
    with pytest.raises(ValueError, match="features"):
        model.report(np.ones((400, 5)))


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


def header_of(page) -> dict:
    return json.loads(re.search(r'type="application/json">(.*?)</script>', page.html, re.S)[1])


def test_an_account_is_shown_with_the_map_that_it_is_of(blobs, model):
    X, labels = blobs
    other = DTSNE(perplexity=20, max_iter=20, tol=0, density_scale=0).fit(X)
    others = {"t-SNE": other.embedding_}
    one = header_of(model.explore(labels=labels, others=others))
    assert [map_["account"] is None for map_ in one["maps"]] == [False, True]
    accounts = {"dtSNE": model.report(labels=labels), "t-SNE": other.report()}
    both = header_of(model.explore(account=accounts, others=others))
    correlations = [dict(map_["account"]["rows"])["trustworthiness"] for map_ in both["maps"]]
    expected = [f"{account.whole.trustworthiness:.4g}" for account in accounts.values()]
    assert correlations == expected
    # The unit of t-SNE's map means nothing.
    assert [map_["unit"] is None for map_ in both["maps"]] == [False, True]
    names = [column["name"] for column in both["columns"]]
    assert names[:2] == ["label", "log radius in the data"]
    for name in ("log radius", "density residual", "neighbours kept", "flag"):
        assert f"{name} in dtSNE" in names
        assert f"{name} in t-SNE" in names
        assert name not in names
    with pytest.raises(ValueError, match=r"accounts are of \['UMAP'\].*\['dtSNE'\]"):
        model.explore(account={"UMAP": accounts["dtSNE"]})


@pytest.mark.parametrize("name", ["flag", "sigma", "density residual", "log radius in the data"])
def test_a_label_keeps_a_column_of_its_own_whatever_its_name(blobs, model, name):
    X, labels = blobs
    columns = {name: X[:, 0], f"{name} (given)": X[:, 1]}
    account = model.report(labels=labels)
    maps = {"map": model.embedding_}
    page = explorable(maps, {"map": account}, label_name=name, columns=columns)
    names = [column["name"] for column in header_of(page)["columns"]]
    assert names.count(name) == 1
    assert len(names) == len(set(names)) == 9
    assert names[0] == f"{name} (given)"


def test_a_flag_says_the_cause(blobs, model):
    account = model.report()
    n = len(blobs[0])
    which = np.arange(n)
    flags = {
        "perplexity_too_large": which == 0,
        "sigma_at_bound": which == 1,
        "k_too_large": which == 2,
        "copy": which == 3,
        "unreliable": which <= 4,
    }
    account = replace(account, points=replace(account.points, **flags))
    page = explorable({"map": model.embedding_}, {"map": account})
    flag = next(c for c in header_of(page)["columns"] if c["name"] == "flag")
    assert set(flag["listed"]) == {*_FLAGS.values(), "none"}


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
    assert model.report(X).to_json() == before
    assert pickle.loads(pickle.dumps(model)).report(X).to_json() == before


def test_an_account_is_not_given_beside_labels(blobs, model):
    with pytest.raises(ValueError, match="either account"):
        model.explore(labels=blobs[1], account=model.report())
