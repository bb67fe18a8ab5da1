"""Labels from a file: numbers or text, some of them missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._colors import MOST_GROUPS
from dtsne._columns import MOST_INTEGER_LABELS
from dtsne.tables import TableError
from dtsne.tables._integers import has_gaps

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dtsne.tables._table import Field, TextArray

# Floats up to here that are whole are the integers they look like.
_LARGEST_INTEGER = 2**53


def as_groups(
    labels: Field | None, name: str | None, path: Path, *, option: str = "--label"
) -> TextArray | None:
    """Return labels as text, None where they are missing, if they are of groups."""
    if labels is None:
        return None
    groups = np.array([_as_text(label) for label in labels], dtype=object)
    n_groups = len(set(groups.tolist()) - {None})
    if not n_groups:
        raise TableError(
            f"{path}: the column {name!r} is empty; name a column of groups ({option})."
        )
    if n_groups > MOST_GROUPS:
        raise TableError(
            f"{path}: the column {name!r} has {n_groups:,} different values, and a label at most "
            f"{MOST_GROUPS}; name a column of groups ({option})."
        )
    return groups


def for_account(groups: TextArray | None) -> Field | None:
    """Return labels as an account takes them: numbers as such, to be sorted; None if missing."""
    if groups is None:
        return None
    given = groups.tolist()
    if all(_is_integer(group) for group in set(given) - {None}):
        given = [None if group is None else int(group) for group in given]
    return np.array(given, dtype=object)


def is_quantity(column: Field) -> bool:
    """Whether a column is to be coloured as a quantity, and not by groups."""
    if has_gaps(column):
        column = column[~np.isnan(column)].astype(np.int64)
    if column.dtype.kind not in "iu":
        return column.dtype.kind == "f"
    return len(np.unique(column)) > MOST_INTEGER_LABELS


def with_missing(columns: Mapping[str, Field]) -> dict[str, Field]:
    """Return columns in which what is missing from text, or from numbers of groups, is None."""
    return {name: _with_missing(column) for name, column in columns.items()}


def _with_missing(column: Field) -> Field:
    if column.dtype.kind == "O":
        return np.array([value or None for value in column], dtype=object)
    if column.dtype.kind == "f" and not is_quantity(column):
        return np.array([_as_text(value) for value in column], dtype=object)
    return column


def _as_text(label: Any) -> str | None:
    """Write 3.0 as 3: numbers of groups are floats where some are missing."""
    if isinstance(label, float | np.floating):
        value = float(label)
        if np.isnan(value):
            return None
        is_integer = value.is_integer() and abs(value) < _LARGEST_INTEGER
        return str(int(value)) if is_integer else str(label)
    return str(label) or None


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text
