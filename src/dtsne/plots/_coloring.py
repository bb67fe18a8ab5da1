"""What the colours of a map stand for: groups, or a quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeGuard

import numpy as np

from dtsne.labels._groups import Groups, by_name, group_by
from dtsne.plots._inputs import check_names, check_values
from dtsne.plots._palette import (
    LIGHT,
    MAX_GROUPS,
    SINGLE,
    Ground,
    color_limits,
    hex_to_rgb,
    to_linear,
    to_srgb,
)
from dtsne.plots._points import mean_per_pixel
from dtsne.runtime._arrays import on_host
from dtsne.runtime._errors import DataError, ParameterError, setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.colors import Colormap
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Labels
    from dtsne.plots._inputs import ByLabel
    from dtsne.plots._points import Grid
    from dtsne.runtime._typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Categories:
    """A colour for each group."""

    groups: Groups
    names: tuple[str, ...]
    palette: FloatArray
    gray: str = LIGHT.missing
    listed: bool = True  # False for one colour that stands for nothing

    @property
    def missing(self) -> BoolArray:
        """Whether a point has no group."""
        return self.groups.missing

    def of_points(self) -> FloatArray:
        """Return red, green and blue of each point, grey for what is missing."""
        # The last one is what the code of missing points, −1, finds.
        return np.vstack([self.palette, hex_to_rgb([self.gray])])[self.groups.codes]

    def of_pixels(self, Y: FloatArray, grid: Grid) -> FloatArray:
        """Mix the colours of the points that have a group, as light, by their numbers."""
        known = ~self.missing
        light = to_linear(self.palette)[self.groups.codes[known]]
        return to_srgb(mean_per_pixel(Y[known], light, grid))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A colour for each value, from one end of a scale to the other."""

    values: FloatArray
    limits: tuple[float, float]
    cmap: Colormap
    name: str | None = None
    ticks: Mapping[float, str] = field(default_factory=dict)
    ends: tuple[str, str] | None = None
    gray: str = LIGHT.missing

    @property
    def missing(self) -> BoolArray:
        """Whether a point has no value."""
        return np.isnan(self.values)

    def of_points(self) -> FloatArray:
        """Return red, green and blue of each point, grey for what is missing."""
        rgb = self._colors_of(self.values)
        rgb[self.missing] = hex_to_rgb([self.gray])
        return rgb

    def of_pixels(self, Y: FloatArray, grid: Grid) -> FloatArray:
        """Return the colours of the mean values in the pixels."""
        known = ~self.missing
        values = np.clip(self.values[known], *self.limits)
        return self._colors_of(mean_per_pixel(Y[known], values[:, None], grid)[..., 0])

    @property
    def exceeds(self) -> tuple[bool, bool]:
        """Whether values lie below and above the limits."""
        low, high = self.limits
        return bool((self.values < low).any()), bool((self.values > high).any())

    def _colors_of(self, values: FloatArray) -> FloatArray:
        low, high = self.limits
        shares = np.clip((values - low) / (high - low), 0, 1)
        return np.asarray(self.cmap(shares))[..., :3].copy()


Coloring: TypeAlias = Categories | Quantity


class ColorOptions(TypedDict, total=False):
    """How colours are chosen, as :func:`dtsne.plots.scatter_map` documents it."""

    names: ByLabel[str] | None
    colors: ByLabel[ColorType] | None
    cmap: str | Colormap | None
    limits: tuple[float, float] | None
    center: float | None
    value_name: str | None
    value_ticks: Mapping[float, str] | None
    value_ends: tuple[str, str] | None


_DEFAULTS = ColorOptions()


def choose_coloring(
    color: ArrayLike | ColorType | None,
    labels: Labels | Groups | None,
    values: ArrayLike | None,
    n: int,
    options: ColorOptions = _DEFAULTS,
    *,
    ground: Ground = LIGHT,
) -> Coloring:
    """Colour points by one colour, labels or values, of which at most one is given."""
    if sum(given is not None for given in (color, labels, values)) > 1:
        reason = "color, labels and values exclude each other"
        raise DataError(reason, "pass only one of them", argument="color")
    if color is not None:
        if _is_one_color(color, n):
            return _by_one_color(color, n, ground)
        is_quantity = np.asarray(on_host(color)).dtype.kind == "f"
        labels, values = (None, color) if is_quantity else (color, None)
    if labels is not None:
        return by_labels(labels, n, options, ground=ground)
    if values is not None:
        return by_values(values, n, options, ground=ground)
    return _by_one_color(SINGLE, n, ground)


def by_labels(
    labels: Labels | Groups, n: int, options: ColorOptions = _DEFAULTS, *, ground: Ground = LIGHT
) -> Categories:
    """Colour points by their groups."""
    # Categories of no point keep their colours, so that pictures of parts have those of the whole.
    groups = group_by(labels, n, to_show=True)
    k = len(groups.names)
    if k > MAX_GROUPS:
        raise DataError(
            f"labels has {k:,} distinct values, and at most {MAX_GROUPS} can be shown as colours",
            f"pass a quantity as {setting('values')}, or merge small groups",
            argument="labels",
        )
    names = groups.names.tolist()
    palette = _colors_of(names, options.get("colors"), ground)
    return Categories(groups, check_names(options.get("names"), names), palette, ground.missing)


def by_values(
    values: ArrayLike, n: int, options: ColorOptions = _DEFAULTS, *, ground: Ground = LIGHT
) -> Quantity:
    """Colour points by a quantity; if there is a centre, by the same range on both sides of it."""
    from matplotlib import colormaps

    checked = check_values(values, n, "values")
    limits, center, cmap = options.get("limits"), options.get("center"), options.get("cmap")
    if limits is None:
        limits = color_limits(checked, center)
    elif not limits[0] < limits[1]:
        raise ParameterError("limits", limits, "two numbers, the smaller one first")
    if cmap is None:
        choose = sequential_colormap if center is None else diverging_colormap
        cmap = choose(ground)
    return Quantity(
        checked,
        limits,
        colormaps[cmap] if isinstance(cmap, str) else cmap,
        options.get("value_name"),
        options.get("value_ticks") or {},
        options.get("value_ends"),
        ground.missing,
    )


def _by_one_color(color: ColorType, n: int, ground: Ground) -> Categories:
    groups = Groups(np.array(["points"]), np.zeros(n, dtype=np.int64))
    return Categories(groups, ("points",), rgb([color]), ground.missing, listed=False)


def _is_one_color(color: object, n: int) -> TypeGuard[ColorType]:
    from matplotlib.colors import is_color_like

    if isinstance(color, str) and not is_color_like(color):
        allowed = "a colour of matplotlib, such as 'tab:blue', or an array"
        raise ParameterError("color", color, allowed)
    # Three or four numbers may be a colour, or the values of as many points.
    return isinstance(color, str) or (
        isinstance(color, tuple) and len(color) != n and is_color_like(color)
    )


def _colors_of(
    labels: Sequence[object], colors: ByLabel[ColorType] | None, ground: Ground
) -> FloatArray:
    k = len(labels)
    if colors is None:
        return rgb(ground.colors[:k])
    try:
        if isinstance(colors, Mapping):
            of_name = by_name(colors)
            return rgb([of_name[label] for label in labels])
        return rgb([colors[i] for i in range(k)])
    except (KeyError, IndexError) as error:
        reason = f"colors has no colour for one of the {k} labels"
        raise DataError(reason, "pass one colour for each label", argument="colors") from error


def rgb(colors: Iterable[ColorType]) -> FloatArray:
    """Turn colours of any kind into an array (n, 3) of red, green and blue from 0 to 1."""
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(color) for color in colors], dtype=np.float64).reshape(-1, 3)


def sequential_colormap(ground: Ground) -> Colormap:
    """Return viridis, or as much of it as is seen on a ground."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    if ground is LIGHT:
        return colormaps["viridis"]
    return LinearSegmentedColormap.from_list("dtsne_sequential", ground.sequential)


def diverging_colormap(ground: Ground = LIGHT) -> Colormap:
    """Return blue to red, through a colour that is quiet on a ground."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("dtsne_diverging", ground.diverging)
