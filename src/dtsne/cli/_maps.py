"""EMBEDDING: a map from a file, with all that the file says of its points."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.cli._numbers import check_size
from dtsne.io import _read
from dtsne.report import PointTable
from dtsne.report._anndata import Keys

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field, TextArray
    from dtsne.runtime._typing import FloatArray, IntArray

_OURS = "dtsne"
# What `quality --points` calls the map that it judged, whoever made it.
JUDGED = "map"
_OF_ACCOUNT = tuple(f.name for f in fields(PointTable) if f.name != "label")
_ACCOUNT_NAMES = frozenset({*_OF_ACCOUNT, *map(Keys(_OURS).obs, _OF_ACCOUNT)})


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map, the names of its points if it has any, and further columns by name.

    `account` are those columns that are the account of this very map, by the names that they have
    there: a file can hold the account of one map beside another map. `categories` are the orders of
    those columns that have one.
    """

    Y: FloatArray
    ids: TextArray | None
    columns: dict[str, Field]
    account: dict[str, Field] = field(default_factory=dict)
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of_account(self, name: str) -> Field | None:
        """Return a column of numbers of the account, if the file has it."""
        column = self.account.get(name)
        if column is None or column.dtype.kind not in "iuf":
            return None
        return column.astype(np.float64)

    @property
    def sigma(self) -> Field | None:
        """σ of each point, if the file has it."""
        found = self.of_account("sigma")
        usable = found is not None and np.isfinite(found).all() and (found > 0).all()
        return found if usable else None

    @property
    def own_columns(self) -> dict[str, Field]:
        """The columns that are of no account."""
        return {name: c for name, c in self.columns.items() if name not in _ACCOUNT_NAMES}

    @property
    def sigma_at_bound(self) -> Field | None:
        """Whether σ of each point is not one of the data, if the file has that beside σ."""
        column = self.account.get("sigma_at_bound")
        usable = column is not None and column.dtype.kind == "b" and self.sigma is not None
        return column if usable else None

    def in_order(self, order: IntArray) -> MapFile:
        """Return the same with its points in another order."""
        return replace(
            self,
            Y=self.Y[order],
            ids=None if self.ids is None else self.ids[order],
            columns={name: column[order] for name, column in self.columns.items()},
            account={name: column[order] for name, column in self.account.items()},
        )


def read_map(path: Path, options: ReadOptions, likely_id: str | None = None) -> MapFile:
    """Read a map that `embed` or another tool wrote; see `dtsne.io._read.read_map`."""
    table, name = _read.read_map(path, options, likely_id)
    check_size(table.X, path)
    account = _account_of(table.fields, name or "")
    columns = table.fields if account else _told_apart(table.fields)
    return MapFile(np.asarray(table.X), table.ids, columns, account, table.categories)


def _account_of(columns: dict[str, Field], name: str) -> dict[str, Field]:
    """Return the columns that are the report of the map of this name, and of no other."""
    key = name.removeprefix("X_")
    if key != name:  # in AnnData, the names of the columns begin with that of the map
        named = {column: Keys(key).obs(column) for column in _OF_ACCOUNT}
    elif name in (_OURS, JUDGED):
        named = {column: column for column in _OF_ACCOUNT}
    else:
        return {}
    account = {column: columns[there] for column, there in named.items() if there in columns}
    if key != _OURS and "sigma_at_bound" not in account:
        account.pop("sigma", None)  # of another tool, which means something else by the word
    return account


def _told_apart(columns: dict[str, Field]) -> dict[str, Field]:
    """Return columns in which those of our account, if our map lies beside, bear our name."""
    if not {_OURS, f"{_OURS}_1"}.intersection(columns):
        return columns
    keys = Keys(_OURS)
    return {keys.obs(n) if n in _OF_ACCOUNT else n: column for n, column in columns.items()}
