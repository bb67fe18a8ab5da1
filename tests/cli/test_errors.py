"""What a command says, where, and how it ends."""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import sys
import warnings

import numpy as np
import pytest
from cli_support import EMBED, QUICK, REPORT, done, rejected, run, three_groups, write_csv
from scipy.io import mmwrite
from scipy.sparse import csr_matrix

from dtsne._config import PARAMETERS
from dtsne.io._options import READ_OPTIONS
from dtsne.runtime._errors import DivergedError, MissingPackageError, setting

pytest.importorskip("pyarrow")


# Advice for Python, and parameters as Python writes them.
PYTHON = re.compile(
    r"numpy\.|np\.|sklearn\.|scipy\.|torch\.|\bNone\b|…\)"
    rf"|\b(?:{'|'.join({*PARAMETERS, *READ_OPTIONS})})=|\b\w+_\w+\b(?!\.\w)"
)


def matrix(path, name, X):
    """Write data as the format of a name, and return the path."""
    if name.endswith("mtx"):
        mmwrite(path / name, csr_matrix(X))
    else:
        np.save(path / name, X)
    return path / name


SPARSE = np.random.default_rng(0).poisson(0.2, size=(60, 30)).astype(float)


# --- an error in the data or a file: 1 ---


class _Harm:
    def __reduce__(self):
        return os.system, ("touch harm",)


BAD_FILES = {
    "empty.csv": (b"", "is empty"),
    "text.csv": (b"a,b\nx,y\nz,w\n", "no column of numbers"),
    "gap.csv": (
        b"a,b\n" + b"1,2\n,4\n" * 9,
        "line 3: 9 cells are empty, NaN or infinite (9 of 18); leave such columns "
        "out with --exclude",
    ),
    "mixed.csv": (
        b"a,b\n" + b"1,2\n" * 9 + b"one,2\n",
        "line 11: 1 cell is not a number, the first is 'one'",
    ),
    "few.csv": (b"a,b\n1,2\n3,4\n", "few.csv has 2 rows, and a map needs at least 4"),
    "same.csv": (
        b"a,b\n" + b"1,2\n" * 9,
        "same.csv: all rows are equal",
    ),
    "ids.csv": (
        b"a,b,event\n" + b"".join(b"%d,%d,%d\n" % (i % 3, i % 7, 2**60 + i) for i in range(20)),
        "column 'event' holds numbers as large as 1.15e+18, compared with which all others are "
        "lost in rounding; if these are IDs, mark them (--id) or exclude them (--exclude)",
    ),
    "bad.parquet": (b"PAR1 no parquet", "or set --format"),
    "bad.feather": (b"ARROW1 no feather", "cannot be read"),
    "bad.npy": (b"\x93NUMPY\x01\x00 no array", "cannot be read"),
    "bad.npz": (b"PK\x03\x04 no archive", "cannot be read"),
    "bad.h5ad": (b"\x89HDF\r\n\x1a\n no file", "cannot be read"),
    "bad.fcs": (b"FCS3.1 no file", "cannot be read"),
    "bad.mtx": (b"no matrix", "set --format"),
    "data.xlsx": (b"PK", "the suffix does not tell the file format"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line(tmp_path, name):
    for suffix, package in {"h5ad": "anndata", "fcs": "flowio"}.items():
        if name.endswith(suffix):
            pytest.importorskip(package)
    content, said = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    line = rejected("embed", tmp_path / name, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert said in line
    assert name in line
    assert not (tmp_path / "m.csv").exists()


def test_a_pickle_is_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.array([[_Harm(), _Harm()]] * 5, dtype=object), allow_pickle=True)
    np.savez("b.npz", X=np.array([[_Harm(), _Harm()]] * 5, dtype=object))
    (tmp_path / "c.npy").write_bytes(pickle.dumps(_Harm()))
    (tmp_path / "d.npz").write_bytes(pickle.dumps(_Harm()))
    np.savez("e.npz", X=np.eye(9), labels=np.array([_Harm()] * 9, dtype=object))
    for name in ("a.npy", "b.npz", "c.npy", "d.npz"):
        rejected("embed", name, "-o", "m.csv", *QUICK)
        rejected("plot", name, "-o", "m.png")
    run("embed", "e.npz", "-o", "m.csv", *QUICK)
    run("embed", "e.npz", "-o", "m.csv", "--checkpoint", "d.npz", *QUICK)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--label", "typ"], "no column 'typ'; the nearest: 'type'"),
        (["--id", "nobody"], "no column 'nobody'"),
        (["--columns", "x*"], "no column 'x*'"),
        (["--key", "X"], "--key X is not an option of csv files"),
        (["--log1p"], "log1p takes values of at least 0"),
        (["--label", "m0"], "90 distinct values"),
    ],
)
def test_what_is_not_in_the_file(tmp_path, options, said, monkeypatch):
    X, types = three_groups()
    monkeypatch.setattr("dtsne.cli._labels.MAX_GROUPS", 50)
    table = write_csv(tmp_path / "cells.csv", X, types)
    line = rejected("embed", table, "-o", tmp_path / "m.csv", *options, *QUICK, "-q")
    assert said in line


def test_outputs_are_rejected_before_the_fit(tmp_path, table, monkeypatch):
    monkeypatch.setattr(EMBED, lambda *_, **__: pytest.fail("it was fitted"))
    good = tmp_path / "m.csv"
    for options, said in [
        (["-o", tmp_path / "no" / "m.csv"], "make its folder first"),
        (["-o", tmp_path], "is a folder"),
        (["-o", "/proc/m.csv"], "/proc/m.csv cannot be written"),
        (["-o", table], "is the file that was read, and is not overwritten; name another."),
        (["-o", tmp_path / "m.h5ad"], "is not one; write a .csv or .parquet"),
        (["-o", good, "--plot", tmp_path / "no" / "m.png"], "make its folder first"),
        (["-o", good, "--html", tmp_path / "no" / "m.html"], "make its folder first"),
        (["-o", good, "--report", tmp_path / "no" / "m.md"], "make its folder first"),
        (["-o", good, "--checkpoint", tmp_path / "no" / "c.npz"], "make its folder first"),
        (["-o", good, "--checkpoint", table], "is the file that was read"),
    ]:
        assert said in rejected("embed", table, *options)


def test_a_missing_package_is_named_before_the_fit(tmp_path, table, monkeypatch):
    monkeypatch.setattr(EMBED, lambda *_, **__: pytest.fail("it was fitted"))
    np.save(tmp_path / "X.npy", three_groups()[0])
    for package, option, file, extra in [
        ("matplotlib", "--plot", "m.png", "plot"),
        ("pyarrow", "-o", "m.parquet", "tables"),
    ]:
        with monkeypatch.context() as patch:
            for name in [n for n in sys.modules if n.partition(".")[0] == package]:
                patch.delitem(sys.modules, name)
            patch.setitem(sys.modules, package, None)
            line = rejected("embed", tmp_path / "X.npy", option, tmp_path / file)
        assert f'pip install "dtsne[{extra}]"' in line


def test_what_does_not_fit_into_memory(tmp_path, table, monkeypatch):
    monkeypatch.setattr("dtsne._cost.available_memory", lambda: 1000)
    line = rejected("embed", table, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert "GiB are free" in line
    assert not PYTHON.search(line.replace(str(tmp_path), ""))
    monkeypatch.setattr("dtsne.runtime._memory.available_memory", lambda: 1000)
    sparse = matrix(tmp_path, "X.mtx", SPARSE)
    line = rejected("embed", sparse, "-o", tmp_path / "m.csv", "--metric", "manhattan", "-q")
    assert not PYTHON.search(line.replace(str(tmp_path), ""))
    monkeypatch.setattr(EMBED, lambda *_, **__: np.empty(2**50))
    assert "out of memory" in rejected("embed", table, "-o", tmp_path / "m.csv", "-q")


def test_packages_are_asked_for_in_the_words_of_the_command_line(tmp_path, table, monkeypatch):
    def missing(*_):
        what = f"{setting('device', 'cuda')} needs torch"
        raise MissingPackageError(what, 'pip install "dtsne[gpu]"', package="torch")

    monkeypatch.setattr("dtsne.cli._embed_run.device_for", missing)
    line = rejected("embed", table, "-o", tmp_path / "m.csv", "--device", "cuda")
    assert line == 'dtsne: --device cuda needs torch; pip install "dtsne[gpu]".'


def test_a_device_that_is_not_there(tmp_path, table, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(EMBED, lambda *_, **__: pytest.fail("it was fitted"))
    line = rejected("embed", table, "-o", tmp_path / "m.csv", "--device", "cuda")
    assert "--device cuda needs a CUDA GPU" in line
    assert "use --device cpu" in line


# --- the command was called wrongly: 2 ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "add -o map.csv, --plot, --html or --report"),
        (["-o", "m.csv", "--perplexity", "1"], "--perplexity 1 must be a number above 1"),
        (["-o", "m.csv", "--perplexity", "many"], "--perplexity many must be a number above 1"),
        (["-o", "m.csv", "--n-pcs", "0"], "--n-pcs 0 must be an integer of at least 1 or none"),
        (
            ["-o", "m.csv", "--n-jobs", "0"],
            "--n-jobs 0 must be a positive number",
        ),
        (
            ["-o", "m.csv", "--device", "gpu"],
            "--device gpu must be one of cpu, cuda, auto",
        ),
        (["-o", "m.csv", "--tol", "small"], "--tol small must be a number of at least 0 or auto"),
        (["-o", "m.csv", "--metric", "euclid"], "--metric euclid must be one of euclidean, cosine"),
        (["-o", "m.csv", "--log1p", "--arcsinh", "5"], "--log1p and --arcsinh cannot be combined"),
        (["-o", "m.csv", "--arcsinh", "0"], "--arcsinh 0 must be a number above 0"),
        (["-o", "m.csv", "--arcsinh", "-1"], "--arcsinh -1 must be a number above 0"),
        (["-o", "m.csv", "--arcsinh", "nan"], "--arcsinh nan must be a number above 0"),
        (["-o", "m.csv", "--format", "xlsx"], "--format xlsx must be one of csv, tsv"),
        (["-o", "m.csv", "--id", "m0", "--label", "m0"], "--id and --label both name 'm0'"),
        (["-o", "m.csv", "--report", "m.csv"], "both name m.csv"),
        (["-o", "m.csv", "--compare-tsne"], "is shown by --plot and --html"),
        (["-o", "m.csv", "--no-report", "--report"], "remove --no-report"),
        (["-o", "m.csv", "--no-report", "--k", "5"], "remove --k or --no-report"),
        (["-o", "m.csv", "-q", "-v"], "--quiet and --verbose cannot be combined"),
        (["-o", "m.csv", "--delimiter", "ab"], "--delimiter ab must be one ASCII character"),
        (["-o", "m.csv", "--delimiter", "§"], "must be one ASCII character"),
        (["-o", "m.csv", "--delimiter", '"'], "must be one ASCII character"),
        (["-o", "m.csv", "--delimiter", ""], "must be one ASCII character"),
        (["-o", "m.csv", "--decimal", "ab"], "--decimal ab must be one ASCII character"),
        (["-o", "m.csv", "--decimal", "1"], "--decimal 1 must be one ASCII character"),
        (["-o", "m.csv", "--perplexity", "nan"], "--perplexity nan must be a number above 1"),
        (["-o", "m.csv", "--perplexity", "inf"], "--perplexity inf must be a number above 1"),
        (["-o", "m.csv", "--checkpoint", "m.csv"], "-o and --checkpoint both name m.csv"),
        (["-o", "m.xyz"], "must be one of .csv, .tsv, .tab, .parquet"),
        (["--plot", "m.gif"], "must be one of .png, .pdf, .svg"),
        (["--html", "m.pdf"], "must be one of .html"),
        (["--report", "m.docx"], "must be one of .md, .txt, .json, .csv"),
        (["-o", "m.csv", "--perplexitty", "4"], "--perplexity"),
        (["-o", "m.csv", "another"], "another"),
        (["-o"], "requires an argument"),
    ],
)
def test_wrong_usage_is_one_line(table, options, said, monkeypatch):
    monkeypatch.setattr(EMBED, lambda *_, **__: pytest.fail("it was fitted"))
    line = rejected("embed", table, *options, code=2)
    assert said in line
    assert line.endswith("--help.")


def test_commands_are_suggested():
    assert "'embed'" in rejected("embde", code=2)
    assert "INPUT" in rejected("embed", code=2)


def test_a_report_that_took_the_input_is_named(table):
    line = rejected("embed", "--report", table, "-o", "m.csv", code=2)
    assert f"--report took {table}" in line
    assert "took" not in rejected("embed", "--report", "-", "-o", "m.csv", code=2)
    assert "took" not in rejected("embed", "--report", "-o", "m.csv", code=2)


def test_one_file_under_two_names_is_one_file(tmp_path, table):
    (tmp_path / "link.csv").symlink_to(tmp_path / "m.csv")
    outputs = ["-o", tmp_path / "m.csv", "--report", tmp_path / "link.csv"]
    assert "both name" in rejected("embed", table, *outputs, code=2)


def test_names_of_files_are_not_rewritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, types = three_groups()
    for name in ("tol data.csv", "max_iter=3 (key).csv"):
        line = rejected("embed", name, "-o", "m.csv")
        assert line == f"dtsne: there is no file {name}; check its name and folder."
        write_csv(tmp_path / name, X, types)
        line = rejected("embed", name, "-o", "m.csv", "--label", "tol typ", "-q")
        assert line.startswith(
            f"dtsne: {name}: the file has no column 'tol typ'; the nearest: 'type'"
        )
        write_csv(tmp_path / name, X, types, ["1"] * len(X))
        said = done("embed", name, "-o", "m.csv", "--id", "cell", "--no-report", *QUICK).stderr
        assert f"dtsne: warning: {name}, line 3: 89 IDs occur more than once" in said
        line = rejected("quality", name, name, "--map-columns", "tol", "-q", "--exclude", "cell")
        assert line.startswith(f"dtsne: {name}: the file has no column 'tol'")


# --- a bug ---


def broadcast(*_, **__):
    return np.zeros(3) + np.zeros(4)  # a ValueError of numpy's


def look_up(*_, **__):
    return {}["key"]


@pytest.mark.parametrize(
    ("what", "fault"), [(EMBED, look_up), (REPORT, look_up), (REPORT, broadcast)]
)
def test_a_bug_has_a_traceback(tmp_path, table, monkeypatch, what, fault):
    monkeypatch.setattr(what, fault)
    result = run("embed", table, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "this is a bug in dtsne. Please report it" in result.stderr.splitlines()[-1]
    assert ("m.csv has the map" in result.stderr) == (what == REPORT)


def test_values_that_cannot_be_fitted_are_a_user_error(tmp_path, table, monkeypatch):
    def diverge(*_, **__):
        raise DivergedError("the descent diverged", f"use {setting('learning_rate', 'auto')}")

    for fault, said in [
        (broadcast, "could not be broadcast"),
        (diverge, "the descent diverged; use --learning-rate auto."),
    ]:
        monkeypatch.setattr(EMBED, fault)
        assert said in rejected("embed", table, "-o", tmp_path / "m.csv", "-q")


@pytest.mark.parametrize("asked", [["-v"], ["--verbose"], []])
def test_where_a_user_error_came_from_is_shown_if_asked_for(tmp_path, table, monkeypatch, asked):
    if not asked:
        monkeypatch.setenv("DTSNE_TRACEBACK", "1")
    result = run("embed", table, "-o", tmp_path / "m.csv", "--label", "typ", *asked)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "no column 'typ'" in result.stderr.splitlines()[-1]
    assert "Please report it" not in result.stderr


# --- messages ---


def test_warnings_are_lines_that_speak_of_options(tmp_path):
    X = np.vstack([three_groups()[0], np.zeros((30, 4))])
    write_csv(tmp_path / "d.csv", X)
    result = done("embed", tmp_path / "d.csv", "-o", tmp_path / "m.csv", "--perplexity", "20",
                  "--max-iter", "20", "--no-report")  # fmt: skip
    warned = [line for line in result.stderr.splitlines() if "dtsne: warning" in line]
    assert len(warned) == 2
    assert all(line.startswith("dtsne: warning: ") for line in warned)
    assert "30 rows of X have at least as many duplicates" in warned[0]
    assert "--max-iter 20" in warned[1]
    lowered = done("embed", tmp_path / "d.csv", "-o", tmp_path / "m.csv", "--max-iter", "20",
                   "--no-report")  # fmt: skip
    assert "dtsne: warning: --perplexity 100 is too large for 120 points" in lowered.stderr


@pytest.mark.parametrize(
    ("name", "X", "options", "said"),
    [
        ("X.npy", np.repeat(np.eye(4), 15, axis=0), ["--perplexity", "5"], "duplicates"),
        ("X.npy", np.repeat(np.eye(2), 60, axis=0), ["--perplexity", "8"], "duplicates"),
        ("X.mtx", SPARSE, ["--metric", "manhattan"], "--max-iter 3"),
        ("X.mtx", SPARSE - SPARSE, [], "all rows are equal"),
        ("X.npy", np.diag([0.0, *range(1, 40)]), ["--metric", "cosine"], "--metric"),
        ("X.npy", np.eye(30, 5), ["--metric", "precomputed"], "--metric precomputed"),
        ("X.npy", -np.ones((9, 9)), ["--metric", "precomputed"], ""),
        ("X.npy", np.arange(81.0).reshape(9, 9), ["--metric", "precomputed"], ""),
        ("X.npy", np.random.default_rng(0).normal(size=(60, 3)), ["--perplexity", "50"],
         "--perplexity 50"),
        ("X.npy", np.random.default_rng(0).normal(size=(60, 3)), ["--tol", "0.0001"],
         "--max-iter 3"),
    ],
)  # fmt: skip
def test_no_message_speaks_python(tmp_path, name, X, options, said):
    source, output = matrix(tmp_path, name, X), tmp_path / "m.csv"
    settings = ["--perplexity", "5", "--max-iter", "3", "--no-report"]
    result = run("embed", source, "-o", output, *settings, *options)
    lines = [line for line in result.stderr.splitlines() if "warning" in line or result.exit_code]
    assert "Traceback" not in result.stderr
    assert said in " ".join(lines)
    for line in lines:
        found = PYTHON.search(line.replace(str(tmp_path), ""))
        assert not found, f"{found[0]!r} in {line!r}"


def test_what_a_command_changes_is_put_back(tmp_path, table):
    def settings():
        loggers = [logging.getLogger(), logging.getLogger("dtsne")]
        return (
            [(logger.level, list(logger.handlers)) for logger in loggers],
            (warnings.showwarning, list(warnings.filters)),
            signal.getsignal(signal.SIGTERM),
        )

    before = settings()
    done("embed", table, "-o", tmp_path / "m.csv", "--no-report", *QUICK)
    assert settings() == before
