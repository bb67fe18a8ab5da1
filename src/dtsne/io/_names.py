"""Names of columns: made unique, listed, and looked for."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from dtsne.io._errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_PATTERN = frozenset("*?[")
# What columns of names are called, in lower case; the likeliest first.
ID_NAMES = (
    "id", "ids", "cell_id", "cellid", "cell", "barcode", "barcodes", "obs_names", "index",
    "sample_id", "event_id", "row_id", "rowid", "row",
)  # fmt: skip
# And columns of groups.
LABEL_NAMES = ("label", "labels", "class", "cluster", "target", "leiden", "louvain")


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, with a number where they come again: a, a.1, a.2."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        while new in taken:
            counts[name] = counts.get(name, 0) + 1
            new = f"{name}.{counts[name]}"
        taken.add(new)
        result.append(new)
    return tuple(result)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Write names as 'a', 'b' and 7 more."""
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def counted(n: int, one: str, several: str) -> str:
    """Write a number of things as 1 cell, or 1,200 cells."""
    return f"{n:,} {one if n == 1 else several}"


def matching(wanted: Iterable[str], names: Sequence[str], path: Path) -> list[str]:
    """Return the names asked for, each literally or by a pattern such as ``PC_*``."""
    known = set(names)
    found: dict[str, None] = {}
    for name in wanted:
        if name in known:
            found[name] = None
            continue
        matches = [other for other in names if fnmatchcase(other, name)]
        if not matches or not _PATTERN.intersection(name):
            raise unknown(name, names, path)
        found.update(dict.fromkeys(matches))
    return list(found)


def unknown(name: str, names: Sequence[str], path: Path, what: str = "column") -> TableError:
    """Return the error for a name that is not there, with those that are nearest to it."""
    if not names:
        return TableError(f"{path} has no {what} {name!r}, nor any other.")
    by_lower = {other.lower(): other for other in reversed(names)}
    near = get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    if near:
        there = f"the nearest: {listed([by_lower[other] for other in near])}"
    else:
        there = f"there are {listed(names)}"
    return TableError(f"{path} has no {what} {name!r}; {there}.")
