"""Maps into files, with other columns for each point."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import zipfile
from typing import IO, TYPE_CHECKING

import numpy as np

from dtsne.io._arrow import arrow
from dtsne.io._errors import TableError, naming
from dtsne.io._files import WRITTEN, format_of
from dtsne.io._table import as_text, has_gaps
from dtsne.runtime._atomic import atomic_write, check_output

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import ArrayLike

    from dtsne.io._table import Field

_LOGGER = logging.getLogger(__name__)

_ROWS_AT_ONCE = 10_000  # numbers as text take sixteen times their memory


def write_table(
    path: str | os.PathLike[str],
    embedding: ArrayLike,
    *,
    ids: Iterable[object] | None = None,
    fields: Mapping[str, ArrayLike] | None = None,
    source: str | os.PathLike[str] | None = None,
    overwrite_source: bool = False,
    format: str | None = None,  # noqa: A002
    name: str = "dtsne",
) -> None:
    """Write a map as a table: ``id``, ``dtsne_1``, ``dtsne_2`` (``dtsne_3``), and further columns.

    The write is atomic: the file is complete, or as it was before.

    Parameters
    ----------
    path : path-like
        The file. An .npz holds the map as the array `name`, IDs as ``id``, and each field; an .npy
        holds the map alone.
    embedding : array-like of shape (n, 1), (n, 2) or (n, 3)
        The map.
    ids : sequence of length n, optional
        IDs of the points.
    fields : mapping of str to array-like of shape (n,), optional
        Further columns, numbers or text.
    source : path-like, optional
        The file that the data came from, which is rejected as `path` unless `overwrite_source`.
    overwrite_source : bool, default=False
        Allow `path` to be `source`.
    format : {"csv", "tsv", "parquet", "feather", "npy", "npz"}, optional
        By default that of the suffix. Text tables may be compressed (``.gz``).
    name : str, default="dtsne"
        What the names of the coordinates begin with.

    Raises
    ------
    TableError
        If the columns do not fit together, or the suffix does not tell the format.
    OSError
        If the file cannot be written.
    ImportError
        For parquet and feather, if pyarrow is missing.
    """
    path = check_output(path, source, overwrite_source=overwrite_source)
    chosen = format_of(path, format, WRITTEN)
    with naming(path):
        coordinates = np.asarray(embedding)
        if coordinates.ndim != 2 or not 1 <= coordinates.shape[1] <= 3:
            reason = f"a map has the shape (n, 2) or (n, 3), not {coordinates.shape}"
            raise TableError(reason, "transpose it?")
        extra = _columns(ids, fields or {}, len(coordinates))
        axes = {f"{name}_{i + 1}": column for i, column in enumerate(coordinates.T)}
        clashing = ({name} if chosen == "npz" else set(axes)) & set(extra)
        if clashing:
            raise TableError(f"a field cannot be called {sorted(clashing)[0]!r}", "rename it")
    if chosen == "npy" and extra:
        _LOGGER.info("%s holds the map alone, without %s", path, ", ".join(extra))
    with atomic_write(path) as part, part.open("wb") as file:
        if chosen == "npy":
            np.save(file, coordinates, allow_pickle=False)
        elif chosen == "npz":
            _write_npz(file, {name: coordinates, **extra})
        else:
            first = {"id": extra.pop("id")} if ids is not None else {}
            columns = {**first, **axes, **extra}
            if chosen in ("csv", "tsv"):
                compressed = path.suffix.lower() == ".gz"
                _write_text(file, columns, "," if chosen == "csv" else "\t", compressed=compressed)
            else:
                _write_arrow(file, columns, chosen)


def _columns(
    ids: Iterable[object] | None, fields: Mapping[str, ArrayLike], n: int
) -> dict[str, Field]:
    """Return IDs and fields as arrays of equal length, of numbers or of text."""
    if ids is not None and "id" in fields:
        raise TableError("a field cannot be called 'id' where there are IDs", "rename it")
    columns: dict[str, Field] = {} if ids is None else {"id": as_text(ids)}
    for name, values in fields.items():
        array = np.asarray(values)
        columns[name] = array if array.dtype.kind in "iufb" else as_text(array)
    for name, column in columns.items():
        if column.shape != (n,):
            reason = f"{name!r} has the shape {column.shape} where the map has {n:,} points"
            raise TableError(reason, "pass one value for each point")
    return columns


def _write_text(
    file: IO[bytes], columns: Mapping[str, Field], delimiter: str, *, compressed: bool
) -> None:
    # mtime=0: the same map makes the same bytes.
    packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if compressed else None
    text = io.TextIOWrapper(packed or file, "utf-8", newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
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
    """Return integers with gaps as text, where a 3 is not 3.0."""
    if not has_gaps(column):
        return column
    return as_text([None if np.isnan(value) else int(value) for value in column])


def _cells(column: Field) -> Field:
    if column.dtype.kind == "b":
        return np.where(column, "true", "false")
    # By numpy, as many digits as the type has: Python would write a float32 as a float64.
    texts = column if column.dtype.kind == "O" else column.astype(str)
    return np.where(np.isnan(column), "", texts) if column.dtype.kind == "f" else texts


def _write_arrow(file: IO[bytes], columns: Mapping[str, Field], kind: str) -> None:
    table = arrow().table({name: _arrow_array(c) for name, c in columns.items()})
    if kind == "parquet":
        arrow("pyarrow.parquet").write_table(table, file)
    else:
        arrow("pyarrow.feather").write_feather(table, file)


def _arrow_array(column: Field) -> Field | pa.Array:
    if not has_gaps(column):
        return np.ascontiguousarray(column)
    missing = np.isnan(column)
    return arrow().array(np.where(missing, 0, column).astype(np.int64), mask=missing)


def _write_npz(file: IO[bytes], columns: Mapping[str, Field]) -> None:
    # As numpy.savez_compressed, for which an array cannot be called "file".
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, column in columns.items():
            array = column.astype(str) if column.dtype.kind == "O" else column
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
