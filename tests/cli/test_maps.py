"""Which map of a file is meant, whose account lies beside it, and which ids are its points'."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_support import QUICK, N, done, rejected, write_csv
from page_support import header_of

from dtsne.account import account_of
from dtsne.cli._maps import read_map
from dtsne.tables import ReadOptions

pytest.importorskip("pyarrow")


# --- two maps in one file ---


@pytest.fixture(scope="module")
def two_maps(tmp_path_factory, data, ids):
    """Files with a map of ours, its account, and a map of another tool, by suffix."""
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("two")
    theirs = data[0][:, :2]
    obs = pandas.DataFrame({"type": data[1]}, index=ids)
    cells = anndata.AnnData(data[0].astype(np.float32), obs, obsm={"X_umap": theirs})
    cells.write_h5ad(folder / "cells.h5ad")
    both = {"h5ad": folder / "both.h5ad", "csv": folder / "both.csv", "npz": folder / "both.npz"}
    done("embed", folder / "cells.h5ad", "-o", both["h5ad"], *QUICK, "-q")
    source = write_csv(folder / "cells.csv", *data, ids)
    done("embed", source, "--id", "cell", "-o", folder / "ours.csv", *QUICK, "-q")
    ours = pandas.read_csv(folder / "ours.csv")
    ours.assign(UMAP1=theirs[:, 0], UMAP2=theirs[:, 1]).to_csv(both["csv"], index=False)
    arrays = {name: ours[name].to_numpy() for name in ours if ours[name].dtype.kind in "fb"}
    np.savez(both["npz"], dtsne=ours[["dtsne_1", "dtsne_2"]], theirs=theirs, **arrays)
    return folder, both


OURS = {"h5ad": {}, "csv": {}, "npz": {}}
THEIRS = {
    "h5ad": {"key": "X_umap"},
    "csv": {"columns": ["UMAP1", "UMAP2"]},
    "npz": {"key": "theirs"},
}
FLAGS = {"h5ad": ["key", "X_umap"], "csv": ["columns", "UMAP1,UMAP2"], "npz": ["key", "theirs"]}


@pytest.mark.parametrize("suffix", OURS)
def test_an_account_is_that_of_its_own_map(two_maps, suffix):
    path = two_maps[1][suffix]
    ours, theirs = (read_map(path, ReadOptions(**options[suffix])) for options in (OURS, THEIRS))
    for name in ("log_radius_data", "density_residual", "sigma"):
        assert ours.reported(name) is not None
        assert theirs.reported(name) is None
    assert theirs.sigma is None
    assert "dtsne_density_residual" in theirs.columns
    assert "density_residual" not in theirs.columns


def test_a_part_of_a_map_is_another_map(two_maps):
    assert read_map(two_maps[1]["csv"], ReadOptions(columns=["dtsne_1", "dtsne_2"])).report
    assert not read_map(two_maps[1]["csv"], ReadOptions(columns=["dtsne_1"])).report
    assert not read_map(two_maps[1]["csv"], ReadOptions(columns=["dtsne_1", "UMAP1"])).report


@pytest.mark.parametrize("suffix", OURS)
@pytest.mark.parametrize("kind", ["radius", "residual", "radius-plot"])
def test_radii_of_one_map_are_not_drawn_as_those_of_another(two_maps, tmp_path, suffix, kind):
    pytest.importorskip("matplotlib")
    path, (name, value) = two_maps[1][suffix], FLAGS[suffix]
    picture = tmp_path / "p.png"
    line = rejected("plot", path, "-o", picture, "--kind", kind, f"--{name}", value)
    assert f"dtsne quality DATA {path} --points FILE writes one" in line
    done("plot", path, "-o", picture, "--kind", kind, "-q")


@pytest.mark.parametrize("suffix", OURS)
def test_another_map_has_no_scale_of_ours(two_maps, tmp_path, suffix, monkeypatch):
    plots = pytest.importorskip("dtsne.plots")
    pytest.importorskip("matplotlib")
    path, (name, value) = two_maps[1][suffix], FLAGS[suffix]
    drawn, draw = [], plots.scatter_map
    monkeypatch.setattr(plots, "scatter_map", lambda *a, **o: drawn.append(o) or draw(*a, **o))
    done("plot", path, "-o", tmp_path / "p.png", f"--{name}", value, "-q")
    assert drawn[0].get("unit") is None
    page = tmp_path / "p.html"
    done("plot", path, "-o", page, f"--{name}", value, "-q")
    names = {c["name"] for c in header_of(page.read_text(encoding="utf-8"))["columns"]}
    assert "density_residual" not in names


@pytest.mark.parametrize("suffix", OURS)
def test_another_map_is_not_measured_with_our_sigma(two_maps, suffix):
    folder, both = two_maps
    name, value = FLAGS[suffix]
    arguments = ["quality", folder / "cells.h5ad", both[suffix], "-q"]
    chosen = [f"--map-{name}", value]
    assert "sigma" not in json.loads(done(*arguments, *chosen, "--json").stdout)["points"]
    assert "median σ" not in done(*arguments, *chosen).stdout
    assert "sigma" in json.loads(done(*arguments, "--json").stdout)["points"]


def test_what_is_said_of_the_points_of_any_map_is_drawn(two_maps, tmp_path):
    pytest.importorskip("matplotlib")
    folder, both = two_maps
    points = tmp_path / "points.csv"
    done("quality", folder / "cells.h5ad", both["csv"], "--map-columns", "UMAP1,UMAP2",
         "--points", points, "-q")  # fmt: skip
    found = read_map(points, ReadOptions())
    assert found.reported("log_radius_map") is not None
    assert found.sigma is None
    done("plot", points, "-o", tmp_path / "p.png", "--kind", "radius-plot", "-q")


# --- ids ---


@pytest.fixture
def shuffled(tmp_path, data, ids):
    """Data, a map of it in another order under any name of the column of ids, and its account."""
    write_csv(tmp_path / "cells.csv", *data, ids)
    order = np.random.default_rng(0).permutation(N)

    def write(id_name, name="map.csv"):
        rows = [f"{data[0][i, 0]},{data[0][i, 1]},{ids[i]}" for i in order]
        (tmp_path / name).write_text("\n".join([f"u1,u2,{id_name}", *rows]))
        return tmp_path / name

    return tmp_path / "cells.csv", write, f"{account_of(data[0], data[0][:, :2], k=100)}\n"


@pytest.mark.parametrize("of_data", [["--id", "cell"], []])
@pytest.mark.parametrize("of_map", ["cell", "name", "barcode", "sample"])
def test_ids_that_one_file_was_told_of_are_found_in_the_other(shuffled, of_data, of_map):
    source, write, expected = shuffled
    if not of_data and of_map in ("name", "sample"):
        of_data = ["--map-id", of_map]
    result = done("quality", source, write(of_map), *of_data)
    assert result.stdout == expected
    assert "by their order" not in result.stderr


def test_a_column_of_the_same_name_is_not_passed_over(shuffled):
    source, write, _ = shuffled
    path = write("name")
    source.write_text(source.read_text().replace("cell,", "name,", 1).replace("c7,", "c700,"))
    line = rejected("quality", source, path, "--id", "name", "-q")
    assert "'c700'" in line


def test_ids_of_numbers_are_found_by_their_name(tmp_path, data):
    ids = [f"{i:04d}" for i in range(N)]
    source = write_csv(tmp_path / "cells.csv", *data, ids)
    rows = [f"{ids[i]},{data[0][i, 0]},{data[0][i, 1]}" for i in range(N)[::-1]]
    source.write_text(source.read_text().replace("cell,", "key,", 1))
    (tmp_path / "m.csv").write_text("\n".join(["key,u1,u2", *rows]))
    printed = done("quality", source, tmp_path / "m.csv", "--id", "key", "-q").stdout
    assert printed == f"{account_of(data[0], data[0][:, :2], k=100)}\n"


def test_an_order_that_is_assumed_is_warned_of(shuffled, tmp_path, data):
    source, write, _ = shuffled
    np.save(tmp_path / "Y.npy", data[0][:, :2])
    said = done("quality", source, tmp_path / "Y.npy", "--id", "cell").stderr
    assert "warning" in said
    assert (
        "by their order; name the column of IDs (--map-id), or confirm the order (--by-order)"
        in said
    )
    text = write("id").read_text().replace("\n", "\n", 1)
    (tmp_path / "other.csv").write_text(text.replace(",c", ",d"))
    said = done("quality", source, tmp_path / "other.csv").stderr
    assert "name the column of IDs (--id), or" in said
    for options in (["--by-order"], ["--id", "cell", "--by-order"]):
        said = done("quality", source, tmp_path / "Y.npy", *options).stderr
        assert "warning" not in said
    assert "warning" not in done("quality", source, tmp_path / "Y.npy").stderr


# --- tables of text ---


def test_maps_of_other_habits_are_read(tmp_path, data, ids):
    pytest.importorskip("matplotlib")
    source = write_csv(tmp_path / "cells.csv", *data, ids)
    rows = [f"{n};{y[0]};{y[1]}".replace(".", ",") for n, y in zip(ids, data[0], strict=True)]
    path = tmp_path / "map.csv"
    path.write_text("\n".join(["cell;UMAP1;UMAP2", *rows]))
    measuring = ["quality", source, path, "--id", "cell"]
    assert "set --map-delimiter ';'" in rejected(*measuring)
    assert "set --map-decimal ," in rejected(*measuring, "--map-delimiter", ";")
    spoken = ["--map-delimiter", "semicolon", "--map-decimal", ","]
    assert done(*measuring, *spoken, "-q").stdout == (
        f"{account_of(data[0], data[0][:, :2], k=100)}\n"
    )
    drawing = ["plot", path, "-o", tmp_path / "p.png", "-q"]
    assert "set --delimiter ';'" in rejected(*drawing)
    done(*drawing, "--delimiter", ";", "--decimal", ",")
    path.write_text("\n".join(rows))
    done(*drawing, "--delimiter", ";", "--decimal", ",", "--no-header", "--columns",
         "column_2,column_3")  # fmt: skip


@pytest.mark.parametrize("prefix", ["map-", ""])
def test_options_of_maps_are_checked_before_a_file_is_read(prefix):
    command = ["quality", "a", "b"] if prefix else ["plot", "a", "-o", "p.png"]
    line = rejected(*command, f"--{prefix}delimiter", "ab", code=2)
    assert f"--{prefix}delimiter ab must be one ASCII character" in line
    line = rejected(*command, f"--{prefix}format", "xlsx", code=2)
    assert f"--{prefix}format xlsx must be one of csv, tsv" in line
