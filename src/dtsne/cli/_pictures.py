"""What is drawn of a map, from what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne import plots
from dtsne.plots._panels import MAX_RATIOS
from dtsne.report._tables import radius_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtsne.labels._groups import Groups
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray

# Inches, as wide as a map by itself: the names of groups need the room.
_PANEL_SIZE = 6.0


@dataclass(frozen=True, eq=False)
class Radii:
    """Radii of all points, as far as they are known.

    Attributes
    ----------
    data : ndarray
        Logarithms of the radii in the data, in its unit if that is known.
    map : ndarray
        Those in the map.
    unit : float or None
        Distance in the data that is one unit of the map, if the unit of the data is known.
    """

    data: FloatArray
    map: FloatArray
    unit: float | None

    @classmethod
    def known(cls, data: FloatArray, in_map: FloatArray, sigma: FloatArray | None) -> Radii:
        """Take the columns of an account, whose unit is the median σ, if σ is known."""
        if sigma is None:
            return cls(data, in_map, None)
        data = data + np.log(np.median(sigma))
        return cls(data, in_map, radius_ratio(data, in_map))

    @classmethod
    def of(cls, account: Report) -> Radii:
        """Take those of an account."""
        points = account.points
        return cls.known(points.log_radius_data, points.log_radius_map, points.sigma)


def draw_map(Y: FloatArray, groups: Groups | None, radii: Radii | None, **options: Any) -> Any:
    """Draw a map by its groups, or by the radii in the data, or all alike."""
    if groups is not None:
        unit = None if radii is None else radii.unit
        return plots.scatter_map(Y, labels=groups, unit=unit, **options)
    if radii is not None:
        return draw_radii(Y, radii, **options)
    return plots.scatter_map(Y, **options)


def draw_radii(Y: FloatArray, radii: Radii, **options: Any) -> Any:
    """Draw a map by the radii in the data."""
    name = "radius in the data" if radii.unit is not None else "radius in the data, 1 being typical"
    return plots.radius_map(Y, radii.data, value_name=name, unit=radii.unit, **options)


def draw_maps(
    maps: Mapping[str, FloatArray], groups: Groups | None, radii: Radii | None, **options: Any
) -> Any:
    """Draw maps of the same points side by side."""
    options = {"panel_size": _PANEL_SIZE, **options}
    if groups is not None:
        few = len(groups.names) <= MAX_RATIOS
        return plots.side_by_side(maps, labels=groups, radius_ratios=few, **options)
    if radii is None:
        return plots.side_by_side(maps, **options)
    name = "log radius in the data"
    return plots.side_by_side(maps, values=radii.data, value_name=name, **options)


def draw_radius_plot(radii: Radii, groups: Groups | None, **options: Any) -> Any:
    """Draw the radii in the map against those in the data."""
    return plots.radius_plot(radii.data, radii.map, labels=groups, unit=radii.unit, **options)
