"""Checks of numbers that can be read, but not mapped or compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.sparsefuncs import min_max_axis

from dtsne.io._select import counted
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.io._table import Matrix
    from dtsne.runtime._typing import FloatArray
    from dtsne.tables import Table

# Squares, and sums of many of them, stay below the largest float64.
_MAX_NUMBER = 1e150
_MIN_ROWS = 4
# Differences below this share of the largest number are lost in its rounding.
_ROUNDING = 1e-14


def check_size(X: Matrix, path: Path) -> None:
    """Reject numbers whose squares, and so the distances between points, are infinite."""
    values: FloatArray = X if isinstance(X, np.ndarray) else X.data
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest > _MAX_NUMBER:
        raise DataError(
            f"{path} holds numbers as large as {largest:.3g}, and squares of numbers above "
            f"{_MAX_NUMBER:g} overflow",
            "rescale them",
        )


def check_rows(table: Table, path: Path) -> None:
    """Reject rows that are too few to be mapped, or do not differ."""
    X, n = table.X, table.X.shape[0]
    check_size(X, path)
    if n < _MIN_ROWS:
        raise DataError(
            f"{path} has {counted(n, 'row', 'rows')}, and a map needs at least {_MIN_ROWS}"
        )
    if isinstance(X, np.ndarray):
        least, largest = X.min(axis=0), X.max(axis=0)
    else:
        least, largest = min_max_axis(X, axis=0)
    least, largest = least.astype(np.float64), largest.astype(np.float64)
    sizes, spread = np.maximum(-least, largest), largest - least
    if not spread.any():
        raise DataError(
            f"{path}: all rows are equal in the columns to map", "choose others (--columns)"
        )
    if (spread <= _ROUNDING * sizes.max()).all():
        name = table.feature_names[int(sizes.argmax())]
        raise DataError(
            f"{path}: column {name!r} holds numbers as large as {sizes.max():.3g}, compared with "
            "which all others are lost in rounding",
            "if these are IDs, mark them (--id) or exclude them (--exclude)",
        )
