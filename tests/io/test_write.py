"""Maps written to every format, read back by the libraries that people read them with."""

from __future__ import annotations

import gzip
import logging
import os
import stat
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from dtsne.tables import (
    TableError,
    check_output,
    read_embedding,
    read_table,
    write_h5ad,
    write_table,
)

IDS = ["a", "b,c", 'd"e', "é"]
FIELDS = {
    "log_radius": np.array([0.1, 0.2, np.nan, 0.4], np.float32),
    "count": np.arange(4),
    "good": np.array([True, False, True, True]),
    "type": ["x", "", "two\nlines", "z"],
}


@pytest.fixture(name="Y")
def four_places(rng):
    return rng.normal(size=(4, 2))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def read_with_pandas(path):
    pandas = pytest.importorskip("pandas")
    name = path.name
    if name.endswith((".parquet", ".feather")):
        pytest.importorskip("pyarrow")
        return getattr(pandas, f"read_{path.suffix[1:]}")(path)
    sep = "\t" if ".tsv" in name else ","
    return pandas.read_csv(
        path,
        sep=sep,
        keep_default_na=False,
        na_values=["nan"],
        converters={"dtsne_1": float, "dtsne_2": float},  # Python's, as pandas' is not exact
    )


FRAMES = ["map.csv", "map.tsv", "map.csv.gz", "map.tsv.gz", "map.parquet", "map.feather"]


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_frames(Y, tmp_path, name, dtype):
    path = tmp_path / name
    write_table(path, Y.astype(dtype), ids=IDS, fields=FIELDS)
    frame = read_with_pandas(path)
    assert list(frame.columns) == ["id", "dtsne_1", "dtsne_2", *FIELDS]
    # To the last bit, and in text without digits that a float32 does not have.
    coordinates = frame[["dtsne_1", "dtsne_2"]].to_numpy().astype(dtype)
    np.testing.assert_array_equal(coordinates, Y.astype(dtype))
    assert list(frame["id"]) == IDS
    assert list(frame["type"]) == FIELDS["type"]
    assert list(frame["good"]) == list(FIELDS["good"])
    radii = frame["log_radius"].replace("", "nan")  # a number that is missing is an empty cell
    np.testing.assert_array_equal(radii.to_numpy().astype(np.float32), FIELDS["log_radius"])
    assert names_in(tmp_path) == [name]


def test_text_is_written_without_any_package(Y, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write_table(tmp_path / "map.csv", np.float32([[0.1, 2], [3, 4]]))
    assert (tmp_path / "map.csv").read_text() == "dtsne_1,dtsne_2\n0.1,2.0\n3.0,4.0\n"
    with pytest.raises(ImportError, match=r'pip install "dtsne\[tables\]"'):
        write_table(tmp_path / "map.parquet", Y)
    assert names_in(tmp_path) == ["map.csv"]


def test_many_rows_of_text(tmp_path, rng):
    Y = rng.normal(size=(25_001, 3)).astype(np.float32)
    write_table(tmp_path / "map.csv", Y)
    lines = (tmp_path / "map.csv").read_text().splitlines()
    assert lines[0] == "dtsne_1,dtsne_2,dtsne_3"
    found = np.array([line.split(",") for line in lines[1:]], dtype=np.float32)
    np.testing.assert_array_equal(found, Y)


@pytest.mark.parametrize("name", ["map.csv.gz", "map.npz", "map.csv"])
def test_the_same_map_makes_the_same_bytes(Y, tmp_path, name):
    write_table(tmp_path / name, Y, ids=IDS)
    first = (tmp_path / name).read_bytes()
    write_table(tmp_path / name, Y, ids=IDS)
    assert (tmp_path / name).read_bytes() == first
    if name.endswith(".gz"):
        assert gzip.decompress(first).startswith(b"id,dtsne_1,dtsne_2\n")
        assert first[4:8] == bytes(4)  # no time


def test_npz(Y, tmp_path):
    fields = {**FIELDS, "file": np.arange(4)}
    write_table(tmp_path / "map.npz", Y, ids=IDS, fields=fields)
    with np.load(tmp_path / "map.npz", allow_pickle=False) as stored:
        assert set(stored) == {"dtsne", "id", *fields}
        np.testing.assert_array_equal(stored["dtsne"], Y)
        assert stored["id"].tolist() == IDS
        np.testing.assert_array_equal(stored["log_radius"], FIELDS["log_radius"])


def test_npy_holds_the_map_alone(Y, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="dtsne"):
        write_table(tmp_path / "map.npy", Y, ids=IDS, fields=FIELDS)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), Y)
    assert "without id, log_radius" in caplog.text


@pytest.mark.parametrize("name", [*FRAMES, "map.npz", "map.npy"])
def test_our_maps_are_read_back(Y, tmp_path, name):
    pytest.importorskip("pyarrow")
    write_table(tmp_path / name, Y, ids=IDS, fields=FIELDS)
    found, ids = read_embedding(tmp_path / name)
    np.testing.assert_array_equal(found, Y)
    assert name == "map.npy" or list(ids) == IDS


def test_what_does_not_fit_together(Y, tmp_path):
    path = tmp_path / "map.csv"
    with pytest.raises(TableError, match=r"'id' has the shape \(3,\) where the map has 4 points"):
        write_table(path, Y, ids=IDS[:3])
    with pytest.raises(TableError, match=r"'r' has the shape \(4, 2\)"):
        write_table(path, Y, fields={"r": Y})
    with pytest.raises(TableError, match=r"shape \(n, 2\) or \(n, 3\), not \(2, 4\)"):
        write_table(path, Y.T)
    with pytest.raises(TableError, match="cannot be called 'dtsne_1'"):
        write_table(path, Y, fields={"dtsne_1": Y[:, 0]})
    with pytest.raises(TableError, match="cannot be called 'id'"):
        write_table(path, Y, ids=IDS, fields={"id": IDS})
    with pytest.raises(TableError, match=r"suffix does not tell.*\.csv, \.tsv.*\.csv\.gz"):
        write_table(tmp_path / "map.xlsx", Y)
    with pytest.raises(TableError, match="suffix does not tell"):
        write_table(tmp_path / "map.mtx", Y)
    assert not names_in(tmp_path)


# Whole or not at all


class Interrupted(BaseException):
    pass


def test_a_file_that_was_there_stays_if_writing_fails(Y, tmp_path, monkeypatch):
    path = tmp_path / "map.npy"
    path.write_text("before")

    def fail(*args, **kwargs):
        args[0].write(b"half")
        raise error

    monkeypatch.setattr(np, "save", fail)
    for error in (OSError(28, "No space left on device"), Interrupted()):
        with pytest.raises(type(error)) as caught:
            write_table(path, Y)
        assert path.read_text() == "before"
        assert names_in(tmp_path) == ["map.npy"]
        if isinstance(error, OSError):
            assert "map.npy cannot be written (No space left on device)" in str(caught.value)


def test_permissions(Y, tmp_path):
    old_mask = os.umask(0o027)
    try:
        write_table(tmp_path / "new.npy", Y)
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE((tmp_path / "new.npy").stat().st_mode) == 0o640
    (tmp_path / "old.npy").touch()
    (tmp_path / "old.npy").chmod(0o604)
    write_table(tmp_path / "old.npy", Y)
    assert stat.S_IMODE((tmp_path / "old.npy").stat().st_mode) == 0o604


def test_a_link_stays_one(Y, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.npy").symlink_to(tmp_path / "folder" / "map.npy")
    write_table(tmp_path / "link.npy", Y)
    assert (tmp_path / "link.npy").is_symlink()
    np.testing.assert_array_equal(np.load(tmp_path / "folder" / "map.npy"), Y)


def test_the_input_is_not_overwritten_unless_asked(Y, tmp_path):
    source = tmp_path / "data.npy"
    np.save(source, np.eye(3))
    (tmp_path / "link.npy").symlink_to(source)
    for name in ("data.npy", "link.npy", "../" + tmp_path.name + "/data.npy"):
        with pytest.raises(FileExistsError, match="is the file that was read"):
            write_table(tmp_path / name, Y, source=source)
    np.testing.assert_array_equal(np.load(source), np.eye(3))
    write_table(source, Y, source=source, overwrite_source=True)
    np.testing.assert_array_equal(np.load(source), Y)


def test_places_that_cannot_be_written_to(Y, tmp_path):
    for path, error, message in (
        (tmp_path, IsADirectoryError, "is a folder; name a file in it"),
        (tmp_path / "none" / "map.csv", FileNotFoundError, "make its folder first"),
        ("/dev/null", OSError, "pipe or device"),
    ):
        with pytest.raises(error, match=message):
            check_output(path)
        with pytest.raises(error, match=message):
            write_table(path, Y)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX users")
def test_a_folder_or_file_that_is_not_ours(Y):
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.csv"
        path.touch()
        path.chmod(0o444)
        for mode in (0o555, 0o777):
            Path(folder).chmod(mode)
            if user == 0:  # who may do anything
                os.seteuid(65534)
            try:
                with pytest.raises(PermissionError, match="you may not write to"):
                    write_table(path, Y)
            finally:
                os.seteuid(user)
        assert path.read_bytes() == b""


# AnnData


@pytest.fixture
def h5ad(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"type": [*"abca"]}, index=[f"cell{i}" for i in range(4)])
    data = anndata.AnnData(np.eye(4, dtype=np.float32), obs, uns={"there": "before"})
    data.obsm["X_old"] = np.ones((4, 2))
    data.layers["counts"] = np.arange(16).reshape(4, 4)
    path = tmp_path / "data.h5ad"
    data.write_h5ad(path)
    return path


def test_h5ad(h5ad, Y, tmp_path):
    anndata = pytest.importorskip("anndata")
    before = h5ad.read_bytes()
    path = tmp_path / "map.h5ad"
    write_h5ad(
        path,
        h5ad,
        obsm={"X_dtsne": Y, "X_old": 2 * Y},
        obs={"log_radius": FIELDS["log_radius"], "note": [*"wxyz"], "type": [*"ABCA"]},
        uns={"dtsne": {"perplexity": 30.0, "seed": None, "metric": "cosine", "kl": [1.0, 2.0]}},
    )
    found = anndata.read_h5ad(path)
    np.testing.assert_array_equal(found.obsm["X_dtsne"], Y)
    np.testing.assert_array_equal(found.obsm["X_old"], 2 * Y)
    np.testing.assert_array_equal(found.X, np.eye(4))
    np.testing.assert_array_equal(found.layers["counts"], np.arange(16).reshape(4, 4))
    np.testing.assert_array_equal(found.obs["log_radius"], FIELDS["log_radius"])
    assert list(found.obs.columns) == ["type", "log_radius", "note"]
    assert list(found.obs["note"]) == [*"wxyz"]
    assert list(found.obs["type"]) == [*"ABCA"]
    assert list(found.obs_names) == [f"cell{i}" for i in range(4)]
    assert found.uns["there"] == "before"
    assert set(found.uns["dtsne"]) == {"perplexity", "metric", "kl"}
    assert h5ad.read_bytes() == before
    assert names_in(tmp_path) == ["data.h5ad", "map.h5ad"]
    np.testing.assert_array_equal(read_embedding(path)[0], Y)
    assert list(read_table(path, label_column="note").labels) == [*"wxyz"]


def test_h5ad_in_its_own_place(h5ad, Y):
    with pytest.raises(FileExistsError, match="is the file that was read"):
        write_h5ad(h5ad, h5ad, obsm={"X_dtsne": Y})
    write_h5ad(h5ad, h5ad, obsm={"X_dtsne": Y}, overwrite_source=True)
    np.testing.assert_array_equal(read_embedding(h5ad, key="X_dtsne")[0], Y)


def test_h5ad_that_cannot_be_written(h5ad, Y, tmp_path):
    path = tmp_path / "map.h5ad"
    with pytest.raises(TableError, match=r"'X_dtsne' has the shape \(3, 2\).*has 4 rows"):
        write_h5ad(path, h5ad, obsm={"X_dtsne": Y[:3]})
    with pytest.raises(TableError, match=r"'r' has the shape \(5,\)"):
        write_h5ad(path, h5ad, obs={"r": np.zeros(5)})
    with pytest.raises(TableError, match=r"cannot be written.*leave out what AnnData cannot store"):
        write_h5ad(path, h5ad, uns={"model": object()})
    with pytest.raises(TableError, match=r"suffix of an AnnData file is \.h5ad"):
        write_h5ad(tmp_path / "map.csv", h5ad)
    (tmp_path / "bad.h5ad").write_bytes(h5ad.read_bytes()[:3000])
    with pytest.raises(TableError, match=r"bad\.h5ad: the file cannot be read as an AnnData file"):
        write_h5ad(path, tmp_path / "bad.h5ad")
    assert names_in(tmp_path) == ["bad.h5ad", "data.h5ad"]
