"""Pictures of maps, with as much as is known of their radii."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from dtsne import plots
from dtsne.plots._panels import MAX_RATIOS
from dtsne.report._tables import radius_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dtsne.labels._groups import Groups
    from dtsne.plots._scatter import MapOptions
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray

# Inches, as wide as a map by itself: the names of groups need the space.
_PANEL_SIZE = 6.0


@dataclass(frozen=True, eq=False)
class Radii:
    """Radii of all points, as far as they are known.

    Attributes
    ----------
    data : ndarray
        Logarithms of the radii in the data, in its unit if that is known.
    map : ndarray
        Logarithms of the radii in the map.
    unit : float or None
        Distance in the data that is one unit of the map, if the unit of the data is known.
    """

    data: FloatArray
    map: FloatArray
    unit: float | None

    @classmethod
    def from_columns(cls, data: FloatArray, in_map: FloatArray, sigma: FloatArray | None) -> Radii:
        """Take the columns of a report, whose unit is the median σ, if σ is known."""
        if sigma is None:
            return cls(data, in_map, None)
        data = data + np.log(np.median(sigma))
        return cls(data, in_map, radius_ratio(data, in_map))

    @classmethod
    def from_report(cls, report: Report) -> Radii:
        """Take the radii of a report."""
        points = report.points
        return cls.from_columns(points.log_radius_data, points.log_radius_map, points.sigma)

    def draw(
        self, groups: Groups | None, *, title: str, figsize: tuple[float, float] = (5.0, 5.0)
    ) -> Axes:
        """Draw the radii in the map against those in the data."""
        return plots.radius_plot(
            self.data, self.map, labels=groups, unit=self.unit, title=title, figsize=figsize
        )


def draw_map(
    Y: FloatArray, groups: Groups | None, radii: Radii | None, **options: Unpack[MapOptions]
) -> Axes:
    """Draw a map coloured by its groups, or by the radii in the data, or in one colour."""
    if groups is not None:
        options["unit"] = None if radii is None else radii.unit
        return plots.scatter_map(Y, labels=groups, **options)
    return plots.scatter_map(Y, **options) if radii is None else draw_radii(Y, radii, **options)


def draw_radii(Y: FloatArray, radii: Radii, **options: Unpack[MapOptions]) -> Axes:
    """Draw a map coloured by the radii in the data."""
    typical = "" if radii.unit is not None else ", 1 being typical"
    options["value_name"], options["unit"] = f"radius in the data{typical}", radii.unit
    return plots.radius_map(Y, radii.data, **options)


def draw_maps(
    maps: Mapping[str, FloatArray],
    groups: Groups | None,
    radii: Radii | None,
    units: Mapping[str, float],
    title: str,
) -> Figure:
    """Draw maps of the same points side by side."""
    few = groups is not None and len(groups.names) <= MAX_RATIOS
    by_radius = groups is None and radii is not None
    return plots.side_by_side(
        maps,
        labels=groups,
        values=radii.data if by_radius and radii is not None else None,
        value_name="log radius in the data" if by_radius else None,
        radius_ratios=few,
        panel_size=_PANEL_SIZE,
        units=units,
        title=title,
    )
