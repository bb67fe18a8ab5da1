"""The work of ``dtsne plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne import plots
from dtsne.cli import _outputs, _pictures
from dtsne.cli._errors import user_errors
from dtsne.cli._labels import as_groups, as_shown, is_quantity
from dtsne.cli._pages import as_ids
from dtsne.cli._pictures import Radii
from dtsne.cli._plot import DPI, PAGES, PICTURES
from dtsne.io._select import unknown
from dtsne.labels._format import printable
from dtsne.page import make_page
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from dtsne.cli._maps import MapFile
    from dtsne.cli._plot import Drawing
    from dtsne.cli._reading import MapOptions
    from dtsne.io._table import Field
    from dtsne.labels._groups import Groups

# Texts with more are no groups unless asked for.
_MAX_GUESSED = 50
_NEEDED = {
    "radius": ("log_radius_data", "log_radius_map"),
    "residual": ("density_residual",),
    "radius-plot": ("log_radius_data", "log_radius_map"),
}


def draw(embedding: Path, reading: MapOptions, drawing: Drawing) -> None:
    """Read a map and draw it."""
    output = drawing.output
    _outputs.check_outputs({"-o": output}, embedding, (*PICTURES, *PAGES))
    found = reading.read(embedding)
    d = found.Y.shape[1]
    if d != 2:
        fix = "choose two of its columns (--columns)" if d > 2 else ""
        raise DataError(f"{embedding} is a {d}-dimensional map; only two can be drawn", fix)
    if drawing.is_page:
        _outputs.write_text(output, _page(found, embedding, drawing))
    else:
        with user_errors(reading.face()):
            drawn = _picture(found, embedding, drawing)
        _outputs.write_picture(output, drawn, drawing.dpi or DPI)


def _page(found: MapFile, path: Path, drawing: Drawing) -> str:
    ids, repeated = as_ids(found.ids)
    columns = {**as_shown(found.columns, found.categories), **repeated}
    if drawing.by is not None:  # the page is coloured by the first
        _column(found, drawing.by, path)
        columns = {drawing.by: columns[drawing.by], **columns}
    maps = {printable(path.stem): found.Y}
    return make_page(maps, columns, ids=ids, title=drawing.heading(path)).html


def _picture(found: MapFile, path: Path, drawing: Drawing) -> Axes:
    kind, by, style = drawing.kind, drawing.by, drawing.style(path)
    for name in _NEEDED.get(kind, ()):
        if found.reported(name) is None:
            raise DataError(
                f"{path} has no numeric column {name!r} for this map, which --kind {kind} needs",
                f"dtsne quality DATA {path} --points FILE writes one",
            )
    radii, residual = _radii(found), found.reported("density_residual")
    if kind == "radius" and radii is not None:
        return _pictures.draw_radii(found.Y, radii, **style)
    if kind == "residual" and residual is not None:
        return plots.residual_map(found.Y, residual, **style)
    if kind == "radius-plot" and radii is not None:
        groups = None if by is None else _groups(found, by, path)
        return radii.draw(groups, title=drawing.heading(path), figsize=drawing.figsize)
    by = by or _first_of_groups(found)
    if by is None:
        return _pictures.draw_map(found.Y, None, radii, **style)
    column = _column(found, by, path)
    if is_quantity(column):
        style["value_name"] = by
        return plots.scatter_map(found.Y, values=column, **style)
    return _pictures.draw_map(found.Y, _groups(found, by, path), radii, **style)


def _groups(found: MapFile, by: str, path: Path) -> Groups | None:
    column, categories = _column(found, by, path), found.categories.get(by)
    return as_groups(column, by, path, categories=categories, option="--by")


def _column(found: MapFile, name: str, path: Path) -> Field:
    if name not in found.columns:
        raise unknown(name, found.columns, path=path)
    return found.columns[name]


def _first_of_groups(found: MapFile) -> str | None:
    """Return the first column, not of a report, with few distinct texts or integers."""
    for name, column in found.own_columns.items():
        if column.dtype.kind == "b" or is_quantity(column):
            continue
        if 1 < len(np.unique(column)) <= _MAX_GUESSED:
            return name
    return None


def _radii(found: MapFile) -> Radii | None:
    data, in_map = found.reported("log_radius_data"), found.reported("log_radius_map")
    if data is None or in_map is None:
        return None
    return Radii.from_columns(data, in_map, found.sigma)
