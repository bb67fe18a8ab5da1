"""A few numbers that tell one table from another, to refuse data that a model was not fitted on.

They are w·X·v with random w and v, in units of their usual size, so that rows in another order give
others: rounding, by float32 or by another order of sums, changes them by far less than another
table does. Beside them is the largest value, for the scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.runtime._arrays import asarray_like, to_host

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

_N_NUMBERS = 3
_ROWS_AT_ONCE = 2**16
# Rounding in float32 is a hundred times less.
_TOLERANCE = 1e-5


def fingerprint(X: Any) -> FloatArray:
    """Return the numbers of a table: dense, sparse or a tensor."""
    rng = np.random.default_rng(0)
    n, d = X.shape
    w, v = rng.normal(size=(_N_NUMBERS, n)), rng.normal(size=(_N_NUMBERS, d))
    largest = max(float(X.max()), -float(X.min()))
    # In its unit, as sums and squares of the values themselves may leave the range of floats.
    sums = _product(w / largest, X)
    numbers = (sums * v).sum(axis=1) / np.sqrt((sums**2).sum() / _N_NUMBERS)
    return np.append(numbers, largest)


def same_data(one: FloatArray, other: FloatArray) -> bool:
    """Say whether two fingerprints are of the same table."""
    return bool(
        np.abs(one[:-1] - other[:-1]).max() <= _TOLERANCE
        and abs(one[-1] - other[-1]) <= _TOLERANCE * one[-1]
    )


def _product(w: FloatArray, X: Any) -> FloatArray:
    if hasattr(X, "toarray"):  # sparse
        return np.asarray((X.T @ w.T).T, np.float64)
    sums = np.zeros((len(w), X.shape[1]))
    for begin in range(0, len(X), _ROWS_AT_ONCE):  # in float64, a part at a time
        part = slice(begin, begin + _ROWS_AT_ONCE)
        if isinstance(X, np.ndarray):
            sums += w[:, part] @ X[part].astype(np.float64)
        else:
            rows = X[part].double()
            sums += to_host(asarray_like(w[:, part], rows) @ rows)
    return sums
