"""Dates of numpy, Python and pandas: as texts, and as what a browser counts."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.labels._format import is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dtsne.runtime._typing import FloatArray

_DAY = 24 * 60 * 60 * 1000
# Of how dates are written, the coarsest first.
_UNITS = ("D", "s", "ms", "us")


def are_dates(values: Iterable[Any]) -> bool:
    """Say whether all values that are not missing are dates, and some are."""
    known = [value for value in values if not is_missing(value)]
    return bool(known) and all(isinstance(value, date | np.datetime64) for value in known)


def as_dates(values: Iterable[Any]) -> np.ndarray[Any, Any]:
    """Return dates of any kind as those of numpy, in UTC; NaT for those missing."""
    return np.array([_without_zone(value) for value in values], dtype="datetime64[us]")


def as_milliseconds(dates: np.ndarray[Any, Any]) -> FloatArray:
    """Count dates of numpy from the beginning of 1970 on; NaN for those missing."""
    whole = dates.astype("datetime64[ms]")
    return np.where(np.isnat(whole), np.nan, whole.astype(np.int64).astype(np.float64))


def as_texts(dates: np.ndarray[Any, Any]) -> Sequence[str | None]:
    """Write dates of numpy as ISO 8601 has them, to the day or in as much detail as they have."""
    missing = np.isnat(dates)
    for unit in _UNITS:
        coarser = dates.astype(f"datetime64[{unit}]")
        if (coarser == dates)[~missing].all():
            dates = coarser
            break
    texts = dates.astype(str).tolist()
    return [None if none else text for text, none in zip(texts, missing, strict=True)]


def as_all_texts(value: Any) -> Sequence[str]:
    """Write one date in all ways that :func:`as_texts` may write it, beside others."""
    whole = as_dates([value])
    kept = (whole.astype(f"datetime64[{unit}]") for unit in _UNITS)
    return [str(text[0]) for text in kept if text[0] == whole[0]]


def are_days(milliseconds: FloatArray) -> bool:
    """Say whether all of them are whole days, and to be written so."""
    return bool((milliseconds % _DAY == 0).all())


def _without_zone(value: Any) -> np.datetime64:
    if is_missing(value):
        return np.datetime64("NaT", "us")
    if isinstance(value, datetime) and value.tzinfo is not None:
        return np.datetime64(round(1_000_000 * value.timestamp()), "us")
    return np.datetime64(value, "us")
