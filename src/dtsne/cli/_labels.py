"""Labels from a file: numbers or text, some of them missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.tables import TableError

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.tables._table import Field, TextArray

# More have no colours, and comparing them says nothing.
_MOST_GROUPS = 200
# What an account calls the points that have no label.
_WITHOUT = "(none)"


def as_groups(
    labels: Field | None, name: str | None, path: Path, *, option: str = "--label"
) -> TextArray | None:
    """Return labels as text, None where they are missing, if they are of groups."""
    if labels is None:
        return None
    groups = np.array([_as_text(label) for label in labels.tolist()], dtype=object)
    n_groups = len(set(groups.tolist()))
    if n_groups > _MOST_GROUPS:
        raise TableError(
            f"{path}: the column {name!r} has {n_groups:,} different values, and a label at most "
            f"{_MOST_GROUPS}; name a column of groups ({option})."
        )
    return groups


def for_account(groups: TextArray | None) -> Field | None:
    """Return labels as an account takes them: none missing, and numbers as such, to be sorted."""
    if groups is None:
        return None
    named = [_WITHOUT if group is None else group for group in groups.tolist()]
    if all(_is_integer(group) for group in set(named)):
        return np.array([int(group) for group in named])
    return np.array(named, dtype=object)


def _as_text(label: object) -> str | None:
    """Write 3.0 as 3: numbers of groups are floats where some are missing."""
    if isinstance(label, float):
        return None if np.isnan(label) else f"{label:g}"
    return str(label) or None


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text
