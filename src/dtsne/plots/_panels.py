"""Several maps of the same points, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dtsne.labels._groups import group_by
from dtsne.plots._axes import ink, is_dark, new_figure
from dtsne.plots._coloring import choose_coloring
from dtsne.plots._legends import draw_shared_legend, lists_groups
from dtsne.plots._palette import DARK, LIGHT
from dtsne.plots._scatter import scatter_map
from dtsne.runtime._checks import check_maps
from dtsne.runtime._errors import DataError, setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Labels
    from dtsne.plots._scatter import PanelOptions
    from dtsne.runtime._typing import FloatArray

# Radii of more groups than this are given as a range, as they would not fit above a map.
MAX_RATIOS = 6


def side_by_side(
    maps: Mapping[str, ArrayLike],
    color: ArrayLike | ColorType | None = None,
    *,
    labels: Labels | Groups | None = None,
    values: ArrayLike | None = None,
    axes: Sequence[Axes] | None = None,
    columns: int | None = None,
    panel_size: float = 4.0,
    radius_ratios: bool = False,
    units: Mapping[str, float] | None = None,
    legend: bool | Literal["auto"] = "auto",
    title: str | None = None,
    **options: Unpack[PanelOptions],
) -> Figure:
    """Draw maps of the same points side by side, with the same colours.

    Each panel has a window of its own, as the units of maps by different methods have nothing to do
    with each other. Within a panel units are as long in x as in y.

    Parameters
    ----------
    maps : mapping of str to array-like of shape (n, 2)
        The embeddings by their titles, row by row the same points.
    color : colour or array-like of shape (n,), optional
        One colour, groups or a quantity, as for :func:`scatter_map`.
    labels : array-like of shape (n,), optional
        Group of each point.
    values : array-like of shape (n,), optional
        Quantity of each point.
    axes : sequence of Axes, optional
        Axes to draw on; by default those of a new figure.
    columns : int, optional
        Panels in a row; by default all up to 4, and else as square as it goes.
    panel_size : float, default 4
        Width and height of a panel, in inches. A legend next to the panels makes the figure wider.
    radius_ratios : bool, default False
        Whether to write the radii of the groups in each map under its title, relative to the first
        group (as :func:`dtsne.quality.cluster_radius_ratios`).
    units : mapping of str to float, optional
        For some of the titles, the distance in the data that is one unit of that map.
    legend : bool or "auto", default "auto"
        As for :func:`scatter_map`; drawn once, next to the panels, or at the last of `axes`.
    title : str, optional
        Title of the figure.
    **options
        Further options of :func:`scatter_map`.

    Returns
    -------
    Figure
        The figure with the panels.

    See Also
    --------
    scatter_map : One map.

    Examples
    --------
    >>> from dtsne.plots import side_by_side
    >>> figure = side_by_side({"t-SNE": [[0, 0], [1, 0]], "dtSNE": [[0, 0], [2, 1]]})
    """
    checked = check_maps(maps)
    if radius_ratios and labels is None:
        reason = f"{setting('radius_ratios', radius_ratios)} needs groups"
        raise DataError(reason, f"pass {setting('labels')}", argument="labels")
    unknown = [name for name in units or {} if name not in checked]
    if unknown:
        reason = f"units has {unknown[0]!r}, which is not one of the maps {list(checked)}"
        raise DataError(reason, "pass units by the names of maps", argument="units")
    panels = list(axes) if axes is not None else _new_panels(len(checked), columns, panel_size)
    if len(panels) < len(checked):
        reason = f"{len(panels)} axes are too few for {len(checked)} maps"
        raise DataError(reason, "pass one for each map", argument="axes")
    grouped = labels if radius_ratios else None
    last = list(checked)[-1]
    for ax, (name, Y) in zip(panels, checked.items(), strict=False):
        scatter_map(
            Y,
            color,
            labels=labels,
            values=values,
            ax=ax,
            title=name if grouped is None else f"{name}\n{_ratios(Y, grouped)}",
            legend=legend if axes is not None and name == last else False,
            unit=(units or {}).get(name),
            **options,
        )
    figure = panels[0].figure.figure
    if axes is None and legend is not False:
        ground = DARK if is_dark(panels[0]) else LIGHT
        n = len(checked[last])
        coloring = choose_coloring(color, labels, values, n, options, ground=ground)
        with_groups = lists_groups(coloring, legend=legend, annotate=options.get("annotate", True))
        draw_shared_legend(panels, coloring, with_groups=with_groups)
    if title is not None:
        shade = ink(panels[0], outside=True)
        figure.suptitle(title, fontsize="large", parse_math=False, color=shade)
    return figure


def _new_panels(n: int, columns: int | None, panel_size: float) -> list[Axes]:
    if columns is None:
        columns = n if n <= 4 else int(np.ceil(np.sqrt(n)))
    rows = int(np.ceil(n / columns))
    figure = new_figure((panel_size * columns, panel_size * rows))
    return [figure.add_subplot(rows, columns, i + 1) for i in range(n)]


def _ratios(Y: FloatArray, labels: Labels | Groups) -> str:
    from dtsne.quality import cluster_radius_ratios

    groups = group_by(labels, len(Y), to_show=True)
    known = ~groups.missing
    found = cluster_radius_ratios(Y[known], Y[known], groups.codes[known]).map
    if len(found) > MAX_RATIOS:
        return f"radii {np.nanmin(found):.2f} to {np.nanmax(found):.2f} of the first"
    return "radii " + " : ".join(f"{ratio:.2f}" for ratio in found)
