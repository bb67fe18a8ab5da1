"""Messages with fields, and the words that each interface has for them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from dtsne.runtime._errors import (
    UNSET,
    DataError,
    Face,
    Message,
    ParameterError,
    ParameterTypeError,
    UserError,
    UserNotice,
    setting,
)


def flag(name: str, value: object) -> str:
    return f"--{name}" if value is UNSET else f"--{name} {value}"


FLAGS = Face(flag, shows_python=False)


def test_each_interface_writes_parameters_its_own_way():
    message = Message(f"{setting('metric', 'cosine')} needs more", f"set {setting('n_pcs')}")
    assert message.text() == "metric='cosine' needs more; set n_pcs."
    assert message.text(FLAGS) == "--metric cosine needs more; set --n_pcs."


def test_python_is_for_those_who_write_it():
    message = Message("X has duplicates", "drop them", in_python="numpy.unique(X, axis=0)")
    assert message.text() == "X has duplicates; drop them (numpy.unique(X, axis=0))."
    assert message.text(FLAGS) == "X has duplicates; drop them."


@pytest.mark.parametrize("value", ["", "a", 3, 2.5, True, None, float("nan")])
def test_values_of_all_kinds(value):
    assert Message(setting("x", value)).text() == f"x={value!r}."


def test_other_values_by_their_beginning():
    text = Message(setting("init", np.zeros(100))).text()
    assert text.startswith("init=array([0., 0.")
    assert len(text) < 100


def test_text_of_the_user_is_left_alone():
    assert Message("column '{perplexity}' \x00").text(FLAGS) == "column '{perplexity}' \x00."


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (ParameterError("x", 3, "a number above 5"), ValueError),
        (ParameterTypeError("x", "3", "a number"), TypeError),
        (DataError("X has NaN", "drop these rows", argument="Y"), ValueError),
    ],
)
def test_errors_are_those_of_python_and_survive_pickling(error, builtin):
    assert isinstance(error, builtin)
    assert isinstance(error, UserError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_fields_of_a_bad_parameter():
    error = ParameterError("x", 3, "a number above 5", fix=f"raise {setting('x')}")
    assert (error.parameter, error.value, error.allowed) == ("x", 3, "a number above 5")
    assert str(error) == "x=3 must be a number above 5; raise x."
    assert error.text(FLAGS) == "--x 3 must be a number above 5; raise --x."


def test_warnings_have_words_too():
    notice = UserNotice("Points are few", "add some")
    assert str(notice) == "Points are few; add some."
    assert isinstance(notice, UserWarning)
