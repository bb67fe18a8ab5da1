"""The interactive page of a map, its columns in the order in which a reader wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.cli._labels import as_shown
from dtsne.page._arrays import float_type
from dtsne.page._from_report import explorable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtsne.io._table import TextArray
    from dtsne.page._columns import Column
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray
    from dtsne.tables import Table

# Nobody chooses from more numeric columns than this, or mails a larger file.
_MAX_COLUMNS, MAX_BYTES = 50, 15e6
# Bytes in the file for a byte of data, by base64, and for a column besides its values.
_BASE64, _HEAD = 4 / 3, 500


def page_of(
    maps: Mapping[str, FloatArray],
    reports: Mapping[str, Report],
    table: Table,
    label: str | None,
    title: str,
    *,
    max_bytes: float = MAX_BYTES,
) -> str:
    """Return the page: groups first, then the report, then the other columns of the data."""
    ids, repeated = as_ids(table.ids)
    others = {**as_shown(table.fields, table.categories), **repeated}
    columns = {name: column for name, column in others.items() if name != label}

    def made(numbers: Mapping[str, Column], *notes: str) -> str:
        return explorable(
            maps,
            reports,
            columns={**columns, **numbers},
            label_name=label or "label",
            ids=ids,
            title=title,
            notes=notes,
        ).html

    without, d = made({}), table.X.shape[1]
    numbers = _first_within(max_bytes - len(without), table)
    n_left_out = d - len(numbers)
    if not n_left_out:
        return made(numbers) if numbers else without
    which = f"{n_left_out:,} of {d:,}" if numbers else f"the {d:,}"
    return made(numbers, f"Left out to keep this page small: {which} numeric columns of the data.")


def as_ids(ids: TextArray | None) -> tuple[TextArray | None, dict[str, TextArray]]:
    """Return IDs as such, or as a column where they are not unique."""
    if ids is None or len(set(ids.tolist())) == len(ids):
        return ids, {}
    return None, {"id": ids}


def _first_within(n_bytes: float, table: Table) -> dict[str, FloatArray]:
    """Return the first numeric columns that fit, or none where there are too many."""
    if table.X.shape[1] > _MAX_COLUMNS:
        return {}
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    fitting = {}
    for name, column in zip(table.feature_names, np.asarray(X).T, strict=True):
        n_bytes -= _BASE64 * len(column) * np.dtype(float_type(column)).itemsize + _HEAD
        if n_bytes < 0:
            break
        fitting[name] = column
    return fitting
