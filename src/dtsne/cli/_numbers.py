"""Numbers that can be read, but not mapped or compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._select import counted
from dtsne.tables import TableError

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.tables import Table

# Squares, and sums of many of them, stay below the largest float64.
_LARGEST = 1e150
_FEWEST_ROWS = 4
# Differences below this share of the largest number are lost in its rounding.
_ROUNDING = 1e-14


def check_size(X: Any, path: Path) -> None:
    """Refuse numbers whose squares, and so the distances between points, are infinite."""
    values = X.data if hasattr(X, "indptr") else X
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest > _LARGEST:
        raise TableError(
            f"{path} holds numbers as large as {largest:.3g}, and of those above {_LARGEST:g} the "
            "squares overflow; rescale them."
        )


def check_rows(table: Table, path: Path) -> None:
    """Refuse rows that are too few to be mapped, or do not differ."""
    X, n = table.X, table.X.shape[0]
    check_size(X, path)
    if n < _FEWEST_ROWS:
        raise TableError(
            f"{path} has {counted(n, 'row', 'rows')}, and a map needs at least {_FEWEST_ROWS}; "
            "give it more."
        )
    least, largest = (np.asarray(_by_column(f, X), dtype=np.float64) for f in ("min", "max"))
    sizes, spread = np.maximum(-least, largest), largest - least
    if not spread.any():
        raise TableError(
            f"{path}: all rows are equal in the columns that are mapped, so there is nothing to "
            "map; take others (--columns)."
        )
    if (spread <= _ROUNDING * sizes.max()).all():
        name = table.feature_names[int(sizes.argmax())]
        raise TableError(
            f"{path}: the column {name!r} holds numbers as large as {sizes.max():.3g}, beside "
            "which all others are lost; if these are ids, say so (--id), or leave them out "
            "(--exclude)."
        )


def _by_column(name: str, X: Any) -> Any:
    found = getattr(X, name)(axis=0)
    return found.toarray().ravel() if hasattr(found, "toarray") else found
