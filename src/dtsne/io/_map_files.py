"""Maps in files, ours and those of other tools: found, with what the files say beside them."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dtsne.io._anndata import anndata_io, opened
from dtsne.io._errors import TableError
from dtsne.io._files import existing_file, format_of
from dtsne.io._formats import MAPS
from dtsne.io._names import ID_NAMES, listed, unknown
from dtsne.io._numpy_files import Archive
from dtsne.io._options import MAP_OPTIONS, READ_OPTIONS, ReadOptions
from dtsne.io._read import open_columns
from dtsne.io._selection import categories_of, ids_of, numbers_of
from dtsne.runtime._errors import ParameterError, setting

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dtsne.io._columns import Columns
    from dtsne.io._table import Field, TextArray
    from dtsne.runtime._typing import FloatArray

_LOGGER = logging.getLogger(__name__)

_DIMENSIONS = (1, 2, 3)
# Of a single column it has to be clear otherwise that it is a map.
_SEVERAL = (2, 3)
_KEYS = ("dtsne", "embedding", "Y")
_XYZ = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class FoundMap:
    """A map, and what its file says of its points.

    Attributes
    ----------
    Y : ndarray of shape (n, 1), (n, 2) or (n, 3)
        The map.
    name : str or None
        What it is called: the array or entry of ``obsm`` that it is, or, in lower case, what the
        names of its columns begin with. None where it is only a part of that, or has no name.
    ids : ndarray of str, shape (n,), or None
        The names of its points.
    columns : dict of str to ndarray of shape (n,)
        All else that the file has for each point. Unlike the numbers of data it may have gaps.
    categories : dict of str to tuple of str
        For columns that the file keeps as categories, all of these in their order.
    """

    Y: FloatArray
    name: str | None
    ids: TextArray | None
    columns: dict[str, Field]
    categories: dict[str, tuple[str, ...]]


def find_map(
    path: str | os.PathLike[str], options: ReadOptions, likely_id: str | None = None
) -> FoundMap:
    """Read a map; see `read_embedding`.

    `likely_id` is a column that names the points if it is there.
    """
    _check_options(options)
    path = existing_file(path)
    file_format = format_of(path, options.format, MAPS)
    key = _chosen_key(path, file_format, options.key)
    if file_format == "h5ad":
        options = replace(options, format=file_format, key=None, use_rep=key)
    else:
        options = replace(options, format=file_format, key=key)
    found = open_columns(path, options, {*ID_NAMES, (likely_id or "").lower()})
    id_column = _id_column(found, options.id_column, likely_id)
    asked_for = options.columns or _axes(found, id_column)
    axes, Y = numbers_of(found, ReadOptions(columns=asked_for))
    if hasattr(Y, "indptr") or Y.shape[1] not in _DIMENSIONS:
        raise TableError(f"{path}: a map has one to three columns, not {Y.shape[1]:,}.")
    ids, others = ids_of(found, id_column), _others(found, axes, id_column)
    name, categories = _name(found, axes, key), categories_of(found, others)
    return FoundMap(Y, name, ids, others, categories)


def _check_options(options: ReadOptions) -> None:
    """Reject options that only data have."""
    for name in READ_OPTIONS.keys() - MAP_OPTIONS.keys():
        value = getattr(options, name)
        if value != READ_OPTIONS[name].default:
            raise ParameterError(
                name, value, reason=f"{setting(name, value)} is not an option of maps"
            )


def _chosen_key(path: Path, file_format: str, key: str | None) -> str | None:
    """Return which array, or entry of obsm, is the map, where a file can have several."""
    if file_format == "npz" and key is None:
        with Archive.opened(path) as archive:
            arrays = {name: shape for name, (shape, _) in archive.headers.items()}
        return _only(arrays, path, _KEYS, "array")
    if file_format == "h5ad":
        anndata_io()
        with opened(path) as file:
            entries = {name: getattr(e, "shape", ()) for name, e in file.get("obsm", {}).items()}
        if key is not None and key not in entries:
            raise unknown(key, list(entries), path, "entry of 'obsm' called")
        return key or _only(entries, path, ("X_dtsne",), "entry of 'obsm'")
    return key


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


def _id_column(columns: Columns, given: str | None, likely: str | None) -> str | None:
    """Return the column that names the points, unless it is the format's own place for names."""
    there = (*columns.names, *columns.beside)
    if given in columns.id_names:
        return None
    if given is not None and given not in there:
        raise unknown(given, there, columns.path)
    if given is not None or likely in there:
        return given or likely
    if columns.ids is not None:
        return None
    by_lower = {name.lower(): name for name in reversed(columns.names)}
    return next((by_lower[name] for name in ID_NAMES if name in by_lower), None)


def _axes(columns: Columns, id_column: str | None) -> tuple[str, ...]:
    """Find the columns of the coordinates."""
    numbers = [
        name
        for name in columns.names
        if columns.is_number(name) and name != id_column and name not in columns.set_aside
    ]
    numbered = _numbered(numbers)
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
    columns.check([name for name in columns.names if name != id_column])
    raise TableError(
        f"{columns.path} has {len(numbers):,} columns of numbers ({listed(numbers) or 'none'}), of "
        "which it is not clear which two or three are the map; name them (columns)."
    )


def _numbered(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names that end with a number, by what they begin with, in lower case."""
    numbered: dict[str, list[str]] = {}
    for name in names:
        stem = re.fullmatch(r"(.*?)[ _.-]?\d+", name)
        if stem and stem[1]:
            numbered.setdefault(stem[1].lower(), []).append(name)
    return numbered


def _name(columns: Columns, axes: Sequence[str], key: str | None) -> str | None:
    if key is not None:
        return key if len(axes) == len(columns.names) else None
    chosen = set(axes)
    groups = _numbered(columns.names).items()
    return next((stem for stem, group in groups if set(group) == chosen), None)


def _others(columns: Columns, axes: Sequence[str], id_column: str | None) -> dict[str, Field]:
    known = {*axes, id_column, *columns.set_aside}
    names = (name for name in (*columns.names, *columns.beside) if name not in known)
    values = ((name, columns.values(name)) for name in names)
    return {name: column for name, column in values if column is not None}
