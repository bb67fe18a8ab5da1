"""Everything that a page knows, as one object of JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.page._align import aligned, check_maps
from dtsne.page._arrays import packed, packed_texts
from dtsne.page._columns import as_array, encode_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# The key of the account that the scale bar is drawn from; all others are shown as they are.
_UNIT = "unit"


def make_header(
    maps: Mapping[str, ArrayLike],
    columns: Mapping[str, ArrayLike],
    *,
    ids: ArrayLike | None,
    title: str,
    account: Mapping[str, Any] | None,
    notes: str | Sequence[str],
) -> dict[str, Any]:
    """Check and encode what a page is made of."""
    turned = aligned(check_maps(maps))
    n = len(next(iter(turned.values())))
    account = dict(account or {})
    units = _units(account.pop(_UNIT, None), list(turned))
    half = max(float(np.abs(map_).max()) for map_ in turned.values())
    return {
        "n": n,
        "title": str(title),
        "notes": [notes] if isinstance(notes, str) and notes else [str(note) for note in notes],
        "half": half or 1.0,
        "maps": [
            {
                "name": name,
                "unit": units[name],
                "x": packed(map_[:, 0], "f4"),
                "y": packed(map_[:, 1], "f4"),
            }
            for name, map_ in turned.items()
        ],
        "ids": None if ids is None else packed_texts(_check_ids(ids, n)),
        "columns": encode_columns(columns, n),
        "account": [[str(key), _shown(value)] for key, value in account.items()],
    }


def _check_ids(ids: ArrayLike, n: int) -> list[str]:
    checked = as_array(ids)
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


def _units(unit: object, names: list[str]) -> dict[str, float | None]:
    """Give what one unit of each map is in the data, None where it is not known."""
    given = {str(key): value for key, value in unit.items()} if isinstance(unit, Mapping) else {}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"account['unit'] names {unknown[0]!r}, which is no map; there is {names}."
        )
    if not isinstance(unit, Mapping):
        given = dict.fromkeys(names, unit)
    return {name: _check_unit(given.get(name)) for name in names}


def _check_unit(unit: object) -> float | None:
    if unit is None:
        return None
    if not isinstance(unit, Real) or not math.isfinite(unit) or unit <= 0:
        raise ValueError(
            f"account['unit'] is {unit!r}; give the distance in the data that one unit of the map "
            "stands for, a number above 0, or such a number for each map by name."
        )
    return float(unit)


def _shown(value: object) -> str:
    """Write a value of the account as people read it."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return str(value)
