"""Options are those of the tables of parameters, and messages name them as they are typed."""

from __future__ import annotations

import inspect

import click
import pytest

from dtsne import DTSNE
from dtsne._config import PARAMETERS
from dtsne.cli import app
from dtsne.cli._embed import FitOptions
from dtsne.cli._errors import COMMAND_LINE
from dtsne.cli._reading import InputOptions, MapOptions, SecondMapOptions
from dtsne.io._files import MAPS, READ, SUFFIXES, WRITTEN
from dtsne.io._options import MAP_OPTIONS, READ_OPTIONS
from dtsne.io._read import FORMAT_OPTIONS
from dtsne.runtime._errors import DataError, ParameterError, UserNotice, setting

SIGNATURE = inspect.signature(DTSNE).parameters
# Python objects, which cannot be typed, and what -q and -v set.
NOT_TYPED = {"neighbors", "callback", "verbose"}
BY_NAME = {option.name: option for option in FitOptions.options()}


def parsed(name, text):
    option = BY_NAME[name]
    context = click.Context(app.commands["embed"])
    return option.type.convert(text, option, context)


# --- options ---


def test_every_parameter_is_an_option():
    assert [*BY_NAME] == [name for name in SIGNATURE if name not in NOT_TYPED]
    assert set(SIGNATURE) >= NOT_TYPED


@pytest.mark.parametrize("name", BY_NAME)
def test_an_option_is_its_parameter(name):
    option, parameter = BY_NAME[name], SIGNATURE[name]
    assert option.opts[0] == f"--{name.replace('_', '-')}" == PARAMETERS[name].flag
    if not option.is_flag:
        assert option.default == parameter.default
        assert type(option.default) is type(parameter.default)
    assert option.help
    assert "None" not in option.help


def test_a_switch_is_the_default_or_false():
    assert BY_NAME["calibration"].secondary_opts == ["--no-calibration"]
    for asked, value in [(True, "auto"), (False, False)]:
        assert BY_NAME["calibration"].callback(None, None, asked) == value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n_pcs", "none", None), ("n_pcs", "7", 7), ("tol", "auto", "auto"), ("tol", "1e-3", 1e-3),
        ("n_components", "3", 3), ("perplexity", "30", 30.0), ("checkpoint", "none", "none"),
        ("n_jobs", "-1", -1), ("metric", "cosine", "cosine"), ("device", "cuda:1", "cuda:1"),
    ],
)  # fmt: skip
def test_values_are_parsed_as_the_parameter_has_them(name, text, value):
    found = parsed(name, text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("perplexity", "many", "--perplexity many must be a number above 1"),
        ("n_pcs", "0", "--n-pcs 0 must be an integer of at least 1 or none"),
        ("tol", "small one", "--tol 'small one' must be a number of at least 0 or auto"),
        ("optimizer", "adam", "--optimizer adam must be one of scaled, paper"),
        ("random_state", "x", "--random-state x must be an integer or none"),
        ("device", "gpu", "--device gpu must be one of cpu, cuda, auto"),
    ],
)
def test_values_that_are_not_allowed(name, text, said):
    with pytest.raises(click.UsageError) as error:
        parsed(name, text)
    assert error.value.message == said


def test_options_of_files_are_those_of_the_readers():
    own = {"log1p", "arcsinh"}
    assert {option.name for option in InputOptions.options()} - own == set(READ_OPTIONS)
    assert {option.name for option in MapOptions.options()} == set(MAP_OPTIONS)
    names = {option.name for option in SecondMapOptions.options()}
    assert names == {*(f"map_{name}" for name in MAP_OPTIONS), "by_order"}
    assert set(READ) == set(FORMAT_OPTIONS) == set(SUFFIXES.values())
    assert set(WRITTEN) < set(MAPS) < set(READ)


# --- messages in the words of the command line ---


@pytest.mark.parametrize(
    ("mention", "said"),
    [
        (setting("max_iter"), "--max-iter"),
        (setting("metric", "euclidean"), "--metric euclidean"),
        (setting("n_pcs", None), "--n-pcs none"),
        (setting("calibration", False), "--no-calibration"),
        (setting("header", True), "--header"),
        (setting("header", False), "--no-header"),
        (setting("id_column"), "--id"),
        (setting("label_column", "cell type"), "--label 'cell type'"),
        (setting("fft_tolerance", 0.01), "--fft-tolerance 0.01"),
        (setting("decimal", ","), "--decimal ,"),
        (setting("delimiter", ";"), "--delimiter ';'"),
    ],
)
def test_messages_name_options(mention, said):
    assert COMMAND_LINE.word(f"use {mention}, or n_pcs=3") == f"use {said}, or n_pcs=3"


def test_messages_about_a_map_name_its_options():
    mention = f"use {setting('key', 'X_umap')}"
    assert MapOptions.face().word(mention) == "use --key X_umap"
    assert SecondMapOptions.face().word(mention) == "use --map-key X_umap"


def test_advice_in_python_is_not_shown():
    for message in (
        DataError("X has duplicates", "drop them", in_python="numpy.unique(X, axis=0)"),
        UserNotice("X has duplicates", "drop them", in_python="numpy.unique(X, axis=0)"),
    ):
        assert message.text(COMMAND_LINE) == "X has duplicates; drop them."
        assert "numpy.unique(X, axis=0)" in str(message)
    error = ParameterError("n_pcs", 0, "an integer of at least 1")
    assert error.text(COMMAND_LINE) == "--n-pcs 0 must be an integer of at least 1."
