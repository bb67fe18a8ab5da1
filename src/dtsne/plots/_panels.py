"""Several maps of the same points, side by side."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dtsne.labels._groups import group_by
from dtsne.plots._axes import ink, is_dark, new_figure
from dtsne.plots._coloring import ColorOptions, choose_coloring
from dtsne.plots._inputs import check_map
from dtsne.plots._legends import draw_shared_legend, lists_groups
from dtsne.plots._scatter import scatter_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray

# Radii of more groups than this are given as a range, as they would not fit above a map.
MOST_RATIOS = 6


def side_by_side(
    maps: Mapping[str, ArrayLike],
    color: Any = None,
    *,
    labels: Any = None,
    values: ArrayLike | None = None,
    axes: Sequence[Axes] | None = None,
    columns: int | None = None,
    panel_size: float = 4.0,
    radius_ratios: bool = False,
    units: Mapping[str, float] | None = None,
    legend: bool | Literal["auto"] = "auto",
    title: str | None = None,
    **options: Any,
) -> Figure:
    """Draw maps of the same points side by side, with the same colours.

    Each panel has a window of its own, as the units of maps by different methods have nothing to do
    with each other; within a panel units are as long in x as in y.

    Parameters
    ----------
    maps : mapping of str to array-like of shape (n, 2)
        The maps by their titles, row by row the same points.
    color, labels, values : optional
        One colour, groups or a quantity, as for :func:`scatter_map`.
    axes : sequence of Axes, optional
        Where to draw; without, on a new figure.
    columns : int, optional
        Panels in a row; without, all up to 4, and else as square as it goes.
    panel_size : float, default 4
        Width and height of a panel, in inches. A legend beside them makes the figure wider.
    radius_ratios : bool, default False
        Whether to write the radii of the groups in each map under its title, relative to the first
        group (as :func:`dtsne.quality.cluster_radius_ratios`).
    units : mapping of str to float, optional
        For some of the titles, the distance in the data that is one unit of that map.
    legend : bool or "auto", default "auto"
        As for :func:`scatter_map`; drawn once, beside the panels, or at the last one of given axes.
    title : str, optional
        Of the whole.
    **options
        Further ones of :func:`scatter_map`.

    Returns
    -------
    Figure
    """
    checked = {name: check_map(Y, f"maps[{name!r}]") for name, Y in maps.items()}
    _check_alike(checked)
    if radius_ratios and labels is None:
        raise ValueError("radius_ratios=True needs groups; give labels=.")
    unknown = [name for name in units or {} if name not in checked]
    if unknown:
        raise ValueError(f"units names {unknown[0]!r}, which is no map; there is {list(checked)}.")
    panels = list(axes) if axes is not None else _new_panels(len(checked), columns, panel_size)
    if len(panels) < len(checked):
        raise ValueError(f"{len(panels)} axes are too few for {len(checked)} maps; give as many.")
    last = list(checked)[-1]
    for ax, (name, Y) in zip(panels, checked.items(), strict=False):
        written = f"{name}\n{_ratios(Y, labels)}" if radius_ratios else name
        scatter_map(
            Y,
            color,
            labels=labels,
            values=values,
            ax=ax,
            title=written,
            legend=legend if axes is not None and name == last else False,
            unit=(units or {}).get(name),
            **options,
        )
    figure: Figure = panels[0].figure.figure
    if axes is None and legend is not False:
        given = (color, labels, values)
        _share_legend(figure, given, len(checked[last]), options, legend=legend)
    if title is not None:
        shade = ink(panels[0], beside=True)
        figure.suptitle(title, fontsize="large", parse_math=False, color=shade)
    return figure


def _share_legend(
    figure: Figure,
    given: tuple[Any, Any, Any],
    n: int,
    options: Mapping[str, Any],
    *,
    legend: bool | Literal["auto"],
) -> None:
    panels = figure.axes
    known = {field.name for field in fields(ColorOptions)}
    chosen = ColorOptions(**{name: options[name] for name in known & options.keys()})
    coloring = choose_coloring(*given, n, replace(chosen, on_dark=is_dark(panels[0])))
    with_groups = lists_groups(coloring, legend=legend, annotate=options.get("annotate", True))
    draw_shared_legend(panels, coloring, with_groups=with_groups)


def _check_alike(maps: Mapping[str, FloatArray]) -> None:
    if not maps:
        raise ValueError("maps is empty; give at least one map by its title.")
    sizes = {name: len(Y) for name, Y in maps.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the maps have different numbers of points, {sizes}; give the same ones.")


def _new_panels(n: int, columns: int | None, panel_size: float) -> list[Axes]:
    if columns is None:
        columns = n if n <= 4 else int(np.ceil(np.sqrt(n)))
    rows = int(np.ceil(n / columns))
    figure = new_figure((panel_size * columns, panel_size * rows))
    return [figure.add_subplot(rows, columns, i + 1) for i in range(n)]


def _ratios(Y: FloatArray, labels: Any) -> str:
    from dtsne.quality import cluster_radius_ratios

    groups = group_by(labels, len(Y), to_show=True)
    known = ~groups.missing
    found = cluster_radius_ratios(Y[known], Y[known], groups.codes[known]).map
    if len(found) > MOST_RATIOS:
        return f"radii {np.nanmin(found):.2f} to {np.nanmax(found):.2f} of the first"
    return "radii " + " : ".join(f"{ratio:.2f}" for ratio in found)
