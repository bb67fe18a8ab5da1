"""Radii in the map against those in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.plots._axes import axes_or_new, equal_aspect, ink, is_dark, size_in_inches, write_title
from dtsne.plots._coloring import choose_coloring, sequential_colormap
from dtsne.plots._inputs import check_unit, check_values
from dtsne.plots._legends import draw_legend, style_colorbar
from dtsne.plots._palette import DARK, LIGHT
from dtsne.plots._points import draw_points, point_style
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Labels
    from dtsne.plots._inputs import ByLabel
    from dtsne.runtime._typing import FloatArray

_HEXAGONS_ABOVE = 5_000


def radius_plot(
    log_radius_data: ArrayLike,
    log_radius_map: ArrayLike,
    *,
    labels: Labels | Groups | None = None,
    names: ByLabel[str] | None = None,
    unit: float | None = None,
    ax: Axes | None = None,
    figsize: tuple[float, float] = (5.0, 5.0),
    title: str | None = None,
    random_state: int = 0,
) -> Axes:
    """Draw the local radii of all points in the map against those in the data.

    On the line, a neighbourhood is as wide in the map as it should be; below the line it is drawn
    too tight, above too wide. The correlation in the corner is that of the logarithms.

    Parameters
    ----------
    log_radius_data, log_radius_map : array-like of shape (n,)
        Natural logarithms of each point's local radius, such as the distance to its 100th
        neighbour, in the data and in the map. Points where one is missing are left out.
    labels : array-like of shape (n,), optional
        Groups to colour by; not for more than 5,000 points, which are drawn as counts in hexagons.
    names : mapping or sequence, optional
        What is written for each label, as for :func:`scatter_map`.
    unit : float, optional
        Distance in the data that is one unit of the map; see :func:`radius_unit`.
        Without it both are drawn relative to their medians.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    figsize : (float, float), default (5.0, 5.0)
        Width and height of a new figure in inches, without the legend.
    title : str, optional
        Title of the axes.
    random_state : int, default 0
        Seeds the order in which points are drawn.

    Returns
    -------
    Axes
        The points, or hexagons, and the line.

    See Also
    --------
    residual_map : Where on the map radii are too small or too large.

    Examples
    --------
    >>> from dtsne.plots import radius_plot
    >>> ax = radius_plot([0.0, 0.7, 1.4], [0.0, 0.6, 1.2])
    """
    data = check_values(log_radius_data, np.size(log_radius_data), "log_radius_data")
    map_ = check_values(log_radius_map, len(data), "log_radius_map")
    known = np.isfinite(data) & np.isfinite(map_)
    if known.sum() < 2:
        reason = "fewer than two points have a radius in data and map"
        raise DataError(reason, argument="log_radius_map")
    if unit is None:
        points = np.column_stack([data - np.median(data[known]), map_ - np.median(map_[known])])
    else:
        points = np.column_stack([data, map_ + np.log(check_unit(unit))])
    is_new, ax = ax is None, axes_or_new(ax, figsize)
    ground = DARK if is_dark(ax) else LIGHT
    if known.sum() > _HEXAGONS_ABOVE:
        _draw_hexagons(ax, points[known], sequential_colormap(ground))
    else:
        rng = np.random.default_rng(random_state)
        coloring = choose_coloring(None, labels, None, len(points), {"names": names}, ground=ground)
        width, height = size_in_inches(ax)
        style = point_style(points[known], 72 * width, 72 * height)
        draw_points(ax, points, coloring, style, rng.permutation(np.flatnonzero(known)))
        draw_legend(ax, coloring, with_groups=True, is_new=is_new)
    ax.axline((0, 0), slope=1, color=ink(ax), linewidth=0.8, linestyle=(0, (4, 3)))
    _name_axes(ax, "" if unit else ", relative to the median")
    ax.text(
        0.03,
        0.97,
        _correlation(points[known]),
        transform=ax.transAxes,
        va="top",
        fontsize="small",
        color=ink(ax),
    )
    equal_aspect(ax)
    write_title(ax, title)
    return ax


def _name_axes(ax: Axes, where: str) -> None:
    color = ink(ax, outside=True)
    ax.set_xlabel(f"log radius in the data{where}", fontsize="small", color=color)
    ax.set_ylabel(f"log radius in the map{where}", fontsize="small", color=color)
    ax.tick_params(labelsize="small", color=color, labelcolor=color)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(color)


def _draw_hexagons(ax: Axes, points: FloatArray, cmap: Colormap) -> None:
    # Square windows: hexbin lays its grid over the range of either coordinate.
    low, high = points.min(axis=0), points.max(axis=0)
    middle, reach = (low + high) / 2, max((high - low).max() / 2, 1e-9)
    left, bottom = middle - reach
    right, top = middle + reach
    found = ax.hexbin(
        *points.T,
        gridsize=60,
        extent=(left, right, bottom, top),
        bins="log",
        mincnt=1,
        cmap=cmap,
        linewidths=0.2,
    )
    bar = ax.figure.colorbar(found, ax=ax, aspect=30, pad=0.02, fraction=0.06)
    style_colorbar(bar, ink(ax, outside=True))
    bar.set_label("points", fontsize="small")


def _correlation(points: FloatArray) -> str:
    if (np.ptp(points, axis=0) == 0).any():
        return "no correlation: radii are all the same"
    found = float(np.corrcoef(points[:, 0], points[:, 1])[0, 1])
    return f"correlation {found:.3f}\n{len(points):,} points"
