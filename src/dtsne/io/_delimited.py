"""Tables of text: csv and tsv, compressed or not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dtsne.io._arrow import BYTES_PER_CELL, ArrowColumns, columns_of, is_binary, is_text
from dtsne.io._columns import as_text
from dtsne.io._errors import TableError, reading
from dtsne.io._files import count_lines, is_gzip
from dtsne.io._layout import INDEX, find_layout
from dtsne.io._number_columns import MISSING, check_column
from dtsne.io._pyarrow import arrow
from dtsne.io._text import bad_row, line_of_row, not_utf8

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from dtsne.io._layout import Layout
    from dtsne.io._options import ReadOptions

# Arrow parses blocks in parallel, and no line may be longer than one.
_BLOCK_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class TextColumns(ArrowColumns):
    """Columns of a table of text."""

    layout: Layout | None = None

    def where(self, row: int) -> str:
        """See :class:`Columns`."""
        if self.layout is None:
            return super().where(row)
        return line_of_row(self.path, self.layout.delimiter, self.layout.n_skipped, row)

    def check(self, names: Sequence[str]) -> None:
        """See :class:`Columns`."""
        delimiter = "" if self.layout is None else self.layout.delimiter
        for name in names:
            column = self.by_name[name]
            if is_text(column.type):
                check_column(name, column, self.path, self.where, delimiter)


def read_delimited(
    path: Path, options: ReadOptions, delimiter: str, text_names: Collection[str] = ()
) -> TextColumns:
    """Read a table of text; columns of `text_names`, in lower case, stay as they are written."""
    arrow()  # its absence is an error before any work
    layout = find_layout(path, options, delimiter)
    bytes_per_line = BYTES_PER_CELL * len(layout.names)
    count_lines(path, lambda free: free // bytes_per_line)
    table = _parsed(path, layout, options, text_names)
    _check_end(path, layout, table)
    columns = TextColumns(path, path.name, columns_of(table), layout=layout)
    _check_encoding(columns)
    if not layout.has_index:
        return columns
    ids = as_text(columns.by_name[INDEX].to_numpy())
    what = f"{path.name} (ids from its first column, which has no name)"
    return replace(columns, what=what, ids=ids, set_aside=frozenset({INDEX}))


def _parsed(path: Path, layout: Layout, options: ReadOptions, text_names: Collection[str]) -> Any:
    pa, csv = arrow(), arrow("pyarrow.csv")
    # Names of rows are kept as they are written: 0012 is no number.
    texts = {
        name for name in layout.names if name.lower() in text_names or name == options.id_column
    }
    texts |= {INDEX} if layout.has_index else set()
    convert = csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
    convert.null_values = [*convert.null_values, *MISSING]
    if options.decimal is not None:
        convert.decimal_point = options.decimal
    block = max(_BLOCK_BYTES, 8 * layout.longest_line)
    read = csv.ReadOptions(column_names=layout.names, skip_rows=layout.n_skipped, block_size=block)
    parse = csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    compression = "gzip" if is_gzip(path) else None
    try:
        # Opened here, as Arrow takes all names of files for UTF-8.
        with (
            reading(path, "a table of text"),
            path.open("rb") as file,
            pa.input_stream(file, compression) as stream,
        ):
            return csv.read_csv(stream, read, parse, convert)
    except TableError as error:
        raise _bad_row(path, layout) or error from error.__cause__


def _bad_row(path: Path, layout: Layout) -> TableError | None:
    return bad_row(path, layout.delimiter, layout.n_skipped, len(layout.names))


def _check_end(path: Path, layout: Layout, table: Any) -> None:
    """Refuse a quote that is never closed: the parser takes all that follows for one cell."""
    if not len(table):
        raise TableError(f"{path} has no rows; export it again.")
    texts = (column for column in table.columns if is_text(column.type))
    if any("\n" in (column[-1].as_py() or "") for column in texts):
        error = _bad_row(path, layout)
        if error is not None:
            raise error


def _check_encoding(columns: TextColumns) -> None:
    for name, column in columns.by_name.items():
        if is_binary(column.type):
            row = _first_bad(column.to_pylist())
            raise not_utf8(columns.path, f"the column {name!r} in {columns.where(row)}")


def _first_bad(cells: Iterable[bytes]) -> int:
    for row, cell in enumerate(cells):
        try:
            cell.decode()
        except UnicodeDecodeError:
            return row
    return 0
