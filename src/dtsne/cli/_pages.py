"""The interactive page of a map, its columns in the order in which a reader wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._explore import explorable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtsne._typing import FloatArray
    from dtsne.account import Account
    from dtsne.tables import Table
    from dtsne.tables._table import TextArray

# Numbers of the data that a page shows: no more columns, nor cells (4 bytes each in the file).
_MOST_COLUMNS, _MOST_CELLS = 50, 5_000_000


def page_of(
    maps: Mapping[str, FloatArray],
    account: Account,
    table: Table,
    groups: tuple[str | None, TextArray | None],
    title: str,
) -> str:
    """Return the page: groups first, then the account, and then what else the data has."""
    name, labels = groups[0] or "label", groups[1]
    ids, repeated = as_ids(table.ids)
    others = {**table.fields, **_numbers(table), **repeated}
    columns = {n: column for n, column in others.items() if n != name}
    if labels is not None and account.points.label is None:
        columns = {name: labels, **columns}
    page = explorable(maps, account, columns=columns, label_name=name, ids=ids, title=title)
    return page.html


def as_ids(ids: TextArray | None) -> tuple[TextArray | None, dict[str, Any]]:
    """Return ids as such, or as a column where they do not tell the points apart."""
    if ids is None or len(set(ids.tolist())) == len(ids):
        return ids, {}
    return None, {"id": ids}


def _numbers(table: Table) -> dict[str, Any]:
    """Return the numbers of the data, to colour by, where they are few."""
    n, d = table.X.shape
    if d > _MOST_COLUMNS or n * d > _MOST_CELLS:
        return {}
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    return {name: np.asarray(c) for name, c in zip(table.feature_names, X.T, strict=True)}
