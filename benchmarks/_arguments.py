"""Kinds of command-line arguments that the benchmarks share."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def several_of(allowed: Iterable[object]) -> Callable[[str], list[str]]:
    """Return a reader of names that are separated by commas."""
    known = [str(name) for name in allowed]

    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise ArgumentTypeError(f"{unknown[0]!r} is not one of {', '.join(known)}")
        return names

    return read


def positive(text: str) -> int:
    """Read a whole number that is at least 1."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number
