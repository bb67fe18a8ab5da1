"""Radii in the map against those in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.plots._axes import equal_aspect, given_or_new, ink, is_dark, size_in_inches, write_title
from dtsne.plots._coloring import Coloring, ColorOptions, choose_coloring
from dtsne.plots._colormaps import sequential_colormap
from dtsne.plots._inputs import check_unit, check_values
from dtsne.plots._legends import draw_legend, style_colorbar
from dtsne.plots._palette import DARK, LIGHT
from dtsne.plots._style import point_style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray

_HEXAGONS_ABOVE = 5_000


def radius_plot(
    log_radius_data: ArrayLike,
    log_radius_map: ArrayLike,
    *,
    labels: Any = None,
    names: Mapping[Any, str] | Sequence[str] | None = None,
    unit: float | None = None,
    ax: Axes | None = None,
    figsize: tuple[float, float] = (5.0, 5.0),
    title: str | None = None,
    random_state: int = 0,
) -> Axes:
    """Draw the local radii of all points in the map against those in the data.

    On the line, a neighbourhood is as wide in the map as it should be; below it is drawn too tight,
    above too wide. The correlation written is that of the logarithms.

    Parameters
    ----------
    log_radius_data, log_radius_map : array-like of shape (n,)
        Natural logarithms of each point's radius, such as the distance to its 100th neighbour, in
        the data and in the map. Points where one is missing are left out.
    labels : array-like of shape (n,), optional
        Groups to colour by; not for more than 5,000 points, which are drawn as counts in hexagons.
    names : mapping or sequence, optional
        What is written for each label, as for :func:`scatter_map`.
    unit : float, optional
        Distance in the data that is one unit of the map; see :func:`radius_unit`.
        Without it both are drawn relative to their medians.
    ax : Axes, optional
        Where to draw; without, on a new figure of `figsize` inches, and wider by a legend of
        groups.
    title : str, optional
    random_state : int, default 0
        Seeds the order in which points are drawn.

    Returns
    -------
    Axes
    """
    data = check_values(log_radius_data, np.size(log_radius_data), "log_radius_data")
    map_ = check_values(log_radius_map, len(data), "log_radius_map")
    known = np.isfinite(data) & np.isfinite(map_)
    if known.sum() < 2:
        raise ValueError("fewer than two points have a radius in data and map; nothing to draw.")
    if unit is None:
        points = np.column_stack([data - np.median(data[known]), map_ - np.median(map_[known])])
    else:
        points = np.column_stack([data, map_ + np.log(check_unit(unit))])
    is_new, ax = ax is None, given_or_new(ax, figsize)
    if known.sum() > _HEXAGONS_ABOVE:
        _draw_hexagons(ax, points[known])
    else:
        coloring = _draw_dots(ax, points, known, labels, names, random_state)
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
    if title is not None:
        write_title(ax, title)
    return ax


def _name_axes(ax: Axes, where: str) -> None:
    color = ink(ax, beside=True)
    ax.set_xlabel(f"log radius in the data{where}", fontsize="small", color=color)
    ax.set_ylabel(f"log radius in the map{where}", fontsize="small", color=color)
    ax.tick_params(labelsize="small", color=color, labelcolor=color)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(color)


def _draw_hexagons(ax: Axes, points: FloatArray) -> None:
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
        cmap=sequential_colormap(DARK if is_dark(ax) else LIGHT),
        linewidths=0.2,
    )
    bar = ax.figure.colorbar(found, ax=ax, aspect=30, pad=0.02, fraction=0.06)
    style_colorbar(bar, ink(ax, beside=True))
    bar.set_label("points", fontsize="small")


def _draw_dots(
    ax: Axes,
    points: FloatArray,
    known: np.ndarray[Any, np.dtype[np.bool_]],
    labels: Any,
    names: Mapping[Any, str] | Sequence[str] | None,
    random_state: int,
) -> Coloring:
    n = len(points)
    coloring = choose_coloring(None, labels, None, n, ColorOptions(names, on_dark=is_dark(ax)))
    width, height = size_in_inches(ax)
    style = point_style(points[known], 72 * width, 72 * height)
    order = np.random.default_rng(random_state).permutation(np.flatnonzero(known))
    ax.scatter(
        points[order, 0],
        points[order, 1],
        c=coloring.of_points()[order],
        s=style.size,
        alpha=style.alpha,
        linewidths=0,
    )
    return coloring


def _correlation(points: FloatArray) -> str:
    if (np.ptp(points, axis=0) == 0).any():
        return "no correlation: radii are all the same"
    found = float(np.corrcoef(points[:, 0], points[:, 1])[0, 1])
    return f"correlation {found:.3f}\n{len(points):,} points"
