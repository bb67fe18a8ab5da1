"""Figures and notes about the maps, as the page shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypedDict

import numpy as np

from dtsne.page._columns import check_map_names
from dtsne.runtime._errors import DataError

# Keys of a report that are not figures: the distance in the data that is one unit of the map, from
# which the scale bar is drawn, and texts.
_UNIT, _NOTES = "unit", "notes"


class MapReport(TypedDict):
    """What the page knows of one map; the report is None where there is nothing to show."""

    unit: float | None
    report: dict[str, object] | None


def encode_report(
    report: Mapping[str, object] | None, maps: Sequence[str]
) -> tuple[list[list[str]], dict[str, MapReport]]:
    """Encode the figures of all maps, and unit, figures and notes of each map by its name."""
    of_all, by_map = _split(report, maps)
    check_map_names("report", by_map, maps, "report")
    encoded: dict[str, MapReport] = {}
    for name in maps:
        own = by_map.get(name, {})
        unit, notes = _check_unit(own.pop(_UNIT, None)), as_notes(own.pop(_NOTES, ()))
        rows = _as_rows(own)
        shown: dict[str, object] = {"rows": rows, "notes": notes}
        encoded[name] = {"unit": unit, "report": shown if rows or notes else None}
    return _as_rows(of_all), encoded


def _split(
    report: Mapping[str, object] | None, maps: Sequence[str]
) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
    """Return what a report says of all maps, and of each by its name."""
    of_all, by_map = dict(report or {}), {}
    units = _units_by_map(of_all.pop(_UNIT, None), maps)
    nested = {str(k): dict(v) for k, v in of_all.items() if isinstance(v, Mapping)}
    if of_all and len(nested) == len(of_all):
        of_all, by_map = {}, nested
    for name, unit in units.items():
        by_map.setdefault(str(name), {})[_UNIT] = unit
    return of_all, by_map


def _units_by_map(unit: object, maps: Sequence[str]) -> Mapping[str, object]:
    if unit is None or isinstance(unit, Mapping):
        return unit or {}
    if len(maps) > 1:
        raise DataError(
            f"report['unit'] is {unit!r} for {len(maps)} maps, whose units differ",
            "pass it by the name of the map",
            in_python=f"report={{'unit': {{{maps[-1]!r}: {unit!r}}}}}",
            argument="report",
        )
    return {maps[0]: unit}


def _check_unit(unit: object) -> float | None:
    if unit is None:
        return None
    if not isinstance(unit, Real) or not math.isfinite(unit) or unit <= 0:
        raise DataError(
            f"report['unit'] is {unit!r}, and must be a number above 0",
            "pass the distance in the data that is one unit of the map, or such distances by the "
            "names of the maps",
            argument="report",
        )
    return float(unit)


def as_notes(notes: object) -> list[str]:
    """Return paragraphs, of one text or of several."""
    if isinstance(notes, str):
        return [notes] if notes else []
    return [str(note) for note in notes] if isinstance(notes, Sequence) else [str(notes)]


def _as_rows(figures: Mapping[str, object]) -> list[list[str]]:
    return [[str(key), _shown(value)] for key, value in figures.items()]


def _shown(value: object) -> str:
    """Write a figure as people read it."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return str(value)
