"""Errors about tables: what is wrong, in which file, line and column, and what to do."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from dtsne.runtime._errors import PYTHON, UserError, setting

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from dtsne.runtime._errors import Face


class Place(NamedTuple):
    """A place in a file, from 1 on: the line of a text, or the row of any other table."""

    line: int | None = None
    row: int | None = None


NOWHERE = Place()


def where(path: object = None, column: str | None = None, place: Place = NOWHERE) -> str:
    """Write a place as "cells.csv, column 'CD3', line 7"."""
    parts = [f"{name} {n:,}" for name, n in place._asdict().items() if n is not None]
    parts = parts if column is None else [f"column {column!r}", *parts]
    return ", ".join(parts if path is None else [str(path), *parts])


class TableError(UserError, ValueError):
    """A file, or a table, that cannot be used as it is.

    Attributes
    ----------
    message : Message
        The reason and the fix.
    path : path-like or None
    column : str or None
    line, row : int or None
        From 1 on: the line of a text file, the row of any other.
    """

    def __init__(
        self,
        reason: str,
        fix: str = "",
        *,
        in_python: str = "",
        path: str | os.PathLike[str] | None = None,
        column: str | None = None,
        place: Place = NOWHERE,
    ) -> None:
        super().__init__(reason, fix, in_python=in_python)
        self.path: str | os.PathLike[str] | None = path
        self.column: str | None = column
        self.line: int | None = place.line
        self.row: int | None = place.row

    def text(self, face: Face = PYTHON) -> str:
        """Return the error in the words of an interface."""
        begin = where(self.path, self.column, Place(self.line, self.row))
        reason = f"{begin}: {self.message.reason}" if begin else self.message.reason
        return replace(self.message, reason=reason).text(face)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors about tables name the file, where they name none."""
    try:
        yield
    except TableError as error:
        error.path = path if error.path is None else error.path
        raise


@contextmanager
def reading(kind: str) -> Iterator[None]:
    """Turn whatever a library raises about a bad file into a TableError.

    Libraries raise errors of all kinds on corrupt files (KeyError, struct.error, RuntimeError …),
    and none of them names the file.
    """
    try:
        yield
    except (UserError, ImportError):
        raise
    except MemoryError as error:
        reason = "the file header declares more data than fits into memory"
        raise TableError(reason, "it may be corrupt; if not, read only some rows") from error
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        summary = lines[0].rstrip(" .:")[:200]
        fix = "it is corrupt, cut off, or of another format: copy or export it again, or set "
        fix += setting("format")
        raise TableError(f"the file cannot be read as {kind} ({summary})", fix) from error
