"""Tables and maps of all formats, and the order that matches the one with the other."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.io._anndata import anndata_io, opened, read_h5ad
from dtsne.io._arrow import read_feather, read_parquet
from dtsne.io._delimited import read_delimited
from dtsne.io._errors import TableError, naming
from dtsne.io._fcs import read_fcs
from dtsne.io._files import MAPS, READ, existing_file, format_of
from dtsne.io._mtx import read_mtx
from dtsne.io._numpy import Archive, read_npy, read_npz
from dtsne.io._options import MAP_OPTIONS, READ_OPTIONS, ReadOptions
from dtsne.io._select import ID_NAMES, counted, matching, select, unknown
from dtsne.io._table import as_text, is_sparse
from dtsne.runtime._errors import ParameterError, setting
from dtsne.runtime._names import listed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    from dtsne.io._options import ReadKeywords
    from dtsne.io._table import Source, Table, TextArray
    from dtsne.runtime._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

_DIMENSIONS = (1, 2, 3)
# A single column is a map only if something else tells so.
_SEVERAL = (2, 3)
_KEYS = {"npz": ("dtsne", "embedding", "Y"), "h5ad": ("X_dtsne",)}
_ENTRY = {"npz": "array", "h5ad": "entry of 'obsm'"}
_XYZ = ("x", "y", "z")
# Options that not all formats have.
FORMAT_OPTIONS = {
    **dict.fromkeys(READ, frozenset[str]()),
    **dict.fromkeys(("csv", "tsv"), frozenset({"header", "delimiter", "decimal"})),
    "npz": frozenset({"key"}),
    "h5ad": frozenset({"layer", "use_rep"}),
    "mtx": frozenset({"transpose"}),
}
_READERS: dict[str, Callable[[Path, ReadOptions], Source]] = {
    "parquet": read_parquet, "feather": read_feather, "npy": read_npy, "npz": read_npz,
    "h5ad": read_h5ad, "fcs": read_fcs, "mtx": read_mtx,
}  # fmt: skip


def read_table(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    **keywords: Unpack[ReadKeywords],
) -> Table:
    """Read a table of points: the numbers to map, and what else the file has for each point.

    Parameters
    ----------
    path : path-like
        The file.
    options : ReadOptions, optional
        How to read it.
    **keywords
        Fields of :class:`ReadOptions`, which override those of `options`.

    Returns
    -------
    Table
        See there.

    Raises
    ------
    ParameterError
        If an option has a value that cannot be used, or the format does not have it.
    TableError
        If the content cannot be used, or does not fit into memory. It is a ValueError with the
        file, the line and the column as fields.
    OSError
        If there is no such file, or it may not be read.
    ImportError
        If a package is missing that the format needs; the message has the ``pip install``.

    Examples
    --------
    >>> import numpy as np
    >>> from dtsne.tables import read_table
    >>> np.save("points.npy", np.eye(5))  # doctest: +SKIP
    >>> read_table("points.npy").source  # doctest: +SKIP
    '5 rows × 5 numbers from points.npy'
    """
    options = replace(options or ReadOptions(), **keywords)
    path = existing_file(path)
    with naming(path):
        return select(open_source(path, options), options)


def open_source(path: Path, options: ReadOptions, text_names: Collection[str] = ()) -> Source:
    """Read a file of any format, as columns to choose from.

    Text tables keep the cells of `text_names` (in lower case) as they are written.
    """
    name = format_of(path, options.format, READ)
    allowed = FORMAT_OPTIONS[name]
    _check_options(options, frozenset().union(*FORMAT_OPTIONS.values()) - allowed, f"{name} files")
    if name in ("csv", "tsv"):
        delimiter = options.delimiter or {"csv": ",", "tsv": "\t"}[name]
        return read_delimited(path, replace(options, delimiter=delimiter), text_names)
    return _READERS[name](path, options)


def read_embedding(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    **keywords: Unpack[ReadKeywords],
) -> tuple[FloatArray, TextArray | None]:
    """Read a map of one to three dimensions, also one that another tool wrote.

    Parameters
    ----------
    path : path-like
        A csv, tsv, parquet, feather, npy, npz or h5ad file.
    options : ReadOptions, optional
        How to read it: `columns`, `id_column`, `key`, `format`, `header`, `delimiter`, `decimal`.
        `columns` are the coordinates. By default ``dtsne_1``, ``dtsne_2`` …; else the only ones
        whose names differ by a number at the end (``UMAP1``, ``UMAP2``); else x, y (and z); else
        all columns of numbers, if they are two or three, or the only one. `id_column` is by default
        one called id, cell, barcode or index, or the one that the format has a place for. `key` is
        the array of an npz, or the entry of ``obsm`` of an h5ad; by default the only one that can
        be a map, or ours.
    **keywords
        Fields of :class:`ReadOptions`, which override those of `options`.

    Returns
    -------
    Y : ndarray of shape (n, 1), (n, 2) or (n, 3)
        The map.
    ids : ndarray of str, shape (n,), or None
        The IDs of its points.

    Raises
    ------
    ParameterError, TableError, OSError, ImportError
        As :func:`read_table`.
    """
    table, _ = read_map(path, replace(options or ReadOptions(), **keywords))
    return np.asarray(table.X), table.ids


def read_map(
    path: str | os.PathLike[str], options: ReadOptions, likely_id: str | None = None
) -> tuple[Table, str | None]:
    """Read a map as a table whose numbers are the coordinates; see `read_embedding`.

    All other columns are fields; unlike the numbers of data they may have gaps. `likely_id` is the
    column of the IDs if it is there. The second result is the name of the map: that of the array or
    entry of ``obsm``, or, in lower case, what the names of its columns begin with. It is None where
    the map is only a part of that, or has no name.
    """
    _check_options(options, READ_OPTIONS.keys() - MAP_OPTIONS.keys(), "maps")
    path = existing_file(path)
    with naming(path):
        file_format = format_of(path, options.format, MAPS)
        key = _chosen_key(path, file_format, options.key)
        of_file = replace(options, format=file_format, key=key)
        if file_format == "h5ad":
            of_file = replace(of_file, key=None, use_rep=key)
        source = open_source(path, of_file, {*ID_NAMES, (likely_id or "").lower()})
        id_column = _id_column(source, options.id_column, likely_id)
        if options.columns is None:
            axes = _axes(source, id_column)
        else:
            axes = matching(options.columns, source.names)
        known = {*axes, id_column, *source.set_aside}
        others = [name for name in source.all_names if name not in known]
        table = select(source, ReadOptions(columns=axes, id_column=id_column, exclude=others))
        if is_sparse(table.X) or len(axes) not in _DIMENSIONS:
            raise TableError(f"a map has one to three columns, not {len(axes):,}")
        fields = {name: table.fields[name] for name in others if name in table.fields}
        return replace(table, fields=fields), _name(source, axes, key)


def _check_options(options: ReadOptions, names: Collection[str], of_what: str) -> None:
    """Reject options that do not apply."""
    for name in sorted(names):
        value = getattr(options, name)
        if value != READ_OPTIONS[name].default:
            reason = f"{setting(name, value)} is not an option of {of_what}"
            raise ParameterError(name, value, reason=reason)


def _chosen_key(path: Path, file_format: str, key: str | None) -> str | None:
    """Return which array, or entry of obsm, is the map, where a file can have several."""
    if file_format not in _KEYS:
        return key
    if file_format == "npz":
        with Archive.opened(path) as archive:
            shapes = {name: header.shape for name, header in archive.headers.items()}
    else:
        anndata_io()
        with opened(path) as file:
            shapes = {name: getattr(e, "shape", ()) for name, e in file.get("obsm", {}).items()}
    what = _ENTRY[file_format]
    if key is not None and key not in shapes:
        raise unknown(key, shapes, what)
    return key or _only(shapes, path, _KEYS[file_format], what)


def _only(shapes: Mapping[str, tuple[int, ...]], path: Path, ours: Sequence[str], what: str) -> str:
    """Choose the entry that is a map, or the one that we wrote; log it, if there are others."""
    tables = {name: shape[1] for name, shape in shapes.items() if len(shape) == 2}
    fitting = [name for name, d in tables.items() if d in _SEVERAL]
    chosen = next((name for name in ours if tables.get(name) in _DIMENSIONS), None)
    if chosen is None and len(fitting) == 1:
        chosen = fitting[0]
    if chosen is None:
        if not fitting:
            raise TableError(f"the file has no {what} of two or three columns", "is it a map?")
        fix = f"choose one with {setting('key')}"
        raise TableError(f"the file holds several maps: {listed(fitting)}", fix)
    others = [name for name in tables if name != chosen]
    also = f", which also has {listed(others)}" if others else ""
    _LOGGER.info("the map is %r of %s%s", chosen, path.name, also)
    return chosen


def _id_column(source: Source, given: str | None, likely: str | None) -> str | None:
    """Return the column of the IDs, unless it is the format's own place for them."""
    if given in source.id_names:
        return None
    if given is not None and given not in source.all_names:
        raise unknown(given, source.all_names)
    if given is not None or likely in source.all_names:
        return given or likely
    if source.ids is not None:
        return None
    by_lower = {name.lower(): name for name in reversed(source.names)}
    return next((by_lower[name] for name in ID_NAMES if name in by_lower), None)


def _axes(source: Source, id_column: str | None) -> list[str]:
    """Find the columns of the coordinates."""
    numbers = [
        name
        for name in source.names
        if source.is_number(name) and name != id_column and name not in source.set_aside
    ]
    numbered = _numbered(numbers)
    groups = [group for group in numbered.values() if len(group) in _SEVERAL]
    lower = {name.lower(): name for name in numbers}
    if "dtsne" in numbered:
        return numbered["dtsne"]
    if len(groups) == 1:
        return groups[0]
    if "x" in lower and "y" in lower:
        return [lower[name] for name in _XYZ if name in lower]
    n_others = len(source.names) - len(numbers) - (id_column is not None)
    if len(numbers) in _SEVERAL or (len(numbers) == 1 and not n_others):
        return numbers
    source.check([name for name in source.names if name != id_column])
    raise TableError(
        f"the file has {counted(len(numbers), 'column', 'columns')} of numbers "
        f"({listed(numbers) or 'none'}), and it is not clear which two or three are the map",
        f"choose them with {setting('columns')}",
    )


def _numbered(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that end with a number, by what they begin with, in lower case."""
    numbered: dict[str, list[str]] = {}
    for name in names:
        stem = re.fullmatch(r"(.*?)[ _.-]?\d+", name)
        if stem and stem[1]:
            numbered.setdefault(stem[1].lower(), []).append(name)
    return numbered


def _name(source: Source, axes: Sequence[str], key: str | None) -> str | None:
    if key is not None:
        return key if len(axes) == len(source.names) else None
    groups = _numbered(source.names).items()
    return next((stem for stem, group in groups if set(group) == set(axes)), None)


def align(ids_of_data: Iterable[object], ids_of_map: Iterable[object]) -> IntArray:
    """Return the order that brings the points of a map to those of its data.

    Parameters
    ----------
    ids_of_data, ids_of_map : sequences of length n
        The IDs of the points, each of them once, in any order.

    Returns
    -------
    ndarray of shape (n,)
        `order`, with ``ids_of_map[order] == ids_of_data``; ``Y[order]`` are the rows of the data.

    Raises
    ------
    TableError
        If an ID occurs twice, or only on one side.

    Examples
    --------
    >>> from dtsne.tables import align
    >>> align(["a", "b", "c"], ["c", "a", "b"])
    array([1, 2, 0])
    """
    places = {"the data": _places(ids_of_data, "the data")}
    places["the map"] = _places(ids_of_map, "the map")
    parts = []
    for one, other in (("the data", "the map"), ("the map", "the data")):
        missing = [name for name in places[one] if name not in places[other]]
        if missing:
            number = counted(len(missing), f"ID of {one} is", f"IDs of {one} are")
            parts.append(f"{number} not in {other} ({listed(missing, 3)})")
    if parts:
        fix = f"pass the map of these data, or the right column of IDs ({setting('id_column')})"
        raise TableError(" and ".join(parts), fix)
    return np.array([places["the map"][name] for name in places["the data"]], dtype=np.intp)


def _places(ids: Iterable[object], what: str) -> dict[str, int]:
    place: dict[str, int] = {}
    for row, name in enumerate(as_text(ids)):
        if place.setdefault(name, row) != row:
            reason = f"the ID {name!r} occurs more than once in {what}: points cannot be matched"
            raise TableError(reason, "make the IDs unique, or leave them out if the order is right")
    return place
