"""What a fitted model says of its map: `report` and `explore`."""

import copy
import json
import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from fit_support import fitted
from page_support import texts_of, unpacked
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.page._from_report import _FLAGS, explorable
from dtsne.report import report_of, report_of_embedding
from dtsne.runtime._errors import DataError


@pytest.fixture(scope="module")
def blobs():
    X, labels, _ = load("2D-samples")
    return X[::2], labels[::2]


@pytest.fixture(scope="module")
def model(blobs):
    return DTSNE(perplexity=20, max_iter=50, tol=0).fit(blobs[0])


def test_the_report_is_that_of_data_and_map(blobs, model):
    X, labels = blobs
    by_hand = report_of(
        X, model.embedding_, labels=labels, sigma=model.sigma_, perplexity=model.perplexity_
    )
    report = model.report(labels=labels, k=100)
    assert not report.points.sigma_at_bound.any()  # which is not known by hand
    for name, values in by_hand.points.columns().items():
        found = report.points.columns()[name]
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(found, values)
    assert report.ratios.sentences == by_hand.ratios.sentences
    assert report.quality.trustworthiness == pytest.approx(by_hand.quality.trustworthiness)


def test_the_report_is_of_the_data_as_the_method_saw_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) * 2.0 ** -np.arange(8)
    model = DTSNE(perplexity=20, n_pcs=2, max_iter=20, tol=0).fit(X)
    centred = X - X.mean(axis=0)
    reduced = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    expected = report_of(reduced, model.embedding_, sigma=model.sigma_)
    found = model.report(k=100)
    np.testing.assert_allclose(
        found.points.log_radius_data, expected.points.log_radius_data, atol=1e-9
    )


def test_a_model_leaves_the_data_behind_and_takes_it_again(blobs, model):
    X, labels = blobs
    data = X.tobytes()[:64]
    assert data not in pickle.dumps(model)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        with pytest.raises(DataError, match=r"report\(X=X\)") as error:
            other.report()
        assert error.value.argument == "X"
        assert other.report(labels, X=X).to_json() == model.report(labels=labels).to_json()


def test_what_is_not_the_data_of_the_fit_is_refused(blobs, model):
    with pytest.raises(ValueError, match="X has 100 rows and the map has 400"):
        model.report(X=blobs[0][:100])
    with pytest.raises(ValueError, match="features"):
        model.report(X=np.ones((400, 5)))


def test_other_data_of_the_same_shape_is_refused(blobs, model):
    X, _ = blobs
    rng = np.random.default_rng(0)
    others = (X[::-1], X[:, ::-1], X + 0.1, 1.001 * X, X[rng.permutation(len(X))])
    for other in others:
        with pytest.raises(ValueError, match="X differs from the data of the fit"):
            model.report(X=other)
    swapped = X.copy()
    swapped[[3, 77]] = swapped[[77, 3]]
    with pytest.raises(ValueError, match="the order of its rows"):
        model.report(X=swapped)
    for same in (X.astype(np.float32), X + 1e-9, X.tolist(), csr_array(X)):
        assert model.report(X=same).quality.n == len(X)


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_the_fit_says_which_points_have_no_scale(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    X[:100] = X[0] + noise * rng.normal(size=(100, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of duplicates, that they are drawn as tight clusters
        model = DTSNE(perplexity=30, max_iter=20, tol=0).fit(X)
    copies = np.arange(500) < 100
    for report in (model.report(), model.report(k=150)):  # also beyond the copies
        assert report.points.sigma_at_bound[copies].all()
        # Nor has a point one of its own that is nearer to all copies than to others.
        assert report.points.sigma_at_bound.sum() <= 105
        np.testing.assert_array_equal(report.points.is_duplicate, copies)
        assert report.points.unreliable[copies].all()
        assert report.points.unreliable.sum() <= 110
        assert "of 500 points (20.0%) have duplicates" in " ".join(str(report).split())
        assert "* sigma_at_bound: 10" in str(report)


def test_the_unit_of_the_map_is_that_of_the_fit(blobs):
    model = DTSNE(perplexity=20, max_iter=20, tol=0).fit(blobs[0])
    before = model.report()
    assert before.kernel_unit == model.kernel_unit_ == pytest.approx(np.median(model.sigma_))
    embedding = model._embedding
    scales = embedding.kernel_scales
    other = replace(embedding, kernel_scales=scales._replace(unit=2 * scales.unit))
    after = report_of_embedding(other)
    assert after.kernel_unit == 2 * model.kernel_unit_
    shift = before.points.log_radius_data - after.points.log_radius_data
    np.testing.assert_allclose(shift, np.log(2))


def test_a_loaded_model_says_the_same_of_copies():
    """Copies differ by rounding after PCA, and by another one for each number of threads."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(300, 120))
    base[:150] *= 3
    X = base[np.r_[np.arange(300), np.arange(100), np.repeat(5, 60)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DTSNE(perplexity=30, max_iter=50, tol=0).fit(X)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.report(X=X).to_json() == model.report().to_json()
    report = model.report()
    assert report.points.is_duplicate.sum() == 260
    # Reduced elsewhere, in one thread or many, and in float32 too.
    reduced = PCA(50, random_state=0).fit_transform(X)
    for given in (reduced, reduced.astype(np.float32)):
        report = report_of(given, model.embedding_, k=30, perplexity=30)
        np.testing.assert_array_equal(report.points.is_duplicate, report.points.is_duplicate)
        known = np.isfinite(report.points.log_radius_data)
        np.testing.assert_array_equal(np.isfinite(report.points.log_radius_data), known)
        assert report.reliability[0][:20] == report.reliability[0][:20]


def test_a_report_does_not_search_again(blobs, monkeypatch):
    X, labels = blobs
    model = DTSNE(perplexity=20, max_iter=20, tol=0).fit(X)
    expected = pickle.loads(pickle.dumps(model)).report(labels, X=X).to_json()
    monkeypatch.setattr("dtsne.neighbors._exact.nearest_neighbors", None)
    assert model.report(labels).to_json() == expected
    monkeypatch.undo()
    assert model.report(k=150).quality.k == 150  # more than were kept
    monkeypatch.setattr("dtsne._cost._MAX_BYTES", 1000)
    large = DTSNE(perplexity=20, max_iter=20, tol=0).fit(X)
    assert large._embedding.artifacts.lists is None
    assert large.report(labels).to_json() == expected


def test_a_search_again_finds_what_the_fit_found(monkeypatch):
    """Beyond 20,000 points some are missed, other ones of other numbers of neighbours."""
    monkeypatch.setattr("dtsne.neighbors._base.MAX_EXACT_NEIGHBORS", 500)
    X = np.random.default_rng(0).normal(size=(3000, 8))
    model = fitted(X, perplexity=10, max_iter=10, tol=0, max_dense=500)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.report(X=X).to_json() == model.report().to_json()


def test_labels_come_first(blobs, model):
    X, labels = blobs
    assert model.report(labels).to_json() == model.report(labels=labels).to_json()
    with pytest.raises(TypeError):
        model.report(labels, X)


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
    assert np.isnan(report.quality.distance_correlation) == (metric != "cosine")
    if metric == "manhattan":
        distances = np.sort(cdist(X, X, "cityblock"), axis=1)[:, 100]
        found = report.points.log_radius_data
        np.testing.assert_allclose(np.exp(found) * report.kernel_unit, distances, rtol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_given_neighbours_are_those_of_the_report(blobs, metric):
    X = blobs[0]
    search = NearestNeighbors(n_neighbors=70, metric=metric).fit(X)
    graph = search.kneighbors_graph(mode="distance")
    model = DTSNE(perplexity=20, metric=metric, neighbors=graph, max_iter=20, tol=0).fit(X)
    report = model.report(k=100)
    assert report.quality.k == 70
    radii = search.kneighbors()[0][:, -1]
    np.testing.assert_allclose(
        np.exp(report.points.log_radius_data) * report.kernel_unit, radii, rtol=1e-9
    )
    # Coordinates are known, but not as those of another metric.
    assert np.isnan(report.quality.distance_correlation) == (metric == "manhattan")


def test_the_unit_of_the_map_is_that_of_its_radii():
    X, _, _ = load("2D-density")
    report = report_of(X, X / 3.0, sigma=np.full(len(X), 0.7))
    assert report.radius_unit == pytest.approx(3.0)
    assert report_of(X, X / 3.0).radius_unit is None


def test_one_dimension_has_a_report_and_no_page(blobs):
    model = DTSNE(n_components=1, perplexity=20, max_iter=20, tol=0).fit(blobs[0])
    assert model.report().quality.n == len(blobs[0])
    with pytest.raises(ValueError, match="n_components=2"):
        model.explore()


def test_the_page_holds_map_and_report(blobs, model):
    X, labels = blobs
    report = model.report(labels=labels)
    page = model.explore(
        report=report,
        columns={"depth": X[:, 0], "flag": labels},
        others={"t-SNE": model.embedding_ + 1},
        ids=[f"cell {i}" for i in range(len(X))],
        title="Cells",
    )
    for text in ("depth", "flag (given)", "density residual", "t-SNE", "dtSNE", "Cells"):
        assert text in page.html
    for sentence in (report.reliability[0], report.ratios.sentences[0]):
        assert json.dumps(sentence)[1:-1] in page.html
    assert model.explore(labels=labels).html.startswith("<!")


def header_of(page) -> dict:
    return json.loads(re.search(r'type="application/json">(.*?)</script>', page.html, re.S)[1])


def test_a_report_is_shown_with_the_map_that_it_is_of(blobs, model):
    X, labels = blobs
    other = DTSNE(perplexity=20, max_iter=20, tol=0, density_scale=0).fit(X)
    others = {"t-SNE": other.embedding_}
    one = header_of(model.explore(labels=labels, others=others))
    assert [map_["report"] is None for map_ in one["maps"]] == [False, True]
    reports = {"dtSNE": model.report(labels=labels), "t-SNE": other.report()}
    both = header_of(model.explore(report=reports, others=others))
    correlations = [dict(map_["report"]["rows"])["trustworthiness"] for map_ in both["maps"]]
    expected = [f"{report.quality.trustworthiness:.4g}" for report in reports.values()]
    assert correlations == expected
    # The unit of t-SNE's map means nothing.
    assert [map_["unit"] is None for map_ in both["maps"]] == [False, True]
    names = [column["name"] for column in both["columns"]]
    assert names[:2] == ["label", "log radius in the data"]
    for name in ("log radius", "density residual", "neighbours kept", "flag"):
        assert f"{name} in dtSNE" in names
        assert f"{name} in t-SNE" in names
        assert name not in names
    with pytest.raises(ValueError, match=r"reports are of \['UMAP'\].*\['dtSNE'\]"):
        model.explore(report={"UMAP": reports["dtSNE"]})


def test_units_and_labels_do_not_depend_on_the_order_of_the_reports(blobs, model):
    X, labels = blobs
    other = DTSNE(perplexity=20, max_iter=20, tol=0, density_scale=0).fit(X)
    reports = {"t-SNE": other.report(), "dtSNE": model.report(labels=labels)}
    page = header_of(model.explore(report=reports, others={"t-SNE": other.embedding_}))
    units = {map_["name"]: map_["unit"] for map_ in page["maps"]}
    assert units == {"dtSNE": pytest.approx(reports["dtSNE"].radius_unit), "t-SNE": None}
    assert page["columns"][0]["name"] == "label"
    # Labels from any report that has them.
    reports = {"t-SNE": other.report(labels=labels), "dtSNE": model.report()}
    page = header_of(model.explore(report=reports, others={"t-SNE": other.embedding_}))
    assert page["columns"][0]["name"] == "label"


def test_a_map_of_tsne_is_called_so_and_has_no_unit(blobs):
    X, _ = blobs
    model = DTSNE(perplexity=20, max_iter=20, tol=0, density_scale=0).fit(X)
    model.set_params(density_scale=1.0)  # what counts is the fit
    report = model.report()
    assert report.radius_unit is None
    assert report.kernel_unit is None
    assert "One unit of the map" not in str(report)
    (shown,) = header_of(model.explore(report=report))["maps"]
    assert (shown["name"], shown["unit"]) == ("t-SNE", None)
    with pytest.raises(ValueError, match="others has a map with the name of this one, 't-SNE'"):
        model.explore(report=report, others={"t-SNE": X[:, :2]})


def label_on(page) -> tuple[str, list[str], list[str]]:
    column = header_of(page)["columns"][0]
    return column["kind"], unpacked(column["categories"]), texts_of(column)


def test_labels_are_an_ordered_category_on_the_page(blobs, model):
    pd = pytest.importorskip("pandas")
    n = len(blobs[0])
    which = np.arange(n)
    given = [None if i % 3 == 2 else i % 3 for i in range(n)]
    texts = [("0", "1", "missing")[i % 3] for i in range(n)]
    for labels in (given, np.array(given, float)):
        assert label_on(model.explore(labels)) == ("category", ["0", "1"], texts)
    assert label_on(model.explore(which % 25))[:2] == ("category", [str(i) for i in range(25)])
    names = np.array(["hi", "lo", "mid"])[which % 3]
    ordered = pd.Categorical(names, ["lo", "mid", "none", "hi"])
    assert label_on(model.explore(ordered)) == ("category", ["lo", "mid", "hi"], names.tolist())


def test_pages_and_pictures_take_tensors(blobs, model):
    torch = pytest.importorskip("torch")
    plots = pytest.importorskip("dtsne.plots")
    _, labels = blobs
    # Such tensors numpy refuses, as it does those of a device.
    Y = torch.tensor(model.embedding_, requires_grad=True)
    codes = torch.tensor(np.unique(labels, return_inverse=True)[1].astype(float)).requires_grad_()
    page = header_of(model.explore(codes, others={"t-SNE": Y}, columns={"depth": Y[:, 0]}))
    assert [map_["name"] for map_ in page["maps"]] == ["dtSNE", "t-SNE"]
    assert page["columns"][-1]["kind"] == "number"
    plots.scatter_map(Y, labels=codes)
    plots.scatter_map(Y, values=Y[:, 0])
    plots.scatter_map(Y, Y[:, 0])


@pytest.mark.parametrize("name", ["flag", "sigma", "density residual", "log radius in the data"])
def test_a_label_keeps_a_column_of_its_own_whatever_its_name(blobs, model, name):
    X, labels = blobs
    columns = {name: X[:, 0], f"{name} (given)": X[:, 1]}
    report = model.report(labels=labels)
    maps = {"map": model.embedding_}
    page = explorable(maps, {"map": report}, label_name=name, columns=columns)
    names = [column["name"] for column in header_of(page)["columns"]]
    assert names.count(name) == 1
    assert len(names) == len(set(names)) == 9
    assert names[0] == f"{name} (given)"


def test_a_flag_says_the_cause(blobs, model):
    report = model.report()
    n = len(blobs[0])
    which = np.arange(n)
    flags = {
        "perplexity_too_large": which == 0,
        "sigma_at_bound": which == 1,
        "k_too_large": which == 2,
        "is_duplicate": which == 3,
        "unreliable": which <= 4,
    }
    report = replace(report, points=replace(report.points, **flags))
    page = explorable({"map": model.embedding_}, {"map": report})
    flag = next(c for c in header_of(page)["columns"] if c["name"] == "flag")
    assert set(flag["listed"]) == {*_FLAGS.values(), "none"}


def test_radii_reach_to_the_perplexity(model):
    assert model.report().quality.k == 20
    assert model.report(k=7).quality.k == 7


def test_parameters_set_after_the_fit_change_no_report():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) + 5
    model = DTSNE(perplexity=20, max_iter=20, tol=0).fit(X)
    before = model.report().to_json()
    model.set_params(n_pcs=2, metric="cosine")
    assert model.report().to_json() == before
    assert model.report(X=X).to_json() == before
    assert pickle.loads(pickle.dumps(model)).report(X=X).to_json() == before


def test_a_report_is_not_passed_with_labels(blobs, model):
    with pytest.raises(ValueError, match="either report"):
        model.explore(labels=blobs[1], report=model.report())


def names_on(page):
    return {column["name"] for column in header_of(page)["columns"]}


def test_columns_of_a_frame_and_names_that_read_alike():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = DTSNE(perplexity=10, max_iter=20, tol=0).fit(X)
    frame = pandas.DataFrame({"one": np.arange(60.0)})
    assert "one" in names_on(model.explore(columns=frame))
    alike = {1: np.arange(60.0), "1": -np.arange(60.0)}
    assert {"1", "1 (given)"} <= names_on(model.explore(columns=alike))


def test_labels_of_mixed_categories_survive_json():
    pandas = pytest.importorskip("pandas")
    X, codes, _ = load("G3-d")
    labels = pandas.Categorical.from_codes(codes, ["x", 2, 3.5])
    report = report_of(X, X[:, :2], labels=labels, n_bootstrap=100)
    assert type(report).from_json(report.to_json()).to_json() == report.to_json()
