"""EMBEDDING: a map from a file with the columns next to it, matched to the rows of INPUT."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.cli._numbers import check_size
from dtsne.io import _read
from dtsne.io._table import as_text
from dtsne.report import PointTable
from dtsne.report._anndata import Keys
from dtsne.runtime._errors import DataError, UserNotice
from dtsne.runtime._logging import warn
from dtsne.tables import TableError, align

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field, TextArray
    from dtsne.runtime._typing import FloatArray, IntArray
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)

_OURS = "dtsne"
# What `quality --points` calls the map that it measured, whichever tool made it.
MEASURED = "map"
_REPORTED = tuple(f.name for f in fields(PointTable) if f.name != "label")
_REPORT_NAMES = frozenset({*_REPORTED, *map(Keys().obs, _REPORTED)})


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map, its IDs if it has any, and further columns by name.

    `report` are the columns that report on this very map, by their names in a report: a file can
    hold the report on one map next to another map. `categories` are the orders of columns that
    have one.
    """

    Y: FloatArray
    ids: TextArray | None
    columns: dict[str, Field]
    report: dict[str, Field] = field(default_factory=dict)
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def reported(self, name: str) -> Field | None:
        """Return a numeric column of the report, if the file has it."""
        column = self.report.get(name)
        if column is None or column.dtype.kind not in "iuf":
            return None
        return column.astype(np.float64)

    @property
    def sigma(self) -> Field | None:
        """σ of each point, if the file has it."""
        found = self.reported("sigma")
        usable = found is not None and np.isfinite(found).all() and (found > 0).all()
        return found if usable else None

    @property
    def sigma_at_bound(self) -> Field | None:
        """Whether σ of each point was clipped, if the file has this in addition to σ."""
        column = self.report.get("sigma_at_bound")
        usable = column is not None and column.dtype.kind == "b" and self.sigma is not None
        return column if usable else None

    @property
    def own_columns(self) -> dict[str, Field]:
        """The columns that are of no report."""
        return {name: c for name, c in self.columns.items() if name not in _REPORT_NAMES}

    def in_order(self, order: IntArray) -> MapFile:
        """Return the same with its points in another order."""
        return replace(
            self,
            Y=self.Y[order],
            ids=None if self.ids is None else self.ids[order],
            columns={name: column[order] for name, column in self.columns.items()},
            report={name: column[order] for name, column in self.report.items()},
        )


def read_map(path: Path, options: ReadOptions, likely_id: str | None = None) -> MapFile:
    """Read a map that `embed` or another tool wrote; see `dtsne.io._read.read_map`."""
    table, name = _read.read_map(path, options, likely_id)
    check_size(table.X, path)
    report, columns = _report_on(table.fields, name or ""), table.fields
    if not report and {_OURS, f"{_OURS}_1"}.intersection(columns):
        # The file has our map, too: its report goes by names that tell whose it is.
        columns = {Keys().obs(n) if n in _REPORTED else n: c for n, c in columns.items()}
    return MapFile(np.asarray(table.X), table.ids, columns, report, table.categories)


def _report_on(columns: dict[str, Field], name: str) -> dict[str, Field]:
    """Return the columns that report on the map of this name, and on no other."""
    key = name.removeprefix("X_")
    if key != name:  # in AnnData, the names of the columns begin with that of the map
        named = {column: Keys(key).obs(column) for column in _REPORTED}
    elif name in (_OURS, MEASURED):
        named = {column: column for column in _REPORTED}
    else:
        return {}
    report = {column: columns[there] for column, there in named.items() if there in columns}
    if key != _OURS and "sigma_at_bound" not in report:
        report.pop("sigma", None)  # of another tool, which means something else by the word
    return report


def matched(
    table: Table, found: MapFile, paths: tuple[Path, Path], *, by_order: bool
) -> tuple[Table, MapFile]:
    """Return both, with the same points in the same rows."""
    if not by_order:
        table, found = _with_ids(table, found, paths)
        if table.ids is not None and found.ids is not None:
            return table, found.in_order(_order(table.ids, found.ids))
    n = table.X.shape[0]
    if len(found.Y) != n:
        raise DataError(
            f"{paths[1]} has {len(found.Y):,} points, and the data {n:,} rows",
            "give the map of these data, or match rows by IDs (--id, --map-id)",
        )
    if not by_order and (table.ids is not None or found.ids is not None):
        named, other = (0, 1) if table.ids is not None else (1, 0)
        warn(
            UserNotice(
                f"{paths[named]} has IDs, and no column of {paths[other]} has the same IDs: points "
                "are matched by their order",
                f"name the column of IDs ({('--id', '--map-id')[other]}), or confirm the order "
                "(--by-order)",
            )
        )
    else:
        _LOGGER.info("points are matched by their order")
    return table, found


def _with_ids(table: Table, found: MapFile, paths: tuple[Path, Path]) -> tuple[Table, MapFile]:
    """Where one of them has IDs, look for the same IDs in the other."""
    if table.ids is None and found.ids is not None:
        name = _column_of(found.ids, table.fields, paths[0])
        if name is not None:
            table = replace(table, ids=as_text(table.fields[name]))
    elif found.ids is None and table.ids is not None:
        name = _column_of(table.ids, found.columns, paths[1])
        if name is not None:
            found = replace(found, ids=as_text(found.columns[name]))
    return table, found


def _column_of(ids: TextArray, columns: Mapping[str, Field], path: Path) -> str | None:
    """Return the column that has the same IDs, each of them once, in any order."""
    wanted = set(ids.tolist())
    for name, column in columns.items() if len(wanted) == len(ids) else ():
        is_text = column.dtype.kind == "O" and len(column) == len(ids)
        if is_text and set(column.tolist()) == wanted:
            _LOGGER.info("%r of %s has the IDs of the other file", name, path.name)
            return name
    return None


def _order(ids: TextArray, of_map: TextArray) -> IntArray:
    try:
        return align(ids, of_map)
    except TableError as error:
        error.add_note("Rows can also be matched by their order (--by-order).")
        raise
