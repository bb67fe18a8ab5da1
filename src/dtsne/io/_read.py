"""One entrance to all formats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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
from dtsne.io._options import Options
from dtsne.io._selection import Selection, table_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from dtsne.io._columns import Columns
    from dtsne.io._table import Table


@dataclass(frozen=True)
class Format:
    """How a format is read, and which options it has."""

    read: Callable[[Path, Options], Columns]
    options: frozenset[str] = frozenset()


_TEXT = frozenset({"header", "delimiter", "decimal"})

FORMATS = {
    "csv": Format(partial(read_delimited, delimiter=","), _TEXT),
    "tsv": Format(partial(read_delimited, delimiter="\t"), _TEXT),
    "parquet": Format(read_parquet),
    "feather": Format(read_feather),
    "npy": Format(read_npy),
    "npz": Format(read_npz, frozenset({"key"})),
    "h5ad": Format(read_h5ad, frozenset({"layer", "use_rep"})),
    "fcs": Format(read_fcs),
    "mtx": Format(read_mtx, frozenset({"transpose"})),
}


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    id_column: str | None = None,
    label_column: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    key: str | None = None,
    layer: str | None = None,
    use_rep: str | None = None,
    transpose: bool | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Table:
    """Read a table of points: numbers to map, and what else the file says of each.

    Parameters
    ----------
    path : path-like
        The file.
    format : {"csv", "tsv", "parquet", "feather", "npy", "npz", "h5ad", "fcs", "mtx"}, optional
        By default that of the suffix. Tables of text and ``.mtx`` may be compressed (``.gz``).
    id_column : str, optional
        The column that names the rows. By default the names that the format has a place for: the
        index of a pandas frame, ``obs_names``, barcodes, the first column of a csv if it is
        without a name, the array ``id`` or ``ids`` of an npz.
    label_column : str, optional
        The column, or the field such as a column of ``obs``, that becomes `labels`.
    columns : sequence of str, optional
        The columns to take as numbers, by name or by patterns such as ``"PC_*"``; by default all
        that hold numbers.
    exclude : sequence of str, optional
        Columns not to take as numbers, by name or pattern. They become fields.
    key : str, optional
        For npz: the array to read; by default ``X``, or the only one of two dimensions.
    layer, use_rep : str, optional
        For h5ad: a layer, or an entry of ``obsm`` such as ``"X_pca"``, to read instead of ``X``.
    transpose : bool, optional
        For mtx: whether the points are the columns of the file. By default they are if the lengths
        of ``barcodes.tsv`` and ``features.tsv`` beside it say so, and they are not without these.
    header : bool, optional
        For csv and tsv: whether the first line holds names. By default that is seen in the file.
    delimiter, decimal : str, optional
        For csv and tsv: what divides the cells (a comma or tab by default), and the decimal point.

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
    selection = Selection(
        None if columns is None else as_names(columns, "columns"),
        as_names(exclude or (), "exclude"),
        id_column,
        label_column,
    )
    options = Options(
        selection,
        key=key,
        layer=layer,
        use_rep=use_rep,
        transpose=transpose,
        header=header,
        delimiter=delimiter,
        decimal=decimal,
    )
    return table_of(open_columns(path, format, options), selection)


def open_columns(
    path: str | os.PathLike[str], given_format: str | None, options: Options
) -> Columns:
    """Read a file of any format, as columns to choose from."""
    path = existing_file(path)
    name = format_of(path, given_format, READ)
    options.check(FORMATS[name].options, name, path)
    return FORMATS[name].read(path, options)


def as_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple; a single text is taken as one, not as its letters."""
    result = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in result):
        raise TableError(f"{what} takes names of columns, as text; got {result!r}.")
    return result
