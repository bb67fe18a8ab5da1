"""The points of a map, brought to the order of the data that it is a map of."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from dtsne.io._table import as_text
from dtsne.runtime._errors import DataError, UserNotice
from dtsne.runtime._logging import warn
from dtsne.tables import TableError, align

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dtsne.cli._maps import MapFile
    from dtsne.io._table import Field, TextArray
    from dtsne.runtime._typing import IntArray
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)


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
        name = _same(table.fields, found.ids)
        if name is not None:
            _LOGGER.info("%r of %s are the IDs of the map", name, paths[0].name)
            return replace(table, ids=as_text(table.fields[name])), found
    if found.ids is None and table.ids is not None:
        name = _same(found.columns, table.ids)
        if name is not None:
            _LOGGER.info("%r of %s are the IDs of the data", name, paths[1].name)
            return table, replace(found, ids=as_text(found.columns[name]))
    return table, found


def _same(columns: Mapping[str, Field], ids: TextArray) -> str | None:
    """Return the column that has the same names, each of them once, in any order."""
    wanted = set(ids.tolist())
    if len(wanted) < len(ids):
        return None
    texts = ((name, c) for name, c in columns.items() if c.dtype.kind == "O" and len(c) == len(ids))
    return next((name for name, column in texts if set(column.tolist()) == wanted), None)


def _order(ids: TextArray, of_map: TextArray) -> IntArray:
    try:
        return align(ids, of_map)
    except TableError as error:
        error.add_note("Rows can also be matched by their order (--by-order).")
        raise
