"""Maps and their reports as an interactive page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dtsne.labels._format import renamed
from dtsne.labels._groups import Groups
from dtsne.page._page import make_page
from dtsne.runtime._errors import DataError, setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from dtsne._embedding import Embedding
    from dtsne.labels._groups import LabelArray
    from dtsne.page._columns import Column, Columns
    from dtsne.page._page import Page
    from dtsne.report import Report
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
    "is_duplicate": "duplicate",
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


def explore_embedding(
    embedding: Embedding,
    report: Report | Mapping[str, Report],
    *,
    columns: Mapping[str, Column] | None = None,
    ids: ArrayLike | None = None,
    others: Mapping[str, ArrayLike] | None = None,
    title: str = "Map",
) -> Page:
    """Make an interactive page of the map of a fit and its report.

    Parameters
    ----------
    embedding : Embedding
        The result of :func:`dtsne.embed`, of two dimensions.
    report : Report or mapping of str to Report
        Of this map, or by map name where there are reports of `others` too. This map is called
        "dtSNE", or "t-SNE" if it was fitted with ``density_scale=0``.
    columns : mapping of str to array-like of shape (n,), optional
        Other columns of the points, to show, colour, filter and search by.
    ids : array-like of shape (n,), optional
        Row IDs; row numbers by default.
    others : mapping of str to array-like of shape (n, 2), optional
        Other maps of the same points, by name, such as that of t-SNE (``density_scale=0``). The
        page has a slider from one to the other.
    title : str, default "Map"
        Title of the page.

    Returns
    -------
    Page
        A notebook shows it; ``page.save("map.html")`` writes one file that opens offline.
    """
    name, n_components = embedding.name, embedding.coordinates.shape[1]
    if n_components != 2:
        raise DataError(
            f"the page shows maps of 2 dimensions, and this one has {n_components}",
            f"fit with {setting('n_components', 2)}",
        )
    if name in (others or {}):
        reason = f"others has a map with the name of this one, {name!r}"
        raise DataError(reason, "rename it", argument="others")
    maps = {name: embedding.coordinates, **(others or {})}
    reports = report if isinstance(report, Mapping) else {name: report}
    return explorable(maps, reports, columns=columns, ids=ids, title=title)


def explorable(
    maps: Mapping[str, ArrayLike],
    reports: Mapping[str, Report],
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


def _labels_of(report: Report) -> Groups | None:
    """Return the labels of the points, in the order of the groups."""
    labels, groups = report.points.label, report.groups
    if labels is None or groups is None:
        return None
    return Groups.in_order(groups.label.tolist(), labels.tolist())


def _figures(report: Report) -> dict[str, object]:
    found = {meaning: getattr(report.quality, name) for name, meaning in _FIGURES.items()}
    shown: dict[str, object] = {name: value for name, value in found.items() if np.isfinite(value)}
    sentences = report.ratios.sentences if report.ratios is not None else ()
    shown["notes"] = [*report.reliability, *sentences][:_MAX_NOTES]
    if report.radius_unit is not None:
        shown["unit"] = report.radius_unit
    return shown


def _columns_of(reports: Mapping[str, Report], *, alone: bool) -> Columns:
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
