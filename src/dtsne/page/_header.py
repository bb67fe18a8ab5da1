"""Everything that a page knows, as one object of JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.page._align import aligned, check_maps
from dtsne.page._arrays import packed, packed_texts
from dtsne.page._columns import MAX_CATEGORIES, as_array
from dtsne.page._of_maps import as_notes, encode_account, encode_columns
from dtsne.plots._palette import DARK, LIGHT, SINGLE, categorical_colors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from dtsne.plots._palette import Ground


def make_header(
    maps: Mapping[str, ArrayLike],
    columns: Mapping[str, Any],
    *,
    ids: ArrayLike | None,
    title: str,
    account: Mapping[str, Any] | None,
    notes: str | Sequence[str],
) -> dict[str, Any]:
    """Check and encode what a page is made of."""
    turned = aligned(check_maps(maps))
    n = len(next(iter(turned.values())))
    rows, by_map = encode_account(account, list(turned))
    half = max(float(np.abs(map_).max()) for map_ in turned.values())
    return {
        "n": n,
        "title": str(title),
        "notes": as_notes(notes),
        "half": half or 1.0,
        "maps": [
            {
                "name": name,
                **by_map[name],
                "x": packed(map_[:, 0], "f4"),
                "y": packed(map_[:, 1], "f4"),
            }
            for name, map_ in turned.items()
        ],
        "ids": None if ids is None else packed_texts(_check_ids(ids, n)),
        "columns": encode_columns(columns, list(turned), n),
        "account": rows,
        "colours": {"light": _colors_on(LIGHT), "dark": _colors_on(DARK)},
    }


def _colors_on(ground: Ground) -> dict[str, Any]:
    """Give all colours that the page draws with, those that pictures have."""
    return {
        "ground": ground.color,
        "single": SINGLE,
        "categories": categorical_colors(MAX_CATEGORIES, dark=ground is DARK),
        "other": ground.other,
        "missing": ground.missing,
        "flag": {"no": ground.other, "yes": ground.colors[5]},
        "sequential": list(ground.sequential),
        "diverging": list(ground.diverging),
    }


def _check_ids(ids: ArrayLike, n: int) -> list[str]:
    checked = as_array("ids", ids)
    if checked.shape != (n,):
        raise ValueError(
            f"ids has shape {checked.shape} and the maps have {n} points; give one id for each."
        )
    texts = [str(value) for value in checked.tolist()]
    name, count = Counter(texts).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"the id {name!r} stands for {count} points, and ids have to tell points apart; "
            "give these as a column, and leave ids=None for the numbers of the rows."
        )
    return texts
