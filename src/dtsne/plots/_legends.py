"""The legend of groups and the bar of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dtsne.plots._axes import ink, size_in_inches
from dtsne.plots._coloring import Coloring, Quantity
from dtsne.plots._lists import Listing, list_groups
from dtsne.plots._places import MOST_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend

# Share of the width of axes that a legend leaves to them, and of their area that it may cover where
# there is no room beside them.
_LEFT, _COVERED = 0.6, 0.25
# Inches below which a column of names is not worth having.
_NARROWEST = 0.8
# Inches that a bar of colours takes, and points of paper between it and the texts at its ends.
_BAR, _END = 0.8, 10.0


def lists_groups(coloring: Coloring, *, legend: bool | Literal["auto"], annotate: bool) -> bool:
    """Say whether to list groups, or draw the bar: unless all their names stand on the map."""
    if legend != "auto":
        return legend
    if isinstance(coloring, Quantity):
        return True
    return not annotate or int(np.count_nonzero(coloring.groups.sizes)) > MOST_NAMES


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
    elif rows.names and room is not None and room < min(rows.size[0], _NARROWEST):
        _place_within(ax, coloring, width, height)
    elif rows.names:
        if is_new:
            figure: Any = ax.figure
            figure.set_figwidth(figure.get_figwidth() + rows.size[0])
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
        legend = _draw_rows(ax, rows, ink(ax, beside=True), frameon=False, **beside)
        if not is_new and ax.figure.get_layout_engine() is None:
            _make_room(ax, legend)


def draw_shared_legend(axes: Sequence[Axes], coloring: Coloring, *, with_groups: bool) -> None:
    """List groups or draw the bar once, beside all axes of a new figure, which grows by it."""
    figure: Any = axes[0].figure
    color = ink(axes[0], beside=True)
    if with_groups and isinstance(coloring, Quantity):
        figure.set_figwidth(figure.get_figwidth() + _BAR)
        draw_colorbar(axes, coloring)
    rows = list_groups(coloring, with_groups=with_groups, height=figure.get_figheight())
    if len(rows.names) == 1:
        _draw_rows(figure, rows, color, frameon=False, loc="outside lower right")
    elif rows.names:
        figure.set_figwidth(figure.get_figwidth() + rows.size[0])
        _draw_rows(figure, rows, color, frameon=False, loc="outside right upper")


def _draw_rows(on: Any, rows: Listing, color: Any, **style: Any) -> Legend:
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


def _handle(name: str, color: Any) -> Any:
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
        ink(ax, beside=True),
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
    """Narrow axes that nothing lays out, so that the legend beside them is seen."""
    place = ax.get_position()
    share = (legend.get_window_extent().width + 4) / ax.figure.bbox.width
    ax.set_position((place.x0, place.y0, place.width - share, place.height))


def draw_colorbar(axes: Sequence[Axes], quantity: Quantity) -> None:
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
    style_colorbar(bar, ink(axes[0], beside=True))
    if quantity.ticks:
        texts = list(quantity.ticks.values())
        bar.set_ticks(list(quantity.ticks), labels=texts, parse_math=False)
        bar.minorticks_off()
    if quantity.name:
        bar.set_label(quantity.name, fontsize="small", parse_math=False)
    if quantity.ends is not None:
        lowest, highest = quantity.ends
        words = {"fontsize": "small", "parse_math": False, "color": ink(axes[0], beside=True)}
        bar.ax.set_xlabel(lowest, labelpad=_END, **words)
        bar.ax.set_title(highest, pad=_END, **words)


def style_colorbar(bar: Colorbar, color: Any) -> None:
    """Draw a bar of colours without a frame, with small texts of a colour."""
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="small", length=2, color=color, labelcolor=color)
    bar.ax.yaxis.label.set_color(color)
