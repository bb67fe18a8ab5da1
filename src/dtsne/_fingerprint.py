"""A few numbers that tell one table from another, to refuse data that a model was not fitted on.

They are bilinear, w·X·v with random w and v, so that rows in another order give others, and each is
of the size of X: rounding, by float32 or by another order of sums, changes it by far less than
another table does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._arrays import to_host

if TYPE_CHECKING:
    from dtsne._typing import FloatArray

_N_NUMBERS = 3
# Of the size of a table; rounding in float32 is a hundred times less.
_TOLERANCE = 1e-5


def fingerprint(X: Any) -> FloatArray:
    """Return the numbers of a table, dense, sparse or a tensor, and its size."""
    rng = np.random.default_rng(0)
    n, d = X.shape
    w, v = rng.normal(size=(_N_NUMBERS, n)), rng.normal(size=(_N_NUMBERS, d))
    sums = _product(w, X)
    # Of the squares of the products, so that no entry overflows that the sums do not.
    size = np.sqrt((sums**2).sum() / _N_NUMBERS)
    return np.append((sums * v).sum(axis=1), size)


def same_data(one: FloatArray, other: FloatArray) -> bool:
    """Say whether two fingerprints are of the same table."""
    return bool(np.abs(one - other).max() <= _TOLERANCE * max(one[-1], other[-1]))


def _product(w: FloatArray, X: Any) -> FloatArray:
    if hasattr(X, "toarray"):  # sparse
        return np.asarray((X.T @ w.T).T, np.float64)
    if isinstance(X, np.ndarray):
        return np.asarray(w @ X, np.float64)
    import torch

    weights = torch.as_tensor(w, dtype=X.dtype, device=X.device)
    return np.asarray(to_host(weights @ X), np.float64)
