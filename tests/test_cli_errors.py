"""What a command says, where, and how it ends."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import time
import warnings

import numpy as np
import pytest
from cli_support import QUICK, done, refused, run, start, three_groups, write_csv

from dtsne.cli import main
from dtsne.tables import read_embedding, read_table

pytest.importorskip("pyarrow")


@pytest.fixture
def table(tmp_path):
    X, types = three_groups()
    return write_csv(tmp_path / "cells.csv", X, types)


# --- the data or a file is at fault: 1 ---


class _Harm:
    def __reduce__(self):
        return os.system, ("touch harm",)


BAD_FILES = {
    "empty.csv": (b"", "is empty"),
    "text.csv": (b"a,b\nx,y\nz,w\n", "no column of numbers"),
    "gap.csv": (b"a,b\n" + b"1,2\n,4\n" * 9, "leave such columns out (--exclude)"),
    "mixed.csv": (b"a,b\n" + b"1,2\n" * 9 + b"one,2\n", "(--exclude)"),
    "few.csv": (b"a,b\n1,2\n3,4\n", "minimum of 4"),
    "same.csv": (b"a,b\n" + b"1,2\n" * 9, "All rows of X are equal"),
    "bad.parquet": (b"PAR1 no parquet", "name what it is (--format)"),
    "bad.feather": (b"ARROW1 no feather", "cannot be read"),
    "bad.npy": (b"\x93NUMPY\x01\x00 no array", "cannot be read"),
    "bad.npz": (b"PK\x03\x04 no archive", "cannot be read"),
    "bad.h5ad": (b"\x89HDF\r\n\x1a\n no file", "cannot be read"),
    "bad.fcs": (b"FCS3.1 no file", "cannot be read"),
    "bad.mtx": (b"no matrix", "(--format)"),
    "data.xlsx": (b"PK", "the suffix says nothing of the format"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line(tmp_path, name):
    for suffix, package in {"h5ad": "anndata", "fcs": "flowio"}.items():
        if name.endswith(suffix):
            pytest.importorskip(package)
    content, said = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    line = refused("embed", tmp_path / name, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert said in line
    assert name in line or name in ("few.csv", "same.csv")
    assert not (tmp_path / "m.csv").exists()


def test_a_pickle_is_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.array([[_Harm(), _Harm()]] * 5, dtype=object), allow_pickle=True)
    np.savez("b.npz", X=np.array([[_Harm(), _Harm()]] * 5, dtype=object))
    (tmp_path / "c.npy").write_bytes(pickle.dumps(_Harm()))
    (tmp_path / "d.npz").write_bytes(pickle.dumps(_Harm()))
    np.savez("e.npz", X=np.eye(9), labels=np.array([_Harm()] * 9, dtype=object))
    for name in ("a.npy", "b.npz", "c.npy", "d.npz"):
        refused("embed", name, "-o", "m.csv", *QUICK)
        refused("plot", name, "-o", "m.png")
    run("embed", "e.npz", "-o", "m.csv", *QUICK)
    run("embed", "e.npz", "-o", "m.csv", "--checkpoint", "d.npz", *QUICK)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--label", "typ"], "no column 'typ'; the nearest: 'type'"),
        (["--id", "nobody"], "no column 'nobody'"),
        (["--columns", "x*"], "no column 'x*'"),
        (["--key", "X"], "the format csv has no option 'key'"),
        (["--log1p"], "log1p takes values of at least 0"),
        (["--label", "m0"], "90 different values"),
        (["--arcsinh", "-1"], "cofactor of arcsinh has to be positive"),
    ],
)
def test_what_is_not_in_the_file(tmp_path, options, said, monkeypatch):
    X, types = three_groups()
    monkeypatch.setattr("dtsne.cli._labels._MOST_GROUPS", 50)
    table = write_csv(tmp_path / "cells.csv", X, types)
    line = refused("embed", table, "-o", tmp_path / "m.csv", *options, *QUICK, "-q")
    assert said in line


def test_outputs_are_refused_before_the_fit(tmp_path, table, monkeypatch):
    monkeypatch.setattr("dtsne.DTSNE.fit", lambda *_: pytest.fail("it was fitted"))
    good = tmp_path / "m.csv"
    for options, said in [
        (["-o", tmp_path / "no" / "m.csv"], "make its folder first"),
        (["-o", tmp_path], "is a folder"),
        (["-o", table], "is the file that was read"),
        (["-o", tmp_path / "m.xyz"], "the suffix says nothing of the format"),
        (["-o", tmp_path / "m.h5ad"], "is none; name a .csv or .parquet"),
        (["-o", good, "--plot", tmp_path / "no" / "m.png"], "make its folder first"),
        (["-o", good, "--html", tmp_path / "no" / "m.html"], "make its folder first"),
        (["-o", good, "--report", tmp_path / "no" / "m.md"], "make its folder first"),
    ]:
        assert said in refused("embed", table, *options)


def test_a_missing_package_is_named_before_the_fit(tmp_path, table, monkeypatch):
    monkeypatch.setattr("dtsne.DTSNE.fit", lambda *_: pytest.fail("it was fitted"))
    np.save(tmp_path / "X.npy", three_groups()[0])
    for package, option, file, extra in [
        ("matplotlib", "--plot", "m.png", "plot"),
        ("pyarrow", "-o", "m.parquet", "tables"),
    ]:
        with monkeypatch.context() as patch:
            for name in [n for n in sys.modules if n.partition(".")[0] == package]:
                patch.delitem(sys.modules, name)
            patch.setitem(sys.modules, package, None)
            line = refused("embed", tmp_path / "X.npy", option, tmp_path / file)
        assert f'pip install "dtsne[{extra}]"' in line


def test_what_does_not_fit_into_memory(tmp_path, table, monkeypatch):
    monkeypatch.setattr("dtsne._backend.available_memory", lambda: 1000)
    line = refused("embed", table, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert "GiB are free" in line

    monkeypatch.setattr("dtsne.DTSNE.fit", lambda *_: np.empty(2**50))
    assert "the memory does not suffice" in refused("embed", table, "-o", tmp_path / "m.csv", "-q")


# --- the command was called wrongly: 2 ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "name a file for the map (-o map.csv)"),
        (["-o", "m.csv", "--perplexity", "1"], "--perplexity 1.0 has to be a number above 1"),
        (["-o", "m.csv", "--perplexity", "many"], "'many' is not known; choose a number"),
        (["-o", "m.csv", "--n-pcs", "0"], "--n-pcs 0 has to be an integer of at least 1"),
        (["-o", "m.csv", "--n-jobs", "0"], "--n-jobs 0 leaves no thread"),
        (["-o", "m.csv", "--tol", "small"], "choose auto or a number"),
        (["-o", "m.csv", "--metric", "euclid"], "'euclid' is not known; choose euclidean, cosine"),
        (["-o", "m.csv", "--log1p", "--arcsinh", "5"], "exclude each other"),
        (["-o", "m.csv", "--report", "m.csv"], "both name m.csv"),
        (["-o", "m.csv", "--compare-tsne"], "is shown by --plot and --html"),
        (["-o", "m.csv", "--no-account", "--report"], "drop --no-account"),
        (["--plot", "m.gif"], "has to be one of .png, .pdf, .svg"),
        (["--html", "m.pdf"], "has to be one of .html"),
        (["--report", "m.docx"], "an account is written to .md, .txt or .json"),
        (["-o", "m.csv", "--perplexitty", "4"], "--perplexity"),
        (["-o", "m.csv", "another"], "another"),
        (["-o"], "requires an argument"),
    ],
)
def test_wrong_usage_is_one_line(table, options, said, monkeypatch):
    monkeypatch.setattr("dtsne.DTSNE.fit", lambda *_: pytest.fail("it was fitted"))
    line = refused("embed", table, *options, code=2)
    assert said in line
    assert line.endswith("--help.")


def test_commands_are_suggested():
    assert "'embed'" in refused("embde", code=2)
    assert "INPUT" in refused("embed", code=2)


# --- a fault of ours ---


def test_a_fault_of_ours_has_a_traceback(tmp_path, table, monkeypatch):
    def faulty(*_):
        return np.zeros(3) + np.zeros(4)  # a ValueError of numpy's

    for fault in (faulty, lambda *_: {}["key"]):
        monkeypatch.setattr("dtsne.DTSNE.fit", fault)
        result = run("embed", table, "-o", tmp_path / "m.csv", "-q")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr
        assert "please report it" in result.stderr.splitlines()[-1]


# --- messages ---


def test_warnings_are_lines_that_speak_of_options(tmp_path):
    X = np.vstack([three_groups()[0], np.zeros((30, 4))])
    write_csv(tmp_path / "d.csv", X)
    result = done("embed", tmp_path / "d.csv", "-o", tmp_path / "m.csv", "--perplexity", "20",
                  "--max-iter", "20", "--no-account")  # fmt: skip
    warned = [line for line in result.stderr.splitlines() if "dtsne: warning" in line]
    assert len(warned) == 2
    assert all(line.startswith("dtsne: warning: ") for line in warned)
    assert "30 rows of X have at least as many copies" in warned[0]
    assert "--max-iter 20" in warned[1]
    lowered = done("embed", tmp_path / "d.csv", "-o", tmp_path / "m.csv", "--max-iter", "20",
                   "--no-account")  # fmt: skip
    assert "dtsne: warning: --perplexity 100 is too large for 120 points" in lowered.stderr


def test_what_a_command_changes_is_put_back(tmp_path, table):
    def settings():
        loggers = [logging.getLogger(), logging.getLogger("dtsne")]
        return (
            [(logger.level, list(logger.handlers)) for logger in loggers],
            (warnings.showwarning, list(warnings.filters)),
            signal.getsignal(signal.SIGTERM),
        )

    before = settings()
    done("embed", table, "-o", tmp_path / "m.csv", "--no-account", *QUICK)
    assert settings() == before


# --- as processes ---


def test_streams_and_exit_codes_of_the_process(tmp_path, table):
    with start("embed", table, "-o", tmp_path / "m.csv", "--report", *QUICK) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.startswith("A map of 90 points")
    assert all(line.startswith("dtsne: ") for line in err.splitlines())
    with start("embed", tmp_path / "none.csv", "-o", "m.csv") as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (1, "")
    assert err == f"dtsne: there is no file {tmp_path / 'none.csv'}; check its name and folder.\n"
    with start("embed", table, "-o", "m.csv", "--k", "x") as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "Traceback" not in err


def interrupt(process, log, text):
    """Stop a process once its log has some text, and return what it printed."""
    until = time.monotonic() + 120
    try:
        while text not in log.read_text(encoding="utf-8") and process.poll() is None:
            assert time.monotonic() < until, "nothing happened"
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=120)[0]
    finally:
        process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_the_best_map_and_the_way_on(tmp_path, table):
    X, types = three_groups(600)
    write_csv(table, X, types)
    output, checkpoint, log = tmp_path / "m.csv", tmp_path / "c.npz", tmp_path / "log"
    arguments = ["embed", table, "-o", output, "--label", "type", "--report", "--perplexity", "8",
                 "--max-iter", "1000000", "--tol", "0", "--checkpoint", checkpoint]  # fmt: skip
    with log.open("w") as file, start(*arguments, "-v", stderr=file) as process:
        out = interrupt(process, log, "iteration   20")
    said = log.read_text(encoding="utf-8")
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert f"{output} has the best map so far; the same command goes on from" in said
    assert out.startswith("A map of 600 points")
    Y, _ = read_embedding(output)
    assert Y.shape == (600, 2)
    assert Y.std() > 1
    assert "density_residual" in output.read_text(encoding="utf-8").splitlines()[0]
    assert checkpoint.exists()


def test_ctrl_c_before_there_is_a_map(tmp_path, table, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dtsne.DTSNE.fit", stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", "-q")
    assert result.exit_code == 130
    assert result.stderr == "dtsne: stopped before there was a map; nothing was written.\n"
    monkeypatch.setattr("dtsne.tables.read_table", stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", "-q")
    assert result.exit_code == 130
    assert result.stderr == "dtsne: stopped; nothing more was written.\n"
    assert not (tmp_path / "m.csv").exists()


def test_a_second_ctrl_c_leaves_it_at_the_map(tmp_path, table, monkeypatch):
    from dtsne import DTSNE

    fit = DTSNE.fit

    def stopped(model, X):
        fit(model, X)
        raise KeyboardInterrupt

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(DTSNE, "fit", stopped)
    monkeypatch.setattr(DTSNE, "report", stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert result.exit_code == 130
    assert "m.csv has the best map so far" in result.stderr
    assert read_table(tmp_path / "m.csv", columns=["sigma"]).X.shape == (90, 1)


def test_ctrl_c_during_the_comparison_leaves_it_out(tmp_path, table, monkeypatch):
    from dtsne import DTSNE

    fit = DTSNE.fit_transform

    def fit_transform(model, X, y=None):
        if not model.density_scale:
            raise KeyboardInterrupt
        return fit(model, X)

    monkeypatch.setattr(DTSNE, "fit_transform", fit_transform)
    result = run("embed", table, "-o", tmp_path / "m.csv", "--html", tmp_path / "m.html",
                 "--compare-tsne", *QUICK, "-q")  # fmt: skip
    assert result.exit_code == 130
    assert "t-SNE's map is left out" in result.stderr
    assert (tmp_path / "m.csv").exists()
    assert (tmp_path / "m.html").exists()


def test_main_is_the_same_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dtsne", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("dtsne ")
