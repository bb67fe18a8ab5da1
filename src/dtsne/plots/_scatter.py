"""The map itself, from a hundred points to millions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dtsne.plots._axes import axes_or_new, frame_map, is_dark, size_in_inches
from dtsne.plots._coloring import Categories, Coloring, ColorOptions, choose_coloring
from dtsne.plots._legends import draw_legend, lists_groups
from dtsne.plots._palette import DARK, LIGHT
from dtsne.plots._points import RASTERIZE_ABOVE, PointStyle, draw_image, draw_points, point_style
from dtsne.plots._scale_bar import HEIGHT_BELOW, density_scale_bar
from dtsne.runtime._checks import check_embedding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Labels
    from dtsne.plots._inputs import ByLabel
    from dtsne.plots._points import RasterScale
    from dtsne.runtime._typing import IntArray


class PanelOptions(ColorOptions, total=False):
    """What panels have in common, as :func:`scatter_map` documents it."""

    random_state: int
    rasterize: bool | Literal["auto"]
    raster_scale: RasterScale
    annotate: bool
    point_size: float | Literal["auto"]
    alpha: float | Literal["auto"]


class MapOptions(PanelOptions, total=False):
    """Arguments of :func:`scatter_map` other than the points and their colours."""

    ax: Axes | None
    figsize: tuple[float, float]
    legend: bool | Literal["auto"]
    unit: float | None
    title: str | None


def scatter_map(
    Y: ArrayLike,
    color: ArrayLike | ColorType | None = None,
    *,
    labels: Labels | Groups | None = None,
    values: ArrayLike | None = None,
    names: ByLabel[str] | None = None,
    colors: ByLabel[ColorType] | None = None,
    cmap: str | Colormap | None = None,
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

    Points are drawn in a random order, so that no group lies on top. Their size and opacity follow
    from how densely they lie on the paper. Units are always as long in x as in y.

    Parameters
    ----------
    Y : array-like of shape (n, 2)
        The embedding.
    color : colour or array-like of shape (n,), optional
        One colour for all points; or floats, which are taken as `values`; or anything else, which
        is taken as `labels`.
    labels : array-like of shape (n,), optional
        Group of each point. Colours follow :func:`categorical_colors`, in the order of a
        categorical column, or else sorted.
    values : array-like of shape (n,), optional
        Quantity of each point.
    names : mapping or sequence, optional
        Text for each label: by label, or a sequence that the labels are indices into.
    colors : mapping or sequence, optional
        Colours of the labels: by label, or in their order.
    cmap : str or Colormap, optional
        Colour map for `values`; by default viridis, or blue to red where there is a `center`.
    limits : (float, float), optional
        Values of the first and the last colour; by default nearly the range of the values.
    center : float, optional
        Value of the middle colour. The limits are as far from it on both sides.
    value_name : str, optional
        Text next to the colour bar.
    value_ticks : mapping of float to str, optional
        Ticks of the colour bar: text by value.
    value_ends : (str, str), optional
        Texts at the lower and the upper end of the colour bar.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    figsize : (float, float), default (6.0, 6.0)
        Width and height of a new figure in inches. A legend of groups makes it wider.
    point_size : float or "auto", default "auto"
        matplotlib's `s`: the square of the diameter in 1/72 inch.
    alpha : float or "auto", default "auto"
        Opacity of a point.
    legend : bool or "auto", default "auto"
        Whether to list the groups, or show the bar of values; "auto" does not list groups whose
        names stand on the map. What is missing is listed unless this is False.
    annotate : bool, default True
        Whether to write the names of up to 30 groups, the largest, where they lie. Next to a
        legend, names that would overlap are left out.
    unit : float, optional
        Distance in the data that is one unit of the map (see :func:`radius_unit`): draws a
        :func:`density_scale_bar`.
    title : str, optional
        Title of the axes.
    rasterize : bool or "auto", default "auto"
        Whether to count points in pixels instead of drawing each; "auto" above 100,000. Colours of
        groups are mixed by their numbers, values are averaged, and opacity follows the number of
        points. `point_size` and `alpha` have no effect then.
    raster_scale : {"log", "equalize"}, default "log"
        Whether that opacity is the logarithm of the number, or its rank among the pixels.
    random_state : int, default 0
        Seeds the order in which points are drawn.

    Returns
    -------
    Axes
        The axes with the map; ``ax.figure.savefig("map.png")`` writes it to a file.

    See Also
    --------
    side_by_side : Several maps of the same points.
    radius_map, residual_map : Colours by local radius, and by its error in the map.

    Examples
    --------
    >>> from dtsne.plots import scatter_map
    >>> ax = scatter_map([[0.0, 0.0], [1.0, 0.0]], labels=["a", "b"])
    """
    points = check_embedding(Y, n_components=2)
    is_new, ax = ax is None, axes_or_new(ax, figsize)
    options: ColorOptions = {
        "names": names,
        "colors": colors,
        "cmap": cmap,
        "limits": limits,
        "center": center,
        "value_name": value_name,
        "value_ticks": value_ticks,
        "value_ends": value_ends,
    }
    ground = DARK if is_dark(ax) else LIGHT
    coloring = choose_coloring(color, labels, values, len(points), options, ground=ground)
    width, height = size_in_inches(ax)
    if len(points) > RASTERIZE_ABOVE if rasterize == "auto" else rasterize:
        draw_image(ax, points, coloring, (width, height), raster_scale)
    else:
        style = point_style(points, 72 * width, 72 * height)
        style = PointStyle(
            style.diameter if point_size == "auto" else float(point_size) ** 0.5,
            style.alpha if alpha == "auto" else float(alpha),
        )
        draw_points(ax, points, coloring, style, _order(coloring, random_state))
    frame_map(ax, title)
    with_groups = lists_groups(coloring, legend=legend, annotate=annotate)
    if annotate and isinstance(coloring, Categories) and coloring.listed:
        from dtsne.plots._names import write_names

        write_names(ax, points, coloring, listed=with_groups)
    if legend is not False:
        below = 0.0 if unit is None else HEIGHT_BELOW
        draw_legend(ax, coloring, with_groups=with_groups, is_new=is_new, below=below)
    if unit is not None:
        density_scale_bar(ax, unit)
    return ax


def _order(coloring: Coloring, random_state: int) -> IntArray:
    """Return a random order in which what is missing lies beneath the rest."""
    missing = coloring.missing
    order = np.random.default_rng(random_state).permutation(len(missing))
    return np.concatenate([order[missing[order]], order[~missing[order]]])
