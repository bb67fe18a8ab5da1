"""The table of parameters, and what is made of it."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtsne import DTSNE, Config
from dtsne._config import OTHER_METRICS, PARAMETERS, RULES
from dtsne.data._metrics import METRICS
from dtsne.runtime._errors import PYTHON, ParameterError, ParameterTypeError
from dtsne.runtime._parameters import Parameter

ARGUMENTS = {"callback", "checkpoint"}  # of `embed`, and not part of a Config


def test_estimator_and_config_have_the_parameters_of_the_table():
    signature = inspect.signature(DTSNE).parameters
    assert {name: p.default for name, p in signature.items()} == {
        name: parameter.default for name, parameter in PARAMETERS.items()
    }
    config = {field.name: field.default for field in fields(Config)}
    assert {name: config[name] for name in PARAMETERS if name not in ARGUMENTS} == {
        name: p.default for name, p in PARAMETERS.items() if name not in ARGUMENTS
    }


def test_every_parameter_is_documented_once_in_the_table():
    docstring = " ".join(DTSNE.__doc__.split())
    for parameter in PARAMETERS.values():
        assert f"{parameter.name} : {parameter.type}, default=" in docstring
        assert PYTHON.word(parameter.doc) in docstring
        assert parameter.doc.endswith(".")


def test_defaults_are_allowed():
    for parameter in PARAMETERS.values():
        parameter.check(parameter.default)


def test_choices_are_those_that_exist():
    assert METRICS == OTHER_METRICS
    assert PARAMETERS["optimizer"].choices == tuple(RULES)


def test_flags_are_the_names():
    for parameter in PARAMETERS.values():
        assert parameter.flag in (None, f"--{parameter.name.replace('_', '-')}")


def test_a_config_is_frozen_and_checked_when_it_is_changed():
    config = Config(perplexity=30)
    with pytest.raises(FrozenInstanceError):
        config.perplexity = 50
    assert replace(config, max_dense=0).perplexity == 30
    with pytest.raises(ParameterError) as error:
        replace(config, perplexity=0.5)
    assert (error.value.parameter, error.value.value) == ("perplexity", 0.5)


def test_an_estimator_makes_its_config():
    config = DTSNE(perplexity=20, init="random", callback=print, checkpoint="x.npz").config
    assert (config.perplexity, config.init) == (20, "random")
    with pytest.raises(ParameterError):
        _ = DTSNE(n_jobs=0).config


@given(
    value=st.one_of(st.integers(-5, 5), st.floats(), st.booleans(), st.none(), st.text()),
    minimum=st.none() | st.integers(-3, 0),
    maximum=st.none() | st.integers(1, 3),
    kind=st.sampled_from([int, float]),
    optional=st.booleans(),
)
def test_numbers_within_bounds_are_allowed_and_nothing_else(
    value, minimum, maximum, kind, optional
):
    parameter = Parameter(
        "x", "", 0, "", kind=kind, minimum=minimum, maximum=maximum, optional=optional,
        choices=("auto",),
    )  # fmt: skip
    number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    inside = (
        number
        and np.isfinite(value)
        and (minimum is None or value >= minimum)
        and (maximum is None or value <= maximum)
    )
    if value == "auto" or (value is None and optional) or inside:
        parameter.check(value)
    else:
        with pytest.raises(ParameterError) as error:
            parameter.check(value)
        assert isinstance(error.value, ParameterTypeError) == (not number)


def test_what_is_allowed_in_words():
    bounded = Parameter("x", "", 0, "", kind=int, minimum=1, maximum=3)
    assert bounded.allowed == "an integer of at least 1 and at most 3"
    assert Parameter("x", "", 0, "", kind=float, above=0, choices=("auto",)).allowed == (
        "a number above 0 or 'auto'"
    )
    assert Parameter("x", "", 0, "", choices=("a", False), optional=True).allowed == (
        "one of 'a', False or None"
    )
