"""Pictures of local radii: what a density-preserving map keeps, and where it fails to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.plots._axes import ink
from dtsne.plots._coloring import ColorOptions, by_values
from dtsne.plots._inputs import check_map, check_radii, check_unit
from dtsne.plots._palette import LIGHT
from dtsne.plots._scatter import scatter_map
from dtsne.plots._ticks import factor_ticks, radius_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray, IntArray

# Circles are chosen among so many points.
_CANDIDATES = 2_000


def radius_map(
    Y: ArrayLike,
    log_radius: ArrayLike,
    *,
    value_name: str | None = "radius in the data",
    **options: Any,
) -> Axes:
    """Draw a map coloured by local radius, dark where the data is dense.

    Parameters
    ----------
    Y : array-like of shape (n, 2)
        The map.
    log_radius : array-like of shape (n,)
        Natural logarithm of each point's radius, such as the distance to its 100th neighbour, in
        the data or the map. The bar is labelled with the radii themselves.
    value_name : str, default "radius in the data"
        What is written at the bar.
    **options
        Those of :func:`scatter_map`.

    Returns
    -------
    Axes
    """
    Y = check_map(Y)
    shown = by_values(log_radius, len(Y), ColorOptions(limits=options.pop("limits", None)))
    low, high = np.exp(shown.limits)
    return scatter_map(
        Y,
        values=shown.values,
        limits=shown.limits,
        value_name=value_name,
        **{"value_ticks": radius_ticks(float(low), float(high)), **options},
    )


def residual_map(
    Y: ArrayLike,
    residual: ArrayLike,
    *,
    value_name: str | None = None,
    value_ends: tuple[str, str] | None = ("drawn\ntoo tight", "drawn\ntoo wide"),
    **options: Any,
) -> Axes:
    """Draw a map coloured by how far its local radii are from those of the data.

    Parameters
    ----------
    Y : array-like of shape (n, 2)
        The map.
    residual : array-like of shape (n,)
        Log radius in the map less that in the data, centred: below 0, and blue, where a point's
        neighbourhood is drawn too tight; above 0, and red, where it is drawn too wide. The bar is
        labelled with factors.
    value_name, value_ends
        What is written beside the bar, and at its two ends.
    **options
        Those of :func:`scatter_map`.

    Returns
    -------
    Axes
    """
    Y = check_map(Y)
    centered = ColorOptions(limits=options.pop("limits", None), center=0.0)
    shown = by_values(residual, len(Y), centered)
    largest = float(np.exp(np.abs(shown.limits).max()))
    return scatter_map(
        Y,
        values=shown.values,
        limits=shown.limits,
        center=0.0,
        value_name=value_name,
        value_ends=value_ends,
        **{"value_ticks": factor_ticks(largest), **options},
    )


def iso_radius_glyphs(
    ax: Axes | None,
    Y: ArrayLike,
    radius: ArrayLike,
    *,
    unit: float,
    n: int = 40,
    color: Any = None,
    linewidth: float = 0.8,
) -> Axes:
    """Draw circles, over a map, with the radii that neighbourhoods have in the data.

    Where the map is right, each circle holds about as many points as the neighbourhood does.

    Parameters
    ----------
    ax : Axes or None
        With the map; None draws it first, in grey.
    Y : array-like of shape (n, 2)
        The map.
    radius : array-like of shape (n,)
        Radius of each point in the data, such as the distance to its 100th neighbour.
    unit : float
        Distance in the data that is one unit of the map; see :func:`radius_unit`.
    n : int, default 40
        Most circles. They are drawn around points that lie well apart, and do not overlap.
    color, linewidth
        Of the circles; None for a colour that is seen on the map.

    Returns
    -------
    Axes
    """
    Y = check_map(Y)
    radii = check_radii(radius, len(Y), "radius") / check_unit(unit)
    if n < 1:
        raise ValueError(f"n={n} circles cannot be drawn; choose 1 or more.")
    if ax is None:
        ax = scatter_map(Y, color=LIGHT.missing)
    from matplotlib.collections import EllipseCollection

    chosen = spread_points(Y, radii, n)
    across = 2 * radii[chosen]
    ax.add_collection(
        EllipseCollection(
            across,
            across,
            np.zeros(len(chosen)),
            units="xy",
            offsets=Y[chosen],
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=ink(ax) if color is None else color,
            linewidths=linewidth,
            zorder=3,
        ),
        autolim=False,
    )
    reach = radii[chosen, None]
    ax.update_datalim(np.vstack([Y[chosen] - reach, Y[chosen] + reach]))
    ax.autoscale_view()
    return ax


def spread_points(Y: FloatArray, radii: FloatArray, n: int, seed: int = 0) -> IntArray:
    """Choose up to n points that lie well apart, none of whose circles overlap.

    They are taken at random, first with a wide space between them, and then with less and less.
    """
    usable = np.flatnonzero(np.isfinite(radii) & (radii > 0))
    if len(usable) == 0:
        return usable
    candidates = np.random.default_rng(seed).permutation(usable)[:_CANDIDATES]
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
