"""Checks of what users pass in."""

from __future__ import annotations

import numpy as np
import pytest

from dtsne.runtime._checks import check_embedding
from dtsne.runtime._errors import DataError, DataTypeError


@pytest.mark.parametrize(
    ("Y", "kind", "reason", "code"),
    [
        (np.zeros(5), DataError, "shape (5,)", "ax.hist(np.ravel(Z), bins=100)"),
        (np.zeros((5, 1)), DataError, "shape (5, 1)", "ax.hist(np.ravel(Z), bins=100)"),
        (np.zeros((5, 3)), DataError, "shape (5, 3)", "Z[:, :2]"),
        (np.zeros((5, 2, 2)), DataError, "shape (5, 2, 2)", "Z[:, :2]"),
        (np.zeros((0, 2)), DataError, "no points", ""),
        ([[0, 0], [np.nan, 1]], DataError, "1 of 2 rows (the first is row 1)", "np.isfinite(Z)"),
        ([["a", "b"]], DataTypeError, "Z holds", ""),
        (np.zeros((2, 2), complex), DataTypeError, "complex128", ""),
    ],
)
def test_what_is_not_an_embedding_is_rejected(Y, kind, reason, code):
    with pytest.raises(kind) as error:
        check_embedding(Y, "Z", n_components=2)
    assert error.value.argument == "Z"
    assert reason in error.value.message.reason
    assert error.value.message.in_python.startswith(code)
    assert error.value.message.fix


@pytest.mark.parametrize("shape", [(3, 1), (3, 2), (3, 7)])
def test_an_embedding_of_any_dimension(shape):
    found = check_embedding(np.ones(shape, np.float32))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.ones(shape))
    with pytest.raises(DataError, match="table of points"):
        check_embedding(np.ones(3))
