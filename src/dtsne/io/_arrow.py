"""Columns in Arrow's memory, and the two formats that are made of them: parquet and feather."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dtsne.io._columns import Columns, as_text
from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room
from dtsne.io._names import listed, matching
from dtsne.io._pyarrow import arrow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field, TextArray

# A column in Arrow's memory and again in X, 8 bytes each; of text, a pointer and an index.
BYTES_PER_CELL = 16


@dataclass(frozen=True, eq=False)
class ArrowColumns(Columns):
    """Columns of an Arrow table."""

    path: Path
    what: str
    by_name: dict[str, Any]
    ids: TextArray | None = None
    set_aside: frozenset[str] = frozenset()
    categorical: frozenset[str] = frozenset()  # in the file, as texts are read as such, too

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """See :class:`Columns`."""
        return tuple(self.by_name)

    @property
    def beside(self) -> tuple[str, ...]:
        """See :class:`Columns`."""
        return ()

    def is_number(self, name: str) -> bool:
        """See :class:`Columns`."""
        return is_number(self.by_name[name].type)

    def is_integer(self, name: str) -> bool:
        """See :class:`Columns`."""
        column = self.by_name[name]
        return bool(arrow("pyarrow.types").is_integer(column.type) and not column.null_count)

    def numbers(self, names: Sequence[str]) -> Any:
        """See :class:`Columns`."""
        pa = arrow()
        columns = [self.by_name[name] for name in names]
        types = {column.type for column in columns}
        # Float32 holds all digits of those.
        small = (pa.float32(), pa.float16(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
        dtype = np.float32 if types.issubset(small) else np.float64
        X = np.empty((len(columns[0]), len(columns)), dtype=dtype)
        for i, column in enumerate(columns):
            X[:, i] = _floats(column)
        return X

    def categories(self, name: str) -> tuple[str, ...] | None:
        """See :class:`Columns`."""
        if name not in self.categorical:
            return None
        parts = (as_text(chunk.dictionary.to_pylist()) for chunk in self.by_name[name].chunks)
        return tuple(dict.fromkeys(text for part in parts for text in part))

    def values(self, name: str) -> Field | None:
        """See :class:`Columns`."""
        types, column = arrow("pyarrow.types"), self.by_name[name]
        kind = column.type
        if types.is_boolean(kind) and not column.null_count:
            return np.asarray(column.to_numpy())
        if types.is_integer(kind) and not column.null_count:
            return np.asarray(column.to_numpy())
        if is_number(kind):
            return _floats(column)
        if types.is_dictionary(kind):
            return _decoded(column)
        if types.is_nested(kind) or types.is_null(kind) or is_binary(kind):
            return None
        return as_text(column.cast(arrow().string()).to_numpy())


def _floats(column: Any) -> Field:
    if not column.null_count and column.type in (arrow().float32(), arrow().float64()):
        return np.asarray(column.to_numpy())
    # safe=False: integers beyond 2⁵³ are rounded, which is what a measurement can bear.
    return np.asarray(column.cast(arrow().float64(), safe=False).to_numpy())


def columns_of(table: Any) -> dict[str, Any]:
    """Return the columns of an Arrow table by name; to ask it for each takes long if it is wide."""
    return dict(zip(table.column_names, table.columns, strict=True))


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow's is one of numbers."""
    types = arrow("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_binary(kind: Any) -> bool:
    """Whether a type of Arrow's is one of bytes that are not text."""
    types = arrow("pyarrow.types")
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow's is one of text."""
    types = arrow("pyarrow.types")
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _decoded(column: Any) -> Field:
    """Return the values of categories, each text once in memory."""
    parts = []
    for chunk in column.chunks:
        categories = as_text([*chunk.dictionary.to_pylist(), None])
        codes = chunk.indices.fill_null(len(categories) - 1).to_numpy(zero_copy_only=False)
        parts.append(categories[codes])
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def read_parquet(path: Path, options: ReadOptions) -> ArrowColumns:
    """Read a parquet file: the columns that are wanted, once it is clear that they fit."""
    parquet = arrow("pyarrow.parquet")
    # Opened here, and below: Arrow takes all names of files for UTF-8.
    with reading(path, "a parquet file"), path.open("rb") as opened:
        # Text as categories, as it is stored: one long text, repeated, would else fill the memory.
        schema = parquet.read_schema(opened)
        texts = [field.name for field in schema if is_text(field.type)]
        with parquet.ParquetFile(opened, read_dictionary=texts) as file:
            wanted = _wanted(schema, options, path)
            n_rows = file.metadata.num_rows
            check_room(path, BYTES_PER_CELL * n_rows * len(wanted) + _stored(file.metadata, texts))
            table = file.read(columns=wanted)
        return _with_index(table, schema, path)


def _stored(metadata: Any, names: Sequence[str]) -> int:
    """Bytes of columns as stored, before compression."""
    chosen = set(names)
    return sum(
        chunk.total_uncompressed_size
        for group in map(metadata.row_group, range(metadata.num_row_groups))
        for chunk in map(group.column, range(group.num_columns))
        if chunk.path_in_schema in chosen
    )


def read_feather(path: Path, options: ReadOptions) -> ArrowColumns:
    """Read a Feather or Arrow IPC file: the columns that are wanted, if they fit."""
    dataset = arrow("pyarrow.dataset")
    with path.open("rb") as file:
        is_stream = file.read(4) == b"\xff\xff\xff\xff"
    with reading(path, "a Feather (Arrow) file"), path.open("rb") as opened:
        if is_stream:
            return _read_stream(opened, path, options)
        source = dataset.IpcFileFormat().make_fragment(opened)
        schema = source.physical_schema
        wanted = _wanted(schema, options, path)
        # Counting reads how long the batches are, and none of them.
        check_room(path, BYTES_PER_CELL * source.count_rows() * len(wanted))
        return _with_index(source.to_table(columns=wanted), schema, path)


def _read_stream(opened: IO[bytes], path: Path, options: ReadOptions) -> ArrowColumns:
    """Read Arrow's other form, which says only batch by batch how long it is."""
    pa, batches, n_bytes = arrow(), [], 0
    with arrow("pyarrow.ipc").open_stream(opened) as stream:
        wanted = _wanted(stream.schema, options, path)
        for batch in stream:
            n_bytes += 2 * batch.nbytes
            check_room(path, n_bytes)
            batches.append(batch.select(wanted))
        table = pa.Table.from_batches(batches, stream.schema if not batches else None)
    return _with_index(table, stream.schema, path)


def _wanted(schema: Any, options: ReadOptions, path: Path) -> list[str]:
    """Return the columns to read: not those numbers that nobody asked for."""
    again = [name for name, count in Counter(schema.names).items() if count > 1]
    if again:
        raise TableError(f"{path}: the columns {listed(again)} occur more than once; rename them.")
    if options.columns is None:
        return list(schema.names)
    asked_for = set(matching([*options.columns, *options.exclude], schema.names, path))
    asked_for |= options.named | set(_index_names(schema))
    return [f.name for f in schema if f.name in asked_for or not is_number(f.type)]


def _with_index(table: Any, schema: Any, path: Path) -> ArrowColumns:
    """Take the index of a pandas frame, which is stored as a column, for the ids."""
    # A damaged file can have texts that begin and end anywhere, also outside of it.
    table.validate(full=True)
    index = [name for name in _index_names(schema) if name in table.column_names]
    categorical = frozenset(field.name for field in schema if _has_order(field))
    columns = ArrowColumns(path, path.name, columns_of(table), categorical=categorical)
    if len(index) != 1:
        return columns
    values = columns.values(index[0])
    ids = None if values is None else as_text(values)
    return replace(columns, ids=ids, set_aside=frozenset(index))


def _has_order(field: Any) -> bool:
    """Whether a column is of categories in an order; those of polars are in that of the rows."""
    of_polars = any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
    return bool(arrow("pyarrow.types").is_dictionary(field.type)) and not of_polars


def _index_names(schema: Any) -> list[str]:
    try:
        stored = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        return []
    return [name for name in stored if isinstance(name, str)]
