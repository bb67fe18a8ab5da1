"""Maps and their accounts as an interactive page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.labels._format import renamed
from dtsne.labels._groups import Groups
from dtsne.page import make_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from dtsne.page import Page
    from dtsne.report import Account
    from dtsne.report._tables import PointTable

# What the page shows of the account, under names that a reader understands: here of the map, whose
# name follows where there are several.
_OF_MAP = {
    "log_radius_map": "log radius",
    "density_residual": "density residual",
    "neighbor_recall": "neighbours kept",
}
_ALONE = {"log_radius_map": "log radius in the map"}
_FLAG = "flag"
# A point has one of them: what is the cause before what follows from it.
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
# More would push the account off the page; the report has them all.
_MOST_NOTES = 20


def explorable(
    maps: Mapping[str, ArrayLike],
    accounts: Mapping[str, Account],
    *,
    columns: Mapping[str, ArrayLike] | None = None,
    label_name: str = "label",
    ids: ArrayLike | None = None,
    title: str = "Map",
    notes: Sequence[str] = (),
) -> Page:
    """Make a page of maps of the same points, with the accounts of some of them, by name.

    Labels come first, as what a reader wants to colour by, then the accounts, then other columns.
    Labels are those of the first map whose account has some, whatever the order of the accounts.
    """
    unknown = [name for name in accounts if name not in maps]
    if unknown or not accounts:
        raise ValueError(
            f"accounts are of {list(accounts)} and the maps {list(maps)}; give one for each map "
            "that has one, by its name."
        )
    accounts = {name: accounts[name] for name in maps if name in accounts}
    shown = {name: _figures(account) for name, account in accounts.items()}
    labels = next(filter(None, map(_labels_of, accounts.values())), None)
    label = {} if labels is None else {label_name: labels}
    others = {} if columns is None else dict(columns.items())  # a frame has no truth value
    of_accounts = _columns_of(accounts, alone=len(maps) == 1)
    everything = _side_by_side(label, of_accounts, others, maps)
    return make_page(maps, everything, ids=ids, title=title, account=shown, notes=notes)


def _side_by_side(
    label: Mapping[str, Any],
    of_accounts: Mapping[str, Any],
    others: Mapping[str, Any],
    maps: Iterable[str],
) -> dict[str, Any]:
    """Join columns; those of the user whose names the account has get others."""
    taken = set(of_accounts) | {f"{name} in {map_}" for name in of_accounts for map_ in maps}
    first = renamed(label, taken)
    last = renamed(others, taken | set(first))
    return {**first, **of_accounts, **last}


def _labels_of(account: Account) -> Groups | None:
    """Return the labels of the points, in the order of the groups."""
    labels, groups = account.points.label, account.groups
    if labels is None or groups is None:
        return None
    return Groups.in_order(groups.label.tolist(), labels.tolist())


def _figures(account: Account) -> dict[str, Any]:
    whole = {meaning: getattr(account.whole, name) for name, meaning in _FIGURES.items()}
    shown: dict[str, Any] = {name: value for name, value in whole.items() if np.isfinite(value)}
    sentences = account.ratios.sentences if account.ratios is not None else ()
    shown["notes"] = [*account.readings, *sentences][:_MOST_NOTES]
    if account.radius_unit is not None:
        shown["unit"] = account.radius_unit
    return shown


def _columns_of(accounts: Mapping[str, Account], *, alone: bool) -> dict[str, Any]:
    names = _OF_MAP | _ALONE if alone else _OF_MAP
    of_data = next(iter(accounts.values())).points.columns()
    of_maps = {map_: account.points.columns() for map_, account in accounts.items()}
    shown: dict[str, Any] = {
        "log radius in the data": of_data["log_radius_data"],
        **{
            meaning: {map_: known[name] for map_, known in of_maps.items()}
            for name, meaning in names.items()
        },
    }
    if "sigma" in of_data:
        shown["sigma"] = of_data["sigma"]
    shown[_FLAG] = {map_: _flags(account.points) for map_, account in accounts.items()}
    return shown


def _flags(points: PointTable) -> np.ndarray[Any, Any]:
    known = points.columns()
    flags = {meaning: known[name] for name, meaning in _FLAGS.items() if name in known}
    return np.select(list(flags.values()), list(flags), default="none")
