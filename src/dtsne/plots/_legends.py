"""The legend of groups and the bar of a quantity.

How large a legend will be is estimated by counting characters, before it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dtsne.labels._format import shortened
from dtsne.plots._axes import ink, size_in_inches
from dtsne.plots._coloring import Categories, Coloring, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType

    from dtsne.runtime._typing import IntArray

# More names than this hide the map; then the largest groups are named, and a legend lists all.
MAX_NAMES = 30
# Share of the width of axes that a legend leaves to them, and of their area that it may cover where
# there is no room next to them.
_LEFT, _COVERED = 0.6, 0.25
# Inches below which a column of names is not worth having.
_MIN_WIDTH = 0.8
# Inches that a bar of colours takes, and points of paper between it and the texts at its ends.
_BAR, _END = 0.8, 10.0
_MISSING_NAME = "missing"
# Characters of a name.
_MAX_LENGTH, _MIN_LENGTH = 36, 8
_MORE = "… and {:,} more"
# Nobody looks up more than this.
_MAX_LISTED = 60
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
        None in the row that counts the groups that are left out.
    columns : int
        Number of columns of rows.
    """

    names: list[str]
    colors: list[ColorType | None]
    columns: int

    @property
    def size(self) -> tuple[float, float]:
        """About how wide and high it will be, in inches."""
        longest = max(map(len, self.names), default=0)
        lines = int(np.ceil(len(self.names) / self.columns))
        return self.columns * _column_width(longest), lines / _LINES_PER_INCH


def list_groups(
    coloring: Coloring, *, with_groups: bool, height: float, width: float | None = None
) -> Listing:
    """List groups, if they are asked for, and what is missing, within some inches.

    The largest groups, where there are more than fit.
    """
    names, colors, sizes = _rows(coloring, with_groups=with_groups)
    lines = max(int(height * _LINES_PER_INCH), 4)
    most, longest = _MAX_LISTED, _MAX_LENGTH
    if width is not None:
        needed = max(map(len, names), default=0)
        longest = _characters(width, max(needed, len(_MORE) if len(names) > lines else 0))
        most = min(most, lines * max(int(width // _column_width(longest)), 1))
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


def _rows(
    coloring: Coloring, *, with_groups: bool
) -> tuple[list[str], list[ColorType | None], IntArray]:
    if not (with_groups and isinstance(coloring, Categories) and coloring.listed):
        return [], [], np.zeros(0, dtype=np.int64)
    used = np.flatnonzero(coloring.groups.sizes)
    names = [coloring.names[i] for i in used]
    colors: list[ColorType | None] = [tuple(rgb) for rgb in coloring.palette[used].tolist()]
    return names, colors, coloring.groups.sizes[used]


def _column_width(n_characters: int) -> float:
    return _INCHES_PER_COLUMN + _INCHES_PER_CHARACTER * n_characters


def _characters(width: float, needed: int) -> int:
    fitting = int((width - _INCHES_PER_COLUMN) / _INCHES_PER_CHARACTER)
    return min(max(fitting, _MIN_LENGTH), needed, _MAX_LENGTH) or 1


def lists_groups(coloring: Coloring, *, legend: bool | Literal["auto"], annotate: bool) -> bool:
    """Say whether to list groups, or draw the bar: unless all their names stand on the map."""
    if legend != "auto":
        return legend
    if isinstance(coloring, Quantity):
        return True
    return not annotate or int(np.count_nonzero(coloring.groups.sizes)) > MAX_NAMES


def draw_legend(
    ax: Axes, coloring: Coloring, *, with_groups: bool, is_new: bool, below: float = 0.0
) -> None:
    """List groups by their colours, and what is missing; or draw the bar of a quantity.

    Axes of a new figure keep their size, and the figure grows; those of the user keep most of it.

    Parameters
    ----------
    below : float, default 0
        Points of paper (1/72 inch) that are taken below the axes.
    """
    if with_groups and isinstance(coloring, Quantity):
        draw_colorbar([ax], coloring)
    width, height = size_in_inches(ax)
    room = None if is_new else (1 - _LEFT) * width
    rows = list_groups(coloring, with_groups=with_groups, height=height, width=room)
    if len(rows.names) == 1:  # is not worth a margin of its own
        _place_below(ax, rows, below)
    elif rows.names and room is not None and room < min(rows.size[0], _MIN_WIDTH):
        _place_within(ax, coloring, width, height)
    elif rows.names:
        if is_new:
            figure = ax.figure.figure
            figure.set_figwidth(figure.get_figwidth() + rows.size[0])
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
        legend = _draw_rows(ax, rows, ink(ax, outside=True), frameon=False, **place)
        if not is_new and ax.figure.get_layout_engine() is None:
            _make_room(ax, legend)


def draw_shared_legend(axes: Sequence[Axes], coloring: Coloring, *, with_groups: bool) -> None:
    """List groups or draw the bar once, next to all axes of a new figure, which grows by it."""
    figure = axes[0].figure.figure
    color = ink(axes[0], outside=True)
    if with_groups and isinstance(coloring, Quantity):
        figure.set_figwidth(figure.get_figwidth() + _BAR)
        draw_colorbar(axes, coloring)
    rows = list_groups(coloring, with_groups=with_groups, height=figure.get_figheight())
    if len(rows.names) == 1:
        _draw_rows(figure, rows, color, frameon=False, loc="outside lower right")
    elif rows.names:
        figure.set_figwidth(figure.get_figwidth() + rows.size[0])
        _draw_rows(figure, rows, color, frameon=False, loc="outside right upper")


def _draw_rows(on: Axes | Figure, rows: Listing, color: ColorType, **style: Any) -> Legend:
    handles = [_handle(*row) for row in zip(rows.names, rows.colors, strict=True)]
    legend: Legend = on.legend(
        handles=handles,
        ncols=rows.columns,
        fontsize="small",
        handletextpad=0.2,
        labelcolor=color,
        **style,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name with two "$" is no formula
    return legend


def _handle(name: str, color: ColorType | None) -> Line2D:
    from matplotlib.lines import Line2D

    if name.startswith("_"):  # which matplotlib takes for "do not list"
        name = f" {name}"
    marker, color = ("", "none") if color is None else ("o", color)
    return Line2D([], [], linestyle="", marker=marker, markersize=6, color=color, label=name)


def _place_below(ax: Axes, rows: Listing, below: float) -> None:
    from matplotlib.transforms import ScaledTranslation

    lower = ScaledTranslation(0, -below / 72, ax.figure.dpi_scale_trans)
    _draw_rows(
        ax,
        rows,
        ink(ax, outside=True),
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + lower,
        borderaxespad=0.2,
    )


def _place_within(ax: Axes, coloring: Coloring, width: float, height: float) -> None:
    """List on the map itself as many groups as leave most of it to be seen."""
    rows = list_groups(coloring, with_groups=True, height=_COVERED * height, width=width)
    ground = ax.get_facecolor()
    _draw_rows(ax, rows, ink(ax), loc="upper right", framealpha=0.8, facecolor=ground)


def _make_room(ax: Axes, legend: Legend) -> None:
    """Narrow axes that nothing lays out, so that the legend next to them is seen."""
    place = ax.get_position()
    share = (legend.get_window_extent().width + 4) / ax.figure.bbox.width
    ax.set_position((place.x0, place.y0, place.width - share, place.height))


def draw_colorbar(axes: Sequence[Axes], quantity: Quantity) -> None:
    """Draw the bar of a quantity at axes of one figure."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    below, above = quantity.exceeds
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    bar = axes[0].figure.colorbar(
        ScalarMappable(Normalize(*quantity.limits), quantity.cmap),
        ax=list(axes),
        extend=extend.get((below, above), "neither"),
        extendfrac=0.02,
        aspect=30,
        pad=0.02,
        fraction=0.06,
    )
    color = ink(axes[0], outside=True)
    style_colorbar(bar, color)
    if quantity.ticks:
        texts = list(quantity.ticks.values())
        bar.set_ticks(list(quantity.ticks), labels=texts, parse_math=False)
        bar.minorticks_off()
    if quantity.name:
        bar.set_label(quantity.name, fontsize="small", parse_math=False)
    if quantity.ends is not None:
        lowest, highest = quantity.ends
        bar.ax.set_xlabel(lowest, labelpad=_END, fontsize="small", parse_math=False, color=color)
        bar.ax.set_title(highest, pad=_END, fontsize="small", parse_math=False, color=color)


def style_colorbar(bar: Colorbar, color: ColorType) -> None:
    """Draw a bar of colours without a frame, with small texts of a colour."""
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="small", length=2, color=color, labelcolor=color)
    bar.ax.yaxis.label.set_color(color)
