"""Figures and axes, made without pyplot and its global state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FRAME = "#C8C8C8"
_MARGIN = 0.04
_BLACK, _WHITE = "#1A1A1A", "#EDEDED"
# Of brightness: that of a ground that is neither, and a difference that is seen well.
_MIDDLE, _SEEN = 0.5, 0.4


def new_figure(figsize: tuple[float, float]) -> Figure:
    """Make a figure that pyplot does not know of."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "dtsne[plot]"') from error
    return Figure(figsize=figsize, layout="constrained")


def given_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    return new_figure(figsize).add_subplot() if ax is None else ax


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes, as far as they are known before the layout."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return max(box.width / dpi, 0.1), max(box.height / dpi, 0.1)


def is_dark(ax: Axes) -> bool:
    """Say whether points are drawn on something dark."""
    return _brightness(_ground(ax)) < _MIDDLE


def ink(ax: Axes, *, beside: bool = False) -> Any:
    """Return a colour for what is written and drawn on axes, or beside them, that is seen there.

    It is that of texts, unless the ground has the same brightness.
    """
    from matplotlib import rcParams

    ground = _brightness(ax.figure.get_facecolor() if beside else _ground(ax))
    text = rcParams["text.color"]
    if abs(_brightness(text) - ground) > _SEEN:
        return text
    return _WHITE if ground < _MIDDLE else _BLACK


def _ground(ax: Axes) -> Any:
    from matplotlib.colors import to_rgba

    own = ax.get_facecolor()
    return own if to_rgba(own)[3] > 0 else ax.figure.get_facecolor()


def _brightness(color: Any) -> float:
    """Return it from 0 to 1; nothing at all is taken for paper."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(color)
    return 0.3 * red + 0.59 * green + 0.11 * blue if alpha > 0 else 1.0


def equal_aspect(ax: Axes) -> None:
    """Make a unit as long in x as in y, within the room that the axes have.

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
    if title is not None:
        write_title(ax, title)


def write_title(ax: Axes, title: str) -> None:
    """Write a title as it is given."""
    # As everywhere with what users write: a "$" in the name of a file is no formula.
    ax.set_title(title, fontsize="medium", parse_math=False, color=ink(ax, beside=True))
