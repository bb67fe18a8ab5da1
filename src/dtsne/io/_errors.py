"""What goes wrong with a file, in one message that names it and the fix."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class TableError(ValueError):
    """A file that cannot be used as it is. The message names the file, and what to do about it."""


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises about a bad file into a TableError.

    Libraries raise errors of all kinds on damaged files (KeyError, struct.error, RuntimeError …),
    and none of them names the file.
    """
    try:
        yield
    except (TableError, ImportError):
        raise
    except MemoryError as error:
        raise TableError(
            f"{path}: what the file says it holds does not fit into memory; it may be damaged, or "
            "take a part of its rows."
        ) from error
    except Exception as error:
        raise TableError(
            f"{path} cannot be read as {kind} ({_summary(error)}); it is damaged, cut off, or "
            "something else: copy or export it again, or name what it is (format)."
        ) from error


def _summary(error: Exception) -> str:
    """Return the first line of what a library said, cut where it becomes a dump."""
    lines = str(error).strip().splitlines()
    text = lines[0].rstrip(" .:") if lines else type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]}…"
