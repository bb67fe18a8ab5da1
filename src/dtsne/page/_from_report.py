"""Maps and their reports as an interactive page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.labels._format import renamed
from dtsne.labels._groups import Groups
from dtsne.page._page import make_page
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from dtsne.labels._groups import LabelArray
    from dtsne.page._columns import Column, Columns
    from dtsne.page._page import Page
    from dtsne.report import Account
    from dtsne.report._tables import PointTable

# Columns of a report that the page shows, under names that a reader understands: here those of the
# map, whose name follows where there are several.
_OF_MAP = {
    "log_radius_map": "log radius",
    "density_residual": "density residual",
    "neighbor_recall": "neighbours kept",
}
_ALONE = {"log_radius_map": "log radius in the map"}
_FLAG = "flag"
# A point has one of them: causes come before what follows from them.
_FLAGS = {
    "perplexity_too_large": "cluster below the perplexity",
    "sigma_at_bound": "sigma at its bound",
    "k_too_large": "cluster below k",
    "copy": "copy",
    "unreliable": "unreliable",
}
_FIGURES = {
    "density_log_correlation": "correlation of log radii",
    "neighbor_distance_correlation": "correlation of distances to neighbours",
    "distance_correlation": "correlation of all distances",
    "trustworthiness": "trustworthiness",
    "neighbor_recall": "share of neighbours kept",
}
# More would push the figures off the page; the report has them all.
_MAX_NOTES = 20


def explorable(
    maps: Mapping[str, ArrayLike],
    reports: Mapping[str, Account],
    *,
    columns: Mapping[str, Column] | None = None,
    label_name: str = "label",
    ids: ArrayLike | None = None,
    title: str = "Map",
    notes: Sequence[str] = (),
) -> Page:
    """Make a page of maps of the same points, with the reports of some of them, by map name.

    Labels come first, as readers colour by them, then the reports, then other columns. Labels are
    those of the first map whose report has some, whatever the order of the reports.
    """
    unknown = [name for name in reports if name not in maps]
    if unknown or not reports:
        raise DataError(
            f"reports are of {list(reports)} and the maps are {list(maps)}",
            "pass reports by the names of their maps, at least one",
            argument="report",
        )
    reports = {name: reports[name] for name in maps if name in reports}
    figures = {name: _figures(report) for name, report in reports.items()}
    labels = next(filter(None, map(_labels_of, reports.values())), None)
    shown = _join_columns(
        {} if labels is None else {label_name: labels},
        _columns_of(reports, alone=len(maps) == 1),
        {} if columns is None else dict(columns.items()),  # a frame has no truth value
        maps,
    )
    return make_page(maps, shown, ids=ids, title=title, report=figures, notes=notes)


def _join_columns(
    labels: Mapping[str, Column],
    reported: Columns,
    others: Mapping[str, Column],
    maps: Iterable[str],
) -> Columns:
    """Join columns; those of the user that have the name of a reported one are renamed."""
    taken = set(reported) | {f"{name} in {map_}" for name in reported for map_ in maps}
    first = renamed(labels, taken)
    return {**first, **reported, **renamed(others, taken | set(first))}


def _labels_of(report: Account) -> Groups | None:
    """Return the labels of the points, in the order of the groups."""
    labels, groups = report.points.label, report.groups
    if labels is None or groups is None:
        return None
    return Groups.in_order(groups.label.tolist(), labels.tolist())


def _figures(report: Account) -> dict[str, object]:
    found = {meaning: getattr(report.whole, name) for name, meaning in _FIGURES.items()}
    shown: dict[str, object] = {name: value for name, value in found.items() if np.isfinite(value)}
    sentences = report.ratios.sentences if report.ratios is not None else ()
    shown["notes"] = [*report.readings, *sentences][:_MAX_NOTES]
    if report.radius_unit is not None:
        shown["unit"] = report.radius_unit
    return shown


def _columns_of(reports: Mapping[str, Account], *, alone: bool) -> Columns:
    names = _OF_MAP | _ALONE if alone else _OF_MAP
    of_maps = {map_: report.points.columns() for map_, report in reports.items()}
    of_data = next(iter(of_maps.values()))
    return {
        "log radius in the data": of_data["log_radius_data"],
        **{
            meaning: {map_: known[name] for map_, known in of_maps.items()}
            for name, meaning in names.items()
        },
        **({"sigma": of_data["sigma"]} if "sigma" in of_data else {}),
        _FLAG: {map_: _flags(report.points) for map_, report in reports.items()},
    }


def _flags(points: PointTable) -> LabelArray:
    known = points.columns()
    flags = {meaning: known[name] for name, meaning in _FLAGS.items() if name in known}
    return np.select(list(flags.values()), list(flags), default="none")
