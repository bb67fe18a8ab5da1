"""The work of ``dtsne plot``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne import plots
from dtsne.cli import _outputs, _pictures
from dtsne.cli._labels import as_groups
from dtsne.cli._pages import as_ids
from dtsne.cli._pictures import Radii
from dtsne.page import make_page
from dtsne.tables import TableError
from dtsne.tables._names import unknown

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.cli._maps import MapFile
    from dtsne.cli._plot import MapFileOptions
    from dtsne.tables._table import Field, TextArray

# Integers with no more different values than this are groups, as on the page.
_MOST_INTEGER_GROUPS = 20
# Texts with more are no groups unless asked for.
_MOST_GUESSED = 50
_NEEDED = {
    "radius": ("log_radius_data", "log_radius_map"),
    "residual": ("density_residual",),
    "radius-plot": ("log_radius_data", "log_radius_map"),
}


@dataclass(frozen=True)
class Drawing:
    """What is drawn, and how."""

    kind: str
    by: str | None
    title: str
    size: float
    dpi: float
    legend: bool | None
    names: bool

    @property
    def options(self) -> dict[str, Any]:
        """Those of all pictures of maps."""
        return {
            "title": self.title,
            "figsize": (self.size, self.size),
            "annotate": self.names,
            "legend": "auto" if self.legend is None else self.legend,
        }


def draw(embedding: Path, output: Path, reading: MapFileOptions, drawing: Drawing) -> None:
    """Read a map and draw it."""
    if output.suffix.lower() in _outputs.PAGES:
        _outputs.check_page(output, embedding)
    else:
        _outputs.check_picture(output, embedding, option="-o")
    found = reading.read(embedding)
    if found.Y.shape[1] != 2:
        raise TableError(
            f"{embedding} is a map of {found.Y.shape[1]} dimensions, and a picture has 2; choose "
            "two of its columns (--columns)."
        )
    if output.suffix.lower() in _outputs.PAGES:
        ids, repeated = as_ids(found.ids)
        columns = {**found.columns, **repeated}
        page = make_page({embedding.stem: found.Y}, columns, ids=ids, title=drawing.title)
        _outputs.write_text(output, page.html)
    else:
        _outputs.write_picture(output, _drawn(found, embedding, drawing), drawing.dpi)


def _drawn(found: MapFile, path: Path, drawing: Drawing) -> Any:
    for name in _NEEDED.get(drawing.kind, ()):
        if found.of_account(name) is None:
            raise TableError(
                f"{path} has no column of numbers {name!r}, which --kind {drawing.kind} draws; "
                f"dtsne quality DATA {path} --points FILE writes one."
            )
    radii, residual = _radii(found), found.of_account("density_residual")
    if drawing.kind == "radius" and radii is not None:
        return _pictures.draw_radii(found.Y, radii, **drawing.options)
    if drawing.kind == "residual" and residual is not None:
        return plots.residual_map(found.Y, residual, **drawing.options)
    if drawing.kind == "radius-plot" and radii is not None:
        groups = None if drawing.by is None else _groups(found, drawing.by, path)
        size = (drawing.size, drawing.size)
        return _pictures.draw_radius_plot(radii, groups, title=drawing.title, figsize=size)
    return _by_column(found, path, drawing, radii)


def _by_column(found: MapFile, path: Path, drawing: Drawing, radii: Radii | None) -> Any:
    by = drawing.by or _first_of_groups(found)
    if by is None:
        return _pictures.draw_map(found.Y, None, radii, **drawing.options)
    column = _column(found, by, path)
    if _is_quantity(column):
        return plots.scatter_map(found.Y, values=column, value_name=by, **drawing.options)
    return _pictures.draw_map(found.Y, _groups(found, by, path), radii, **drawing.options)


def _groups(found: MapFile, by: str, path: Path) -> TextArray | None:
    return as_groups(_column(found, by, path), by, path, option="--by")


def _column(found: MapFile, name: str, path: Path) -> Field:
    if name not in found.columns:
        raise unknown(name, list(found.columns), path)
    return found.columns[name]


def _is_quantity(column: Field) -> bool:
    if column.dtype.kind == "f":
        return True
    return column.dtype.kind in "iu" and len(np.unique(column)) > _MOST_INTEGER_GROUPS


def _first_of_groups(found: MapFile) -> str | None:
    """Return the first column of text with few different ones."""
    for name, column in found.columns.items():
        if column.dtype.kind not in "iufb" and 1 < len(set(column.tolist())) <= _MOST_GUESSED:
            return name
    return None


def _radii(found: MapFile) -> Radii | None:
    data, in_map = found.of_account("log_radius_data"), found.of_account("log_radius_map")
    if data is None or in_map is None:
        return None
    return Radii.known(data, in_map, found.sigma)
