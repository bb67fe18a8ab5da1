"""What people have in their columns: what is missing, in which order it is, and how written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

# Integers with no more different values than this are labels, not quantities.
MOST_INTEGER_LABELS = 20
EMPTY = "(empty)"
# Beyond, floats are whole because they have no digits left for more.
LARGEST_WHOLE = 2**53
_DIGITS = re.compile(r"([0-9]+)")


def is_missing(value: Any) -> bool:
    """Say whether a value stands for none: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT do not equal themselves
    except TypeError:  # pandas.NA has no truth value
        return True


def is_whole(value: Any) -> bool:
    """Say whether a float is the integer that it looks like: they are floats where some miss."""
    return isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE


def natural_order(label: Any) -> tuple[Any, ...]:
    """Sort numbers by size, and texts with the numbers in them by size: "c 9" before "c 10"."""
    if isinstance(label, int | float):
        return 0, label, (), ""
    text = str(label)
    parts = _DIGITS.split(text.casefold())  # every second one is digits
    return (
        1,
        0,
        tuple(_by_size(part) if k % 2 else (-1, part) for k, part in enumerate(parts)),
        text,
    )


def _by_size(digits: str) -> tuple[int, str]:
    # By their number and then as text, as Python refuses to read very long integers.
    stripped = digits.lstrip("0")
    return len(stripped), stripped


def shown_text(text: str) -> str:
    """Return what is written for a label: one that is empty would look like a mistake."""
    return text if text.strip() else EMPTY


def shortened(names: Sequence[str], longest: int) -> list[str]:
    """Cut long names so that they still differ: at the end, or else in the middle."""
    ends = [_cut_end(name, longest) for name in names]
    if len(set(ends)) == len(set(names)):
        return ends
    repeated = {short for short in ends if ends.count(short) > 1}
    return [
        _cut_middle(name, longest) if short in repeated else short
        for name, short in zip(names, ends, strict=True)
    ]


def _cut_end(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _cut_middle(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    head = (longest - 1) // 3  # what differs is mostly at the end
    return f"{name[:head]}…{name[len(name) - (longest - 1 - head) :]}"


def renamed(columns: Mapping[Any, Any], taken: Collection[str]) -> dict[str, Any]:
    """Return the columns of the user by texts, those whose names are taken under others."""
    found: dict[str, Any] = {}
    names = set(map(str, columns))
    for name, values in columns.items():
        new = str(name)
        while new in taken or new in found or (new != str(name) and new in names):
            new = f"{new} (given)"
        found[new] = values
    return found
