"""An account as a document to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.report._reading import torn_groups, warnings_of
from dtsne.report._tables import three_digits
from dtsne.runtime._document import Document, Items, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.report._report import Account
    from dtsne.report._tables import GroupTable

# Groups that a page shows; the tables have them all.
_MOST_GROUPS = 30
_MEASURES = {
    "density_log_correlation": "log r, correlation of the logarithms of radii",
    "density_ratio_correlation": "ρ_r, correlation of the ratios of radii",
    "neighbor_distance_correlation": "ρ_knn, correlation of distances to neighbours",
    "distance_correlation": "ρ, correlation of the distances of all pairs",
    "trustworthiness": "trustworthiness: neighbours in the map are near in the data",
    "continuity": "continuity: neighbours in the data are near in the map",
    "neighbor_recall": "share of neighbours kept",
}


def document_of(account: Account) -> Document:
    """Return what an account says, for a reader."""
    points, whole = account.points, account.whole
    parts = [Section("What can be read from the map", [Items(account.readings)])]
    if account.groups is not None and account.ratios is not None:
        parts.append(_group_section(account.groups))
        sentences = account.ratios.sentences
        if sentences:
            shown = (*sentences[:_MOST_GROUPS], *_left_out(len(sentences), "comparisons"))
            parts.append(Section("How much wider", [Items(shown), *_explain_intervals(account)]))
    careful = warnings_of(points, account.groups, account.perplexity)
    parts.append(Section("Points to be careful with", [Items(careful)]))
    values = ((getattr(whole, name), meaning) for name, meaning in _MEASURES.items())
    figures = [(f"{value:.3f}", meaning) for value, meaning in values if not np.isnan(value)]
    table = Table(figures, header=("value", "measure (1 is perfect)"))
    parts.append(Section("Figures", [table, _explain_measurement(account)]))
    return Document(f"A map of {len(account.points):,} points", parts)


def _group_section(groups: GroupTable) -> Section:
    order = np.argsort(-groups.n, kind="stable")[:_MOST_GROUPS]
    shown = np.sort(order)
    room = np.exp(groups.density_residual)
    rows = [
        (
            str(groups.label[g]),
            f"{groups.n[g]:,}",
            _number(groups.spread_data[g]),
            _number(groups.spread_map[g]),
            "–" if np.isnan(groups.drawn[g]) else three_digits(groups.drawn[g]),
            "–" if np.isnan(room[g]) else three_digits(room[g]),
            f"{groups.piece_map[g]:.0%}",
            f"{groups.share_unreliable[g]:.0%}",
        )
        for g in shown
    ]
    header = (
        "group",
        "points",
        "spread in data",
        "in map",
        "drawn",
        "room",
        "one piece",
        "unreliable",
    )
    note = (
        "Spread is the root mean square distance of the points of a group to their mean, in the "
        "units of the data and of the map. Drawn is map over data, 1 being typical of the groups: "
        "1.2 is drawn 20% too wide beside the others. Room is the same for the radii of its "
        "points, 1 being typical of all points. One piece is the share of its points in its "
        "largest piece in the map."
    )
    sentences = (*torn_groups(groups), *_left_out(len(groups), "groups, the smallest,"))
    lists = [Items(sentences)] if sentences else []
    return Section("Groups", [*lists, Table(rows, header=header), note])


def _left_out(n: int, what: str) -> tuple[str, ...]:
    if n <= _MOST_GROUPS:
        return ()
    return (f"{n - _MOST_GROUPS:,} more {what} are in the tables and not here.",)


def _explain_intervals(account: Account) -> Sequence[str]:
    if account.ratios is None or not np.isfinite(account.ratios.map_low).any():
        return []
    return [
        "In brackets: 95% intervals over the choice of the points (bootstrap). Those of the map "
        "take the map as it is, and do not say what another fit would draw. What a ratio should be "
        "is that in the data; where nothing is said of it, the points leave that open."
    ]


def _explain_measurement(account: Account) -> str:
    whole = account.whole
    said = [
        f"The room of a point, its radius, is the distance to its {_ordinal(whole.k)} nearest "
        "neighbour, in data and map each its own; neighbours kept are those among the "
        f"{whole.k_neighborhood} nearest."
    ]
    if account.radius_unit is not None:
        said.append(
            f"One unit of the map is {account.radius_unit:.3g} in the data by these radii, and "
            f"{account.map_unit:.3g}, the median σ, in the kernel."
        )
    if np.isnan(account.points.density_residual).any():
        said.append(
            "These figures are of all points; what is said of densities above is of those whose "
            "room is known."
        )
    if account.perplexity is None:
        said.append("The perplexity is not known, so clusters too small for it are not looked for.")
    if account.search_recall < 1:
        said.append(f"{account.search_recall:.1%} of the neighbours in the data were found.")
    if whole.clipped:
        said.append(f"Clipped: {whole.clipped}.")
    if whole.sampled:
        said.append(f"Sampled for the figures: {whole.sampled}.")
    return " ".join(said)


def _ordinal(k: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{k}{'th' if k % 100 in (11, 12, 13) else endings.get(k % 10, 'th')}"


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    if 99.95 <= value < 1e6:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if 1e-3 <= value < 1e6 else f"{value:.3g}"
