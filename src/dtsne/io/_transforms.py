"""Transforms of counts and intensities before they are mapped, dense or sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.io._table import Matrix
    from dtsne.runtime._typing import FloatArray, MatrixLike, SparseMatrix


def log1p(X: MatrixLike) -> Matrix:
    """Return log(1 + X), the usual transform of counts.

    Parameters
    ----------
    X : array-like or scipy sparse matrix of shape (n, d)
        At least 0 everywhere.

    Returns
    -------
    ndarray or csr_matrix of shape (n, d)
        A new one. Floats keep their type, integers become float64.

    Raises
    ------
    DataError
        If there are negative values.
    """
    return _transformed(X, _log1p)


def arcsinh(X: MatrixLike, cofactor: float = 5.0) -> Matrix:
    """Return arcsinh(X / cofactor), the usual transform of intensities in cytometry.

    Parameters
    ----------
    X : array-like or scipy sparse matrix of shape (n, d)
        Values of any sign.
    cofactor : float, default=5.0
        About where the transform changes from linear to logarithmic: 5 for mass cytometry, 150 for
        fluorescence.

    Returns
    -------
    ndarray or csr_matrix of shape (n, d)
        A new one. Floats keep their type, integers become float64.

    Raises
    ------
    ParameterError
        If the cofactor is not a positive number.
    """
    if not (np.isfinite(cofactor) and cofactor > 0):
        raise ParameterError("cofactor", cofactor, "a number above 0")
    return _transformed(X, lambda values: np.arcsinh(values / values.dtype.type(cofactor)))


def _log1p(values: FloatArray) -> FloatArray:
    if values.size and values.min() < 0:
        raise DataError(
            f"log1p takes values of at least 0, and {int((values < 0).sum()):,} are negative (the "
            f"least {values.min():g})",
            "leave log1p out if they are transformed already, or use arcsinh",
        )
    return np.log1p(values)


def _transformed(X: MatrixLike, transform: Callable[[FloatArray], FloatArray]) -> Matrix:
    """Transform the values; as 0 stays 0, of a sparse matrix only those that are stored."""
    if not hasattr(X, "tocsr"):
        return transform(_floats(np.asarray(X)))
    matrix = X.tocsr(copy=True)
    matrix.sum_duplicates()  # f(a) + f(b) is not f(a + b)
    parts = (transform(_floats(matrix.data)), matrix.indices, matrix.indptr)
    transformed: SparseMatrix = type(matrix)(parts, shape=matrix.shape)
    return transformed


def _floats(values: FloatArray) -> FloatArray:
    return values if values.dtype.kind == "f" else values.astype(np.float64)
