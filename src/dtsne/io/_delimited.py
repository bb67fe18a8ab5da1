"""Text tables: csv and tsv, compressed or not.

Arrow parses them, strictly. What it would misread is rejected with the line and the column: the
layout is found in the first lines, and text that should be numbers in the columns of the result.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from dtsne.io._arrow import BYTES_PER_CELL, arrow, is_binary, is_text, values_of
from dtsne.io._errors import Place, TableError, reading, where
from dtsne.io._files import count_lines, is_gzip, looks_like, looks_like_markup, open_text
from dtsne.io._select import counted
from dtsne.io._table import Source, as_text, default_names, unique
from dtsne.runtime._errors import UserNotice, setting
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from dtsne.io._options import ReadOptions
    from dtsne.runtime._typing import BoolArray

_SAMPLE_BYTES, _SAMPLE_ROWS = 2**20, 50
_MAX_LINE = 2**26
# Arrow parses blocks in parallel, and no line may be longer than one.
_BLOCK_BYTES = 2**20
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
# The name given to a first column without one, which holds row IDs (of pandas and R).
_INDEX = "index"
# Besides Arrow's own, which include '', NA, N/A, NaN and null.
_MISSING = ("None", "none", "<NA>", "NAN")
_DIGITS = r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?"
_NUMBER = rf"^\s*{_DIGITS}\s*$"
_WITH_POINT = _NUMBER.replace("[.,]", "[.]")
_DECIMAL_COMMA = r"^\s*[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$"
_UNMISTAKABLE_THOUSANDS = r",\d{3}[,.]"
# Below a limit, above it, or a percentage: numbers to whoever reads them.
_NEARLY = rf"^\s*[<>≤≥]=?\s*{_DIGITS}\s*%?\s*$|^\s*{_DIGITS}\s*%\s*$"
# A column that is text for the most part, but has this share of numbers, is worth a warning.
_NOTABLE = 0.05
# Texts such as "<60" and ">60" are groups where they are few.
_MAX_GROUPS = 20


def read_delimited(path: Path, options: ReadOptions, text_names: Collection[str] = ()) -> Source:
    """Read a text table; columns of `text_names`, in lower case, stay as they are written."""
    arrow()  # its absence is an error before any work
    layout = _find_layout(path, options)
    count_lines(path, BYTES_PER_CELL * len(layout.names))
    # Row IDs are kept as they are written: 0012 is not a number.
    texts = {n for n in layout.names if n.lower() in text_names or n == options.id_column}
    texts |= {_INDEX} if layout.has_index else set()
    table = _parsed(layout, texts, options.decimal)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    _check_table(columns, layout)
    values = {name: values_of(column) for name, column in columns.items()}
    of_text = {name: column for name, column in columns.items() if is_text(column.type)}

    def check(names: Sequence[str]) -> None:
        for name in names:
            if name in of_text:
                _check_column(name, of_text[name], layout)

    found = Source(path, path.name, layout.names, columns=values, locate=layout.locate, check=check)
    if not layout.has_index:
        return found
    what = f"{path.name} (IDs from its first column, which has no name)"
    ids = as_text(columns[_INDEX].to_pylist())
    return replace(found, what=what, ids=ids, set_aside=frozenset({_INDEX}))


# --- the layout, found in the first lines ---


@dataclass(frozen=True)
class _Layout:
    """Where the rows of a text file begin, and the names of its columns."""

    path: Path
    delimiter: str
    names: tuple[str, ...]
    n_skipped: int  # lines before the first row of data
    has_index: bool
    longest_line: int  # of the beginning, in bytes

    def rows(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Read the rows again, with the line on which each ends: slow, and for errors only."""
        with (
            open_text(self.path) as file,
            io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text,
        ):
            lines = iter(lambda: text.readline(_MAX_LINE), "")
            yield from _rows(lines, self.delimiter, self.n_skipped, strict=strict)

    def locate(self, row: int) -> Place:
        """Return the line on which a row ends."""
        try:
            line, _ = next(islice(self.rows(), row, None))
        except (csv.Error, StopIteration):
            return Place(row=row + 1)
        return Place(line)

    def bad_row(self) -> TableError | None:
        """Find the first row that has another number of cells than the first line."""
        line = self.n_skipped
        width = len(self.names)
        try:
            for line, cells in self.rows(strict=True):
                if len(cells) != width:
                    reason = f"the row has {len(cells):,} cells where the first has {width:,}"
                    fix = f"fix that line (a cell with {self.delimiter!r} needs double quotes)"
                    return TableError(reason, fix, place=Place(line))
        except csv.Error as error:
            reason = f"the row after this line cannot be read ({error})"
            fix = "it is too long, or a double quote in it is not closed: fix that line"
            return TableError(reason, fix, place=Place(line))
        return None


def _rows(
    lines: Iterator[str], delimiter: str, n_skipped: int = 0, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line of each row that is not blank, and its cells."""
    for _ in islice(lines, n_skipped):
        pass
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    for cells in reader:
        if cells:
            yield n_skipped + reader.line_num, cells


def _find_layout(path: Path, options: ReadOptions) -> _Layout:
    delimiter = options.delimiter or ","
    lines, is_all = _first_lines(path)
    n_comments = next((i for i, line in enumerate(lines) if not _is_comment(line)), len(lines))
    numbered = _first_rows(lines[n_comments:], delimiter)
    if not numbered:
        raise TableError("the file holds only comments or blank lines", "export it again")
    rows = [cells for _, cells in numbered]
    _check_delimiter(rows, delimiter)
    n_skipped, header = n_comments, None
    if _has_header(rows) if options.header is None else options.header:
        n_skipped += numbered[0][0]
        header, rows = rows[0], rows[1:]
        if not rows and is_all:
            raise TableError("the file has a header and no rows below it", "export it again")
    elif n_comments and options.header is None:
        header = _commented_header(lines[n_comments - 1], delimiter, len(rows[0]))
    names, has_index = _names(header, rows)
    longest = max(len(line.encode()) for line in lines)
    return _Layout(path, delimiter, names, n_skipped, has_index, longest)


def _first_lines(path: Path) -> tuple[list[str], bool]:
    """Return the first lines, at least two if there are two, and whether they are the file."""
    for n_bytes in (_SAMPLE_BYTES, _MAX_LINE):
        with open_text(path) as file:
            beginning = file.read(n_bytes)
        _check_text(beginning)
        is_all = len(beginning) < n_bytes
        # Of the last line more may follow.
        found = beginning if is_all else beginning[: beginning.rfind(b"\n") + 1]
        if is_all or found.count(b"\n") > 1:
            break
    if not found:
        reason = f"the file is not a text table: no line is shorter than {_MAX_LINE // 2**20} MiB"
        raise TableError(reason, f"set {setting('format')}")
    try:
        found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(Place(found[: error.start].count(b"\n") + 1)) from None
    if not found.strip():
        raise TableError("the file is blank", "export or copy it again")
    return list(io.TextIOWrapper(io.BytesIO(found), "utf-8-sig", newline="")), is_all


def _check_text(beginning: bytes) -> None:
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        fix = "save it as UTF-8 (iconv -f UTF-16 -t UTF-8, or Excel's “CSV UTF-8”)"
        raise TableError("the file is text in UTF-16", fix)
    markup = looks_like_markup(beginning)
    if markup is not None:
        raise TableError(f"the file is {markup}, not a text table", "get or export it as a table")
    what = looks_like(beginning)
    if what is not None or b"\0" in beginning:
        reason = f"the file is {what or 'not text but binary'}, not a text table"
        raise TableError(reason, f"set {setting('format')}, or export it as text")


def _not_utf8(place: Place, column: str | None = None) -> TableError:
    fix = "save the file as UTF-8 (if it comes from Windows: iconv -f WINDOWS-1252 -t UTF-8)"
    return TableError("the text is not in UTF-8", fix, column=column, place=place)


def _is_comment(line: str) -> bool:
    return line.startswith("#") or not line.strip()


def _first_rows(lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    try:
        return list(islice(_rows(iter(lines), delimiter), _SAMPLE_ROWS))
    except csv.Error as error:
        reason = f"the file cannot be read as text divided by {delimiter!r} ({error})"
        raise TableError(reason, "close the double quotes in its first lines") from error


def _check_delimiter(rows: Sequence[Sequence[str]], delimiter: str) -> None:
    """Reject a first line that is one cell, but holds what other files are divided by."""
    first, second = rows[0], rows[min(1, len(rows) - 1)]
    if len(first) > 1:
        return
    for other, name in _DELIMITERS.items():
        if other == delimiter or other not in first[0]:
            continue
        n_below = delimiter.join(second).count(other)
        # Spaces may also be part of a name; then the lines have different numbers of them.
        if n_below and (other != " " or n_below == first[0].count(other)):
            used = _DELIMITERS.get(delimiter, repr(delimiter))
            reason = f"the lines are not divided by {used} but by {name}"
            raise TableError(reason, f"set {setting('delimiter', other)}")


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names: it does not look like those below it."""
    first, rest = rows[0], rows[1:]
    numbers = [cell for cell in first if _is_number(cell)]
    if not numbers or not first[0].strip():
        return True
    # pandas writes 0, 1, 2 … as names where there are none; years may be names as well.
    if len(numbers) > 2 and _consecutive(numbers):
        return True
    if len(numbers) == len(first):
        return False
    below = [row for row in rest if len(row) == len(first)]
    return any(
        not _is_number(name) and bool(cells) and all(map(_is_number, cells))
        for name, *cells in zip(first, *below, strict=True)
    )


def _is_number(cell: str) -> bool:
    return re.match(_WITH_POINT, cell) is not None


def _consecutive(cells: Sequence[str]) -> bool:
    if not all(cell.strip().isdecimal() for cell in cells):
        return False
    values = [int(cell) for cell in cells]
    return values == list(range(values[0], values[0] + len(values)))


def _commented_header(line: str, delimiter: str, width: int) -> list[str] | None:
    """Return the names in a comment above the first row, where numpy.savetxt writes them."""
    cells = line.lstrip("# ").strip("\r\n").split(delimiter)
    return cells if len(cells) == width and line.startswith("#") else None


def _names(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], bool]:
    """Return the names of the columns, and whether the first one holds row IDs."""
    if header is None:
        return default_names(len(rows[0])), False
    names = [name.strip() for name in header]
    # R's write.table gives the column of row names no place in the header.
    if rows and len(rows[0]) == len(names) + 1 and rows[0][-1].strip():
        names = ["", *names]
    has_index = len(names) > 1 and names[0] in ("", "Unnamed: 0")
    if has_index:
        names[0] = _INDEX
    return unique(name or f"column_{i + 1}" for i, name in enumerate(names)), has_index


# --- the table, parsed and checked ---


def _parsed(layout: _Layout, texts: Collection[str], decimal: str | None) -> pa.Table:
    pa, parser = arrow(), arrow("pyarrow.csv")
    convert = parser.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
    convert.null_values = [*convert.null_values, *_MISSING]
    if decimal is not None:
        convert.decimal_point = decimal
    block = max(_BLOCK_BYTES, 8 * layout.longest_line)
    read = parser.ReadOptions(block_size=block, skip_rows=layout.n_skipped)
    read.column_names = layout.names
    parse = parser.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    compression = "gzip" if is_gzip(layout.path) else None
    try:
        # Opened here, as Arrow takes all file names for UTF-8.
        with reading("a text table"), layout.path.open("rb") as file:
            stream = pa.input_stream(file, compression)
            return parser.read_csv(stream, read, parse, convert)
    except TableError as error:
        raise layout.bad_row() or error from error.__cause__


def _check_table(columns: dict[str, pa.ChunkedArray], layout: _Layout) -> None:
    """Reject a quote that is never closed, and text of another encoding."""
    if not len(columns[layout.names[0]]):
        raise TableError("the file has no rows", "export it again")
    # The parser takes all that follows an open quote for one cell.
    texts = (column for column in columns.values() if is_text(column.type))
    if any("\n" in (column[-1].as_py() or "") for column in texts):
        error = layout.bad_row()
        if error is not None:
            raise error
    for name, column in columns.items():
        if is_binary(column.type):
            cells = (cell.decode("utf-8", "ignore").encode() != cell for cell in column.to_pylist())
            row = next((row for row, is_bad in enumerate(cells) if is_bad), 0)
            raise _not_utf8(layout.locate(row), name)


def _check_column(name: str, column: pa.ChunkedArray, layout: _Layout) -> None:
    """Reject a column of text that is meant as numbers, and warn of one that may be.

    Left out of the numbers silently, the map would be one of other data.
    """
    compute = arrow("pyarrow.compute")

    def match(pattern: str) -> BoolArray:
        return np.asarray(compute.match_substring_regex(column, pattern).to_numpy(), bool)

    missing = arrow().array([*arrow("pyarrow.csv").ConvertOptions().null_values, *_MISSING])
    blank = compute.is_in(compute.utf8_trim_whitespace(column), value_set=missing)
    filled = ~np.asarray(blank.to_numpy(), bool)
    thousands, plain = match(_THOUSANDS), match(_WITH_POINT)
    number, nearly = match(_NUMBER) | thousands, match(_NEARLY)
    if not (number | nearly).any():
        return
    # Commas that could be decimal ones are, unless these divide the cells.
    divides = layout.delimiter == "," or bool(match(_UNMISTAKABLE_THOUSANDS).any())
    if divides and thousands.any() and (thousands | plain)[number].all():
        row = int(thousands.argmax())
        reason = f"the numbers have thousands separators ({column[row].as_py()!r})"
        fix, place = "export the file without them", layout.locate(row)
        raise TableError(reason, fix, column=name, place=place)
    if match(_DECIMAL_COMMA)[filled].all():
        fix = f"set {setting('decimal', ',')}"
        raise TableError("the numbers have decimal commas", fix, column=name)
    if number.any() or len(column.unique()) > _MAX_GROUPS:
        other = filled & ~(number | nearly)
        _report_text(name, column, layout, (number, nearly, other, plain))


def _report_text(
    name: str, cells: pa.ChunkedArray, layout: _Layout, numbers: tuple[BoolArray, ...]
) -> None:
    """Reject text in a column that is of numbers for the most part, and warn if for a part."""
    number, nearly, other, plain = numbers
    # Of points and commas mixed, those with commas are not numbers.
    text = nearly | other if (nearly | other).any() else number & ~plain
    row, n_text = int(text.argmax()), int(text.sum())
    example, place = repr(cells[row].as_py()), layout.locate(row)
    share = 1 - other.sum() / (number | nearly | other).sum()
    fix = f"leave the column out with {setting('exclude', name)}"
    if share > 0.5:
        reason = f"numbers are written as {example}"
        if number.any():
            n_cells = counted(n_text, "cell is not a number", "cells are not numbers")
            reason = f"{n_cells}, the first is {example}"
        fix = f"fix {'it' if n_text == 1 else 'them'}, or {fix}"
        raise TableError(reason, fix, column=name, place=place)
    if share >= _NOTABLE:
        reason = (
            f"{where(layout.path, name, place)}: the column is not mapped, though {share:.0%} of "
            f"its cells are numbers; the first other cell is {example}"
        )
        warn(UserNotice(reason, f"fix these cells, or {fix}"))
