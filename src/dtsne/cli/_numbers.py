"""Numbers that can be read, but not compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtsne.tables import TableError

if TYPE_CHECKING:
    from pathlib import Path

# Squares, and sums of many of them, stay below the largest float64.
_LARGEST = 1e150


def check_size(X: Any, path: Path) -> None:
    """Refuse numbers whose squares, and so the distances between points, are infinite."""
    values = X.data if hasattr(X, "indptr") else X
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest > _LARGEST:
        raise TableError(
            f"{path} holds numbers as large as {largest:.3g}, and of those above {_LARGEST:g} the "
            "squares overflow; rescale them."
        )
