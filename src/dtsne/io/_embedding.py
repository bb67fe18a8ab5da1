"""Maps read back, ours and those of other tools, and matched with their data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._columns import as_text
from dtsne.io._errors import TableError
from dtsne.io._map_files import find_map
from dtsne.io._names import counted, listed
from dtsne.io._options import ReadOptions

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from dtsne.io._options import ReadKeywords
    from dtsne.io._table import Field, TextArray
    from dtsne.runtime._typing import FloatArray, IntArray


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
        The names of its points.

    Raises
    ------
    TableError, OSError, ImportError
        As :func:`read_table`.
    """
    found = find_map(path, replace(options or ReadOptions(), **keywords))
    return found.Y, found.ids


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
            f"{counted(len(names), f'id of {one} is', f'ids of {one} are')} not in {other} "
            f"({listed(names, 3)})"
            for names, one, other in (
                (missing, "the data", "the map"),
                (unexpected, "the map", "the data"),
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
