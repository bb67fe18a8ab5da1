"""The tool for AnnData, used with scanpy itself and the cells that come with it."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.neighbors import kneighbors_graph

from dtsne import DTSNE
from dtsne._config import PARAMETERS
from dtsne.report._anndata import entries_of
from dtsne.runtime._errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from dtsne.scanpy import dtsne
from dtsne.scanpy._representation import MissingEntryError
from dtsne.scanpy._tool import Parameters
from dtsne.tables import read_embedding, write_h5ad

sc = pytest.importorskip("scanpy")
anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

# Options of pandas 3.1 that are to go, and that anndata asks for.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:The '{option}' option is deprecated")
    for option in ("future.infer_string", "mode.chained_assignment")
]

QUICK = {"perplexity": 10, "max_iter": 30, "tol": 0}
COLUMNS = [
    "dtsne_log_radius",
    "dtsne_log_radius_map",
    "dtsne_density_residual",
    "dtsne_unreliable",
]


@pytest.fixture(scope="module")
def pbmc():
    return sc.datasets.pbmc68k_reduced()


@pytest.fixture
def adata(pbmc):
    return pbmc.copy()


@pytest.fixture
def small(pbmc):
    """A few cells of few genes, with a representation, and no graph."""
    cells = pbmc[:60, :20].copy()
    return anndata.AnnData(
        X=cells.X.copy(),
        obs=cells.obs[["louvain"]].copy(),
        obsm={"X_pca": cells.obsm["X_pca"][:, :8].copy()},
        layers={"twice": 2 * cells.X},
    )


@pytest.fixture
def no_fit(monkeypatch):
    """Fail where a fit is started."""

    def fail(*_):
        raise AssertionError("the long work was started")

    monkeypatch.setattr(DTSNE, "fit", fail)


def keys(adata):
    return [list(part.keys()) for part in (adata.obsm, adata.obs, adata.uns, adata.obsp)]


def add_graph(adata, X, k, *, key="neighbors", squared=False, **params):
    """Leave a graph as scanpy does."""
    graph = kneighbors_graph(X, k, mode="distance")
    if squared:
        graph.data = graph.data**2 / 2
    name = "distances" if key == "neighbors" else f"{key}_distances"
    adata.obsp[name] = csr_matrix(graph)
    adata.uns[key] = {"distances_key": name, "params": {"n_neighbors": k + 1, **params}}


def used(adata, key="dtsne"):
    return adata.uns[key]["params"]


def assert_same(found, expected):
    """Compare what uns holds, part by part."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name in expected:
            assert_same(found[name], expected[name])
    else:
        np.testing.assert_array_equal(found, expected)


# What is added


def test_what_is_added_is_the_map_and_its_report(adata):
    before = adata.copy()
    assert dtsne(adata, groupby="louvain", **QUICK) is None
    X, labels = before.obsm["X_pca"], before.obs["louvain"].astype(str)
    model = DTSNE(n_pcs=None, **QUICK).fit(X)
    report = model.report(labels=labels, k=10)  # the perplexity
    np.testing.assert_array_equal(adata.obsm["X_dtsne"], model.embedding_)
    points, record = report.points, adata.uns["dtsne"]
    np.testing.assert_array_equal(adata.obs["dtsne_log_radius"], points.log_radius_data)
    np.testing.assert_array_equal(adata.obs["dtsne_log_radius_map"], points.log_radius_map)
    np.testing.assert_array_equal(adata.obs["dtsne_density_residual"], points.density_residual)
    np.testing.assert_array_equal(adata.obs["dtsne_unreliable"], points.unreliable)
    assert record["n_iter"] == model.n_iter_ == 30
    assert record["kl_divergence"] == model.kl_divergence_
    assert record["kernel_unit"] == np.median(model.sigma_)
    assert record["quality"]["trustworthiness"] == report.quality.trustworthiness
    assert tuple(record["reliability"]) == report.reliability
    np.testing.assert_array_equal(record["groups"]["spread_map"], report.groups.spread_map)
    categories = before.obs["louvain"].cat.categories
    np.testing.assert_array_equal(record["groups"]["label"], categories)  # 9 before 10
    assert tuple(record["ratios"]["sentence"]) == report.ratios.sentences
    expected = {"use_rep": "X_pca", "n_pcs": 50, "perplexity": 10, "random_state": 0, "tol": 0}
    assert expected.items() <= record["params"].items()
    assert record["params"]["groupby"] == "louvain"


def test_the_radius_reaches_as_far_as_it_is_told_to(small):
    dtsne(small, k=20, **QUICK)
    distances = np.sort(kneighbors_graph(small.obsm["X_pca"], 20, mode="distance").toarray())
    unit = small.uns["dtsne"]["kernel_unit"]
    expected = np.log(distances[:, -1] / unit)
    np.testing.assert_allclose(small.obs["dtsne_log_radius"], expected, rtol=1e-5, atol=1e-5)
    assert small.uns["dtsne"]["quality"]["k"] == 20


def test_nothing_else_is_changed(adata):
    before = adata.copy()
    dtsne(adata, **QUICK)
    assert adata.obs.columns.drop(COLUMNS).equals(before.obs.columns)
    pd.testing.assert_frame_equal(adata.obs[before.obs.columns], before.obs)
    assert set(adata.obsm) - set(before.obsm) == {"X_dtsne"}
    assert set(adata.uns) - set(before.uns) == {"dtsne"}
    np.testing.assert_array_equal(adata.obsm["X_pca"], before.obsm["X_pca"])
    assert "groups" not in adata.uns["dtsne"]


def test_a_copy_is_returned_if_asked_for(small):
    before = keys(small)
    copied = dtsne(small, copy=True, **QUICK)
    assert keys(small) == before
    assert "X_dtsne" in copied.obsm
    assert not np.shares_memory(copied.X, small.X)


@pytest.mark.parametrize("key_added", ["other", "X_other"])
def test_names_follow_the_key(small, key_added):
    dtsne(small, key_added=key_added, **QUICK)
    assert "X_other" in small.obsm
    assert {"other_log_radius", "other_density_residual", "other_unreliable"} <= set(small.obs)
    assert "other" in small.uns


def test_a_second_map_takes_the_place_of_the_first(small):
    dtsne(small, groupby="louvain", **QUICK)
    dtsne(small, density_scale=0, **QUICK)
    assert used(small)["density_scale"] == 0
    assert "groups" not in small.uns["dtsne"]
    assert list(small.obs.columns) == ["louvain", *COLUMNS]


def test_the_dimension_and_the_start_are_kept_in_a_file(small, tmp_path):
    start = np.random.default_rng(0).normal(size=(60, 3))
    seed = np.random.RandomState(0)
    dtsne(small, n_components=3, init=start, random_state=seed, n_jobs=1, **QUICK)
    small.write_h5ad(tmp_path / "cells.h5ad")
    assert small.obsm["X_dtsne"].shape == (60, 3)
    assert used(small)["init"] == "array"
    assert {"random_state", "n_jobs", "callback", "checkpoint"}.isdisjoint(used(small))


def test_files_hold_everything(adata, tmp_path):
    dtsne(adata, groupby="louvain", **QUICK)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert_same(read.uns["dtsne"], dict(sorted_deep(adata.uns["dtsne"])))
    np.testing.assert_array_equal(read.obsm["X_dtsne"], adata.obsm["X_dtsne"])
    pd.testing.assert_frame_equal(read.obs[COLUMNS], adata.obs[COLUMNS])
    Y, ids = read_embedding(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(Y, adata.obsm["X_dtsne"])
    assert list(ids) == list(adata.obs_names)
    assert pd.DataFrame(read.uns["dtsne"]["groups"]).shape[0] == 11


def sorted_deep(record):
    """Bring a dictionary to the order of a file, which is that of the names."""
    return {
        name: sorted_deep(record[name]) if isinstance(record[name], dict) else record[name]
        for name in sorted(record)
    }


def test_a_file_of_the_tables_looks_the_same(small, tmp_path):
    """`entries_of` goes to `write_h5ad` as it is, for whoever has files and no AnnData."""
    small.write_h5ad(tmp_path / "in.h5ad")
    dtsne(small, groupby="louvain", **QUICK)
    model = DTSNE(n_pcs=None, random_state=0, **QUICK).fit(small.obsm["X_pca"])
    report = model.report(labels=np.asarray(small.obs["louvain"].astype(str)), k=10)
    params = {"use_rep": "X_pca", "n_pcs": 8, "neighbors": "searched", "groupby": "louvain"}
    entries = entries_of(model._embedding, report, model.get_params(), source=params)
    write_h5ad(
        tmp_path / "out.h5ad",
        tmp_path / "in.h5ad",
        obsm=entries.obsm,
        obs=entries.obs,
        uns=entries.uns,
    )
    read = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert_same(read.uns["dtsne"], sorted_deep(small.uns["dtsne"]))
    pd.testing.assert_frame_equal(read.obs[COLUMNS], small.obs[COLUMNS])
    np.testing.assert_array_equal(read.obsm["X_dtsne"], small.obsm["X_dtsne"])


def test_one_group_has_nothing_to_be_compared_with(small, tmp_path):
    small.obs["all"] = "cells"
    dtsne(small, groupby="all", **QUICK)
    small.write_h5ad(tmp_path / "cells.h5ad")
    assert list(small.uns["dtsne"]["groups"]["label"]) == ["cells"]
    assert "ratios" not in small.uns["dtsne"]


# Scanpy


@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")  # scanpy's
def test_scanpy_draws_it(adata):
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    dtsne(adata, groupby="louvain", **QUICK)
    all_axes = sc.pl.embedding(adata, "dtsne", color=["louvain", *COLUMNS], show=False)
    assert len(all_axes) == 5
    for ax in all_axes:
        drawn = np.sort(np.vstack([c.get_offsets() for c in ax.collections])[:, 0])
        np.testing.assert_allclose(drawn, np.sort(adata.obsm["X_dtsne"][:, 0]), rtol=1e-6)
    plt.close("all")
    assert sc.pl.embedding(adata, "dtsne", show=False).get_xlabel() == "dtsne1"
    plt.close("all")


def test_the_graph_of_scanpy_is_used_where_it_has_enough(adata, caplog):
    sc.pp.neighbors(adata, n_neighbors=31, method="gauss")
    with caplog.at_level(logging.INFO, "dtsne.scanpy"):
        dtsne(adata, **QUICK)
    assert used(adata)["neighbors"] == "obsp['distances']"
    assert "searched" not in caplog.text
    graph = adata.obsp["distances"]
    model = DTSNE(neighbors=graph, n_pcs=None, **QUICK).fit(adata.obsm["X_pca"])
    np.testing.assert_array_equal(adata.obsm["X_dtsne"], model.embedding_)


def test_the_graph_of_scanpy_is_left_where_it_has_too_few(adata, caplog):
    sc.pp.neighbors(adata, n_neighbors=30, method="gauss")
    for key in (None, "neighbors"):
        caplog.clear()
        with caplog.at_level(logging.INFO, "dtsne.scanpy._graph"):
            dtsne(adata, neighbors_key=key, **QUICK)
        assert used(adata)["neighbors"] == "searched"
        (record,) = (r for r in caplog.records if r.name == "dtsne.scanpy._graph")
        assert record.levelno == logging.WARNING
        assert "has 29 neighbours of a cell, and perplexity=10 needs 30" in record.message
        assert "n_neighbors=31" in record.message
    searched = DTSNE(n_pcs=None, **QUICK).fit_transform(adata.obsm["X_pca"])
    np.testing.assert_array_equal(adata.obsm["X_dtsne"], searched)


# Neighbours


def test_a_graph_of_other_data_is_never_used_unsaid(small, caplog):
    add_graph(small, small.obsm["X_pca"], 40)
    small.obsm["X_pca"] = small.obsm["X_pca"][:, :5]  # computed anew, and the graph is not
    with caplog.at_level(logging.INFO, "dtsne.scanpy"):
        dtsne(small, **QUICK)
    assert used(small)["neighbors"] == "searched"
    assert "not of the data that is mapped" in caplog.text
    with pytest.raises(DataError, match=r"not of the data .* pass what it was computed w") as error:
        dtsne(small, neighbors_key="neighbors", **QUICK)
    assert error.value.argument == "neighbors_key"


def test_a_graph_of_other_components_is_one_of_other_data(small):
    add_graph(small, small.obsm["X_pca"], 40)
    dtsne(small, n_pcs=5, **QUICK)
    assert used(small)["neighbors"] == "searched"
    add_graph(small, small.obsm["X_pca"][:, :5], 40)
    dtsne(small, n_pcs=5, **QUICK)
    assert used(small)["neighbors"] == "obsp['distances']"


def test_a_named_graph_says_what_it_is_of(small):
    """As for sc.tl.umap, to name the graph is enough."""
    small.obsm["X_other"] = np.random.default_rng(0).normal(size=(60, 4))
    directions = small.obsm["X_other"][:, :3]
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    # Of rows of length 1, half the squared distance is 1 − cos.
    params = {"use_rep": "X_other", "n_pcs": 3, "metric": "cosine"}
    add_graph(small, directions, 40, key="other", squared=True, **params)
    dtsne(small, neighbors_key="other", **QUICK)
    assert {**params, "neighbors": "obsp['other_distances']"}.items() <= used(small).items()
    graph = kneighbors_graph(directions, 40, mode="distance")
    model = DTSNE(neighbors=graph, metric="cosine", n_pcs=None, **QUICK)
    expected = model.fit_transform(small.obsm["X_other"][:, :3])
    np.testing.assert_allclose(small.obsm["X_dtsne"], expected, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match=r"obsp\['other_distances'\] is not of the data"):
        dtsne(small, neighbors_key="other", use_rep="X_pca", metric="euclidean", **QUICK)


def test_what_is_not_said_of_a_graph_is_as_in_scanpy(small):
    """It takes X_pca, but X where there are at most 50 genes."""
    add_graph(small, small.X, 40)
    dtsne(small, neighbors_key="neighbors", **QUICK)
    assert {"use_rep": "X", "neighbors": "obsp['distances']"}.items() <= used(small).items()
    wide = anndata.AnnData(np.ones((60, 51)), obsm=dict(small.obsm))
    add_graph(wide, wide.obsm["X_pca"][:, :5], 40, metric="l2", n_pcs=np.array([5]))
    dtsne(wide, neighbors_key="neighbors", **QUICK)
    assert used(wide)["neighbors"] == "obsp['distances']"
    assert (used(wide)["use_rep"], used(wide)["n_pcs"]) == ("X_pca", 5)


def test_a_graph_that_misses_near_neighbours_is_too_poor(small, caplog):
    X = small.obsm["X_pca"]
    add_graph(small, X, 40)
    nearest = kneighbors_graph(X, 2, mode="connectivity")
    far = small.obsp["distances"] - small.obsp["distances"].multiply(nearest)
    small.obsp["distances"] = csr_matrix(far)
    dtsne(small, neighbors_key="neighbors", use_rep="X_pca", **QUICK)
    assert used(small)["neighbors"] == "searched"
    assert "93.3% of the 30 nearest" in caplog.text


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        ("dense", {}, "not a sparse matrix"),
        (None, {"metric": "manhattan"}, "not used for metric='manhattan'"),
    ],
)
def test_graphs_of_other_kinds_are_left(small, caplog, change, parameters, message):
    add_graph(small, small.obsm["X_pca"], 40)
    if change == "dense":
        small.obsp["distances"] = small.obsp["distances"].toarray()
    options = {"neighbors_key": "neighbors", "use_rep": "X_pca", **QUICK, **parameters}
    dtsne(small, **options)
    assert used(small)["neighbors"] == "searched"
    assert message in caplog.text


def test_a_damaged_graph_is_refused_if_it_was_named(small):
    add_graph(small, small.obsm["X_pca"], 40)
    small.obsp["distances"].data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        dtsne(small, neighbors_key="neighbors", use_rep="X_pca", **QUICK)
    dtsne(small, **QUICK)
    assert used(small)["neighbors"] == "searched"


def test_an_entry_without_its_graph(small):
    small.uns["neighbors"] = {"params": {}}
    dtsne(small, **QUICK)
    assert used(small)["neighbors"] == "searched"
    with pytest.raises(MissingEntryError, match="obsp has no 'distances'"):
        dtsne(small, neighbors_key="neighbors", **QUICK)


# What is mapped


def mapped(adata, **options):
    dtsne(adata, **options, **QUICK)
    return adata.obsm["X_dtsne"]


def test_x_pca_is_the_default_and_n_pcs_counts_its_columns(small):
    X = small.obsm["X_pca"]
    by_hand = DTSNE(n_pcs=None, **QUICK)
    np.testing.assert_array_equal(mapped(small), by_hand.fit_transform(X))
    np.testing.assert_array_equal(mapped(small, n_pcs=3), by_hand.fit_transform(X[:, :3]))
    assert used(small)["n_pcs"] == 3


def test_x_stands_in_for_x_pca(pbmc, caplog):
    bare = anndata.AnnData(pbmc.X[:80].copy())
    with caplog.at_level(logging.INFO, "dtsne.scanpy"):
        found = mapped(bare)
    assert "no 'X_pca'; using adata.X, reduced to 50 principal components" in caplog.text
    np.testing.assert_array_equal(found, DTSNE(n_pcs=50, **QUICK).fit_transform(bare.X))
    assert (used(bare)["use_rep"], used(bare)["n_pcs"]) == ("X", 50)
    expected = DTSNE(n_pcs=7, **QUICK).fit_transform(bare.X)
    np.testing.assert_array_equal(mapped(bare, n_pcs=7), expected)


@pytest.mark.parametrize("options", [{"use_rep": "X"}, {"n_pcs": 0}])
def test_x_that_is_asked_for_is_taken_as_it_is(pbmc, options):
    cells = pbmc[:80].copy()
    expected = DTSNE(n_pcs=None, **QUICK).fit_transform(cells.X)
    np.testing.assert_array_equal(mapped(cells, **options), expected)
    assert "n_pcs" not in used(cells)


def test_layers(small):
    expected = DTSNE(n_pcs=None, **QUICK).fit_transform(small.layers["twice"])
    np.testing.assert_array_equal(mapped(small, layer="twice"), expected)
    assert used(small)["layer"] == "twice"
    assert "use_rep" not in used(small)


def test_kinds_of_tables_make_no_difference(small):
    expected = mapped(small)
    X = small.obsm["X_pca"]
    small.obsm["frame"] = pd.DataFrame(X, index=small.obs_names).add_prefix("pc")
    small.obsm["sparse"] = csr_matrix(X)
    for use_rep in ("frame", "sparse"):
        np.testing.assert_allclose(mapped(small, use_rep=use_rep), expected, rtol=1e-4, atol=1e-4)
    dense = mapped(small, use_rep="X")
    small.X = csr_matrix(small.X)
    np.testing.assert_allclose(mapped(small, use_rep="X"), dense, rtol=1e-4, atol=1e-4)


def test_a_view_becomes_a_copy_of_its_own(adata):
    before = keys(adata)
    view = adata[::10]
    dtsne(view, **QUICK)
    assert not view.is_view
    assert view.obsm["X_dtsne"].shape == (70, 2)
    assert keys(adata) == before


@pytest.mark.parametrize("sparse", [False, True])
def test_backed_cells(small, tmp_path, sparse):
    expected = mapped(small, use_rep="X")
    if sparse:
        small.X = csr_matrix(small.X)
    small.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    np.testing.assert_allclose(mapped(backed, use_rep="X"), expected, rtol=1e-4, atol=1e-4)
    assert backed.isbacked
    copied = dtsne(backed, copy=True, key_added="other", **QUICK)
    assert not copied.isbacked
    assert "X_other" in copied.obsm
    assert "X_other" not in backed.obsm
    with pytest.raises(ValueError, match="view of a file"):
        dtsne(backed[:40], **QUICK)
    assert dtsne(backed[:40], copy=True, **QUICK).obsm["X_dtsne"].shape == (40, 2)
    backed.file.close()


def test_few_cells_lower_the_perplexity(small):
    for n in (4, 12):
        cells = small[:n].copy()
        with pytest.warns(UserWarning, match=f"perplexity=10 is too large for {n} points"):
            dtsne(cells, groupby="louvain", **QUICK)
        assert used(cells)["perplexity"] == 10
        assert cells.uns["dtsne"]["perplexity"] < n / 2
        assert f"less than half of {n} points" in cells.uns["dtsne"]["quality"]["clipped"]


def test_the_warning_points_here(small):
    cells = small[:12].copy()
    with pytest.warns(UserWarning, match="perplexity") as caught:
        dtsne(cells, **QUICK)
    places = [w.filename for w in caught if "perplexity" in str(w.message)]
    assert places == [__file__]


def test_groups_may_be_whole_numbers_or_truth_values(small):
    small.obs["number"] = np.arange(60) % 3
    small.obs["truth"] = np.arange(60) < 30
    dtsne(small, groupby="number", **QUICK)
    assert list(small.uns["dtsne"]["groups"]["label"]) == ["0", "1", "2"]
    dtsne(small, groupby="truth", **QUICK)
    assert list(small.uns["dtsne"]["groups"]["label"]) == ["False", "True"]


# What is refused


@pytest.mark.parametrize(
    ("options", "kind", "field", "message"),
    [
        ({"use_rep": "X_pcs"}, MissingEntryError, "X_pcs", "obsm .*the nearest: 'X_pca'"),
        ({"use_rep": "scvi"}, MissingEntryError, "scvi", "obsm .*are 'X_pca'.*; compute it first"),
        ({"layer": "counts"}, MissingEntryError, "counts", "layers has no 'counts' .*are 'twice'"),
        ({"layer": "twice", "use_rep": "X"}, ParameterError, "layer", "exclude each other"),
        ({"groupby": "leiden"}, MissingEntryError, "leiden", "obs has no 'leiden' .*'louvain'"),
        ({"groupby": "depth"}, DataError, "groupby", "decimal numbers"),
        ({"groupby": "nothing"}, DataError, "groupby", "has only missing values"),
        ({"groupby": "mixed"}, DataError, "groupby", "labels mixes numbers and text"),
        ({"groupby": "lists"}, DataError, "groupby", "labels has lists or arrays as values"),
        ({"key_added": "pca"}, ParameterError, "key_added", r"adata.obsm\['X_pca'\], which is map"),
        ({"key_added": "tsne"}, ParameterError, "key_added", r"overwrite adata.uns\['tsne'\], wh"),
        ({"key_added": "X_neighbors"}, ParameterError, "key_added", r"uns\['neighbors'\]"),
        ({"neighbors_key": "mine"}, MissingEntryError, "mine", "uns .*are none.*; compute it"),
        ({"n_pcs": 9}, ParameterError, "n_pcs", "from 1 to 8, the number of columns"),
        ({"n_pcs": 2.5}, ParameterTypeError, "n_pcs", "an integer"),
        ({"n_pcs": -1}, ParameterError, "n_pcs", "of at least 0"),
        ({"n_pcs": 0, "use_rep": "X_pca"}, ParameterError, "n_pcs", "from 1 to 8"),
        ({"perplexty": 30}, ParameterTypeError, "perplexty", "the nearest: 'perplexity'"),
        ({"use_reps": "X"}, ParameterTypeError, "use_reps", "the nearest: 'use_rep'"),
        ({"zzz": 1}, ParameterTypeError, "zzz", "no parameter 'zzz'; there are "),
        ({"neighbors": None}, ParameterTypeError, "neighbors", "pass neighbors_key"),
        ({"metric": "precomputed"}, ParameterError, "metric", "is not supported here"),
        ({"metric": "nearness"}, ParameterError, "metric", "must be one of 'euclidean'"),
        ({"perplexity": 0.5}, ParameterError, "perplexity", "must be a number above 1"),
        ({"k": 0}, ParameterError, "k", "must be an integer of at least 1"),
        ({"key_added": ""}, ParameterError, "key_added", "must be a name"),
        ({"key_added": "a/b"}, ParameterError, "key_added", "without a slash"),
        ({"key_added": None}, ParameterTypeError, "key_added", "must be a string"),
        ({"use_rep": "nan"}, DataError, "adata.obsm['nan']", "NaN or .* in 2 of 60 cells"),
        ({"use_rep": "sparse_nan"}, DataError, "adata.obsm['sparse_nan']", "1 of 60 cells"),
        ({"use_rep": "text"}, DataTypeError, "adata.obsm['text']", r"not numeric \('kind'\)"),
        ({"use_rep": "objects"}, DataTypeError, "adata.obsm['objects']", "holds object"),
        ({"use_rep": "cube"}, DataError, "adata.obsm['cube']", "has 3 dimensions"),
    ],
)
def test_what_cannot_be_done_is_said_at_once(small, no_fit, options, kind, field, message):
    small.obs["depth"] = 0.5
    small.obs["nothing"] = None
    small.obs["mixed"] = np.array([1, "a", None] * 20, object)
    small.obs["lists"] = [[i] for i in range(60)]
    small.uns["tsne"] = {"params": {"perplexity": 30}}  # as scanpy's
    if options.get("key_added") == "X_neighbors":
        add_graph(small, small.obsm["X_pca"], 40)
    if options.get("use_rep") in ("nan", "sparse_nan", "text", "objects", "cube"):
        X = small.obsm["X_pca"].copy()
        X[[4, 7], 1] = np.nan, np.inf
        small.obsm["nan"] = X
        small.obsm["sparse_nan"] = csr_matrix(np.where(np.isinf(X), 0, X))
        small.obsm["text"] = pd.DataFrame({"kind": "a", "x": 1.0}, index=small.obs_names)
        small.obsm["objects"] = X.astype(object)
        small.obsm["cube"] = np.zeros((60, 2, 2))
    before = keys(small)
    with pytest.raises(kind, match=message) as error:
        dtsne(small, **options)
    found = error.value
    named = [getattr(found, name, None) for name in ("key", "parameter", "argument")]
    assert field in named
    assert keys(small) == before


def test_the_tool_passes_on_all_other_parameters_of_the_model():
    own = {"neighbors", "n_pcs", "random_state", "n_jobs"}
    assert set(Parameters.__annotations__) == set(PARAMETERS) - own


def test_cells_without_a_group_are_in_none(small, tmp_path):
    small.obs["partly"] = small.obs["louvain"].where(np.arange(60) >= 3)
    small.obs["numbers"] = pd.Series(np.arange(60.0) % 3, index=small.obs_names).where(
        np.arange(60) >= 3
    )
    dtsne(small, groupby="partly", **QUICK)
    groups = small.uns["dtsne"]["groups"]
    assert groups["n"].sum() == 57
    present = small.obs["partly"].cat.remove_unused_categories().cat.categories
    assert list(groups["label"]) == list(present)
    dtsne(small, groupby="numbers", **QUICK)
    assert small.uns["dtsne"]["groups"]["label"].tolist() == ["0", "1", "2"]
    small.write_h5ad(tmp_path / "cells.h5ad")


def test_groups_are_in_the_order_of_the_categories(small):
    names = ["mid", "low", "high"]
    small.obs["level"] = pd.Categorical(np.array(names)[np.arange(60) % 3], ["low", "mid", "high"])
    dtsne(small, groupby="level", **QUICK)
    assert list(small.uns["dtsne"]["groups"]["label"]) == ["low", "mid", "high"]


def test_donors_are_not_called_unreliable(adata):
    adata.obs["donor"] = np.random.default_rng(0).integers(25, size=700).astype(str)
    dtsne(adata, perplexity=30, max_iter=30, tol=0)
    without = adata.obs["dtsne_unreliable"].to_numpy().copy()
    dtsne(adata, perplexity=30, max_iter=30, tol=0, groupby="donor")
    np.testing.assert_array_equal(adata.obs["dtsne_unreliable"], without)
    assert adata.uns["dtsne"]["groups"]["below_perplexity"].all()
    assert adata.uns["dtsne"]["groups"]["reliable"].all()


def test_the_first_bad_cell_is_named(small, no_fit):
    small.obsm["X_pca"][7, 2] = np.nan
    with pytest.raises(ValueError, match=f"the first is '{small.obs_names[7]}'"):
        dtsne(small)


def test_cells_without_numbers(small, no_fit):
    empty = anndata.AnnData(obs=small.obs)
    with pytest.raises(DataError, match=r"adata.X is empty; pass use_rep; .*has no entries"):
        dtsne(empty)
    with pytest.raises(DataError, match="3 cells; pass at least 4"):
        dtsne(small[:3])


@pytest.mark.parametrize("other", [np.zeros((9, 2)), pd.DataFrame({"x": [1.0]}), None])
def test_other_things_than_anndata(other):
    with pytest.raises(DataTypeError, match="must be AnnData") as error:
        dtsne(other)
    assert error.value.argument == "adata"


def test_a_fit_that_is_stopped_leaves_nothing(small):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = keys(small)
    with pytest.raises(KeyboardInterrupt):
        dtsne(small, callback=interrupt, **QUICK)
    assert keys(small) == before


def test_importing_the_tool_loads_neither_scanpy_nor_anndata():
    script = "import sys, dtsne.scanpy; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    heavy = {"scanpy", "anndata", "h5py", "pandas", "scipy", "sklearn", "numba", "matplotlib"}
    assert "dtsne" in loaded
    assert loaded.isdisjoint(heavy)


@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")  # scanpy's
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_the_examples_of_the_page_run(capsys):
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    page = Path(__file__).parents[2] / "docs" / "scanpy.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    plt.close("all")
    assert capsys.readouterr().out.startswith("Densities are reliable: ")
