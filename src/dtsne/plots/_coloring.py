"""What the colours of a map stand for: groups, or a quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dtsne.labels._groups import Groups, by_name, group_by
from dtsne.plots import _palette as _colors
from dtsne.plots._colormaps import diverging_colormap, rgb, sequential_colormap
from dtsne.plots._inputs import check_names, check_values
from dtsne.plots._raster import Grid, mean_per_pixel
from dtsne.runtime._kinds import on_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.colors import Colormap

    from dtsne.runtime._typing import FloatArray

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Categories:
    """A colour for each group."""

    groups: Groups
    names: tuple[str, ...]
    palette: FloatArray
    gray: str = _colors.LIGHT.missing
    listed: bool = True  # False for one colour that stands for nothing

    @property
    def missing(self) -> Mask:
        """Whether a point has no group."""
        return self.groups.missing

    def of_points(self) -> FloatArray:
        """Return red, green and blue of each point, grey for what is missing."""
        # The last one is what the code of missing points, −1, finds.
        return np.vstack([self.palette, _colors.rgb([self.gray])])[self.groups.codes]

    def of_pixels(self, Y: FloatArray, grid: Grid) -> FloatArray:
        """Mix the colours of the points that have a group, as light, by their numbers."""
        known = ~self.missing
        light = _colors.to_linear(self.palette)[self.groups.codes[known]]
        return _colors.to_srgb(mean_per_pixel(Y[known], light, grid))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A colour for each value, from one end of a scale to the other."""

    values: FloatArray
    limits: tuple[float, float]
    cmap: Colormap
    name: str | None = None
    ticks: Mapping[float, str] = field(default_factory=dict)
    ends: tuple[str, str] | None = None
    gray: str = _colors.LIGHT.missing

    @property
    def missing(self) -> Mask:
        """Whether a point has no value."""
        mask: Mask = np.isnan(self.values)
        return mask

    def of_points(self) -> FloatArray:
        """Return red, green and blue of each point, grey for what is missing."""
        rgb = self._colors_of(self.values)
        rgb[self.missing] = _colors.rgb([self.gray])
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


@dataclass(frozen=True)
class ColorOptions:
    """How colours are chosen, as :func:`dtsne.plots.scatter_map` says."""

    names: Mapping[Any, str] | Sequence[str] | None = None
    colors: Mapping[Any, Any] | Sequence[Any] | None = None
    cmap: Any = None
    limits: tuple[float, float] | None = None
    center: float | None = None
    value_name: str | None = None
    value_ticks: Mapping[float, str] | None = None
    value_ends: tuple[str, str] | None = None
    on_dark: bool = False

    @property
    def ground(self) -> _colors.Ground:
        """What the points are drawn on."""
        return _colors.DARK if self.on_dark else _colors.LIGHT


_DEFAULTS = ColorOptions()


def choose_coloring(
    color: Any, labels: Any, values: Any, n: int, options: ColorOptions = _DEFAULTS
) -> Coloring:
    """Colour points by what is given, of which there may be one at most."""
    if sum(given is not None for given in (color, labels, values)) > 1:
        raise ValueError("points have one colour each; give only one of color, labels and values.")
    if color is not None:
        if _is_one_color(color, n):
            return by_one_color(color, n, options)
        is_quantity = np.asarray(on_host(color)).dtype.kind == "f"
        labels, values = (None, color) if is_quantity else (color, None)
    if labels is not None:
        return by_labels(labels, n, options)
    if values is not None:
        return by_values(values, n, options)
    return by_one_color(_colors.SINGLE, n, options)


def by_labels(labels: Any, n: int, options: ColorOptions = _DEFAULTS) -> Categories:
    """Colour points by their groups."""
    # Categories of no point keep their colours, so that pictures of parts have those of the whole.
    groups = group_by(labels, n, to_show=True)
    k = len(groups.names)
    if k > _colors.MAX_GROUPS:
        raise ValueError(
            f"labels has {k:,} different values, more than colours can tell apart "
            f"({_colors.MAX_GROUPS}); give a quantity as values=, or join small groups."
        )
    names = groups.names.tolist()
    written, palette = check_names(options.names, names), _palette(options, names)
    return Categories(groups, written, palette, options.ground.missing)


def by_values(values: Any, n: int, options: ColorOptions = _DEFAULTS) -> Quantity:
    """Colour points by a quantity; around a centre, where there is one, alike to both sides."""
    from matplotlib import colormaps

    checked = check_values(values, n, "values")
    limits, cmap = options.limits, options.cmap
    if limits is None:
        limits = _colors.color_limits(checked, options.center)
    elif not limits[0] < limits[1]:
        raise ValueError(f"limits={limits!r} have to be two numbers, the smaller one first.")
    if cmap is None:
        choose = sequential_colormap if options.center is None else diverging_colormap
        cmap = choose(options.ground)
    chosen = colormaps[cmap] if isinstance(cmap, str) else cmap
    return Quantity(
        checked,
        limits,
        chosen,
        options.value_name,
        options.value_ticks or {},
        options.value_ends,
        options.ground.missing,
    )


def by_one_color(color: Any, n: int, options: ColorOptions = _DEFAULTS) -> Categories:
    """Draw all points alike."""
    groups = Groups(np.array(["points"]), np.zeros(n, dtype=np.int64))
    return Categories(groups, ("points",), rgb([color]), options.ground.missing, listed=False)


def _is_one_color(color: Any, n: int) -> bool:
    from matplotlib.colors import is_color_like

    if isinstance(color, str) and not is_color_like(color):
        raise ValueError(f"color={color!r} is no colour of matplotlib's; try 'tab:blue'.")
    # Three or four numbers may be a colour, or the values of as many points.
    return isinstance(color, str) or (
        isinstance(color, tuple) and len(color) != n and is_color_like(color)
    )


def _palette(options: ColorOptions, labels: Sequence[Any]) -> FloatArray:
    colors = options.colors
    if colors is None:
        return rgb(_colors.categorical_colors(len(labels), dark=options.on_dark))
    try:
        if isinstance(colors, Mapping):
            of_name = by_name(colors)
            return rgb([of_name[label] for label in labels])
        return rgb([colors[i] for i in range(len(labels))])
    except (KeyError, IndexError) as error:
        raise ValueError(
            f"colors has no colour for one of the {len(labels)} labels; give one for each."
        ) from error
