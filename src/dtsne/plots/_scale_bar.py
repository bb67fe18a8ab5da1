"""A bar that shows how long a distance of the data is on the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.plots._axes import axes_or_new, ink, round_down
from dtsne.plots._inputs import check_unit, check_values
from dtsne.report._tables import radius_ratio
from dtsne.runtime._errors import DataError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

# Largest share of the window for the bar.
_SHARE = 0.15
# Points of paper (1/72 inch) that a bar below the frame takes.
HEIGHT_BELOW = 14.0


def radius_unit(log_radius_data: ArrayLike, log_radius_map: ArrayLike) -> float:
    """Return the distance in the data that is one unit of a map, by the radii of neighbourhoods.

    It is the median factor between local radii in data and map. The kernel has another unit, the
    median of `sigma_`: in two dimensions a neighbourhood may come out several times wider or
    narrower than its kernel. So a scale bar is read with the unit of the radii.

    Parameters
    ----------
    log_radius_data, log_radius_map : array-like of shape (n,)
        Natural logarithms of each point's local radius, such as the distance to its 100th
        neighbour, in the data and in the map. Points where one is missing are left out.

    Returns
    -------
    float
        The unit, as :func:`density_scale_bar` takes it.

    See Also
    --------
    density_scale_bar : Draws a bar by it.
    iso_radius_glyphs : Draws circles by it.

    Examples
    --------
    >>> from dtsne.plots import radius_unit
    >>> round(radius_unit([0.0, 1.0, 2.0], [-1.0, 0.0, 1.0]), 2)  # e
    2.72
    """
    data = check_values(log_radius_data, np.size(log_radius_data), "log_radius_data")
    map_ = check_values(log_radius_map, len(data), "log_radius_map")
    unit = radius_ratio(data, map_)
    if unit is None:
        reason = "no point has a radius in data and map, so there is nothing to compare"
        raise DataError(reason, argument="log_radius_map")
    return unit


def density_scale_bar(
    ax: Axes | None,
    unit: float,
    *,
    length: float | None = None,
    text: str = "radius {length} in the data",
    loc: str = "below",
    color: ColorType | None = None,
) -> Axes:
    """Draw a bar as long as the radius that some neighbourhoods in the data have on the map.

    A density-preserving map keeps neighbourhoods to one scale. No map of high-dimensional data
    keeps distances between clusters to that scale.

    Parameters
    ----------
    ax : Axes or None
        The axes with the map; None for empty ones.
    unit : float
        Distance in the data that is one unit of the map; see :func:`radius_unit`.
    length : float or None, default None
        Length of the bar, as a distance in the data; None for a round one of about a tenth of the
        window.
    text : str, default "radius {length} in the data"
        Text next to the bar.
    loc : str, default "below"
        "below" the frame, where it covers nothing, or one of matplotlib's places within it, such as
        "lower left".
    color : colour or None, default None
        Colour of bar and text; None for one that is seen there.

    Returns
    -------
    Axes
        The map and the bar.

    See Also
    --------
    radius_unit : Computes the unit.

    Examples
    --------
    >>> from dtsne.plots import density_scale_bar, scatter_map
    >>> ax = density_scale_bar(scatter_map([[0.0, 0.0], [1.0, 0.0]]), unit=2.0)
    """
    unit = check_unit(unit)
    ax = axes_or_new(ax, (6.0, 6.0))
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import AnchoredOffsetbox, AuxTransformBox, HPacker, TextArea

    if length is None:
        ax.apply_aspect()  # which widens the window of a map that is higher than wide
        left, right = ax.get_xlim()
        length = round_down(_SHARE * abs(right - left) * unit)
    elif not length > 0:
        raise ParameterError("length", length, "a positive distance in the data")
    below = loc == "below"
    color = color or ink(ax, outside=below)
    bar = AuxTransformBox(ax.transData)
    line = Line2D([0, length / unit], [0, 0], color=color, linewidth=2, solid_capstyle="butt")
    bar.add_artist(line)
    written = TextArea(
        text.format(length=_written(length)),
        textprops={"color": color, "fontsize": "small", "parse_math": False},
    )
    packed = HPacker(children=[bar, written], align="center", pad=0, sep=5)
    box = AnchoredOffsetbox(
        loc="upper left" if below else loc,
        child=packed,
        pad=0,
        borderpad=0.4,
        frameon=not below,
        bbox_to_anchor=(0, 0) if below else None,
        bbox_transform=ax.transAxes if below else None,
    )
    if not below:
        box.patch.set(edgecolor="none", facecolor=ax.get_facecolor(), alpha=0.7)
    box.set_clip_on(False)
    ax.add_artist(box)
    return ax


def _written(length: float) -> str:
    """Write 5 as 5.0, so that it reads as a length and not as a number of things."""
    return f"{length:.1f}" if 1 <= length < 10 else f"{length:g}"
