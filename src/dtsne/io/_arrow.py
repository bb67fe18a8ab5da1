"""Columns of Arrow, and the two formats that are made of them: parquet and feather."""

from __future__ import annotations

import json
from collections import Counter
from typing import IO, TYPE_CHECKING

import numpy as np

from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room
from dtsne.io._select import matching
from dtsne.io._table import Source, as_text, float_type
from dtsne.runtime._names import listed
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

    import pyarrow as pa

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field

# A column in Arrow's memory and again in X, 8 bytes each; of text, a pointer and an index.
BYTES_PER_CELL = 16


def arrow(module: str = "pyarrow") -> ModuleType:
    """Import pyarrow or a module of it.

    One package for csv, parquet and feather: strict where pandas fills in (a row that is too short
    is an error, an empty cell is not NaN before we count it), and typed column by column. pandas
    would need it for parquet and feather in any case.
    """
    return optional(module, extra="tables", purpose="reading or writing tables")


def _is(kind: pa.DataType, *names: str) -> bool:
    types = arrow("pyarrow.types")
    return any(getattr(types, f"is_{name}")(kind) for name in names)


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of text."""
    return _is(kind, "string", "large_string")


def is_binary(kind: pa.DataType) -> bool:
    """Whether a type is one of bytes that are not text."""
    return _is(kind, "binary", "large_binary", "fixed_size_binary")


def values_of(column: pa.ChunkedArray) -> Field | None:
    """Return a column as numbers, truth values or text; None where it is nothing of these."""
    kind = column.type
    if _is(kind, "integer", "floating", "boolean") and not column.null_count:
        return np.asarray(column.to_numpy())
    if _is(kind, "integer", "floating", "decimal"):
        dtype = np.dtype(np.float64 if _is(kind, "decimal") else kind.to_pandas_dtype())
        # safe=False: integers beyond 2⁵³ are rounded, which is what a measurement can bear.
        floats = column.cast(arrow().float64(), safe=False).to_numpy()
        return np.asarray(floats, dtype=float_type(dtype))
    if _is(kind, "dictionary"):
        return _decoded(column)
    if _is(kind, "nested", "null") or is_binary(kind):
        return None
    return as_text(column.cast(arrow().string()).to_numpy())


def _decoded(column: pa.ChunkedArray) -> Field:
    """Return the values of categories, each text once in memory."""
    parts = []
    for chunk in column.chunks:
        categories = as_text([*chunk.dictionary.to_pylist(), None])
        codes = chunk.indices.fill_null(len(categories) - 1).to_numpy(zero_copy_only=False)
        parts.append(categories[codes])
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def read_parquet(path: Path, options: ReadOptions) -> Source:
    """Read a parquet file: the columns that are wanted, once it is clear that they fit."""
    parquet = arrow("pyarrow.parquet")
    # Opened here, and below: Arrow takes all file names for UTF-8.
    with reading("a parquet file"), path.open("rb") as opened:
        # Text as categories, as it is stored: one long text, repeated, would else fill the memory.
        schema = parquet.read_schema(opened)
        texts = [field.name for field in schema if is_text(field.type)]
        with parquet.ParquetFile(opened, read_dictionary=texts) as file:
            wanted = _wanted(schema, options)
            n_rows = file.metadata.num_rows
            check_room(BYTES_PER_CELL * n_rows * len(wanted) + _stored(file.metadata, texts))
            return _source(file.read(columns=wanted), schema, path)


def _stored(metadata: pa.parquet.FileMetaData, names: Sequence[str]) -> int:
    """Bytes of columns as stored, before compression."""
    chosen = set(names)
    return sum(
        chunk.total_uncompressed_size
        for group in map(metadata.row_group, range(metadata.num_row_groups))
        for chunk in map(group.column, range(group.num_columns))
        if chunk.path_in_schema in chosen
    )


def read_feather(path: Path, options: ReadOptions) -> Source:
    """Read a Feather or Arrow IPC file: the columns that are wanted, if they fit."""
    dataset = arrow("pyarrow.dataset")
    with reading("a Feather (Arrow) file"), path.open("rb") as opened:
        is_stream = opened.read(4) == b"\xff\xff\xff\xff"
        opened.seek(0)
        if is_stream:
            return _read_stream(opened, path, options)
        source = dataset.IpcFileFormat().make_fragment(opened)
        schema = source.physical_schema
        wanted = _wanted(schema, options)
        # Counting reads how long the batches are, and none of them.
        check_room(BYTES_PER_CELL * source.count_rows() * len(wanted))
        return _source(source.to_table(columns=wanted), schema, path)


def _read_stream(opened: IO[bytes], path: Path, options: ReadOptions) -> Source:
    """Read Arrow's other form, which tells only batch by batch how long it is."""
    batches, n_bytes = [], 0
    with arrow("pyarrow.ipc").open_stream(opened) as stream:
        schema = stream.schema
        wanted = _wanted(schema, options)
        for batch in stream:
            n_bytes += 2 * batch.nbytes
            check_room(n_bytes)
            batches.append(batch.select(wanted))
    table = arrow().Table.from_batches(batches, None if batches else schema)
    return _source(table, schema, path)


def _wanted(schema: pa.Schema, options: ReadOptions) -> list[str]:
    """Return the columns to read: not those numbers that nobody asked for."""
    again = [name for name, count in Counter(schema.names).items() if count > 1]
    if again:
        raise TableError(f"the columns {listed(again)} occur more than once", "rename them")
    if options.columns is None:
        return list(schema.names)
    wanted = set(matching([*options.columns, *options.exclude], schema.names))
    wanted |= options.named | set(_index_names(schema))
    numbers = ("integer", "floating", "decimal")
    return [field.name for field in schema if field.name in wanted or not _is(field.type, *numbers)]


def _source(table: pa.Table, schema: pa.Schema, path: Path) -> Source:
    # A corrupt file can have texts that begin and end anywhere, also outside of it.
    table.validate(full=True)
    arrays = dict(zip(table.column_names, table.columns, strict=True))
    columns = {name: values_of(column) for name, column in arrays.items()}
    # A pandas frame stores its index as a column.
    index = [name for name in _index_names(schema) if name in columns]
    ids = columns[index[0]] if len(index) == 1 else None
    found = {name: _categories(column, schema.field(name)) for name, column in arrays.items()}
    return Source(
        path,
        path.name,
        tuple(columns),
        columns=columns,
        ids=None if ids is None else as_text(ids),
        set_aside=frozenset(index if len(index) == 1 else ()),
        categories={name: order for name, order in found.items() if order is not None},
    )


def _categories(column: pa.ChunkedArray, field: pa.Field) -> tuple[str, ...] | None:
    """Return the categories, if they have an order.

    In polars, those of an Enum do; a Categorical lists its values as they occur in the rows. In
    parquet, texts are read as categories too, so the type is that of the schema.
    """
    of_polars = any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
    if of_polars or not _is(field.type, "dictionary"):
        return None
    parts = (as_text(chunk.dictionary.to_pylist()) for chunk in column.chunks)
    return tuple(dict.fromkeys(text for part in parts for text in part))


def _index_names(schema: pa.Schema) -> list[str]:
    try:
        stored = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        return []
    return [name for name in stored if isinstance(name, str)]
