"""Names that users write: lists of them, and the nearest to one that is not known."""

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


def nearest_names(name: str, known: Iterable[object]) -> str:
    """Return a clause with the known names that are nearest to another, or with all of them."""
    names = list(map(str, known))
    if not names:
        return "there are none"
    by_lower = {other.lower(): other for other in reversed(names)}
    near = get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    if near:
        return f"the nearest: {listed([by_lower[other] for other in near])}"
    return f"there are {listed(names)}"
