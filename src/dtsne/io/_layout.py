"""How a table of text is laid out: found in its beginning, before all of it is parsed."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from dtsne.io._errors import TableError
from dtsne.io._names import unique
from dtsne.io._text import rows_of, sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dtsne.io._options import ReadOptions

_SAMPLE_ROWS = 50
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
# The name given to a first column without one, which holds names of rows (of pandas and R).
INDEX = "index"


@dataclass(frozen=True)
class Layout:
    """Where the rows of a text file begin, and what its columns are called."""

    delimiter: str
    names: tuple[str, ...]
    n_skipped: int  # lines before the first row of data
    has_index: bool
    longest_line: int  # of the beginning, in bytes


def find_layout(path: Path, options: ReadOptions, default_delimiter: str) -> Layout:
    """Look at the beginning of a file."""
    delimiter = options.delimiter or default_delimiter
    beginning = sample(path)
    lines = beginning.text.splitlines(keepends=True)
    n_comments = next((i for i, line in enumerate(lines) if not _is_comment(line)), len(lines))
    numbered = _first_rows(path, "".join(lines[n_comments:]), delimiter)
    if not numbered:
        raise TableError(f"{path} holds only comments or blank lines; export it again.")
    rows = [cells for _, cells in numbered]
    _check_delimiter(path, rows, delimiter)
    n_skipped = n_comments
    header = None
    if _has_header(rows, given=options.header):
        n_skipped += numbered[0][0]
        header, rows = rows[0], rows[1:]
        if not rows and beginning.is_all:
            raise TableError(f"{path} has a header and no rows below it; export it again.")
    elif n_comments and options.header is None:
        header = _commented_header(lines[n_comments - 1], delimiter, len(rows[0]))
    names, has_index = _names(header, rows)
    longest = max(len(line.encode()) for line in lines)
    return Layout(delimiter, names, n_skipped, has_index, longest)


def _is_comment(line: str) -> bool:
    return line.startswith("#") or not line.strip()


def _first_rows(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    try:
        stream = io.BytesIO(text.encode())
        return list(islice(rows_of(stream, delimiter, 0), _SAMPLE_ROWS))
    except csv.Error as error:
        raise TableError(
            f"{path} cannot be read as text divided by {delimiter!r} ({error}); a double quote in "
            "its first lines may not be closed."
        ) from error


def _check_delimiter(path: Path, rows: Sequence[Sequence[str]], delimiter: str) -> None:
    """Refuse a first line that is one cell, but holds what other files are divided by."""
    first, second = rows[0], rows[min(1, len(rows) - 1)]
    if len(first) > 1:
        return
    for other, name in _DELIMITERS.items():
        if other == delimiter or other not in first[0]:
            continue
        n_below = delimiter.join(second).count(other)
        # Spaces may also stand in a name; then the lines have not equally many.
        if n_below and (other != " " or n_below == first[0].count(other)):
            used = _DELIMITERS.get(delimiter, repr(delimiter))
            raise TableError(
                f"{path}: its lines are not divided by {used} but by {name}; say so "
                f"(delimiter={other!r})."
            )


def _has_header(rows: Sequence[Sequence[str]], *, given: bool | None) -> bool:
    """Whether the first row holds names: it does not look like those below it."""
    if given is not None:
        return given
    first, rest = rows[0], rows[1:]
    numbers = [cell for cell in first if is_number(cell)]
    if not numbers or not first[0].strip():
        return True
    # pandas writes 0, 1, 2 … as names where there are none; years may be names as well.
    if len(numbers) > 2 and _consecutive(numbers):
        return True
    if len(numbers) == len(first):
        return False
    below = [row for row in rest if len(row) == len(first)]
    return any(
        not is_number(name) and bool(cells) and all(map(is_number, cells))
        for name, *cells in zip(first, *below, strict=True)
    )


def is_number(cell: str) -> bool:
    """Whether a cell is a number."""
    return re.match(_NUMBER, cell) is not None


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
    """Return the names of the columns, and whether the first one names the rows."""
    if header is None:
        return tuple(f"column_{i + 1}" for i in range(len(rows[0]))), False
    names = [name.strip() for name in header]
    # R's write.table gives the column of row names no place in the header.
    if rows and len(rows[0]) == len(names) + 1 and rows[0][-1].strip():
        names = ["", *names]
    has_index = len(names) > 1 and names[0] in ("", "Unnamed: 0")
    if has_index:
        names[0] = INDEX
    return unique(name or f"column_{i + 1}" for i, name in enumerate(names)), has_index
