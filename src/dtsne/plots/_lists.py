"""What a legend lists, and how much room that takes: counted in characters, before it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.labels._format import shortened
from dtsne.plots._coloring import Categories, Coloring

if TYPE_CHECKING:
    from dtsne.runtime._typing import IntArray

_MISSING_NAME = "missing"
# Characters of a name.
_LONGEST, _SHORTEST = 36, 8
_MORE = "… and {:,} more"
# More than this nobody looks up.
_MOST_LISTED = 60
# Lines of a legend in an inch of height, and inches that a column and a character take.
_LINES_PER_INCH = 4.5
_INCHES_PER_COLUMN, _INCHES_PER_CHARACTER = 0.5, 0.08


@dataclass(frozen=True, eq=False)
class Listing:
    """The rows of a legend.

    Attributes
    ----------
    names : list of str
    colors : list
        None for what says how many are left out.
    columns : int
        Rows stand in so many columns.
    """

    names: list[str]
    colors: list[Any]
    columns: int

    @property
    def size(self) -> tuple[float, float]:
        """About how wide and high it will be, in inches."""
        longest = max(map(len, self.names), default=0)
        lines = int(np.ceil(len(self.names) / self.columns))
        column = _INCHES_PER_COLUMN + _INCHES_PER_CHARACTER * longest
        return self.columns * column, lines / _LINES_PER_INCH


def list_groups(
    coloring: Coloring, *, with_groups: bool, height: float, width: float | None = None
) -> Listing:
    """List groups, if they are to be, and what is missing, in a room of some inches.

    The largest groups, where there are more than fit.
    """
    names, colors, sizes = _rows(coloring, with_groups=with_groups)
    lines = max(int(height * _LINES_PER_INCH), 4)
    most, longest = _MOST_LISTED, _LONGEST
    if width is not None:
        needed = max(map(len, names), default=0)
        longest = _characters(width, max(needed, len(_MORE) if len(names) > lines else 0))
        column = _INCHES_PER_COLUMN + _INCHES_PER_CHARACTER * longest
        most = min(most, lines * max(int(width // column), 1))
    more = len(names) - most + 1
    if more > 1:
        kept = np.sort(np.argsort(-sizes, kind="stable")[: most - 1])
        names, colors = [names[i] for i in kept], [colors[i] for i in kept]
    names = shortened(names, longest)
    if more > 1:
        names, colors = [*names, _MORE.format(more)], [*colors, None]
    if coloring.missing.any():
        names, colors = [*names, _MISSING_NAME], [*colors, coloring.gray]
    return Listing(names, colors, max(int(np.ceil(len(names) / lines)), 1))


def _rows(coloring: Coloring, *, with_groups: bool) -> tuple[list[str], list[Any], IntArray]:
    if not (with_groups and isinstance(coloring, Categories) and coloring.listed):
        return [], [], np.zeros(0, dtype=np.int64)
    used = np.flatnonzero(coloring.groups.sizes)
    colors = list(coloring.palette[used])
    return [coloring.names[i] for i in used], colors, coloring.groups.sizes[used]


def _characters(width: float, needed: int) -> int:
    fitting = int((width - _INCHES_PER_COLUMN) / _INCHES_PER_CHARACTER)
    return min(max(fitting, _SHORTEST), needed, _LONGEST) or 1
