"""Names that users write: lists of them, and the closest to one that is not known."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def listed(names: Sequence[str], max_names: int = 6) -> str:
    """Write names as 'a', 'b' and 7 more."""
    shown = ", ".join(map(repr, names[:max_names]))
    more = len(names) - max_names
    return f"{shown} and {more:,} more" if more > 0 else shown


def closest(name: str, known: Iterable[object], n: int = 1) -> str:
    """Return a clause with the known names closest to another, or with all of them."""
    names = list(map(str, known))
    if not names:
        return "there are none"
    by_lower = {other.lower(): other for other in reversed(names)}
    near = get_close_matches(name.lower(), by_lower, n=n)
    if near:
        return f"the closest is {listed([by_lower[other] for other in near])}"
    return f"there are {listed(names)}"
