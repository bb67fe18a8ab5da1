"""Tables of all formats."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dtsne.io._anndata import read_h5ad
from dtsne.io._arrow import read_feather, read_parquet
from dtsne.io._delimited import read_delimited
from dtsne.io._errors import naming
from dtsne.io._fcs import read_fcs
from dtsne.io._files import READ, existing_file, format_of
from dtsne.io._mtx import read_mtx
from dtsne.io._numpy import read_npy, read_npz
from dtsne.io._options import ReadOptions
from dtsne.io._select import select
from dtsne.runtime._errors import ParameterError, setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection
    from pathlib import Path
    from typing import Unpack

    from dtsne.io._options import ReadKeywords
    from dtsne.io._table import Source, Table

# Options that not all formats have.
FORMAT_OPTIONS = {
    **dict.fromkeys(READ, frozenset[str]()),
    **dict.fromkeys(("csv", "tsv"), frozenset({"header", "delimiter", "decimal"})),
    "npz": frozenset({"key"}),
    "h5ad": frozenset({"layer", "use_rep"}),
    "mtx": frozenset({"transpose"}),
}
_READERS: dict[str, Callable[[Path, ReadOptions], Source]] = {
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
    for option in sorted(frozenset().union(*FORMAT_OPTIONS.values()) - allowed):
        value = getattr(options, option)
        if value is not None:
            has = ", ".join(map(setting, sorted(allowed))) or "none"
            raise ParameterError(
                option,
                value,
                reason=f"{path}: {setting(option, value)} is not an option of {name} files",
                fix=f"their options: {has}",
            )
    if name in ("csv", "tsv"):
        delimiter = options.delimiter or {"csv": ",", "tsv": "\t"}[name]
        return read_delimited(path, replace(options, delimiter=delimiter), text_names)
    return _READERS[name](path, options)
