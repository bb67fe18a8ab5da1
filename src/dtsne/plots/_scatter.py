"""The map itself, from a hundred points to millions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dtsne.plots import _raster
from dtsne.plots._axes import frame_map, given_or_new, is_dark, size_in_inches
from dtsne.plots._coloring import Categories, Coloring, ColorOptions, choose_coloring
from dtsne.plots._colormaps import rgb
from dtsne.plots._inputs import check_map
from dtsne.plots._legends import draw_legend, lists_groups
from dtsne.plots._places import MOST_NAMES, Places, group_places
from dtsne.plots._scale_bar import HEIGHT_BELOW, density_scale_bar
from dtsne.plots._style import PointStyle, point_style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from dtsne.plots._raster import RasterScale
    from dtsne.runtime._typing import FloatArray

# Above this, a vector file (PDF, SVG) holds the points as an image.
_EMBED_ABOVE = 5_000


def scatter_map(
    Y: ArrayLike,
    color: Any = None,
    *,
    labels: Any = None,
    values: ArrayLike | None = None,
    names: Mapping[Any, str] | Sequence[str] | None = None,
    colors: Mapping[Any, Any] | Sequence[Any] | None = None,
    cmap: Any = None,
    limits: tuple[float, float] | None = None,
    center: float | None = None,
    value_name: str | None = None,
    value_ticks: Mapping[float, str] | None = None,
    value_ends: tuple[str, str] | None = None,
    ax: Axes | None = None,
    figsize: tuple[float, float] = (6.0, 6.0),
    point_size: float | Literal["auto"] = "auto",
    alpha: float | Literal["auto"] = "auto",
    legend: bool | Literal["auto"] = "auto",
    annotate: bool = True,
    unit: float | None = None,
    title: str | None = None,
    rasterize: bool | Literal["auto"] = "auto",
    raster_scale: RasterScale = "log",
    random_state: int = 0,
) -> Axes:
    """Draw a map, its points coloured by group or by value.

    Points are drawn in a random order, so that no group lies on top, with a size and an opacity
    that follow from how densely they lie on the paper. Units are as long in x as in y, always.

    Parameters
    ----------
    Y : array-like of shape (n, 2)
        The map.
    color : colour or array-like of shape (n,), optional
        One colour for all; or floats, which are taken as `values`; or anything else, as `labels`.
    labels : array-like of shape (n,), optional
        Group of each point. Colours follow :func:`categorical_colors`, in the order of a pandas
        categorical, or else sorted.
    values : array-like of shape (n,), optional
        Quantity of each point.
    names : mapping or sequence, optional
        What is written for each label: by label, or a sequence that the labels are indices into.
    colors : mapping or sequence, optional
        Colours of the labels: by label, or in their order.
    cmap : str or Colormap, optional
        For `values`; "viridis", or one from blue to red where there is a `center`.
    limits : (float, float), optional
        Values of the first and the last colour; without, nearly the range of the values.
    center : float, optional
        Value of the middle colour, with as much to either side of it.
    value_name : str, optional
        What is written at the bar of colours.
    value_ticks : mapping of float to str, optional
        What is written where at the bar of colours.
    value_ends : (str, str), optional
        What is written at the lower and the upper end of the bar of colours.
    ax : Axes, optional
        Where to draw; without, on a new figure of `figsize` inches, and wider by a legend of
        groups.
    point_size : float or "auto", default "auto"
        matplotlib's `s`: the square of the diameter in 1/72 inch.
    alpha : float or "auto", default "auto"
        Opacity of a point.
    legend : bool or "auto", default "auto"
        Whether to list the groups, or show the bar of values; "auto" does not list groups whose
        names stand on the map. What is missing is listed unless this is False.
    annotate : bool, default True
        Whether to write the names of groups where they lie, for up to 30 groups and else the 30
        largest, as far as there is room for them beside a legend.
    unit : float, optional
        Distance in the data that is one unit of the map (see :func:`radius_unit`): draws a
        :func:`density_scale_bar`.
    title : str, optional
    rasterize : bool or "auto", default "auto"
        Whether to count points in pixels instead of drawing each; "auto" above 100,000. Colours of
        groups are mixed by their numbers, values are averaged, and opacity follows the number of
        points. `point_size` and `alpha` have no meaning then.
    raster_scale : {"log", "equalize"}, default "log"
        Whether that opacity is the logarithm of the number, or its rank among the pixels.
    random_state : int, default 0
        Seeds the order in which points are drawn.

    Returns
    -------
    Axes
    """
    Y = check_map(Y)
    is_new, ax = ax is None, given_or_new(ax, figsize)
    ticks = value_ticks, value_ends
    options = ColorOptions(names, colors, cmap, limits, center, value_name, *ticks, is_dark(ax))
    coloring = choose_coloring(color, labels, values, len(Y), options)
    width, height = size_in_inches(ax)
    if len(Y) > _raster.RASTERIZE_ABOVE if rasterize == "auto" else rasterize:
        _draw_image(ax, Y, coloring, width, height, raster_scale)
    else:
        style = point_style(Y, 72 * width, 72 * height)
        style = PointStyle(
            style.diameter if point_size == "auto" else float(point_size) ** 0.5,
            style.alpha if alpha == "auto" else float(alpha),
        )
        _draw_points(ax, Y, coloring, style, random_state)
    frame_map(ax, title)
    with_groups = lists_groups(coloring, legend=legend, annotate=annotate)
    if annotate and isinstance(coloring, Categories) and coloring.listed:
        _write_names(ax, Y, coloring, listed=with_groups)
    if legend is not False:
        below = 0.0 if unit is None else HEIGHT_BELOW
        draw_legend(ax, coloring, with_groups=with_groups, is_new=is_new, below=below)
    if unit is not None:
        density_scale_bar(ax, unit)
    return ax


def _draw_points(
    ax: Axes, Y: FloatArray, coloring: Coloring, style: PointStyle, random_state: int
) -> None:
    order = np.random.default_rng(random_state).permutation(len(Y))
    # What is missing lies beneath the rest, in the same random order.
    missing = coloring.missing[order]
    order = np.concatenate([order[missing], order[~missing]])
    ax.scatter(
        Y[order, 0],
        Y[order, 1],
        c=coloring.of_points()[order],
        s=style.size,
        alpha=style.alpha,
        linewidths=0,
        rasterized=len(Y) > _EMBED_ABOVE,
    )


def _draw_image(
    ax: Axes, Y: FloatArray, coloring: Coloring, width: float, height: float, scale: RasterScale
) -> None:
    from matplotlib.image import AxesImage

    grid = _raster.make_grid(Y, width, height)
    counts = _raster.spread(_raster.count_pixels(Y, grid))
    image = np.empty((*grid.shape, 4))
    colors = coloring.of_pixels(Y, grid)
    image[..., :3] = np.where(np.isnan(colors), rgb([coloring.gray])[0], colors)
    image[..., 3] = _raster.opacity(counts, scale)
    drawn = AxesImage(ax, extent=grid.extent, origin="lower")
    drawn.set_data(image)
    ax.add_image(drawn)
    left, right, bottom, top = grid.extent
    ax.update_datalim([(left, bottom), (right, top)])


def _write_names(ax: Axes, Y: FloatArray, coloring: Categories, *, listed: bool) -> None:
    from dtsne.plots._names import Names

    places = group_places(Y, coloring.groups.codes, len(coloring.names))
    largest = np.argsort(-places.sizes, kind="stable")[:MOST_NAMES]
    chosen = np.sort(largest[places.sizes[largest] > 0])
    places = Places(places.centers[chosen], places.reaches[chosen], places.sizes[chosen])
    Names(ax, [coloring.names[i] for i in chosen], places, listed=listed)
