"""Lines and rows of a text file: its beginning, and, once something is wrong, where that is."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING

from dtsne.io._errors import TableError
from dtsne.io._files import head, looks_like, looks_like_markup, open_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST_LINE = 2**26
_SAMPLE_BYTES = 2**20


@dataclass(frozen=True)
class Sample:
    """The first lines of a file, and whether they are all of it."""

    text: str
    is_all: bool


def sample(path: Path) -> Sample:
    """Return the first lines: at least two of them, where there are as many."""
    for n_bytes in (_SAMPLE_BYTES, LONGEST_LINE):
        beginning = head(path, n_bytes)
        _check_text(path, beginning)
        is_all = len(beginning) < n_bytes
        # Of the last line more may follow.
        whole = beginning if is_all else beginning[: beginning.rfind(b"\n") + 1]
        if is_all or whole.count(b"\n") > 1:
            break
    if not whole:
        raise TableError(
            f"{path} has no line of less than {LONGEST_LINE // 2**20} MiB, so it is no table of "
            "text; name what it is (format)."
        )
    try:
        text = whole.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = whole[: error.start].count(b"\n") + 1
        raise not_utf8(path, f"line {line:,}") from None
    if not text.strip():
        raise TableError(f"{path} is blank; export or copy it again.")
    return Sample(text, is_all)


def _check_text(path: Path, beginning: bytes) -> None:
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise TableError(
            f"{path} is text in UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8, or Excel's "
            "“CSV UTF-8”)."
        )
    markup = looks_like_markup(beginning)
    if markup is not None:
        raise TableError(f"{path} is {markup}, not a table of text; get or export it as a table.")
    what = looks_like(beginning)
    if what is not None or b"\0" in beginning:
        raise TableError(
            f"{path} is {what or 'not text but binary'}, not a table of text; name what it is "
            "(format), or export it as text."
        )


def not_utf8(path: Path, where: str) -> TableError:
    """Return the error for bytes that are not text."""
    return TableError(
        f"{path}: {where} is not text in UTF-8; save the file as UTF-8 (if it comes from Windows: "
        "iconv -f WINDOWS-1252 -t UTF-8), or name what it is (format)."
    )


def rows_of(
    file: IO[bytes], delimiter: str, n_skipped: int, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line of each row that is not blank, and its cells."""
    with io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text:
        lines = _lines(text)
        for _ in islice(lines, n_skipped):
            pass
        reader = csv.reader(lines, delimiter=delimiter, strict=strict)
        for cells in reader:
            if cells:
                yield n_skipped + reader.line_num, cells


def _lines(text: IO[str]) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE):
        yield line


def line_of_row(path: Path, delimiter: str, n_skipped: int, row: int) -> str:
    """Say on which line a row of the data ends. Slow, and for errors only."""
    try:
        with open_text(path) as file:
            line, _ = next(islice(rows_of(file, delimiter, n_skipped), row, None))
    except (csv.Error, StopIteration):
        return f"row {row + 1:,}"
    return f"line {line:,}"


def bad_row(path: Path, delimiter: str, n_skipped: int, width: int) -> TableError | None:
    """Find the first row that has not as many cells as the header. Slow, and for errors only."""
    line = n_skipped
    try:
        with open_text(path) as file:
            for line, cells in rows_of(file, delimiter, n_skipped, strict=True):
                if len(cells) != width:
                    return TableError(
                        f"{path}: line {line:,} has {len(cells):,} cells where the first has "
                        f"{width:,}; mend that line (a cell that holds {delimiter!r} has to stand "
                        "in double quotes)."
                    )
    except csv.Error as error:
        return TableError(
            f"{path}: the row after line {line:,} cannot be read ({error}); it is far too long, or "
            "a double quote in it is not closed: mend that line."
        )
    return None
