"""Labels from a file: numbers or text, some of them missing, perhaps in an order of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.io._table import has_gaps
from dtsne.labels._format import MAX_INTEGER_LABELS
from dtsne.labels._groups import Groups, group_by
from dtsne.plots._palette import MAX_GROUPS
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dtsne.io._table import Field
    from dtsne.page._columns import Column


def as_groups(
    labels: Field | None,
    name: str | None,
    path: Path,
    *,
    categories: Sequence[str] | None = None,
    option: str = "--label",
) -> Groups | None:
    """Return labels as groups, in the order of categories where the file has one."""
    if labels is None:
        return None
    groups = _grouped(labels, categories).drop_unused()
    n_groups = len(groups.names)
    if not n_groups:
        raise DataError(f"{path}: column {name!r} is empty", f"name a column of groups ({option})")
    if n_groups > MAX_GROUPS:
        raise DataError(
            f"{path}: column {name!r} has {n_groups:,} distinct values, and labels at most "
            f"{MAX_GROUPS}",
            f"name a column of groups ({option})",
        )
    return groups


def is_quantity(column: Field) -> bool:
    """Whether a column is to be coloured as a quantity, and not by groups."""
    if has_gaps(column):
        column = column[~np.isnan(column)].astype(np.int64)
    if column.dtype.kind not in "iu":
        return column.dtype.kind == "f"
    return len(np.unique(column)) > MAX_INTEGER_LABELS


def as_shown(
    columns: Mapping[str, Field], categories: Mapping[str, Sequence[str]]
) -> dict[str, Column]:
    """Return columns as a page takes them: texts, and numbers that are groups, as groups."""
    return {
        name: _grouped(column, categories.get(name))
        if column.dtype.kind in "Of" and not is_quantity(column)
        else column
        for name, column in columns.items()
    }


def _grouped(column: Field, categories: Sequence[str] | None) -> Groups:
    """Group a column of a file, in which a text that is empty is missing."""
    labels = [value or None for value in column] if column.dtype.kind == "O" else column
    if categories is not None:
        return Groups.in_order(categories, labels)
    return group_by(labels, len(labels), to_show=True)
