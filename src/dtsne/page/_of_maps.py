"""What is known of a map and not of the data: its columns and its account, by the name of the map.

Where a page has several maps, a column that is of one of them says so in its name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.page._columns import encode_column

if TYPE_CHECKING:
    from collections.abc import Sequence

# Keys of an account that are no figures: what one unit of the map is in the data, which the scale
# bar is drawn from, and texts.
_UNIT, _NOTES = "unit", "notes"


def encode_columns(columns: Mapping[str, Any], maps: list[str], n: int) -> list[dict[str, Any]]:
    """Encode every column, or say which one does not fit the maps."""
    encoded = []
    for key, values in columns.items():
        if not isinstance(values, Mapping):
            encoded.append(encode_column(str(key), values, n))
            continue
        _check_names(f"column {str(key)!r}", values, maps)
        for map_, of_map in values.items():
            name = f"{key} in {map_}" if len(maps) > 1 else str(key)
            column = encode_column(name, of_map, n)
            encoded.append({**column, "map": str(map_), "base": str(key)})
    twice = [name for name, count in Counter(c["name"] for c in encoded).items() if count > 1]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}; give each a name of its own.")
    return encoded


def _split_account(
    account: Mapping[str, Any] | None, maps: list[str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return what an account says of all maps, and what of each by its name."""
    whole, by_map = dict(account or {}), {}
    units = _by_map(whole.pop(_UNIT, None), maps)
    if whole and all(isinstance(value, Mapping) for value in whole.values()):
        by_map = {str(name): dict(of_map) for name, of_map in whole.items()}
        whole = {}
    for name, unit in units.items():
        by_map.setdefault(str(name), {})[_UNIT] = unit
    return whole, by_map


def _by_map(unit: Any, maps: list[str]) -> Mapping[str, Any]:
    if unit is None or isinstance(unit, Mapping):
        return unit or {}
    if len(maps) > 1:
        raise ValueError(
            f"account['unit'] is {unit!r} for {len(maps)} maps, whose units differ; give it by the "
            f"name of the map, such as {{{maps[-1]!r}: {unit!r}}}."
        )
    return {maps[0]: unit}


def encode_account(
    account: Mapping[str, Any] | None, maps: list[str]
) -> tuple[list[list[str]], dict[str, dict[str, Any]]]:
    """Encode the figures of all maps, and unit, figures and notes of each by its name."""
    whole, by_map = _split_account(account, maps)
    _check_names("account", by_map, maps)
    encoded = {}
    for name in maps:
        given = by_map.get(name, {})
        unit, notes = _check_unit(given.pop(_UNIT, None)), given.pop(_NOTES, ())
        rows = as_rows(given)
        own = {"rows": rows, "notes": as_notes(notes)} if rows or notes else None
        encoded[name] = {"unit": unit, "account": own}
    return as_rows(whole), encoded


def as_notes(notes: str | Sequence[str]) -> list[str]:
    """Return paragraphs."""
    return [notes] if isinstance(notes, str) and notes else [str(note) for note in notes]


def as_rows(account: Mapping[str, Any]) -> list[list[str]]:
    """Return names and values as people read them."""
    return [[str(key), _shown(value)] for key, value in account.items()]


def _check_names(what: str, by_map: Mapping[Any, Any], maps: list[str]) -> None:
    unknown = [str(name) for name in by_map if str(name) not in maps]
    if unknown:
        raise ValueError(f"{what} names {unknown[0]!r}, which is no map; there is {maps}.")


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
