"""What the colours of a map stand for: groups, or a quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dtsne.plots import _colors
from dtsne.plots._inputs import Groups, check_labels, check_names, check_values
from dtsne.plots._raster import Grid, mean_per_pixel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.colors import Colormap

    from dtsne._typing import FloatArray

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
# Beyond these quantiles values take the last colour: a few far ones would leave one colour for the
# rest.
_LIMITS = (0.005, 0.995)


@dataclass(frozen=True, eq=False)
class Categories:
    """A colour for each group."""

    groups: Groups
    names: tuple[str, ...]
    palette: FloatArray
    listed: bool = True  # False for one colour that stands for nothing

    @property
    def missing(self) -> Mask:
        """Whether a point has no group."""
        return self.groups.missing

    def of_points(self) -> FloatArray:
        """Return red, green and blue of each point, grey for what is missing."""
        # The last one is what the code of missing points, −1, finds.
        return np.vstack([self.palette, _colors.rgb([_colors.MISSING])])[self.groups.codes]

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

    @property
    def missing(self) -> Mask:
        """Whether a point has no value."""
        mask: Mask = np.isnan(self.values)
        return mask

    def of_points(self) -> FloatArray:
        """Return red, green and blue of each point, grey for what is missing."""
        rgb = self._colors_of(self.values)
        rgb[self.missing] = _colors.rgb([_colors.MISSING])
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
    on_dark: bool = False


_DEFAULTS = ColorOptions()


def choose_coloring(
    color: Any, labels: Any, values: Any, n: int, options: ColorOptions = _DEFAULTS
) -> Coloring:
    """Colour points by what is given, of which there may be one at most."""
    if sum(given is not None for given in (color, labels, values)) > 1:
        raise ValueError("points have one colour each; give only one of color, labels and values.")
    if color is not None:
        if _is_one_color(color, n):
            return by_one_color(color, n)
        is_quantity = np.asarray(color).dtype.kind == "f"
        labels, values = (None, color) if is_quantity else (color, None)
    if labels is not None:
        return by_labels(labels, n, options)
    if values is not None:
        return by_values(values, n, options)
    return by_one_color(_colors.SINGLE, n)


def by_labels(labels: Any, n: int, options: ColorOptions = _DEFAULTS) -> Categories:
    """Colour points by their groups."""
    groups = check_labels(labels, n)
    k = len(groups.labels)
    if k > _colors.MOST_GROUPS:
        raise ValueError(
            f"labels has {k:,} different values, more than colours can tell apart "
            f"({_colors.MOST_GROUPS}); give a quantity as values=, or join small groups."
        )
    return Categories(
        groups, check_names(options.names, groups.labels), _palette(options, groups.labels)
    )


def by_values(values: Any, n: int, options: ColorOptions = _DEFAULTS) -> Quantity:
    """Colour points by a quantity; around a centre, where there is one, alike to both sides."""
    from matplotlib import colormaps

    checked = check_values(values, n, "values")
    limits, cmap = options.limits, options.cmap
    if limits is None:
        limits = _limits(checked, options.center)
    elif not limits[0] < limits[1]:
        raise ValueError(f"limits={limits!r} have to be two numbers, the smaller one first.")
    if cmap is None:
        cmap = "viridis" if options.center is None else _colors.diverging_colormap()
    chosen = colormaps[cmap] if isinstance(cmap, str) else cmap
    return Quantity(checked, limits, chosen, options.value_name, options.value_ticks or {})


def by_one_color(color: Any, n: int) -> Categories:
    """Draw all points alike."""
    groups = Groups(np.zeros(n, dtype=np.int64), ("points",))
    return Categories(groups, ("points",), _colors.rgb([color]), listed=False)


def _is_one_color(color: Any, n: int) -> bool:
    from matplotlib.colors import is_color_like

    if isinstance(color, str) and not is_color_like(color):
        raise ValueError(f"color={color!r} is no colour of matplotlib's; try 'tab:blue'.")
    # Three or four numbers may be a colour, or the values of as many points.
    return isinstance(color, str) or (
        isinstance(color, tuple) and len(color) != n and is_color_like(color)
    )


def _limits(values: FloatArray, center: float | None) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 1.0
    if center is not None:
        # One sided quantiles of the distances, which have one tail.
        reach = float(np.quantile(np.abs(known - center), 2 * _LIMITS[1] - 1)) or 1.0
        return center - reach, center + reach
    low, high = (float(q) for q in np.quantile(known, _LIMITS))
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _palette(options: ColorOptions, labels: tuple[Any, ...]) -> FloatArray:
    colors = options.colors
    if colors is None:
        chosen = _colors.categorical_colors(len(labels))
        # The black one would not be seen there, and white is not among the others.
        return _colors.rgb("#FFFFFF" if options.on_dark and c == "#000000" else c for c in chosen)
    try:
        if isinstance(colors, Mapping):
            return _colors.rgb([colors[label] for label in labels])
        return _colors.rgb([colors[i] for i in range(len(labels))])
    except (KeyError, IndexError) as error:
        raise ValueError(
            f"colors has no colour for one of the {len(labels)} labels; give one for each."
        ) from error
