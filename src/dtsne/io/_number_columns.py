"""Columns of a table of text that should be numbers, but are written as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._errors import TableError
from dtsne.io._names import counted
from dtsne.io._pyarrow import arrow
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

# Besides Arrow's own, which include '', NA, N/A, NaN and null.
MISSING = ("None", "none", "<NA>", "NAN")
_DIGITS = r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?"
_NUMBER = rf"^\s*{_DIGITS}\s*$"
_DECIMAL_COMMA = r"^\s*[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$"
_UNMISTAKABLE_THOUSANDS = r",\d{3}[,.]"
_WITH_POINT = rf"^\s*{_DIGITS.replace('[.,]', '[.]')}\s*$"
# Below a limit, above it, or a percentage: numbers to whoever reads them.
_NEARLY = rf"^\s*[<>≤≥]=?\s*{_DIGITS}\s*%?\s*$|^\s*{_DIGITS}\s*%\s*$"
# A column that is text for the most part, but has this share of numbers, is worth a word.
_NOTABLE = 0.05
# Texts such as "<60" and ">60" are groups where they are few.
_MOST_GROUPS = 20


@dataclass(frozen=True, eq=False)
class _Cells:
    """What the cells of a column look like; those that are blank look like nothing."""

    column: Any
    number: NDArray[np.bool_]
    nearly: NDArray[np.bool_]
    other: NDArray[np.bool_]

    @classmethod
    def of(cls, column: Any) -> _Cells:
        compute = arrow("pyarrow.compute")
        missing = arrow().array([*arrow("pyarrow.csv").ConvertOptions().null_values, *MISSING])
        blank = compute.is_in(compute.utf8_trim_whitespace(column), value_set=missing)
        thousands = _match(column, _THOUSANDS)
        number = _match(column, _NUMBER) | thousands
        nearly = _match(column, _NEARLY)
        other = ~(number | nearly | np.asarray(blank.to_numpy(), bool))
        return cls(column, number, nearly, other)

    @property
    def text(self) -> NDArray[np.bool_]:
        """Cells that are no plain numbers; of points and commas mixed, those with commas."""
        text = self.nearly | self.other
        return text if text.any() else self.number & ~_match(self.column, _WITH_POINT)

    def all_are(self, pattern: str) -> bool:
        """Whether all cells that are not blank look so."""
        filled = self.number | self.nearly | self.other
        return bool(filled.any() and _match(self.column, pattern)[filled].all())


def check_column(
    name: str, column: Any, path: Path, where: Callable[[int], str], delimiter: str
) -> None:
    """Refuse a column of text that is meant as numbers, and warn of one that may be.

    Left out of the numbers silently, the map would be one of other data.
    """
    cells = _Cells.of(column)
    n_numbers, n_nearly, n_other = (int(k.sum()) for k in (cells.number, cells.nearly, cells.other))
    if not n_numbers + n_nearly:
        return
    _check_commas(f"{path}: the column {name!r} holds numbers with", cells, delimiter)
    if not n_numbers and len(column.unique()) <= _MOST_GROUPS:
        return
    text = cells.text
    row = int(text.argmax())
    example = f"{column[row].as_py()!r} in {where(row)}"
    if n_numbers + n_nearly > n_other:
        but = f"but for {counted(int(text.sum()), 'cell', 'cells')}, the first"
        raise TableError(
            f"{path}: the column {name!r} holds numbers {but if n_numbers else 'written as'} "
            f"{example}; mend {'it' if text.sum() == 1 else 'them'}, or leave the column out "
            "(exclude)."
        )
    share = (n_numbers + n_nearly) / (n_numbers + n_nearly + n_other)
    if share >= _NOTABLE:
        warn(
            f"{path}: the column {name!r} is not mapped, though {share:.0%} of its cells are "
            f"numbers: the first that is none is {example}. Mend these cells, or say that you mean "
            "it (exclude)."
        )


def _check_commas(what: str, cells: _Cells, delimiter: str) -> None:
    """Refuse numbers whose commas divide thousands, or stand for decimal points."""
    if _has_thousands(cells, delimiter):
        first = cells.column[int(_match(cells.column, _THOUSANDS).argmax())].as_py()
        raise TableError(f"{what} thousands separators ({first!r}); export it without them.")
    if cells.all_are(_DECIMAL_COMMA):
        raise TableError(f"{what} decimal commas; say so (decimal=',').")


def _has_thousands(cells: _Cells, delimiter: str) -> bool:
    """Whether commas divide thousands; where they could be decimal ones, these are likelier."""
    thousands = _match(cells.column, _THOUSANDS)
    plain = _match(cells.column, _WITH_POINT)
    if not thousands.any() or not (thousands | plain)[cells.number].all():
        return False
    return delimiter == "," or bool(_match(cells.column, _UNMISTAKABLE_THOUSANDS).any())


def _match(column: Any, pattern: str) -> NDArray[np.bool_]:
    found = arrow("pyarrow.compute").match_substring_regex(column, pattern)
    return np.asarray(found.to_numpy(), bool)
