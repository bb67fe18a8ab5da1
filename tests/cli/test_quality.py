"""``dtsne quality`` and ``dtsne plot``: maps by dtsne and by other tools, measured and drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_support import QUICK, N, done, rejected, three_groups, write_csv
from page_support import header_of

from dtsne.account import Account, account_of
from dtsne.tables import read_embedding, read_table

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data, ids):
    """Data, a map of it by dtsne, and one by another tool in another order."""
    folder = tmp_path_factory.mktemp("maps")
    source = write_csv(folder / "cells.csv", *data, ids)
    done("embed", source, "--id", "cell", "--label", "type", "-o", folder / "map.csv",
         "--report", folder / "account.json", *QUICK, "-q")  # fmt: skip
    order = np.random.default_rng(0).permutation(N)
    rows = [f"{ids[i]},{data[0][i, 0]},{data[0][i, 1]},{i % 7}" for i in order]
    (folder / "umap.csv").write_text("\n".join(["barcode,UMAP_1,UMAP_2,louvain", *rows]))
    return folder


def measured(folder, *arguments):
    return done("quality", folder / "cells.csv", *arguments, "--id", "cell", "-q")


def test_a_map_of_ours_is_measured_as_by_its_own_report(folder):
    printed = measured(
        folder, folder / "map.csv", "--label", "type", "--perplexity", "8", "--json"
    ).stdout
    own = Account.from_json((folder / "account.json").read_text(encoding="utf-8"))
    found = Account.from_json(printed)
    assert found.ratios.sentences == own.ratios.sentences
    for name, values in own.points.columns().items():
        again = found.points.columns()[name]
        if values.dtype.kind == "f":
            np.testing.assert_allclose(again, values, atol=1e-6)
        else:
            np.testing.assert_array_equal(again, values)


def test_another_tools_map_is_matched_by_ids(folder, data, tmp_path):
    expected = account_of(data[0], data[0][:, :2], labels=data[1], k=12)
    result = measured(
        folder, folder / "umap.csv", "--label", "type", "--k", "12",
        "--points", tmp_path / "points.csv",
    )  # fmt: skip
    assert result.stdout == f"{expected}\n"
    Y, _ = read_embedding(tmp_path / "points.csv")
    np.testing.assert_array_equal(Y, data[0][:, :2])
    found = read_table(tmp_path / "points.csv", id_column="id", columns=["neighbor_recall"])
    np.testing.assert_allclose(found.X[:, 0], expected.points.neighbor_recall)
    wrong = measured(
        folder, folder / "umap.csv", "--label", "type", "--k", "12", "--by-order"
    ).stdout
    assert "Neighbours are not reliable" in wrong


def test_a_sigma_of_others_is_not_ours(folder, tmp_path, data, ids):
    rows = [f"{ids[i]},{data[0][i, 0]},{data[0][i, 1]},{i + 1}" for i in range(N)]
    (tmp_path / "theirs.csv").write_text("\n".join(["id,x,y,sigma", *rows]))
    for file, known in [(tmp_path / "theirs.csv", False), (folder / "map.csv", True)]:
        found = json.loads(measured(folder, file, "--json").stdout)
        assert ("sigma" in found["points"]) == known
    done("embed", folder / "cells.csv", "--id", "cell", "-o", tmp_path / "m.npz", *QUICK, "-q")
    done("quality", folder / "cells.csv", tmp_path / "m.npz", "--id", "cell", "-q",
         "--points", tmp_path / "points.npz", "--report", tmp_path / "a.json")  # fmt: skip
    for file in ("m.npz", "points.npz"):
        assert "sigma" in json.loads(measured(folder, tmp_path / file, "--json").stdout)["points"]


def test_the_data_is_what_the_method_saw(tmp_path):
    X = np.random.default_rng(0).random(size=(N, 6)) * 2.0 ** -np.arange(6)
    np.save(tmp_path / "X.npy", np.exp(X) - 1)
    np.save(tmp_path / "Y.npy", X[:, :2])
    result = done("quality", tmp_path / "X.npy", tmp_path / "Y.npy", "--log1p", "--n-pcs", "3",
                  "--k", "12", "--json")  # fmt: skip
    assert "3 principal components" in result.stderr
    assert "matched by their order" in result.stderr
    centred = X - X.mean(axis=0)
    reduced = centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T
    expected = account_of(reduced, X[:, :2], k=12)
    found = Account.from_json(result.stdout)
    np.testing.assert_allclose(found.points.log_radius_data, expected.points.log_radius_data)
    cosine = done("quality", tmp_path / "X.npy", tmp_path / "Y.npy", "--metric", "cosine", "--json")
    assert json.loads(cosine.stdout)["quality"] != json.loads(result.stdout)["quality"]


def test_picture_page_and_report_of_a_measurement(folder, tmp_path):
    pytest.importorskip("matplotlib")
    result = measured(
        folder, folder / "umap.csv", "--label", "type", "--report", tmp_path / "a.md",
        "--plot", tmp_path / "radii.png", "--html", tmp_path / "page.html",
    )  # fmt: skip
    assert result.output == ""
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# A map of 90 points")
    assert (tmp_path / "radii.png").read_bytes().startswith(b"\x89PNG")
    assert "umap" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_maps_of_other_points_are_rejected(folder, tmp_path, data):
    np.save(tmp_path / "Y.npy", data[0][:50, :2])
    line = rejected("quality", folder / "cells.csv", tmp_path / "Y.npy", "--id", "cell")
    assert "has 50 points, and the data 90 rows" in line
    assert "--map-id" in line
    text = (folder / "umap.csv").read_text().replace("c7,", "c700,")
    (tmp_path / "other.csv").write_text(text)
    line = rejected("quality", folder / "cells.csv", tmp_path / "other.csv", "--id", "cell")
    assert "'c7'" in line
    assert line.endswith("(--by-order).")


def test_a_map_that_is_not_clear_is_asked_about_by_flag(folder, tmp_path):
    (tmp_path / "m.csv").write_text("a,b,c,d\n" + "1,2,3,4\n5,6,7,8\n" * 45)
    line = rejected("quality", folder / "cells.csv", tmp_path / "m.csv", "--exclude", "cell,type")
    assert "choose them with --map-columns" in line
    done("quality", folder / "cells.csv", tmp_path / "m.csv", "--map-columns", "a,b", "-q")


@pytest.mark.parametrize(
    ("perplexity", "code", "said"),
    [
        ("nan", 2, "--perplexity nan must be a number above 1"),
        ("inf", 2, "--perplexity inf must be a number above 1"),
        ("0.5", 2, "--perplexity 0.5 must be a number above 1"),
        ("90", 1, "--perplexity 90 must be smaller than the number of points (90)"),
    ],
)
def test_a_perplexity_that_no_map_has(folder, perplexity, code, said):
    arguments = ["quality", folder / "cells.csv", folder / "umap.csv", "--id", "cell"]
    assert said in rejected(*arguments, "--perplexity", perplexity, code=code)


@pytest.mark.parametrize("of_map", [True, False])
def test_numbers_whose_squares_overflow_are_rejected(tmp_path, data, of_map):
    X, Y = data[0], data[0][:, :2]
    np.save(tmp_path / "X.npy", X if of_map else -1e200 * X)
    np.save(tmp_path / "Y.npy", 1e200 * Y if of_map else Y)
    line = rejected("quality", tmp_path / "X.npy", tmp_path / "Y.npy")
    assert f"{'Y' if of_map else 'X'}.npy holds numbers as large as" in line
    assert "rescale them" in line
    if not of_map:
        line = rejected("embed", tmp_path / "X.npy", "-o", tmp_path / "m.csv", *QUICK)
        assert "rescale them" in line


@pytest.mark.parametrize("suffix", ["csv", "npy", "npz", "h5ad"])
def test_a_map_of_one_dimension_is_measured(tmp_path, folder, data, suffix):
    source = folder / "cells.csv"
    if suffix == "h5ad":
        anndata = pytest.importorskip("anndata")
        source = tmp_path / "cells.h5ad"
        anndata.AnnData(data[0], obsm={"X_tsne": data[0][:, :2]}).write_h5ad(source)
    output = tmp_path / f"m.{suffix}"
    done("embed", source, "-o", output, "--n-components", "1", *QUICK, "-q")
    found = json.loads(done("quality", source, output, "--json", "-q").stdout)
    assert len(found["points"]["log_radius_map"]) == N
    line = rejected("plot", output, "-o", tmp_path / "p.png")
    assert "is a 1-dimensional map; only two can be drawn" in line


def test_a_single_column_is_a_map_only_if_that_is_clear(tmp_path, folder):
    (tmp_path / "m.csv").write_text("a,b\n" + "1,x\n2,y\n" * 45)
    arguments = ["quality", folder / "cells.csv", tmp_path / "m.csv", "-q"]
    assert "choose them with --map-columns" in rejected(*arguments)
    done(*arguments, "--map-columns", "a")


def test_which_map_is_taken_is_said(tmp_path, data):
    np.savez(tmp_path / "Y.npz", embedding=data[0][:, :2], other=data[0][:, 2:], X=data[0])
    np.save(tmp_path / "X.npy", data[0])
    said = done("quality", tmp_path / "X.npy", tmp_path / "Y.npz").stderr
    assert "the map is 'embedding' of Y.npz, which also has 'other', 'X'" in said
    named = done("quality", tmp_path / "X.npy", tmp_path / "Y.npz", "--map-key", "other").stderr
    assert "the map is" not in named
    anndata = pytest.importorskip("anndata")
    maps = {"X_umap": data[0][:, :2], "X_dtsne": data[0][:, 2:], "X_pca": data[0]}
    source = tmp_path / "a.h5ad"
    anndata.AnnData(data[0], obsm=maps).write_h5ad(source)
    said = done("quality", source, source).stderr
    assert "numbers from X of a.h5ad" in said
    assert "the map is 'X_dtsne' of a.h5ad, which also has 'X_pca', 'X_umap'" in said


# --- plot ---


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, by the functions of `dtsne.plots` that are called."""
    pytest.importorskip("matplotlib")
    from dtsne import plots

    calls = []

    def watched(name, function):
        def call(*arguments, **options):
            calls.append((name, options))
            return function(*arguments, **options)

        return call

    for name in ("scatter_map", "radius_map", "residual_map", "radius_plot"):
        monkeypatch.setattr(plots, name, watched(name, getattr(plots, name)))
    return calls


@pytest.mark.parametrize(
    ("options", "function", "shown"),
    [
        ([], "scatter_map", {"labels"}),
        (["--by", "type"], "scatter_map", {"labels"}),
        (["--by", "sigma"], "scatter_map", {"values"}),
        (["--by", "cluster_size"], "scatter_map", {"labels"}),
        (["--kind", "radius"], "radius_map", {"unit"}),
        (["--kind", "residual"], "residual_map", set()),
        (["--kind", "radius-plot", "--by", "type"], "radius_plot", {"labels", "unit"}),
    ],
)
def test_kinds_of_pictures(folder, tmp_path, drawn, options, function, shown):
    done("plot", folder / "map.csv", "-o", tmp_path / "p.png", *options, "--size", "3", "-q")
    assert drawn[0][0] == function
    assert shown <= {name for name, value in drawn[0][1].items() if value is not None}
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_radii_of_a_picture_are_in_the_unit_of_the_data(folder, tmp_path, drawn):
    done("plot", folder / "map.csv", "-o", tmp_path / "p.png", "--kind", "radius", "-q")
    own = Account.from_json((folder / "account.json").read_text(encoding="utf-8"))
    assert drawn[0][1]["unit"] == pytest.approx(own.radius_unit, rel=1e-6)


def test_maps_of_other_tools_are_drawn(folder, tmp_path, drawn, data):
    done("plot", folder / "umap.csv", "-o", tmp_path / "a.svg", "--no-legend", "--no-names", "-q")
    assert drawn[-1][1]["labels"].names.tolist() == list(range(7))
    done("plot", folder / "umap.csv", "-o", tmp_path / "b.png", "--by", "louvain", "-q")
    assert drawn[-1][1]["labels"].names.tolist() == list(range(7))
    np.save(tmp_path / "Y.npy", data[0][:, :2])
    done("plot", tmp_path / "Y.npy", "-o", tmp_path / "c.pdf", "-q")
    np.savez(tmp_path / "Y.npz", embedding=data[0][:, :2], X=data[0], kind=data[1].astype(str))
    done("plot", tmp_path / "Y.npz", "-o", tmp_path / "d.png", "-q")
    assert set(drawn[-1][1]["labels"].labels) == {"B", "T", "NK"}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "npz"])
def test_numbers_of_groups_with_gaps_stay_groups(tmp_path, drawn, data, suffix):
    groups = ["", *(str(i % 3) for i in range(1, N))]
    source = write_csv(tmp_path / "cells.csv", data[0], groups)
    text = source.read_text().splitlines()
    rows = [f"{row},{'' if i % 3 else i}" for i, row in enumerate(text[1:])]
    source.write_text("\n".join([f"{text[0]},age", *rows]))
    output = tmp_path / f"m.{suffix}"
    done("embed", source, "--label", "type", "--exclude", "age", "-o", output, "--html",
         tmp_path / "a.html", *QUICK, "-q")  # fmt: skip
    if suffix == "csv":
        pandas = pytest.importorskip("pandas")
        found = pandas.read_csv(output, dtype=str, keep_default_na=False)
        assert found["type"].tolist() == groups
        assert found["age"].tolist() == ["" if i % 3 else str(i) for i in range(N)]
    done("plot", output, "-o", tmp_path / "p.png", "-q")
    labels = drawn[-1][1]["labels"].labels
    assert ["" if label is None else str(label) for label in labels] == groups
    done("plot", output, "-o", tmp_path / "b.html", "-q")
    for page in ("a.html", "b.html"):
        columns = header_of((tmp_path / page).read_text(encoding="utf-8"))["columns"]
        kinds = {column["name"]: column["kind"] for column in columns}
        assert (kinds["type"], kinds["age"]) == ("category", "number")


def test_the_first_groups_are_not_of_the_account(folder, tmp_path, drawn):
    X, _ = three_groups(N)
    source = write_csv(tmp_path / "plain.csv", X)
    done("embed", source, "-o", tmp_path / "m.csv", *QUICK, "-q")
    done("plot", tmp_path / "m.csv", "-o", tmp_path / "p.png", "-q")
    assert drawn[-1][0] == "radius_map"


def test_maps_in_h5ad_files_are_drawn(tmp_path, drawn, data):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"type": data[1]}, index=[f"c{i}" for i in range(N)])
    cells = anndata.AnnData(data[0].astype(np.float32), obs, obsm={"X_umap": data[0][:, :2]})
    cells.write_h5ad(tmp_path / "cells.h5ad")
    done("plot", tmp_path / "cells.h5ad", "-o", tmp_path / "a.png", "-q")
    assert set(drawn[-1][1]["labels"].labels) == {"B", "T", "NK"}
    done("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "out.h5ad", *QUICK, "-q")
    done("plot", tmp_path / "out.h5ad", "-o", tmp_path / "b.png", "--kind", "radius", "-q")
    assert drawn[-1][0] == "radius_map"
    done("plot", tmp_path / "out.h5ad", "-o", tmp_path / "c.png", "--key", "X_umap", "-q")


def test_a_page_is_drawn_too(folder, tmp_path):
    done("plot", folder / "umap.csv", "-o", tmp_path / "p.html", "--title", "Theirs", "-q")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "Theirs" in page
    assert "louvain" in page
    assert "UMAP_1" not in page


@pytest.mark.parametrize(
    ("file", "options", "code", "said"),
    [
        ("umap.csv", ["--kind", "residual"], 1, "dtsne quality DATA"),
        ("umap.csv", ["--by", "Louvian"], 1, "no column 'Louvian'; the nearest: 'louvain'"),
        ("cells.csv", [], 1, "choose them with --columns"),
        (
            "cells.csv",
            ["--columns", "m0,m1,m2"],
            1,
            "choose two of its columns (--columns)",
        ),
        ("map.csv", ["--kind", "pie"], 2, "'--kind': 'pie' is not one of 'map', 'radius'"),
    ],
)
def test_what_cannot_be_drawn_is_said(folder, tmp_path, file, options, code, said):
    path = folder / file
    assert said in rejected("plot", path, "-o", tmp_path / "p.png", *options, code=code)
    assert not (tmp_path / "p.png").exists()
    line = rejected("plot", path, "-o", "p.gif", code=2)
    assert "suffix must be one of .png, .pdf, .svg, .html, .htm" in line


@pytest.mark.parametrize(
    ("output", "options", "said"),
    [
        ("p.png", ["--size", "inf"], "--size inf must be from 1 to 100"),
        ("p.png", ["--size", "nan"], "--size nan must be from 1 to 100"),
        ("p.png", ["--size", "1e9"], "must be from 1 to 100"),
        ("p.png", ["--size", "0"], "--size 0 must be from 1 to 100"),
        ("p.png", ["--dpi", "inf"], "--dpi inf must be from 10 to 2400"),
        ("p.png", ["--size", "50", "--dpi", "1000"], "is 50,000 dots wide"),
        ("p.html", ["--kind", "residual"], "--kind does not apply to HTML output"),
        ("p.html", ["--no-legend", "--dpi", "20"], "--dpi, --legend do not apply to HTML output"),
        ("p.html", ["--no-names", "--size", "4"], "--size, --names do not apply to HTML output"),
        ("p.png", ["--kind", "residual", "--by", "type"], "--by does not apply to --kind residual"),
        (
            "p.png",
            ["--kind", "radius-plot", "--no-legend"],
            "--legend does not apply",
        ),
    ],
)
def test_options_that_would_be_ignored_are_rejected(folder, tmp_path, output, options, said):
    line = rejected("plot", folder / "map.csv", "-o", tmp_path / output, *options, code=2)
    assert said in line
    assert not (tmp_path / output).exists()


def test_a_page_is_coloured_by_the_column_asked_for(folder, tmp_path):
    page = tmp_path / "p.html"
    for by in ("sigma", "type"):
        done("plot", folder / "map.csv", "-o", page, "--by", by, "-q")
        names = [c["name"] for c in header_of(page.read_text(encoding="utf-8"))["columns"]]
        assert names[0] == by
        assert len(set(names)) == len(names)
    assert "no column 'typ'" in rejected("plot", folder / "map.csv", "-o", page, "--by", "typ")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_no_text_is_a_formula(folder, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    formula = r"$x_{ $ \frac{"
    source = tmp_path / f"{formula.replace(chr(92), '')}.csv"
    X, types = three_groups(N)
    write_csv(source, X, [formula if t == "B" else t for t in types])
    output = tmp_path / f"p.{suffix}"
    done("embed", source, "--plot", output, "--label", "type", "--compare-tsne", *QUICK, "-q")
    done("quality", source, folder / "map.csv", "--plot", output, "--label", "type", "-q")
    text = (folder / "map.csv").read_text().replace(",sigma,", f",{formula},")
    (tmp_path / "m.csv").write_text(text)
    done("plot", tmp_path / "m.csv", "-o", output, "--by", formula, "--title", formula, "-q")
