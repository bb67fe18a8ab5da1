"""The legend of groups and the bar of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dtsne.plots import _colors
from dtsne.plots._coloring import Categories, Coloring, Quantity
from dtsne.plots._places import MOST_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

_MISSING_NAME = "missing"
_LONGEST = 36  # characters
# Lines of a legend in an inch of height, and inches that a character takes.
_LINES_PER_INCH = 4.5
_INCHES_PER_CHARACTER = 0.08
# A legend beside axes leaves them at least this share of their width.
_LEAST_WIDTH = 0.4


def lists_groups(coloring: Coloring, *, legend: bool | Literal["auto"], annotate: bool) -> bool:
    """Say whether to list groups, or draw the bar: unless all their names stand on the map."""
    if legend != "auto":
        return legend
    if isinstance(coloring, Quantity):
        return True
    return not annotate or int(np.count_nonzero(coloring.groups.sizes)) > MOST_NAMES


def draw_legend(ax: Axes, coloring: Coloring, *, with_groups: bool, height: float) -> None:
    """List groups by their colours, and what is missing; or draw the bar of a quantity."""
    if with_groups and isinstance(coloring, Quantity):
        _draw_colorbar([ax], coloring)
    handles = _handles(coloring, with_groups=with_groups)
    style = _layout(len(handles), height)
    if len(handles) == 1:  # is not worth a margin of its own
        style |= {"loc": "upper right", "bbox_to_anchor": (1, 0), "borderaxespad": 0.2}
        _as_written(ax.legend(handles=handles, frameon=False, **style))
    elif handles:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
        legend = _as_written(ax.legend(handles=handles, frameon=False, **(style | beside)))
        if ax.figure.get_layout_engine() is None and not _make_room(ax, legend):
            legend.remove()
            style |= {"loc": "upper right", "framealpha": 0.8}
            _as_written(ax.legend(handles=handles, **style))


def draw_shared_legend(axes: Sequence[Axes], coloring: Coloring, *, with_groups: bool) -> None:
    """List groups or draw the bar once, beside all axes of a figure that is laid out."""
    if with_groups and isinstance(coloring, Quantity):
        _draw_colorbar(axes, coloring)
    handles = _handles(coloring, with_groups=with_groups)
    if handles:
        figure: Any = axes[0].figure
        loc = "outside lower right" if len(handles) == 1 else "outside right upper"
        style = _layout(len(handles), figure.bbox.height / figure.dpi)
        _as_written(figure.legend(handles=handles, loc=loc, frameon=False, **style))


def width_of_legend(coloring: Coloring, *, with_groups: bool) -> float:
    """Return about how many inches the shared legend will be wide."""
    if isinstance(coloring, Quantity):
        return 0.8 if with_groups else 0.0
    handles = _handles(coloring, with_groups=with_groups)
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    return 0.5 + _INCHES_PER_CHARACTER * longest if len(handles) > 1 else 0.0


def _handles(coloring: Coloring, *, with_groups: bool) -> list[Any]:
    handles = []
    if with_groups and isinstance(coloring, Categories) and coloring.listed:
        rows = zip(coloring.names, coloring.palette, coloring.groups.sizes, strict=True)
        handles = [_handle(name, color) for name, color, size in rows if size]
    if coloring.missing.any():
        handles.append(_handle(_MISSING_NAME, _colors.MISSING))
    return handles


def _handle(name: str, color: Any) -> Any:
    from matplotlib.lines import Line2D

    short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    if short.startswith("_"):  # which matplotlib takes for "do not list"
        short = f" {short}"
    return Line2D([], [], linestyle="", marker="o", markersize=6, color=color, label=short)


def _layout(n: int, height: float) -> dict[str, Any]:
    columns = int(np.ceil(n / max(height * _LINES_PER_INCH, 4)))
    return {"fontsize": "small", "ncols": columns, "handletextpad": 0.2}


def _as_written(legend: Legend) -> Legend:
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name with two "$" is no formula
    return legend


def _make_room(ax: Axes, legend: Legend) -> bool:
    """Narrow axes that nothing lays out, so that the legend beside them is seen; if it can be."""
    place = ax.get_position()
    share = (legend.get_window_extent().width + 4) / ax.figure.bbox.width
    if place.width - share < _LEAST_WIDTH * place.width:
        return False
    ax.set_position((place.x0, place.y0, place.width - share, place.height))
    return True


def _draw_colorbar(axes: Sequence[Axes], quantity: Quantity) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    below, above = quantity.exceeds
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    bar = axes[0].figure.colorbar(
        ScalarMappable(Normalize(*quantity.limits), quantity.cmap),
        ax=list(axes),
        extend=extend.get((below, above), "neither"),
        aspect=30,
        pad=0.02,
        fraction=0.06,
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="small", length=2)
    if quantity.ticks:
        texts = list(quantity.ticks.values())
        bar.set_ticks(list(quantity.ticks), labels=texts, parse_math=False)
        bar.minorticks_off()
    if quantity.name:
        bar.set_label(quantity.name, fontsize="small", parse_math=False)
