"""Figures and axes, made without pyplot and its global state; and round numbers for their ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

_FRAME = "#C8C8C8"
_MARGIN = 0.04
_BLACK, _WHITE = "#1A1A1A", "#EDEDED"
# Of brightness: that of a ground that is neither light nor dark, and a difference that is seen.
_MIDDLE, _VISIBLE = 0.5, 0.4
# Factors one reads easily, and a few small ones for maps that are nearly right.
_FACTORS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
_MAX_TICKS = 9


def new_figure(figsize: tuple[float, float]) -> Figure:
    """Make a figure that pyplot does not know of."""
    module = optional("matplotlib.figure", purpose="drawing", extra="plot")
    figure: Figure = module.Figure(figsize=figsize, layout="constrained")
    return figure


def axes_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the axes that were passed in, or those of a new figure."""
    return new_figure(figsize).add_subplot() if ax is None else ax


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes, as far as they are known before the layout."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return max(box.width / dpi, 0.1), max(box.height / dpi, 0.1)


def is_dark(ax: Axes) -> bool:
    """Say whether the ground of axes is dark."""
    return _brightness(_ground(ax)) < _MIDDLE


def ink(ax: Axes, *, outside: bool = False) -> ColorType:
    """Return a colour that is seen on axes, or on the figure outside them.

    It is the colour of texts, unless the ground has the same brightness.
    """
    from matplotlib import rcParams

    ground = _brightness(ax.figure.get_facecolor() if outside else _ground(ax))
    text: ColorType = rcParams["text.color"]
    if abs(_brightness(text) - ground) > _VISIBLE:
        return text
    return _WHITE if ground < _MIDDLE else _BLACK


def _ground(ax: Axes) -> ColorType:
    from matplotlib.colors import to_rgba

    own = ax.get_facecolor()
    return own if to_rgba(own)[3] > 0 else ax.figure.get_facecolor()


def _brightness(color: ColorType) -> float:
    """Return the brightness from 0 to 1; a transparent ground is taken for paper."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(color)
    return 0.3 * red + 0.59 * green + 0.11 * blue if alpha > 0 else 1.0


def equal_aspect(ax: Axes) -> None:
    """Make a unit as long in x as in y, within the box of the axes.

    The limits give way and not the box, so that panels and colour bars stay aligned; only axes that
    share both limits with others cannot do that.
    """
    shared = all(
        len(group.get_siblings(ax)) > 1
        for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes())
    )
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def frame_map(ax: Axes, title: str | None) -> None:
    """Make axes those of a map: no ticks, as only distances mean something, and equal units."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(_FRAME)
        spine.set_linewidth(0.6)
    ax.margins(_MARGIN)
    ax.autoscale_view()
    equal_aspect(ax)
    write_title(ax, title)


def write_title(ax: Axes, title: str | None) -> None:
    """Write a title, if there is one, as it is."""
    if title is not None:
        # As everywhere with text of users: a "$" in a file name does not begin a formula.
        ax.set_title(title, fontsize="medium", parse_math=False, color=ink(ax, outside=True))


def round_down(value: float) -> float:
    """Return the largest of 1, 2, 5, 10, … (times powers of ten) that is not above a value."""
    power = 10.0 ** np.floor(np.log10(value))
    # A little slack, as 5 may come as 4.999….
    mantissa = max(m for m in (1, 2, 5) if m <= value / power * (1 + 1e-9))
    return float(mantissa * power)


def radius_ticks(low: float, high: float) -> dict[float, str]:
    """Choose round radii between two, by their logarithms."""
    least, most = low * (1 - 1e-9), high * (1 + 1e-9)  # the ends are logarithms, and back
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    chosen = [m * p for p in powers for m in (1, 2, 5) if least <= m * p <= most]
    if len(chosen) > 7:
        chosen = [p for p in powers if least <= p <= most]
    if len(chosen) < 3 and high > low:
        step = round_down((high - low) / 3)
        chosen = [step * i for i in range(int(np.ceil(least / step)), int(most // step) + 1)]
    if len(chosen) > _MAX_TICKS:  # over very many powers of ten
        chosen = chosen[:: int(np.ceil(len(chosen) / _MAX_TICKS))]
    return {float(np.log(radius)): f"{radius:.4g}" for radius in chosen}


def factor_ticks(largest: float) -> dict[float, str]:
    """Choose round factors, by their logarithms, from 1/largest to largest around 1."""
    within = [f for f in _FACTORS if f <= largest * (1 + 1e-9)][-3:]
    ticks = {float(-np.log(f)): f"÷ {f:g}" for f in reversed(within)}
    return ticks | {0.0: "1"} | {float(np.log(f)): f"× {f:g}" for f in within}
