"""A report as a document to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.report._reading import cautions_of, split_groups
from dtsne.report._tables import three_digits
from dtsne.runtime._document import Document, Items, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.report._report import Report
    from dtsne.report._tables import GroupTable, RatioTable

# Groups in the document; the tables have them all.
_MAX_GROUPS = 30
_GROUP_COLUMNS = (
    "group",
    "points",
    "spread in data",
    "in map",
    "map/data",
    "radius",
    "component",
    "unreliable",
)


def document_of(report: Report) -> Document:
    """Return the document that a report prints."""
    cautions = cautions_of(report.points, report.groups, report.perplexity)
    measures = Table(report.quality.rows(), header=("measure", "value", "1 is perfect"))
    sections = [
        Section("Reliability", [Items(report.reliability)]),
        *([] if report.groups is None else [_group_section(report.groups)]),
        *([] if report.ratios is None else _ratio_sections(report.ratios)),
        Section("Points to treat with caution", [Items(cautions)]),
        Section("Measures", [measures, _explain_measures(report)]),
    ]
    return Document(f"A map of {len(report.points):,} points", sections)


def _group_section(groups: GroupTable) -> Section:
    largest = np.sort(np.argsort(-groups.n, kind="stable")[:_MAX_GROUPS])
    radius = np.exp(groups.density_residual)
    rows = [
        (
            str(groups.label[g]),
            f"{groups.n[g]:,}",
            _number(groups.spread_data[g]),
            _number(groups.spread_map[g]),
            "–" if np.isnan(groups.map_over_data[g]) else three_digits(groups.map_over_data[g]),
            "–" if np.isnan(radius[g]) else three_digits(radius[g]),
            f"{groups.largest_component_map[g]:.0%}",
            f"{groups.share_unreliable[g]:.0%}",
        )
        for g in largest
    ]
    note = (
        "Spread is the root mean square distance of the points of a group to their mean, in the "
        "units of the data and of the map. Map/data is the ratio of the two, relative to a typical "
        "group: 1.2 is drawn 20% too wide. Radius is the same ratio for the local radii of its "
        "points, relative to a typical point. Component is the share of its points in its largest "
        "connected component in the map."
    )
    sentences = [*split_groups(groups), *_left_out(len(groups), "groups, the smallest,")]
    lists = [Items(sentences)] if sentences else []
    return Section("Groups", [*lists, Table(rows, header=_GROUP_COLUMNS), note])


def _ratio_sections(ratios: RatioTable) -> Sequence[Section]:
    if not len(ratios):
        return []
    sentences = ratios.sentences
    shown = [*sentences[:_MAX_GROUPS], *_left_out(len(sentences), "comparisons")]
    intervals = (
        "In brackets: 95% bootstrap intervals over the choice of the points; the variation between "
        "fits is not included. The reference value for each ratio is the ratio in the data. If a "
        "sentence makes no statement about the difference, the interval of map/data includes 1."
    )
    notes = [intervals] if np.isfinite(ratios.map_low).any() else []
    return [Section("Group comparisons", [Items(shown), *notes])]


def _left_out(n: int, what: str) -> list[str]:
    if n <= _MAX_GROUPS:
        return []
    return [f"{n - _MAX_GROUPS:,} more {what} are only in the tables."]


def _explain_measures(report: Report) -> str:
    quality = report.quality
    sentences = [
        f"The local radius of a point is the distance to its {_ordinal(quality.k)} nearest "
        "neighbour, in data and map each with its own neighbours."
    ]
    if report.radius_unit is not None:
        sentences.append(
            f"One unit of the map is {report.radius_unit:.3g} in the data by these radii, and "
            f"{report.kernel_unit:.3g}, the median σ, in the kernel."
        )
    if np.isnan(report.points.density_residual).any():
        sentences.append(
            "The measures are of all points; the statements on densities are of points with a "
            "known radius."
        )
    if report.perplexity is None:
        sentences.append("Without the perplexity, clusters too small for it are not detected.")
    if report.search_recall < 1:
        sentences.append(f"{report.search_recall:.1%} of the neighbours in the data were found.")
    if quality.clipped:
        sentences.append(f"Clipped: {quality.clipped}.")
    if quality.sampled:
        sentences.append(f"Sampled for the measures: {quality.sampled}.")
    return " ".join(sentences)


def _ordinal(k: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{k}{'th' if k % 100 in (11, 12, 13) else endings.get(k % 10, 'th')}"


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    if 99.95 <= value < 1e6:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if 1e-3 <= value < 1e6 else f"{value:.3g}"
