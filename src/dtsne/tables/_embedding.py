"""Maps read back, ours and those of other tools, and matched with their data."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.tables._anndata import anndata_io, matrix, opened
from dtsne.tables._columns import MatrixColumns, as_float, as_text
from dtsne.tables._errors import TableError
from dtsne.tables._files import existing_file, format_of
from dtsne.tables._formats import MAPS
from dtsne.tables._names import listed, unknown
from dtsne.tables._numpy_files import Archive, default_names
from dtsne.tables._options import Options
from dtsne.tables._read import as_names, open_columns
from dtsne.tables._selection import Selection, check_finite, table_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dtsne._typing import FloatArray, IntArray
    from dtsne.tables._columns import Columns
    from dtsne.tables._table import Field, TextArray

_LOGGER = logging.getLogger(__name__)

_DIMENSIONS = (1, 2, 3)
# Of a single column it has to be clear otherwise that it is a map.
_SEVERAL = (2, 3)
_ID_NAMES = ("id", "ids", "cell_id", "cell", "barcode", "index")
_KEYS = ("dtsne", "embedding", "Y")
_XYZ = ("x", "y", "z")


def read_embedding(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    key: str | None = None,
) -> tuple[FloatArray, TextArray | None]:
    """Read a map of one to three dimensions, also one that another tool wrote.

    Parameters
    ----------
    path : path-like
        A csv, tsv, parquet, feather, npy, npz or h5ad file.
    format : str, optional
        By default that of the suffix.
    columns : sequence of str, optional
        The columns of the coordinates. By default ``dtsne_1``, ``dtsne_2`` …; else the only ones
        whose names differ by a number at the end (``UMAP1``, ``UMAP2``); else x, y (and z); else
        all columns of numbers, if they are two or three, or the only one.
    id_column : str, optional
        The column that names the points; by default one called id, cell, barcode or index, or the
        one that the format has a place for.
    key : str, optional
        For npz the array, for h5ad the entry of ``obsm``, that holds the map. By default the only
        one that can be, or ours.

    Returns
    -------
    Y : ndarray of shape (n, 1), (n, 2) or (n, 3)
        The map.
    ids : ndarray of str, shape (n,), or None
        The names of its points.

    Raises
    ------
    TableError, OSError, ImportError
        As :func:`read_table`.
    """
    path = existing_file(path)
    name = format_of(path, format, MAPS)
    if name == "h5ad":
        return _from_anndata(path, key)
    if name == "npz" and key is None:
        key = _key_in_archive(path)
    options = Options(Selection(id_column=id_column), frozenset(_ID_NAMES), key=key)
    found = open_columns(path, name, options)
    asked_for = None if columns is None else as_names(columns, "columns")
    id_column = id_column or (_id_column(found) if found.ids is None else None)
    axes = asked_for or _axes(found, id_column)
    table = table_of(found, Selection(axes, id_column=id_column))
    if table.X.shape[1] not in _DIMENSIONS:
        raise TableError(f"{path}: a map has one to three columns, not {table.X.shape[1]:,}.")
    return table.X, table.ids


def align(ids_of_data: Sequence[Any] | Field, ids_of_map: Sequence[Any] | Field) -> IntArray:
    """Return the order that brings the points of a map to those of its data.

    Parameters
    ----------
    ids_of_data, ids_of_map : sequences of length n
        The names of the points, each of them once, in any order.

    Returns
    -------
    ndarray of shape (n,)
        `order`, with ``ids_of_map[order] == ids_of_data``; ``Y[order]`` are the rows of the data.

    Raises
    ------
    TableError
        If an id occurs twice, or only on one side.

    Examples
    --------
    >>> from dtsne.tables import align
    >>> align(["a", "b", "c"], ["c", "a", "b"])
    array([1, 2, 0])
    """
    data, points = as_text(ids_of_data), as_text(ids_of_map)
    place = _places(points, "the map")
    _places(data, "the data")
    missing = [name for name in data if name not in place]
    known = set(data)
    unexpected = [name for name in points if name not in known]
    if missing or unexpected:
        parts = [
            f"{len(names):,} {what} ({listed(names, 3)})"
            for names, what in (
                (missing, "ids of the data are not in the map"),
                (unexpected, "ids of the map are not in the data"),
            )
            if names
        ]
        raise TableError(
            f"{' and '.join(parts)}; give the map of these data, or name the right column of ids."
        )
    return np.array([place[name] for name in data], dtype=np.intp)


def _places(ids: TextArray, what: str) -> dict[str, int]:
    place = {name: i for i, name in enumerate(ids)}
    if len(place) < len(ids):
        again = next(name for i, name in enumerate(ids) if place[name] != i)
        raise TableError(
            f"the id {again!r} occurs more than once in {what}, so that points cannot be matched; "
            "make the ids unique, or leave them out if the order is the same."
        )
    return place


def _id_column(columns: Columns) -> str | None:
    by_lower = {name.lower(): name for name in reversed(columns.names)}
    return next((by_lower[name] for name in _ID_NAMES if name in by_lower), None)


def _axes(columns: Columns, id_column: str | None) -> tuple[str, ...]:
    """Find the columns of the coordinates."""
    numbers = [
        name
        for name in columns.names
        if columns.is_number(name) and name != id_column and name not in columns.set_aside
    ]
    numbered: dict[str, list[str]] = {}
    for name in numbers:
        stem = re.fullmatch(r"(.*?)[ _.-]?\d+", name)
        if stem and stem[1]:
            numbered.setdefault(stem[1].lower(), []).append(name)
    groups = [group for group in numbered.values() if len(group) in _SEVERAL]
    lower = {name.lower(): name for name in numbers}
    if "dtsne" in numbered:
        return tuple(numbered["dtsne"])
    if len(groups) == 1:
        return tuple(groups[0])
    if "x" in lower and "y" in lower:
        return tuple(lower[name] for name in _XYZ if name in lower)
    n_others = len(columns.names) - len(numbers) - (id_column is not None)
    if len(numbers) in _SEVERAL or (len(numbers) == 1 and not n_others):
        return tuple(numbers)
    raise TableError(
        f"{columns.path} has {len(numbers):,} columns of numbers ({listed(numbers) or 'none'}), of "
        "which it is not clear which two or three are the map; name them (columns)."
    )


def _key_in_archive(path: Path) -> str:
    with Archive.opened(path) as archive:
        shapes = {key: shape for key, (shape, _) in archive.headers.items()}
    return _only(shapes, path, _KEYS, "array")


def _from_anndata(path: Path, key: str | None) -> tuple[FloatArray, TextArray | None]:
    io = anndata_io()
    with opened(path) as file:
        maps = file.get("obsm", {})
        if key is not None and key not in maps:
            raise unknown(key, list(maps), path, "entry of 'obsm' called")
        shapes = {name: getattr(entry, "shape", ()) for name, entry in maps.items()}
        chosen = key or _only(shapes, path, ("X_dtsne",), "entry of 'obsm'")
        Y: Any = as_float(matrix(maps[chosen], path), path)
        ids = as_text(io.read_elem(file["obs"]).index)
    if hasattr(Y, "toarray") or Y.shape[1] not in _DIMENSIONS:
        raise TableError(f"{path}: {chosen!r} is not a map of one to three columns.")
    names = default_names(Y.shape[1], chosen)
    check_finite(Y, names, MatrixColumns(path, path.name, Y, names))
    return Y, ids


def _only(shapes: Mapping[str, tuple[int, ...]], path: Path, ours: Sequence[str], what: str) -> str:
    """Choose the one that is a map, or the one that we wrote; say which, if there are others."""
    tables = {name: shape[1] for name, shape in shapes.items() if len(shape) == 2}
    fitting = [name for name, d in tables.items() if d in _SEVERAL]
    chosen = next((name for name in ours if tables.get(name) in _DIMENSIONS), None)
    if chosen is None and len(fitting) == 1:
        chosen = fitting[0]
    if chosen is None:
        if fitting:
            raise TableError(f"{path} holds several maps: {listed(fitting)}; name one (key).")
        raise TableError(f"{path} has no {what} of two or three columns; is it a map?")
    others = [name for name in tables if name != chosen]
    beside = f", which also has {listed(others)}" if others else ""
    _LOGGER.info("the map is %r of %s%s", chosen, path.name, beside)
    return chosen
