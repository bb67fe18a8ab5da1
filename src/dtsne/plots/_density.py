"""Pictures of local radii: what a density-preserving map keeps, and where it fails to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.plots._coloring import by_values
from dtsne.plots._colors import MISSING
from dtsne.plots._inputs import check_map, check_radii, check_unit
from dtsne.plots._scatter import scatter_map
from dtsne.plots._style import local_density
from dtsne.plots._ticks import factor_ticks, radius_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from dtsne._typing import FloatArray, IntArray

# Circles are chosen among so many points, without the sparsest share of them.
_CANDIDATES = 1_500
_OUTLIERS = 0.1


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
    shown = by_values(log_radius, len(Y), limits=options.pop("limits", None))
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
    value_name: str | None = "too tight        drawn        too wide",
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
    value_name : str
        What is written at the bar.
    **options
        Those of :func:`scatter_map`.

    Returns
    -------
    Axes
    """
    Y = check_map(Y)
    shown = by_values(residual, len(Y), limits=options.pop("limits", None), center=0.0)
    largest = float(np.exp(np.abs(shown.limits).max()))
    return scatter_map(
        Y,
        values=shown.values,
        limits=shown.limits,
        center=0.0,
        value_name=value_name,
        **{"value_ticks": factor_ticks(largest), **options},
    )


def iso_radius_glyphs(
    ax: Axes | None,
    Y: ArrayLike,
    radius: ArrayLike,
    *,
    unit: float,
    n: int = 40,
    color: Any = "#222222",
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
        Distance in the data that is one unit of the map: ``np.median(model.sigma_)``.
    n : int, default 40
        Most circles. They are drawn around points that lie well apart, and do not overlap.
    color, linewidth
        Of the circles.

    Returns
    -------
    Axes
    """
    Y = check_map(Y)
    radii = check_radii(radius, len(Y), "radius") / check_unit(unit)
    if n < 1:
        raise ValueError(f"n={n} circles cannot be drawn; choose 1 or more.")
    if ax is None:
        ax = scatter_map(Y, color=MISSING)
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
            edgecolors=color,
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
    """Choose up to n points that lie far apart, none of whose circles overlap."""
    rng = np.random.default_rng(seed)
    usable = np.flatnonzero(np.isfinite(radii) & (radii > 0))
    if len(usable) == 0:
        return usable
    density = local_density(Y, 1.0, 1.0)[usable]
    usable = usable[density >= np.quantile(density, _OUTLIERS)]
    if len(usable) > _CANDIDATES:
        usable = rng.choice(usable, _CANDIDATES, replace=False)
    middle = np.median(Y[usable], axis=0)
    at = int(np.linalg.norm(Y[usable] - middle, axis=1).argmin())
    # Free distance of each candidate: to the nearest circle drawn, less its own radius.
    free = np.full(len(usable), np.inf)
    chosen: list[int] = []
    while len(chosen) < n and free[at] > 0:
        point = usable[at]
        chosen.append(int(point))
        apart = np.linalg.norm(Y[usable] - Y[point], axis=1) - radii[usable] - radii[point]
        free = np.minimum(free, apart)
        # The nearest free one, and not the farthest: that packs circles like grapes and leaves the
        # rim, whose neighbourhoods reach out of the map, for the end.
        at = int(np.where(free > 0, free, np.inf).argmin())
    return np.array(chosen)
