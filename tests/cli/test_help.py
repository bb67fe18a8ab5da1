"""Help, completion, `info` and `demo`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from cli_support import SOURCE, done, quick_demo, rejected, run, start
from import_support import loaded_after

from dtsne import __version__
from dtsne._config import PARAMETERS
from dtsne.cli._info import EXTRAS, REQUIRED

COMMANDS = ["embed", "quality", "plot", "demo", "info"]


# --- help ---


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_there(command):
    for flag in ("--help", "-h"):
        shown = done(command, flag).stdout
        assert shown.startswith(f"Usage: dtsne {command}")
        assert max(map(len, shown.splitlines())) <= 80


def test_help_of_embed_has_every_option_with_its_default():
    shown = " ".join(done("embed", "--help").stdout.split())
    for parameter in PARAMETERS.values():
        if parameter.flag is not None:
            assert f"{parameter.flag} " in shown
    assert "--no-calibration" in shown
    assert "[default: 100.0]" in shown
    assert "neighbors" not in shown.replace("--k-neighborhood", "")


def test_without_a_command_there_is_help():
    result = run()
    assert result.exit_code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_version():
    assert done("--version").stdout == f"dtsne {__version__}\n"


@pytest.mark.integration
def test_help_loads_nothing_that_takes_time():
    statement = (
        "sys.argv = ['dtsne', 'embed', '--help']; import io, contextlib\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    from dtsne.cli import main; main()\n"
    )
    loaded = loaded_after(f"exec({statement!r})")
    assert "dtsne" in loaded
    assert loaded.isdisjoint({"numpy", "numba", "sklearn", "scipy", "pyarrow"})


@pytest.mark.integration
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("dtsne em", ["embed"]),
        ("dtsne embed --metric c", ["cosine", "correlation", "chebyshev", "canberra"]),
        ("dtsne embed --init ", ["pca", "random", "spectral"]),
        ("dtsne embed --device ", ["cpu", "cuda", "auto"]),
        ("dtsne embed --format m", ["mtx"]),
        ("dtsne plot --kind r", ["radius", "residual", "radius-plot"]),
    ],
)
def test_values_complete(typed, offered):
    environment = {
        "_DTSNE_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    with start(env=environment) as process:
        out, _ = process.communicate(timeout=60)
    assert out.split() == [f"plain,{word}" for word in offered]


@pytest.mark.parametrize(
    ("shell", "file"),
    [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/completions/dtsne.fish")],
)
def test_completion_is_installed_once(tmp_path, monkeypatch, shell, file):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    for _ in range(2):
        assert file in done("--install-completion").stdout
    assert (tmp_path / file).read_text().count(f"_DTSNE_COMPLETE={shell}_") == 1
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert "bash, zsh, fish" in rejected("--install-completion", code=2)


# --- info and demo ---


def test_info_says_what_is_there(monkeypatch, tmp_path):
    monkeypatch.setenv("DTSNE_DATA", str(tmp_path))
    monkeypatch.setattr("dtsne.cli._info._gpu", lambda: "none")
    found = json.loads(done("info", "--json").stdout)
    assert found["versions"]["dtsne"] == __version__
    assert found["packages"]["numpy"]
    assert str(tmp_path) in found["machine"]["data sets"]
    shown = done("info").stdout
    for text in (__version__, "numba", "threads", "GiB", str(SOURCE / "dtsne")):
        assert text in shown


def test_info_names_what_to_install(monkeypatch):
    from dtsne.cli import _info

    known = _info._version
    monkeypatch.setattr(_info, "_version", lambda name: None if name == "pyarrow" else known(name))
    monkeypatch.setattr(_info, "_gpu", lambda: "none")
    assert 'pip install "dtsne[tables]"' in done("info").stdout


def test_info_asks_torch_only_if_it_is_there(monkeypatch):
    from dtsne.cli import _info

    monkeypatch.setattr(_info, "find_spec", lambda name: None)
    assert "torch is not installed" in _info._gpu()


def test_info_goes_on_where_something_is_broken(monkeypatch):
    from dtsne.cli import _info

    def broken(*_, **__):
        raise OSError("libcudart.so.12: cannot open shared object file")

    monkeypatch.delenv("DTSNE_DATA", raising=False)
    monkeypatch.setattr("importlib.metadata.version", broken)
    monkeypatch.setattr(_info, "find_spec", broken)
    monkeypatch.setattr("dtsne.runtime._memory.available_memory", broken)
    shown = done("info").stdout
    reason = "not known: OSError: libcudart.so.12: cannot open shared object file"
    for entry in ("gpu", "free memory", "data sets"):
        assert re.search(rf"^{entry} +{re.escape(reason)}$", shown, re.MULTILINE)
    assert re.search(r"^threads +\d", shown, re.MULTILINE)
    assert "numpy           not known: OSError" in shown


def test_info_counts_what_numba_keeps(monkeypatch, tmp_path):
    from dtsne.cli import _info

    package = tmp_path / "dtsne"
    for folder in ("__pycache__", "quality/__pycache__"):
        (package / folder).mkdir(parents=True)
        (package / folder / "a.nbi").write_bytes(b"1")
    monkeypatch.setattr(_info, "__file__", str(package / "cli" / "_info.py"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert "(2 files" in _info._numba_cache()
    for file in list(package.rglob("*.nbi")):
        file.unlink()
    monkeypatch.setattr(_info.os, "access", lambda *_: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if sys.platform == "linux":
        assert _info._numba_cache().startswith(str(tmp_path / "cache" / "numba"))


def test_info_knows_the_packages_of_the_project():
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]

    def names(requirements):
        return [re.match(r"[\w-]+", requirement)[0] for requirement in requirements]

    assert list(REQUIRED) == names(project["dependencies"])
    extras = project["optional-dependencies"]
    for extra, requirements in extras.items():
        if not any(requirement.startswith("dtsne[") for requirement in requirements):
            assert list(EXTRAS[extra][1]) == names(requirements)


def test_the_demo_draws_and_prints(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")

    quick_demo(monkeypatch)
    result = done("demo", tmp_path / "out" / "demo")
    for name, size in {
        "three-gaussians.png": 10_000, "digits.png": 10_000, "digits.html": 10_000,
        "cells.csv": 10_000, "tsne.csv": 1_000,
    }.items():  # fmt: skip
        assert (tmp_path / "out" / "demo" / name).stat().st_size > size
        assert name in result.stdout
    assert "density_log_correlation" in result.stdout
    assert result.stdout.count("t-SNE (density_scale=0)") == 2
    assert "the first run compiles" in result.stderr


def test_what_the_demo_makes_nothing_for(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    line = rejected("demo", tmp_path / "file")
    assert line == f"dtsne: {tmp_path / 'file'} is a file; name a folder for the demo."
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'pip install "dtsne[plot]"' in rejected("demo", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_command_is_installed_under_its_name():
    text = (Path(SOURCE).parent / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["scripts"] == {"dtsne": "dtsne.cli:main"}
