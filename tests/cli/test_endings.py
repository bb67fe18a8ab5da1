"""How a command ends: by itself, by Ctrl-C, by a closed pipe; and what is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from cli_support import EMBED, QUICK, REPORT, done, rejected, run, start, three_groups, write_csv

from dtsne import embed
from dtsne._embedding import FitInterrupted
from dtsne.cli import main
from dtsne.cli._signals import Terminated
from dtsne.tables import read_embedding, read_table

FULL = Path("/dev/full")

pytest.importorskip("pyarrow")


@pytest.mark.integration
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


@pytest.mark.integration
def test_warnings_never_end_a_command(tmp_path, table):
    warned = ["embed", table, "-o", tmp_path / "m.csv", "--max-iter", "20", "--no-report"]
    with start(*warned, env={"PYTHONWARNINGS": "error"}) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, ""), err
    assert "dtsne: warning: --perplexity 100 is too large for 90 points" in err


def test_a_warning_as_an_error_is_one_line(monkeypatch):
    def warn():
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr("dtsne.cli._info.collect", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "old" in rejected("info")


@pytest.mark.integration
@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("command", ["embed", "quality"])
def test_a_closed_pipe_costs_no_other_output(tmp_path, table, command, buffered):
    pytest.importorskip("matplotlib")
    np.save(tmp_path / "Y.npy", three_groups()[0][:, :2])
    picture, page = tmp_path / "p.png", tmp_path / "p.html"
    arguments = {
        "embed": ["embed", table, "--report", *QUICK],
        "quality": ["quality", table, tmp_path / "Y.npy"],
    }[command]
    reading, writing = os.pipe()
    os.close(reading)
    shown = ["--plot", picture, "--html", page, "-q"]
    unbuffered = {"PYTHONUNBUFFERED": buffered}
    with start(*arguments, *shown, stdout=writing, env=unbuffered) as process:
        os.close(writing)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (141, "")
    assert picture.exists()
    assert page.exists()


@pytest.mark.integration
@pytest.mark.skipif(not FULL.exists(), reason="/dev/full")
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path, table):
    with (
        FULL.open("w") as full,
        start("embed", table, "-o", tmp_path / "m.csv", "--report", *QUICK, "-q", stdout=full) as p,
    ):
        _, err = p.communicate(timeout=120)
    assert p.returncode == 1
    assert err == (
        "dtsne: standard output cannot be written (No space left on device). "
        f"{tmp_path / 'm.csv'} has the map.\n"
    )


@pytest.mark.integration
@pytest.mark.parametrize("module", ["dtsne.cli._app", "click", "dtsne.cli._embed_run", "numba"])
def test_ctrl_c_while_modules_are_loaded(tmp_path, table, module):
    script = (
        "import builtins, sys\n"
        "load = builtins.__import__\n"
        "def stop(name, *rest, **more):\n"
        f"    if name == {module!r}: raise KeyboardInterrupt\n"
        "    return load(name, *rest, **more)\n"
        "from dtsne.cli import main\n"
        "builtins.__import__ = stop\n"
        f"sys.argv = ['dtsne', 'embed', {str(table)!r}, '-o', {str(tmp_path / 'm.csv')!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode in (130, -signal.SIGINT)  # 130 in a shell, either way
    assert done.stdout == ""
    assert done.stderr.startswith("dtsne: stopped")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.integration
@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_a_pipe_that_is_closed_early_is_noticed_without_a_buffer(tmp_path, table):
    X, Y = three_groups(5000)[0], tmp_path / "Y.npy"
    np.save(tmp_path / "X.npy", X)
    np.save(Y, X[:, :2])
    arguments = ["quality", tmp_path / "X.npy", Y, "--json", "-q"]
    with start(*arguments, env={"PYTHONUNBUFFERED": "1"}) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def interrupt(process, log, text, stop=signal.SIGINT):
    """Stop a process once its log has some text, and return what it printed."""
    until = time.monotonic() + 120
    try:
        while text not in log.read_text(encoding="utf-8") and process.poll() is None:
            assert time.monotonic() < until, "nothing happened"
            time.sleep(0.02)
        process.send_signal(stop)
        return process.communicate(timeout=120)[0]
    finally:
        process.kill()


@pytest.mark.integration
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_leaves_the_best_map_and_the_way_on(tmp_path, table, stop, code):
    X, types = three_groups(600)
    write_csv(table, X, types)
    output, checkpoint, log = tmp_path / "m.csv", tmp_path / "c.npz", tmp_path / "log"
    arguments = ["embed", table, "-o", output, "--label", "type", "--report", "--perplexity", "8",
                 "--max-iter", "1000000", "--tol", "0", "--checkpoint", checkpoint]  # fmt: skip
    with log.open("w") as file, start(*arguments, "-v", stderr=file) as process:
        out = interrupt(process, log, "iteration   20", stop)
    said = log.read_text(encoding="utf-8")
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert f"{output} has the best map so far; the same command resumes from" in said
    assert out.startswith("A map of 600 points")
    Y, _ = read_embedding(output)
    assert Y.shape == (600, 2)
    assert Y.std() > 1
    assert "density_residual" in output.read_text(encoding="utf-8").splitlines()[0]
    assert checkpoint.exists()


def test_ctrl_c_before_there_is_a_map(tmp_path, table, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(EMBED, stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", "-q")
    assert result.exit_code == 130
    assert result.stderr == "dtsne: stopped before there was a map; nothing was written.\n"
    monkeypatch.setattr("dtsne.tables.read_table", stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", "-q")
    assert result.exit_code == 130
    assert result.stderr == "dtsne: stopped; nothing more was written.\n"
    assert not (tmp_path / "m.csv").exists()


def test_a_second_ctrl_c_leaves_it_at_the_map(tmp_path, table, monkeypatch):
    def stopped(*arguments, **options):
        raise FitInterrupted(embed(*arguments, **options))

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(EMBED, stopped)
    monkeypatch.setattr(REPORT, stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", *QUICK, "-q")
    assert result.exit_code == 130
    assert "m.csv has the best map so far" in result.stderr
    assert read_table(tmp_path / "m.csv", columns=["sigma"]).X.shape == (90, 1)


@pytest.mark.parametrize(
    ("event", "code", "said"),
    [
        (KeyboardInterrupt, 130, "dtsne: stopped; "),
        (MemoryError, 1, "dtsne: out of memory (MemoryError)"),
        (lambda: OSError("disk gone"), 1, "dtsne: disk gone. "),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "h5ad"])
def test_the_map_outlives_its_account(tmp_path, table, monkeypatch, event, code, said, suffix):
    def fail(*_, **__):
        raise event()

    if suffix == "h5ad":
        anndata = pytest.importorskip("anndata")
        table = tmp_path / "cells.h5ad"
        anndata.AnnData(three_groups()[0]).write_h5ad(table)
    monkeypatch.setattr(REPORT, fail)
    output = tmp_path / f"m.{suffix}"
    result = run("embed", table, "-o", output, "--plot", tmp_path / "m.png", *QUICK, "-q")
    assert result.exit_code == code
    assert result.stderr.startswith(said)
    assert result.stderr.endswith(f"{output} has the map, without the report.\n")
    assert len(result.stderr.splitlines()) == 1
    assert read_embedding(output)[0].std() > 0
    assert not (tmp_path / "m.png").exists()


def test_the_map_outlives_the_comparison_and_the_picture(tmp_path, table, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    def embed_or_fail(X, config, **options):
        return embed(X, config, **options) if config.density_scale else fail()

    output, picture = tmp_path / "m.csv", tmp_path / "m.png"
    with monkeypatch.context() as patch:
        patch.setattr(EMBED, embed_or_fail)
        line = rejected("embed", table, "-o", output, "--plot", picture, "--compare-tsne", "-q",
                       *QUICK)  # fmt: skip
    assert line.endswith("m.csv has the map, without the report.")
    assert "sigma" in output.read_text()
    monkeypatch.setattr("dtsne.plots.scatter_map", fail)
    line = rejected(
        "embed", table, "-o", output, "--plot", picture, "--label", "type", *QUICK, "-q"
    )
    assert line.endswith("m.csv has the map.")
    assert "density_residual" in output.read_text()


def test_a_map_is_said_to_be_written_once(tmp_path, table):
    said = done("embed", table, "-o", tmp_path / "m.csv", *QUICK).stderr
    assert said.count("dtsne: wrote") == 1
    assert said.index("m.csv has the map; the report follows") < said.index("comparing the map")


@pytest.mark.parametrize(("event", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_ctrl_c_during_the_comparison_leaves_it_out(tmp_path, table, monkeypatch, event, code):
    def embed_or_stop(X, config, **options):
        if not config.density_scale:
            raise event
        return embed(X, config, **options)

    monkeypatch.setattr(EMBED, embed_or_stop)
    result = run("embed", table, "-o", tmp_path / "m.csv", "--html", tmp_path / "m.html",
                 "--compare-tsne", *QUICK, "-q")  # fmt: skip
    assert result.exit_code == code
    assert "the map of t-SNE is left out" in result.stderr
    assert (tmp_path / "m.csv").exists()
    assert (tmp_path / "m.html").exists()


def test_main_is_the_same_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dtsne", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("dtsne ")
