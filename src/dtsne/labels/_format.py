"""Values of columns: which are missing, in which order they stand, and how they are written."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

T = TypeVar("T")

# Integers with at most this many distinct values are labels, not quantities.
MAX_INTEGER_LABELS = 20
EMPTY = "(empty)"
# Beyond, floats are whole because they have no digits left for more.
MAX_WHOLE = 2**53
_DIGITS = re.compile(r"0*([0-9]+)")


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT do not equal themselves
    except TypeError:  # pandas.NA has no truth value
        return True


def is_whole(value: object) -> bool:
    """Whether a float is an integer: integers are floats in a column with missing values."""
    return isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE


def natural_order(label: object) -> tuple[int, float, str, str]:
    """Sort key: numbers by size, then texts with the numbers in them by size ("c9", "c10")."""
    if isinstance(label, int | float):
        return 0, label, "", ""
    text = str(label)
    # The number of digits stands before them. int() would reject very long numbers.
    return 1, 0, _DIGITS.sub(lambda m: f"{len(m[1]):06}{m[1]}", text.casefold()), text


def shown_text(text: str) -> str:
    """Return what is written for a label: an empty one would look like a mistake."""
    return text if text.strip() else EMPTY


def printable(text: str) -> str:
    """Replace halves of surrogate pairs, which file names may have and no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def shortened(names: Sequence[str], max_length: int) -> list[str]:
    """Cut long names so that they still differ: at the end, or else in the middle."""
    middle = (max_length - 1) // 3  # the end of a name mostly tells more than its beginning
    ends = [_cut(name, max_length, max_length - 1) for name in names]
    counts = Counter(dict(zip(names, ends, strict=True)).values())
    return [
        end if counts[end] == 1 else _cut(name, max_length, middle)
        for name, end in zip(names, ends, strict=True)
    ]


def _cut(name: str, max_length: int, n_first: int) -> str:
    if len(name) <= max_length:
        return name
    return f"{name[:n_first]}…{name[len(name) - (max_length - 1 - n_first) :]}"


def renamed(columns: Mapping[str, T], taken: Collection[str]) -> dict[str, T]:
    """Return the user's columns by text, with other names where a name is taken."""
    found: dict[str, T] = {}
    names = set(map(str, columns))
    for name, values in columns.items():
        new = str(name)
        while new in taken or new in found or (new != str(name) and new in names):
            new = f"{new} (given)"
        found[new] = values
    return found
