"""One entrance to all formats."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dtsne.io._anndata import read_h5ad
from dtsne.io._arrow import read_feather, read_parquet
from dtsne.io._delimited import read_delimited
from dtsne.io._errors import TableError
from dtsne.io._fcs import read_fcs
from dtsne.io._files import existing_file, format_of
from dtsne.io._formats import READ
from dtsne.io._mtx import read_mtx
from dtsne.io._numpy_files import read_npy, read_npz
from dtsne.io._options import ReadOptions
from dtsne.io._selection import table_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection
    from pathlib import Path
    from typing import Unpack

    from dtsne.io._columns import Columns
    from dtsne.io._options import ReadKeywords
    from dtsne.io._table import Table


_TEXT = frozenset({"header", "delimiter", "decimal"})
# Options that not all formats have.
FORMAT_OPTIONS: dict[str, frozenset[str]] = {
    "csv": _TEXT,
    "tsv": _TEXT,
    "parquet": frozenset(),
    "feather": frozenset(),
    "npy": frozenset(),
    "npz": frozenset({"key"}),
    "h5ad": frozenset({"layer", "use_rep"}),
    "fcs": frozenset(),
    "mtx": frozenset({"transpose"}),
}
_READERS: dict[str, Callable[[Path, ReadOptions], Columns]] = {
    "parquet": read_parquet,
    "feather": read_feather,
    "npy": read_npy,
    "npz": read_npz,
    "h5ad": read_h5ad,
    "fcs": read_fcs,
    "mtx": read_mtx,
}


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
    TableError
        If the content cannot be used, or does not fit into memory. It is a ValueError, names the
        file, and says what to do.
    OSError
        If there is no such file, or it may not be read.
    ImportError
        If a package is missing that the format needs; the message names the ``pip install``.

    Examples
    --------
    >>> import numpy as np
    >>> from dtsne.tables import read_table
    >>> np.save("points.npy", np.eye(5))  # doctest: +SKIP
    >>> read_table("points.npy").source  # doctest: +SKIP
    '5 rows × 5 numbers from points.npy'
    """
    options = replace(options or ReadOptions(), **keywords)
    return table_of(open_columns(path, options), options)


def open_columns(
    path: str | os.PathLike[str], options: ReadOptions, text_names: Collection[str] = ()
) -> Columns:
    """Read a file of any format, as columns to choose from.

    Text tables keep the cells of `text_names` (in lower case) as they are written.
    """
    path = existing_file(path)
    name = format_of(path, options.format, READ)
    _check_options(path, name, options)
    if name in ("csv", "tsv"):
        return read_delimited(path, options, "," if name == "csv" else "\t", text_names)
    return _READERS[name](path, options)


def _check_options(path: Path, name: str, options: ReadOptions) -> None:
    """Reject options of other formats."""
    allowed = FORMAT_OPTIONS[name]
    for option in sorted(frozenset().union(*FORMAT_OPTIONS.values()) - allowed):
        if getattr(options, option) is not None:
            has = f"it has {', '.join(sorted(allowed))}" if allowed else "it has none"
            raise TableError(
                f"{path}: the format {name} has no option {option!r} ({has}); leave it out."
            )
