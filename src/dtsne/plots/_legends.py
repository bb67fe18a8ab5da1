"""The legend of groups and the bar of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.plots import _colors
from dtsne.plots._coloring import Categories, Coloring, Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MISSING_NAME = "missing"
_LONGEST = 36  # characters
# Lines of a legend in an inch of the axes' height.
_LINES_PER_INCH = 4.5


def draw_legend(ax: Axes, coloring: Coloring, *, with_groups: bool, height: float) -> None:
    """List groups by their colours, and what is missing; or draw the bar of a quantity."""
    handles = []
    if isinstance(coloring, Quantity):
        if with_groups:
            _draw_colorbar(ax, coloring)
    elif with_groups and coloring.listed:
        handles = _group_handles(coloring)
    if coloring.missing.any():
        handles.append(_handle(_MISSING_NAME, _colors.MISSING))
    if handles:
        _place_legend(ax, handles, height)


def _group_handles(coloring: Categories) -> list[Any]:
    rows = zip(coloring.names, coloring.palette, coloring.groups.sizes, strict=True)
    return [_handle(name, color) for name, color, size in rows if size]


def _handle(name: str, color: Any) -> Any:
    from matplotlib.lines import Line2D

    short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    if short.startswith("_"):  # which matplotlib takes for "do not list"
        short = f" {short}"
    return Line2D([], [], linestyle="", marker="o", markersize=6, color=color, label=short)


def _place_legend(ax: Axes, handles: list[Any], height: float) -> None:
    columns = int(np.ceil(len(handles) / max(height * _LINES_PER_INCH, 4)))
    options: dict[str, Any] = {"fontsize": "small", "ncols": columns, "handletextpad": 0.2}
    labels = [handle.get_label() for handle in handles]
    # Outside the frame there is room for it only where something lays out the figure.
    laid_out = ax.figure.get_layout_engine() is not None
    if not laid_out:
        options |= {"loc": "upper right", "framealpha": 0.8}
    elif len(handles) > 1:
        options |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
    else:  # one is not worth a margin of its own
        options |= {"loc": "upper right", "bbox_to_anchor": (1, 0), "borderaxespad": 0.2}
    legend = ax.legend(handles, labels, frameon=not laid_out, **options)
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name with two "$" is no formula


def _draw_colorbar(ax: Axes, quantity: Quantity) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    below, above = quantity.exceeds
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    bar = ax.figure.colorbar(
        ScalarMappable(Normalize(*quantity.limits), quantity.cmap),
        ax=ax,
        extend=extend.get((below, above), "neither"),
        aspect=30,
        pad=0.02,
        fraction=0.06,
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="small", length=2)
    if quantity.ticks:
        bar.set_ticks(list(quantity.ticks), labels=list(quantity.ticks.values()))
        bar.minorticks_off()
    if quantity.name:
        bar.set_label(quantity.name, fontsize="small")
