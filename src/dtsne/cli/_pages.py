"""The interactive page of a map, its columns in the order in which a reader wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.cli._labels import as_shown
from dtsne.page._arrays import float_type
from dtsne.page._from_report import explorable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dtsne.io._table import TextArray
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray
    from dtsne.tables import Table

# More columns of numbers than this nobody chooses from; and a file that is larger, nobody mails.
_MOST_COLUMNS, _MOST_BYTES = 50, 15e6
# What base64 makes of a byte.
_BASE64 = 4 / 3
# Bytes that a column takes besides its values.
_HEAD = 500


def page_of(
    maps: Mapping[str, FloatArray],
    accounts: Mapping[str, Report],
    table: Table,
    label: str | None,
    title: str,
) -> str:
    """Return the page: groups first, then the account, and then what else the data has."""
    ids, repeated = as_ids(table.ids)
    others = {**as_shown(table.fields, table.categories), **repeated}
    columns = {name: column for name, column in others.items() if name != label}

    def made(more: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
        shown = {**columns, **more}
        options: dict[str, Any] = {"ids": ids, "title": title, "notes": notes}
        name = label or "label"
        return explorable(maps, accounts, columns=shown, label_name=name, **options).html

    without = made({})
    numbers = _fitting(_numbers(table), _MOST_BYTES - len(without))
    left_out = table.X.shape[1] - len(numbers)
    if not numbers and not left_out:
        return without
    return made(numbers, _left_out(left_out, table.X.shape[1]))


def as_ids(ids: TextArray | None) -> tuple[TextArray | None, dict[str, Any]]:
    """Return ids as such, or as a column where they do not tell the points apart."""
    if ids is None or len(set(ids.tolist())) == len(ids):
        return ids, {}
    return None, {"id": ids}


def _numbers(table: Table) -> dict[str, Any]:
    """Return the numbers of the data, to colour by, where they are few."""
    if table.X.shape[1] > _MOST_COLUMNS:
        return {}
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    return {name: np.asarray(c) for name, c in zip(table.feature_names, X.T, strict=True)}


def _fitting(numbers: Mapping[str, Any], room: float) -> dict[str, Any]:
    """Take columns from the first on until their bytes in the file fill the room."""
    fitting = {}
    for name, values in numbers.items():
        room -= _BASE64 * len(values) * np.dtype(float_type(values)).itemsize + _HEAD
        if room < 0:
            break
        fitting[name] = values
    return fitting


def _left_out(n: int, d: int) -> list[str]:
    if not n:
        return []
    which = f"{n:,} of {d:,}" if n < d else f"the {d:,}"
    return [f"Left out to keep this page small: {which} columns of numbers of the data."]
