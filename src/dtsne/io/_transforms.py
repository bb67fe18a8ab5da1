"""Transforms of counts and intensities before they are mapped, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtsne.io._errors import TableError


def log1p(X: Any) -> Any:
    """Return log(1 + X), the usual transform of counts.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix of shape (n, d)
        At least 0 everywhere.

    Returns
    -------
    ndarray or csr_matrix of shape (n, d)
        A new one. Floats keep their type, integers become float64.

    Raises
    ------
    TableError
        If there are negative values.
    """
    values, rebuild = _values(X)
    if values.size and values.min() < 0:
        n_negative = int((values < 0).sum())
        raise TableError(
            f"log1p takes values of at least 0, and {n_negative:,} are negative (the least "
            f"{values.min():g}); were they transformed before? Leave log1p out, or use arcsinh."
        )
    return rebuild(np.log1p(values))


def arcsinh(X: Any, cofactor: float = 5.0) -> Any:
    """Return arcsinh(X / cofactor), the usual transform of intensities in cytometry.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix of shape (n, d)
        Values of any sign.
    cofactor : float, default=5.0
        About where it changes from linear to logarithmic: 5 for mass cytometry, 150 for
        fluorescence.

    Returns
    -------
    ndarray or csr_matrix of shape (n, d)
        A new one. Floats keep their type, integers become float64.

    Raises
    ------
    TableError
        If the cofactor is not a positive number.
    """
    if not (np.isfinite(cofactor) and cofactor > 0):
        raise TableError(f"the cofactor of arcsinh has to be positive, not {cofactor!r}.")
    values, rebuild = _values(X)
    return rebuild(np.arcsinh(values / values.dtype.type(cofactor)))


def _values(X: Any) -> tuple[Any, Any]:
    """Return the values as floats, and what puts others in their place.

    Both transforms take 0 to 0, so of a sparse matrix only what is stored has to change.
    """
    if not hasattr(X, "tocsr"):
        values = np.asarray(X)
        return values if values.dtype.kind == "f" else values.astype(np.float64), lambda new: new
    matrix = X.tocsr(copy=True)
    matrix.sum_duplicates()  # f(a) + f(b) is not f(a + b)
    values = matrix.data if matrix.dtype.kind == "f" else matrix.data.astype(np.float64)

    def rebuild(new: Any) -> Any:
        return type(matrix)((new, matrix.indices, matrix.indptr), shape=matrix.shape)

    return values, rebuild
