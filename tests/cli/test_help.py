"""Help, completion, `info` and `demo`; options are what the estimator and the readers have."""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from cli_support import SOURCE, done, quick_demo, refused, run, start
from import_support import loaded_after

from dtsne import DTSNE, __version__
from dtsne._config import PARAMETERS
from dtsne.cli import app
from dtsne.cli._flags import in_flags
from dtsne.cli._info import EXTRAS, REQUIRED
from dtsne.cli._map_options import MapOptions
from dtsne.cli._parameters import LEFT_OUT, fit_parameters
from dtsne.cli._quality import MatchedMapOptions
from dtsne.cli._reading import InputOptions
from dtsne.io._files import MAPS, READ, SUFFIXES, WRITTEN
from dtsne.io._options import MAP_OPTIONS, READ_OPTIONS
from dtsne.io._read import FORMAT_OPTIONS

COMMANDS = ["embed", "quality", "plot", "demo", "info"]
SIGNATURE = inspect.signature(DTSNE).parameters
BY_NAME = {parameter.name: parameter for parameter in fit_parameters()}


# --- options of the method ---


def test_every_parameter_is_an_option():
    assert [*BY_NAME] == [name for name in SIGNATURE if name not in LEFT_OUT]
    assert set(LEFT_OUT) <= set(SIGNATURE)


@pytest.mark.parametrize("name", BY_NAME)
def test_an_option_is_its_parameter(name):
    option, parameter = BY_NAME[name], SIGNATURE[name]
    assert option.default == parameter.default
    assert type(option.default) is type(parameter.default)
    annotation = str(parameter.annotation)
    assert (option.number is int) == bool(re.search(r"\bint\b", annotation))
    assert (option.number is float) == bool(re.search(r"\bfloat\b", annotation))
    if parameter.default is not None:
        assert option.default in option.words or option.number is not None
    assert option.text in " ".join(DTSNE.__doc__.split())
    first = option.help.split()[:3]
    assert " ".join(first) in re.sub(r"[`]", "", " ".join(DTSNE.__doc__.split()))


def test_choices_are_those_that_are_checked():
    for name in ("metric", "optimizer", "method", "init"):
        assert BY_NAME[name].choices == PARAMETERS[name].choices


def test_values_are_parsed_as_the_parameter_has_them():
    for name, text, value in [
        ("n_pcs", "none", None), ("n_pcs", "7", 7), ("tol", "auto", "auto"), ("tol", "1e-3", 1e-3),
        ("n_components", "3", 3), ("perplexity", "30", 30.0), ("checkpoint", "none", "none"),
        ("n_jobs", "-1", -1), ("metric", "cosine", "cosine"), ("device", "cuda:1", "cuda:1"),
    ]:  # fmt: skip
        option = BY_NAME[name]
        found = option.value(option.parse(text))
        assert found == value
        assert type(found) is type(value)


def test_options_of_the_input_are_those_of_the_reader():
    own = {"log1p", "arcsinh"}
    renamed = {"label": "label_column", "input_format": "format"}
    fields = {renamed.get(name, name) for name in InputOptions.__dataclass_fields__} - own
    assert fields == set(READ_OPTIONS)
    assert set(READ) == set(FORMAT_OPTIONS) == set(SUFFIXES.values())
    assert set(WRITTEN) < set(MAPS) < set(READ)
    assert set(MapOptions.flags()) == set(MAP_OPTIONS)


# --- messages in the words of the command line ---


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("raise max_iter, or tol, if", "raise --max-iter, or --tol, if"),
        ("use metric='euclidean'.", "use --metric euclidean."),
        ("n_pcs=None keeps", "--n-pcs none keeps"),
        ("(id_column, label_column)", "(--id, --label)"),
        ("leave them out (exclude).", "leave them out (--exclude)."),
        ("its format, by columns, is a key", "its format, by columns, is a key"),
        ("/data/n_pcs/max_iter.csv is empty", "/data/n_pcs/max_iter.csv is empty"),
        ("max_iter.csv is empty", "max_iter.csv is empty"),
        ("no column 'max_iter'", "no column 'max_iter'"),
        ("fft_tolerance=0.01; raise it", "--fft-tolerance 0.01; raise it"),
        ("data, max_iter, perplexity differ.", "data, --max-iter, --perplexity differ."),
        ("the perplexity may differ", "the perplexity may differ"),
        ("say so (decimal=',').", "say so (--decimal ',')."),
        (
            "n_jobs=0 leaves no thread; use None for all",
            "--n-jobs 0 leaves no thread; use none for all",
        ),
        ("no column 'tol x', nor \"n_pcs=3\"", "no column 'tol x', nor \"n_pcs=3\""),
        ("t-SNE's tol is n_pcs' tol", "t-SNE's --tol is --n-pcs' --tol"),
    ],
)
def test_messages_name_options(message, said):
    assert in_flags(message) == said
    assert in_flags(said) == said


def test_what_the_user_wrote_is_kept():
    files = ["tol data.csv", None, "", "m", "n_pcs=3 (key)"]
    message = "tol data.csv: raise tol; m max_iter n_pcs=3 (key) n_pcs=3 (key)"
    said = "tol data.csv: raise --tol; m --max-iter n_pcs=3 (key) n_pcs=3 (key)"
    assert in_flags(message, kept=files) == said


def test_messages_about_a_map_name_its_options():
    assert (
        in_flags(in_flags("name one (key).", MatchedMapOptions.flags())) == "name one (--map-key)."
    )


# --- help ---


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_there(command):
    for flag in ("--help", "-h"):
        shown = done(command, flag).stdout
        assert shown.startswith(f"Usage: dtsne {command}")
        assert max(map(len, shown.splitlines())) <= 80


def test_help_of_embed_has_every_option_with_its_default():
    shown = " ".join(done("embed", "--help").stdout.split())
    for parameter in BY_NAME.values():
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


def test_help_loads_nothing_that_takes_time():
    statement = (
        "sys.argv = ['dtsne', 'embed', '--help']; import io, contextlib\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    from dtsne.cli import main; main()\n"
    )
    loaded = loaded_after(f"exec({statement!r})")
    assert "dtsne" in loaded
    assert loaded.isdisjoint({"numpy", "numba", "sklearn", "scipy", "pyarrow"})


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
        "_DTSNE_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    with start(env=environment) as process:
        out, _ = process.communicate(timeout=60)
    assert out.split() == offered


# --- info and demo ---


def test_info_says_what_is_there(monkeypatch, tmp_path):
    monkeypatch.setenv("DTSNE_DATA", str(tmp_path))
    monkeypatch.setattr("dtsne.cli._info._gpu", lambda: "none")
    found = json.loads(done("info", "--json").stdout)
    assert found["dtsne"] == __version__
    assert found["packages"]["numpy"]
    assert str(tmp_path) in found["data"]
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
    line = refused("demo", tmp_path / "file")
    assert line == f"dtsne: {tmp_path / 'file'} is a file; name a folder for the demo."
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'pip install "dtsne[plot]"' in refused("demo", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_typer_shows_no_traceback_of_its_own():
    assert app.pretty_exceptions_enable is False


def test_the_command_is_installed_under_its_name():
    text = (Path(SOURCE).parent / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["scripts"] == {"dtsne": "dtsne.cli:main"}
