"""A map and its account as an interactive page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.page import make_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from dtsne.account import Account
    from dtsne.account._tables import PointTable
    from dtsne.page import Page

# What the page shows of the account, under names that a reader understands.
_COLUMNS = {
    "log_radius_data": "log radius in the data",
    "log_radius_map": "log radius in the map",
    "density_residual": "density residual",
    "neighbor_recall": "neighbours kept",
    "sigma": "sigma",
}
# The gravest first: a point has one of them.
_FLAGS = {
    "unreliable": "unreliable",
    "perplexity_too_large": "cluster below the perplexity",
    "sigma_at_bound": "sigma at its bound",
    "k_too_large": "cluster below k",
    "copy": "copy",
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
    account: Account,
    *,
    columns: Mapping[str, ArrayLike] | None = None,
    label_name: str = "label",
    ids: ArrayLike | None = None,
    title: str = "Map",
) -> Page:
    """Make a page of maps of the same points, the first being the one that the account is of.

    Labels come first, as what a reader wants to colour by, then the account, then other columns.
    """
    whole = {meaning: getattr(account.whole, name) for name, meaning in _FIGURES.items()}
    shown: dict[str, Any] = {name: value for name, value in whole.items() if np.isfinite(value)}
    unit = account.radius_unit
    if unit is not None:
        shown["unit"] = {next(iter(maps)): unit}
    notes = [*account.readings, *(account.ratios.sentences if account.ratios is not None else ())]
    of_account = _columns_of(account.points, label_name)
    others = {
        name if name not in of_account else f"{name} (given)": values
        for name, values in (columns or {}).items()
    }
    return make_page(
        maps,
        {**of_account, **others},
        ids=ids,
        title=title,
        account=shown,
        notes=notes[:_MOST_NOTES],
    )


def _columns_of(points: PointTable, label_name: str) -> dict[str, ArrayLike]:
    known = points.columns()
    shown: dict[str, ArrayLike] = {label_name: known["label"]} if "label" in known else {}
    shown |= {meaning: known[name] for name, meaning in _COLUMNS.items() if name in known}
    flags = {meaning: known[name] for name, meaning in _FLAGS.items() if name in known}
    shown["flag"] = np.select(list(flags.values()), list(flags), default="none")
    return shown
