"""Maps into files, with what is known of each point beside its coordinates."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dtsne.io._columns import as_text
from dtsne.io._errors import TableError
from dtsne.io._files import format_of
from dtsne.io._formats import WRITTEN
from dtsne.io._integers import has_gaps
from dtsne.io._pyarrow import arrow
from dtsne.runtime._atomic import check_output, whole_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from dtsne.io._table import Field

_LOGGER = logging.getLogger(__name__)

_ROWS_AT_ONCE = 10_000  # numbers as text take sixteen times their memory


def write_table(
    path: str | os.PathLike[str],
    embedding: ArrayLike,
    *,
    ids: Sequence[Any] | Field | None = None,
    fields: Mapping[str, ArrayLike] | None = None,
    source: str | os.PathLike[str] | None = None,
    overwrite_source: bool = False,
    format: str | None = None,  # noqa: A002
    name: str = "dtsne",
) -> None:
    """Write a map as a table: ``id``, ``dtsne_1``, ``dtsne_2`` (``dtsne_3``), and further columns.

    The file is written whole or not at all.

    Parameters
    ----------
    path : path-like
        The file. An .npz holds the map as the array `name`, ids as ``id``, and each field; an .npy
        has no place for anything but the map.
    embedding : array-like of shape (n, 1), (n, 2) or (n, 3)
        The map.
    ids : sequence of length n, optional
        Names of the points.
    fields : mapping of str to array-like of shape (n,), optional
        Further columns, numbers or text.
    source : path-like, optional
        The file that the data came from, which is refused as `path` unless `overwrite_source`.
    overwrite_source : bool, default=False
        Allow that.
    format : {"csv", "tsv", "parquet", "feather", "npy", "npz"}, optional
        By default that of the suffix. Tables of text may be compressed (``.gz``).
    name : str, default="dtsne"
        What the names of the coordinates begin with.

    Raises
    ------
    TableError
        If the columns do not fit together, or the suffix says nothing of the format.
    OSError
        If the file cannot be written.
    ImportError
        For parquet and feather, if pyarrow is missing.
    """
    path = check_output(path, source, overwrite_source=overwrite_source)
    chosen = format_of(path, format, WRITTEN)
    coordinates = np.asarray(embedding)
    if coordinates.ndim != 2 or not 1 <= coordinates.shape[1] <= 3:
        raise TableError(
            f"{path}: a map has the shape (n, 2) or (n, 3), not {coordinates.shape}; transpose it?"
        )
    extra = _columns(ids, fields or {}, len(coordinates), path)
    axes = {f"{name}_{i + 1}": column for i, column in enumerate(coordinates.T)}
    clashing = ({name} if chosen == "npz" else set(axes)) & set(extra)
    if clashing:
        raise TableError(f"{path}: a field cannot be called {sorted(clashing)[0]!r}; rename it.")
    with whole_file(path) as part:
        if chosen == "npy":
            _write_npy(part, coordinates, path, extra)
        elif chosen == "npz":
            _write_npz(part, {name: coordinates, **extra})
        else:
            first = {key: extra.pop(key) for key in ("id",) if ids is not None}
            write = _write_text if chosen in ("csv", "tsv") else _write_arrow
            write(part, {**first, **axes, **extra}, chosen, path)


def _columns(
    ids: Sequence[Any] | Field | None, fields: Mapping[str, ArrayLike], n: int, path: Path
) -> dict[str, Field]:
    """Return ids and fields as arrays of equal length, of numbers or of text."""
    if ids is not None and "id" in fields:
        raise TableError(f"{path}: a field cannot be called 'id' where there are ids; rename it.")
    columns = {} if ids is None else {"id": as_text(ids)}
    for name, values in fields.items():
        array = np.asarray(values)
        columns[name] = array if array.dtype.kind in "iufb" else as_text(values)
    for name, column in columns.items():
        if column.shape != (n,):
            raise TableError(
                f"{path}: {name!r} has the shape {column.shape} where the map has {n:,} points; "
                "give one value for each."
            )
    return columns


def _write_text(part: Path, columns: Mapping[str, Field], kind: str, path: Path) -> None:
    compressed = path.suffix.lower() == ".gz"
    with part.open("wb") as raw:
        # mtime=0: the same map makes the same bytes.
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if compressed else None
        binary: IO[bytes] = raw if packed is None else packed  # type: ignore[assignment]
        text = io.TextIOWrapper(binary, "utf-8", newline="")
        writer = csv.writer(text, delimiter="," if kind == "csv" else "\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(_rows([_as_written(column) for column in columns.values()]))
        text.flush()
        text.detach()
        if packed is not None:
            packed.close()


def _rows(columns: Sequence[Field]) -> Iterator[tuple[str, ...]]:
    for begin in range(0, len(columns[0]), _ROWS_AT_ONCE):
        parts = (column[begin : begin + _ROWS_AT_ONCE] for column in columns)
        yield from zip(*map(_cells, parts), strict=True)


def _as_written(column: Field) -> Field:
    """Return integers with gaps as text, where a 3 is no 3.0."""
    if not has_gaps(column):
        return column
    texts = np.full(len(column), "", dtype=object)
    known = ~np.isnan(column)
    texts[known] = [str(int(value)) for value in column[known]]
    return texts


def _cells(column: Field) -> Any:
    if column.dtype.kind == "b":
        return np.where(column, "true", "false")
    # By numpy, as many digits as the type has: Python would write a float32 as a float64.
    texts = column if column.dtype.kind == "O" else column.astype(str)
    return np.where(np.isnan(column), "", texts) if column.dtype.kind == "f" else texts


def _write_arrow(part: Path, columns: Mapping[str, Field], kind: str, path: Path) -> None:  # noqa: ARG001
    table = arrow().table({name: _arrow_array(c) for name, c in columns.items()})
    # Opened here, as Arrow takes all names of files for UTF-8.
    with part.open("wb") as file:
        if kind == "parquet":
            arrow("pyarrow.parquet").write_table(table, file)
        else:
            arrow("pyarrow.feather").write_feather(table, file)


def _arrow_array(column: Field) -> Any:
    if not has_gaps(column):
        return np.ascontiguousarray(column)
    missing = np.isnan(column)
    return arrow().array(np.where(missing, 0, column).astype(np.int64), mask=missing)


def _write_npz(part: Path, columns: Mapping[str, Field]) -> None:
    arrays = {
        name: column.astype(str) if column.dtype.kind == "O" else column
        for name, column in columns.items()
    }
    # As numpy.savez_compressed, for which an array cannot be called "file".
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _write_npy(part: Path, embedding: Field, path: Path, extra: Mapping[str, Field]) -> None:
    if extra:
        _LOGGER.info("%s holds the map alone, without %s", path, ", ".join(extra))
    with part.open("wb") as file:
        np.save(file, embedding, allow_pickle=False)
