"""``dtsne embed``: every format in and out, and all that is written beside the map."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys

import numpy as np
import pytest
from cli_support import EMBED, QUICK, N, done, rejected, run, three_groups, write_csv
from page_support import header_of, texts_of, unpacked

from dtsne import DTSNE
from dtsne.account import Account
from dtsne.runtime._errors import DataError
from dtsne.tables import read_embedding, read_table

OUTPUTS = ["csv", "csv.gz", "tsv", "parquet", "feather", "npy", "npz"]
OF_ACCOUNT = ["log_radius_data", "log_radius_map", "density_residual", "neighbor_recall",
              "is_duplicate", "k_too_large", "cluster_size", "unreliable", "sigma",
              "sigma_at_bound", "perplexity_too_large"]  # fmt: skip

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def data():
    X, types = three_groups(N)
    return X.astype(np.float32), types


@pytest.fixture(scope="module")
def ids():
    return [f"{i:03d}" for i in range(N)]


@pytest.fixture(scope="module")
def the_map(data):
    return DTSNE(perplexity=8, max_iter=20, tol=0).fit(data[0])


@pytest.fixture
def table(tmp_path, data, ids):
    return write_csv(tmp_path / "cells.csv", *data, ids)


def frame_of(data, ids):
    pandas = pytest.importorskip("pandas")
    X, types = data
    frame = pandas.DataFrame(X, columns=[f"m{i}" for i in range(X.shape[1])])
    frame.insert(0, "cell", ids)
    frame["type"] = types
    return frame


def write_fcs(path, data, ids):
    flowio = pytest.importorskip("flowio")
    with path.open("wb") as file:
        flowio.create_fcs(file, data[0].ravel().tolist(), [f"m{i}" for i in range(4)])


def write_h5ad(path, data, ids):
    anndata = pytest.importorskip("anndata")
    frame = frame_of(data, ids).set_index("cell")
    anndata.AnnData(data[0], frame[["type"]]).write_h5ad(path)


def write_mtx(path, data, ids):
    from scipy import io, sparse

    io.mmwrite(path, sparse.csr_matrix(data[0]))


def write_mtx_gz(path, data, ids):
    write_mtx(path.with_suffix(""), data, ids)
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))


WRITERS = {
    "csv": lambda path, data, ids: frame_of(data, ids).to_csv(path, index=False),
    "csv.gz": lambda path, data, ids: frame_of(data, ids).to_csv(path, index=False),
    "tsv": lambda path, data, ids: frame_of(data, ids).to_csv(path, index=False, sep="\t"),
    "parquet": lambda path, data, ids: frame_of(data, ids).to_parquet(path),
    "feather": lambda path, data, ids: frame_of(data, ids).to_feather(path),
    "npy": lambda path, data, ids: np.save(path, data[0]),
    "npz": lambda path, data, ids: np.savez(
        path, X=data[0], type=data[1].astype(str), id=np.array(ids)
    ),
    "h5ad": write_h5ad,
    "fcs": write_fcs,
    "mtx": write_mtx,
    "mtx.gz": write_mtx_gz,
}
WITH_COLUMNS = ["csv", "csv.gz", "tsv", "parquet", "feather"]
WITH_TYPES = [*WITH_COLUMNS, "npz", "h5ad"]


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_becomes_every_other(kind, tmp_path, data, ids, the_map):
    source = tmp_path / f"data.{kind}"
    WRITERS[kind](source, data, ids)
    options = ["--id", "cell"] if kind in WITH_COLUMNS else []
    options += ["--label", "type"] if kind in WITH_TYPES else []
    outputs = [*OUTPUTS, "h5ad"] if kind == "h5ad" else OUTPUTS
    for suffix in outputs:
        output = tmp_path / f"map.{suffix}"
        # The account takes most of the time, and is the same for all of them.
        account = [] if suffix in ("csv", "h5ad") else ["--no-report"]
        done("embed", source, "-o", output, *options, *account, *QUICK, "-q")
        Y, found_ids = read_embedding(output)
        np.testing.assert_allclose(Y, the_map.embedding_, atol=1e-3)
        if kind in WITH_TYPES and suffix != "npy":
            assert list(found_ids) == ids


def test_the_table_has_ids_map_labels_and_account(tmp_path, table, data, ids, the_map):
    pandas = pytest.importorskip("pandas")
    done(
        "embed", table, "-o", tmp_path / "map.csv", "--id", "cell", "--label", "type", *QUICK, "-q"
    )
    frame = pandas.read_csv(tmp_path / "map.csv", dtype={"id": str})
    assert list(frame) == ["id", "dtsne_1", "dtsne_2", "type", *OF_ACCOUNT]
    assert list(frame["id"]) == ids
    assert list(frame["type"]) == list(data[1])
    expected = the_map.report(labels=data[1], k=8).points
    np.testing.assert_allclose(frame["sigma"], the_map.sigma_, rtol=1e-4)
    np.testing.assert_allclose(frame["log_radius_data"], expected.log_radius_data, atol=1e-3)
    np.testing.assert_allclose(frame["density_residual"], expected.density_residual, atol=0.05)


def test_all_columns_that_are_not_mapped_are_carried_along(tmp_path, data, ids):
    frame = frame_of(data, ids)
    frame["sigma"], frame["batch"] = "text", np.arange(N) % 2
    frame.to_csv(tmp_path / "d.csv", index=False)
    result = done(
        "embed", tmp_path / "d.csv", "-o", tmp_path / "m.parquet", "--id", "cell",
        "--exclude", "batch,m3", "--no-report", *QUICK,
    )  # fmt: skip
    assert "× 3 numbers" in result.stderr
    table = read_table(
        tmp_path / "m.parquet", id_column="id", columns=["dtsne_*"], exclude=["batch"]
    )
    assert list(table.fields["sigma (given)"][:2]) == ["text", "text"]
    assert list(table.fields["type"]) == list(data[1])
    np.testing.assert_array_equal(table.fields["batch"], np.arange(N) % 2)


def test_the_h5ad_has_the_map_in_it(tmp_path, data, ids, the_map):
    anndata = pytest.importorskip("anndata")
    source = tmp_path / "cells.h5ad"
    write_h5ad(source, data, ids)
    options = ["--arcsinh", "5", "--label", "type", *QUICK, "-q"]
    done("embed", source, "-o", tmp_path / "out.h5ad", *options)
    out = anndata.read_h5ad(tmp_path / "out.h5ad")
    np.testing.assert_array_equal(out.X, data[0])
    assert out.obsm["X_dtsne"].shape == (N, 2)
    assert {"type", "dtsne_log_radius", "dtsne_density_residual", "dtsne_sigma"} <= set(out.obs)
    written = out.uns["dtsne"]
    assert written["params"]["perplexity"] == 8.0
    assert written["params"]["arcsinh"] == 5.0
    assert written["n_iter"] == 20
    assert list(written["groups"]["n"]) == [30, 30, 30]


def test_the_h5ad_is_as_by_scanpy(tmp_path, data, ids):
    anndata = pytest.importorskip("anndata")
    from dtsne.scanpy import dtsne

    source = tmp_path / "cells.h5ad"
    write_h5ad(source, data, ids)
    done("embed", source, "-o", tmp_path / "out.h5ad", *QUICK, "-q")
    out, tool = anndata.read_h5ad(tmp_path / "out.h5ad"), anndata.read_h5ad(source)
    dtsne(tool, use_rep="X", perplexity=8, max_iter=20, tol=0)
    np.testing.assert_allclose(out.obsm["X_dtsne"], tool.obsm["X_dtsne"], atol=1e-3)
    for name in set(tool.obs) - {"type"}:
        np.testing.assert_allclose(out.obs[name], tool.obs[name], atol=1e-2)
    assert set(tool.uns["dtsne"]) == set(out.uns["dtsne"])


def test_an_h5ad_is_overwritten_only_if_asked(tmp_path, data, ids):
    anndata = pytest.importorskip("anndata")
    source = tmp_path / "cells.h5ad"
    write_h5ad(source, data, ids)
    before = source.read_bytes()
    assert "--overwrite" in rejected("embed", source, "-o", source, *QUICK)
    assert source.read_bytes() == before
    done("embed", source, "-o", source, "--overwrite", "--no-report", *QUICK, "-q")
    assert "X_dtsne" in anndata.read_h5ad(source).obsm


def test_layers_and_representations_are_read(tmp_path, data, ids, the_map):
    anndata = pytest.importorskip("anndata")
    source = tmp_path / "cells.h5ad"
    noise = np.random.default_rng(1).normal(size=(N, 3)).astype(np.float32)
    cells = anndata.AnnData(noise, layers={"raw": noise}, obsm={"X_pca": data[0]})
    cells.write_h5ad(source)
    done(
        "embed",
        source,
        "--use-rep",
        "X_pca",
        "-o",
        tmp_path / "m.npy",
        "--no-report",
        *QUICK,
        "-q",
    )
    np.testing.assert_allclose(np.load(tmp_path / "m.npy"), the_map.embedding_, atol=1e-3)
    done("embed", source, "--layer", "raw", "-o", tmp_path / "n.npy", "--no-report", *QUICK, "-q")
    assert not np.allclose(np.load(tmp_path / "n.npy"), the_map.embedding_, atol=1)


@pytest.mark.parametrize(
    ("options", "transform"),
    [(["--log1p"], np.log1p), (["--arcsinh", "5"], lambda X: np.arcsinh(X / 5))],
)
def test_transforms_come_first(tmp_path, options, transform):
    counts = np.random.default_rng(0).poisson(3, size=(N, 6)).astype(float)
    np.save(tmp_path / "counts.npy", counts)
    done("embed", tmp_path / "counts.npy", "-o", tmp_path / "m.npy", *options, "--no-report",
         *QUICK, "-q")  # fmt: skip
    expected = DTSNE(perplexity=8, max_iter=20, tol=0).fit_transform(transform(counts))
    np.testing.assert_allclose(np.load(tmp_path / "m.npy"), expected, atol=1e-6)


def test_parameters_reach_the_fit(tmp_path, table, monkeypatch):
    made = []

    def watched(X, config, checkpoint):
        made.append({**vars(config), "checkpoint": checkpoint})
        raise DataError("enough")

    monkeypatch.setattr(EMBED, watched)
    rejected(
        "embed", table, "--id", "cell", "-o", tmp_path / "m.csv", "--n-pcs", "none",
        "--no-calibration",
        "--learning-rate", "auto", "--tol", "0.001", "--init", "random", "--random-state", "3",
        "--n-jobs", "-1", "--metric", "cosine", "--checkpoint", tmp_path / "c.npz",
        "--max-iter", "7",
    )  # fmt: skip
    (given,) = made
    expected = {
        "n_pcs": None, "calibration": False, "learning_rate": "auto", "tol": 0.001, "n_jobs": -1,
        "init": "random", "random_state": 3, "metric": "cosine", "max_iter": 7, "verbose": 1,
        "checkpoint": tmp_path / "c.npz", "perplexity": 100.0, "n_components": 2,
    }  # fmt: skip
    assert {name: given[name] for name in expected} == expected


def test_one_command_makes_map_picture_page_and_account(tmp_path, table):
    pytest.importorskip("matplotlib")
    result = done(
        "embed", table, "--id", "cell", "--label", "type", "-o", tmp_path / "m.csv",
        "--plot", tmp_path / "m.png", "--html", tmp_path / "m.html", "--report", "--compare-tsne",
        "--title", "My cells", "--k", "10", *QUICK,
    )  # fmt: skip
    assert result.stdout.startswith("A map of 90 points")
    assert "times as wide as B" in result.stdout
    assert "10th nearest" in " ".join(result.stdout.split())
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    of_both = ("density residual in dtSNE", "density residual in t-SNE")
    for text in ("My cells", "t-SNE", "dtSNE", '"type"', '"m0"', *of_both):
        assert text in page
    assert f"dtsne: wrote {tmp_path / 'm.html'}" in result.stderr


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
@pytest.mark.parametrize("label", [[], ["--label", "type"]])
def test_pictures_of_every_kind(tmp_path, table, suffix, label):
    pytest.importorskip("matplotlib")
    options = [*label, *([] if suffix == "svg" else ["--compare-tsne"])]
    done("embed", table, "--id", "cell", "--plot", tmp_path / f"m.{suffix}", *options, *QUICK, "-q")
    begins = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert (tmp_path / f"m.{suffix}").read_bytes().startswith(begins[suffix])


@pytest.mark.parametrize("suffix", ["md", "txt", "json", "csv", "parquet"])
def test_the_account_is_written_as_the_suffix_says(tmp_path, table, suffix):
    path = tmp_path / f"account.{suffix}"
    result = done("embed", table, "--id", "cell", "--label", "type", "--report", path, *QUICK, "-q")
    assert result.output == ""
    if suffix == "json":
        assert len(Account.from_json(path.read_text(encoding="utf-8")).points) == N
        assert json.loads(path.read_text(encoding="utf-8"))["groups"]["n"] == [30, 30, 30]
    elif suffix in ("md", "txt"):
        assert "A map of 90 points" in path.read_text(encoding="utf-8")
    else:
        found = read_table(path, id_column="id", columns=["sigma", "neighbor_recall"])
        assert list(found.fields["label"][:3]) == ["B", "T", "NK"]


@pytest.mark.parametrize("where", [[], ["-"]])
def test_a_report_without_a_file_is_printed(tmp_path, table, where):
    result = done("embed", table, "--id", "cell", *QUICK, "-q", "--report", *where)
    assert result.stdout.startswith("A map of 90 points")
    assert result.stderr == ""


def labelled(path, data, labels, *options):
    """Map data with labels, and return what is said of its points and of its groups."""
    write_csv(path, data[0], labels)
    report = path.with_suffix(".json")
    done("embed", path, "--label", "type", "--report", report, *options, *QUICK, "-q")
    found = json.loads(report.read_text(encoding="utf-8"))
    return found["points"], found["groups"]


def groups_on(page):
    """Return the categories of the label on a page."""
    header = header_of(page.read_text(encoding="utf-8"))
    return set(texts_of(next(c for c in header["columns"] if c["name"] == "type"))) - {"missing"}


def test_points_without_a_label_are_in_no_group(tmp_path, data, ids):
    pytest.importorskip("matplotlib")
    types = data[1].copy()
    types[[3, 5, 8]] = ""
    page, picture, report = tmp_path / "m.html", tmp_path / "m.svg", tmp_path / "r.csv"
    points, groups = labelled(tmp_path / "d.csv", data, types, "--html", page, "--plot", picture)
    assert dict(zip(groups["label"], groups["n"], strict=True)) == {"B": 29, "NK": 28, "T": 30}
    assert [points["label"][i] for i in (0, 3, 5, 8)] == ["B", None, None, None]
    # Three points would be a group below the perplexity.
    assert not any(points["unreliable"][i] for i in (3, 5, 8))
    assert groups_on(page) == {"B", "T", "NK"}
    assert "missing" in picture.read_text(encoding="utf-8")
    done("embed", tmp_path / "d.csv", "--label", "type", "--report", report, *QUICK, "-q")
    assert list(read_table(report, columns=["sigma"]).fields["label"][[0, 3]]) == ["B", ""]


def test_labels_may_be_numbers_and_missing(tmp_path, data):
    numbers = (np.arange(N) % 11).astype(str).astype(object)
    numbers[3] = ""
    page = tmp_path / "m.html"
    points, groups = labelled(tmp_path / "d.csv", data, numbers, "--html", page)
    assert groups["label"] == list(range(11))
    assert groups["n"][3] == 7
    assert points["label"][3] is None
    assert groups_on(page) == {str(i) for i in range(11)}
    _, groups = labelled(tmp_path / "e.csv", data, (np.arange(N) % 11).astype(str))
    assert groups["label"] == list(range(11))
    write_csv(tmp_path / "f.csv", data[0], [""] * N)
    line = rejected("embed", tmp_path / "f.csv", "-o", tmp_path / "m.csv", "--label", "type", "-q")
    assert "'type'" in line


@pytest.mark.parametrize(
    "labels",
    [[1234567.0, 1234568.0], [0.1234567, 0.1234568], [1e20, 1.5e20], [np.inf, 2.5]],
)
def test_labels_that_differ_are_different_groups(labels):
    from dtsne.cli._labels import as_groups

    groups = as_groups(np.array([*labels, np.nan]), "type", "file")
    assert len(groups.names) == 2
    assert groups.labels.tolist() == [*labels, None]
    assert as_groups(np.array([0.1, 3.0], np.float32), "type", "file").names.tolist() == [0.1, 3.0]


@pytest.mark.parametrize("suffix", ["h5ad", "parquet", "feather"])
def test_categories_keep_their_order(tmp_path, data, ids, suffix):
    pandas = pytest.importorskip("pandas")
    frame = frame_of(data, ids).set_index("cell")
    levels = np.array(["mid", "hi", "lo", None], object)[np.arange(N) % 4]
    frame["level"] = pandas.Categorical(levels, ["lo", "mid", "none", "hi"])
    source = tmp_path / f"cells.{suffix}"
    if suffix == "h5ad":
        anndata = pytest.importorskip("anndata")
        anndata.AnnData(data[0], frame[["level"]]).write_h5ad(source)
    else:
        getattr(frame.reset_index(), f"to_{suffix}")(source)
    page, report, output = tmp_path / "m.html", tmp_path / "r.json", tmp_path / f"m.{suffix}"
    done("embed", source, "--label", "level", "--html", page, "--report", report, *QUICK, "-q",
         *(("-o", output) if suffix == "h5ad" else ()))  # fmt: skip
    account = Account.from_json(report.read_text(encoding="utf-8"))
    assert account.groups.label.tolist() == ["lo", "mid", "hi"]
    (level,) = (c for c in header_of(page.read_text("utf-8"))["columns"] if c["name"] == "level")
    assert unpacked(level["categories"]) == ["lo", "mid", "hi"]
    if suffix == "h5ad":  # and so does a page of the map alone
        done("plot", output, "--by", "level", "-o", page, "-q")
        assert unpacked(header_of(page.read_text("utf-8"))["columns"][0]["categories"])[0] == "lo"


def test_categories_of_polars_are_in_no_order(tmp_path):
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    frame = polars.DataFrame({"a": [1.0, 2.0, 3.0], "g": ["z", "b", "a"]})
    enum = polars.Enum(["b", "z", "a"])
    for kind, expected in ((polars.Categorical, {}), (enum, {"g": ("b", "z", "a")})):
        frame.with_columns(polars.col("g").cast(kind)).write_parquet(tmp_path / "p.parquet")
        assert read_table(tmp_path / "p.parquet").categories == expected
    text = pandas.DataFrame({"a": [1.0, 2.0], "t": ["y", "x"]})
    text.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").categories == {}


def test_a_map_of_tsne_is_presented_as_such(tmp_path, table, monkeypatch):
    pytest.importorskip("matplotlib")
    from dtsne import plots

    drawn = []
    monkeypatch.setattr(plots, "scatter_map", lambda *_, **options: drawn.append(options))
    monkeypatch.setattr("dtsne.cli._outputs.write_picture", lambda *_: None)
    page, report = tmp_path / "m.html", tmp_path / "r.txt"
    done("embed", table, "--id", "cell", "--label", "type", "--density-scale", "0", "--html", page,
         "--plot", tmp_path / "m.png", "--report", report, "-o", tmp_path / "m.csv", *QUICK,
         "-q")  # fmt: skip
    (shown,) = header_of(page.read_text(encoding="utf-8"))["maps"]
    assert (shown["name"], shown["unit"]) == ("t-SNE", None)
    assert drawn[0]["unit"] is None
    assert "One unit of the map" not in report.read_text(encoding="utf-8")
    # Nor do commands that read the map say what its unit is.
    measured = done("quality", table, tmp_path / "m.csv", "--id", "cell", "-q")
    assert "One unit of the map" not in measured.stdout
    options = ["--density-scale", "0", "--compare-tsne", "--html", page]
    assert "--density-scale 0 is t-SNE already" in rejected("embed", table, *options, code=2)


def test_ids_that_occur_twice_are_a_column_of_the_page(tmp_path, data, ids):
    source = write_csv(tmp_path / "d.csv", *data, [ids[0], *ids[:-1]])
    result = done("embed", source, "--id", "cell", "--html", tmp_path / "m.html", *QUICK)
    assert "dtsne: warning:" in result.stderr
    assert "line 3: 1 ID occurs more than once" in result.stderr
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert '"id"' in page
    done("embed", source, "--id", "cell", "-o", tmp_path / "m.csv", *QUICK, "-q")
    done("plot", tmp_path / "m.csv", "-o", tmp_path / "n.html", "-q")


def test_the_page_is_coloured_by_the_label(tmp_path, table):
    done("embed", table, "--id", "cell", "--label", "type", "--html", tmp_path / "m.html", *QUICK)
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    names = re.findall(r'"name": ?"([^"]+)", ?"kind"', page)
    assert names[0] == "type"
    assert names[-4:] == ["m0", "m1", "m2", "m3"]
    assert "density residual" in names[1:-4]


def test_three_dimensions_have_a_map_and_no_picture(tmp_path, table):
    done(
        "embed",
        table,
        "--id",
        "cell",
        "-o",
        tmp_path / "m.csv",
        "--n-components",
        "3",
        *QUICK,
        "-q",
    )
    assert read_embedding(tmp_path / "m.csv")[0].shape == (N, 3)
    line = rejected("embed", table, "--plot", tmp_path / "m.png", "--n-components", "3", code=2)
    assert "--n-components 2" in line


def test_quiet_is_silent_and_verbose_says_more(tmp_path, table):
    arguments = ["embed", table, "--id", "cell", "-o", tmp_path / "m.csv", "--perplexity", "8",
                 "--max-iter", "30"]  # fmt: skip
    assert done(*arguments, "-q").output == ""
    said = done(*arguments)
    assert said.stdout == ""
    assert "dtsne: warning: KL had not settled after --max-iter 30 iterations" in said.stderr
    assert "iteration   20" not in said.stderr
    assert "iteration   20  KL" in done(*arguments, "-v").stderr


def test_nothing_of_a_failed_run_is_left(tmp_path, table, monkeypatch):
    def broken(*_, **__):
        raise OSError(28, "No space left on device", "map")

    monkeypatch.setattr("dtsne.io._write.csv.writer", broken)
    line = rejected(
        "embed", table, "--id", "cell", "-o", tmp_path / "m.csv", "--no-report", *QUICK, "-q"
    )
    assert "No space left on device" in line
    assert [path.name for path in tmp_path.iterdir()] == ["cells.csv"]


def test_a_checkpoint_is_taken_up(tmp_path, table):
    options = ["--id", "cell", "--checkpoint", tmp_path / "c.npz", "--no-report"]
    run("embed", table, "-o", tmp_path / "m.csv", *options, *QUICK)
    assert not (tmp_path / "c.npz").exists()
    (tmp_path / "c.npz").write_text("no checkpoint")
    line = rejected("embed", table, "-o", tmp_path / "m.csv", *options, *QUICK, "-q")
    assert "c.npz is not a checkpoint of dtsne, or is corrupt" in line
    assert "delete" not in line
    assert (tmp_path / "c.npz").read_text() == "no checkpoint"


def test_a_column_may_have_the_name_of_the_map(tmp_path, data):
    rows = [",".join(map(str, [*x, "a", "b", "c"])) for x in data[0]]
    header = "m0,m1,m2,m3,dtsne,sigma,sigma (given)"
    (tmp_path / "d.csv").write_text("\n".join([header, *rows]))
    for suffix in ("npz", "csv"):
        output = tmp_path / f"m.{suffix}"
        done("embed", tmp_path / "d.csv", "-o", output, "--no-report", *QUICK, "-q")
        assert read_embedding(output)[0].shape == (N, 2)
    given = ("dtsne (given)", "sigma (given) (given)", "sigma (given)")
    with np.load(tmp_path / "m.npz") as found:
        assert [str(found[name][0]) for name in given] == ["a", "b", "c"]


def test_principal_components_beside_x_are_hinted_at(tmp_path, data, ids):
    anndata = pytest.importorskip("anndata")
    source = tmp_path / "cells.h5ad"
    options = ["-o", tmp_path / "m.csv", "--no-report", *QUICK]
    anndata.AnnData(data[0], obsm={"X_pca": data[0]}).write_h5ad(source)
    hint = "X_pca: --use-rep X_pca --n-pcs none"
    assert hint in done("embed", source, *options).stderr
    assert hint not in done("embed", source, "--use-rep", "X_pca", *options).stderr
    write_h5ad(source, data, ids)
    assert hint not in done("embed", source, *options).stderr


def test_parameters_are_kept_without_an_account(tmp_path, data, ids):
    anndata = pytest.importorskip("anndata")
    write_h5ad(tmp_path / "cells.h5ad", data, ids)
    options = ["--arcsinh", "5", "--no-report", *QUICK, "-q"]
    done("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "out.h5ad", *options)
    written = anndata.read_h5ad(tmp_path / "out.h5ad").uns["dtsne"]
    assert written["params"]["perplexity"] == 8.0
    assert written["params"]["arcsinh"] == 5.0
    assert written["n_iter"] == 20
    assert "quality" not in written


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes")
@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather", "npz", "h5ad"])
def test_names_of_files_need_not_be_text(tmp_path, data, ids, suffix):
    pytest.importorskip("matplotlib")
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    source, output = folder / f"d\udce9.{suffix}", folder / f"m\udce9.{suffix}"
    if suffix == "h5ad":
        pytest.importorskip("anndata")
    WRITERS[suffix](tmp_path / f"d.{suffix}", data, ids)
    (tmp_path / f"d.{suffix}").rename(source)
    shown = ["--plot", folder / "p.png", "--html", folder / "p.html"]
    done("embed", source, "-o", output, *shown, *QUICK, "-q")
    done("plot", output, "-o", folder / "q.png", "-q")
    done("plot", output, "-o", folder / "q.html", "-q")
    done("quality", source, output, *shown, "-q")
