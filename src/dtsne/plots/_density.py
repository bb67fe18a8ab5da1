"""Pictures of local radii: what a density-preserving map keeps, and where it fails to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.plots._axes import (
    axes_or_new,
    equal_aspect,
    factor_ticks,
    ink,
    is_dark,
    radius_ticks,
    size_in_inches,
    write_title,
)
from dtsne.plots._coloring import by_values, choose_coloring, sequential_colormap
from dtsne.plots._inputs import check_radii, check_unit, check_values
from dtsne.plots._legends import draw_legend, style_colorbar
from dtsne.plots._palette import DARK, LIGHT
from dtsne.plots._points import draw_points, point_style
from dtsne.plots._scatter import MapOptions, scatter_map
from dtsne.runtime._checks import check_embedding
from dtsne.runtime._errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Labels
    from dtsne.plots._inputs import ByLabel
    from dtsne.runtime._typing import FloatArray, IntArray

# Circles are chosen among so many points.
_MAX_CANDIDATES = 2_000
# Radii of more points are drawn as counts in hexagons.
_HEXAGONS_ABOVE = 5_000


def radius_map(Y: ArrayLike, log_radius: ArrayLike, **options: Unpack[MapOptions]) -> Axes:
    """Draw a map coloured by local radius, dark where the data is dense.

    Parameters
    ----------
    Y : array-like of shape (n, 2)
        The embedding.
    log_radius : array-like of shape (n,)
        Natural logarithm of each point's local radius, such as the distance to its 100th neighbour,
        in the data or the map. The bar is labelled with the radii themselves.
    **options
        Options of :func:`scatter_map`. The default of `value_name`, the text next to the bar, is
        "radius in the data".

    Returns
    -------
    Axes
        The map and the bar of radii.

    See Also
    --------
    residual_map : The same, coloured by the error of the radius in the map.
    radius_plot : Radii in the map against radii in the data.

    Examples
    --------
    >>> from dtsne.plots import radius_map
    >>> ax = radius_map([[0.0, 0.0], [1.0, 0.0]], [0.0, 0.7])
    """

    def ticks(low: float, high: float) -> dict[float, str]:
        return radius_ticks(float(np.exp(low)), float(np.exp(high)))

    return _draw_logarithms(Y, log_radius, ticks, {"value_name": "radius in the data", **options})


def residual_map(Y: ArrayLike, residual: ArrayLike, **options: Unpack[MapOptions]) -> Axes:
    """Draw a map coloured by the error of its local radii.

    Neighbourhoods that are drawn too tight are blue, those drawn too wide are red.

    Parameters
    ----------
    Y : array-like of shape (n, 2)
        The embedding.
    residual : array-like of shape (n,)
        Log radius in the map minus log radius in the data, centred at 0. The bar is labelled with
        factors.
    **options
        Options of :func:`scatter_map`. The texts at the two ends of the bar, `value_ends`, are
        "drawn too tight" and "drawn too wide" by default.

    Returns
    -------
    Axes
        The map, with the bar of factors next to it; ``ax.figure.axes[1]`` is the axes of that
        bar.

    See Also
    --------
    radius_plot : Radii in the map against radii in the data.

    Examples
    --------
    >>> from dtsne.plots import residual_map
    >>> ax = residual_map([[0.0, 0.0], [1.0, 0.0]], [-0.1, 0.1])
    """

    def ticks(low: float, high: float) -> dict[float, str]:
        return factor_ticks(float(np.exp(max(-low, high))))

    ends = "drawn\ntoo tight", "drawn\ntoo wide"
    return _draw_logarithms(Y, residual, ticks, {"center": 0.0, "value_ends": ends, **options})


def _draw_logarithms(
    Y: ArrayLike,
    logarithms: ArrayLike,
    ticks: Callable[[float, float], dict[float, str]],
    options: MapOptions,
) -> Axes:
    """Colour by logarithms, with ticks that are chosen from the limits of the colours."""
    points = check_embedding(Y, n_components=2)
    shown = by_values(logarithms, len(points), options)
    options = {"value_ticks": ticks(*shown.limits), **options, "limits": shown.limits}
    return scatter_map(points, values=shown.values, **options)


def iso_radius_glyphs(
    ax: Axes | None,
    Y: ArrayLike,
    radius: ArrayLike,
    *,
    unit: float,
    n: int = 40,
    color: ColorType | None = None,
    linewidth: float = 0.8,
) -> Axes:
    """Draw circles, over a map, with the radii that neighbourhoods have in the data.

    Where the map is right, each circle holds about as many points as the neighbourhood does.

    Parameters
    ----------
    ax : Axes or None
        The axes with the map; None draws it first, in grey.
    Y : array-like of shape (n, 2)
        The embedding.
    radius : array-like of shape (n,)
        Local radius of each point in the data, such as the distance to its 100th neighbour.
    unit : float
        Distance in the data that is one unit of the map; see :func:`radius_unit`.
    n : int, default 40
        Maximum number of circles. They do not overlap, and lie around points that are well apart.
    color : colour or None, default None
        Colour of the circles; None for one that is seen on the map.
    linewidth : float, default 0.8
        Width of their lines, in 1/72 inch.

    Returns
    -------
    Axes
        The map and the circles.

    See Also
    --------
    density_scale_bar : One length for the whole map.

    Examples
    --------
    >>> from dtsne.plots import iso_radius_glyphs
    >>> ax = iso_radius_glyphs(None, [[0.0, 0.0], [1.0, 0.0]], [0.1, 0.2], unit=1.0)
    """
    points = check_embedding(Y, n_components=2)
    radii = check_radii(radius, len(points), "radius") / check_unit(unit)
    if n < 1:
        raise ParameterError("n", n, "1 or more")
    if ax is None:
        ax = scatter_map(points, color=LIGHT.missing)
    from matplotlib.collections import EllipseCollection

    chosen = spread_points(points, radii, n)
    across = 2 * radii[chosen]
    ax.add_collection(
        EllipseCollection(
            across,
            across,
            np.zeros(len(chosen)),
            units="xy",
            offsets=points[chosen],
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=ink(ax) if color is None else color,
            linewidths=linewidth,
            zorder=3,
        ),
        autolim=False,
    )
    reach = radii[chosen, None]
    ax.update_datalim(np.vstack([points[chosen] - reach, points[chosen] + reach]))
    ax.autoscale_view()
    return ax


def spread_points(Y: FloatArray, radii: FloatArray, n: int, seed: int = 0) -> IntArray:
    """Choose up to n points that lie well apart, none of whose circles overlap.

    They are taken at random, first with a wide space between them, and then with less and less.
    """
    usable = np.flatnonzero(np.isfinite(radii) & (radii > 0))
    if len(usable) == 0:
        return usable
    candidates = np.random.default_rng(seed).permutation(usable)[:_MAX_CANDIDATES]
    widest = float(np.ptp(Y[usable], axis=0).max()) / np.sqrt(n)
    chosen: list[int] = []
    for space in (widest, widest / 2, widest / 4, 0.0):
        for point in candidates:
            apart = np.linalg.norm(Y[chosen] - Y[point], axis=1)
            if (apart > np.maximum(radii[chosen] + radii[point], space)).all():
                chosen.append(int(point))
            if len(chosen) == n:
                return np.array(chosen)
    return np.array(chosen)


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
