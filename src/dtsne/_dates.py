"""Dates as what a browser counts: milliseconds since the beginning of 1970."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dtsne._typing import FloatArray

_DAY = 24 * 60 * 60 * 1000


def as_milliseconds(dates: np.ndarray[Any, Any] | Iterable[Any]) -> FloatArray:
    """Turn dates, of numpy or of Python, into milliseconds; NaN for those missing."""
    if not isinstance(dates, np.ndarray):
        dates = np.array([_without_zone(value) for value in dates], dtype="datetime64[ms]")
    whole = dates.astype("datetime64[ms]")
    return np.where(np.isnat(whole), np.nan, whole.astype(np.int64).astype(np.float64))


def as_texts(milliseconds: FloatArray) -> list[str | None]:
    """Write dates as ISO 8601 has them, to the day or to the second."""
    missing = np.isnan(milliseconds)
    unit = "D" if are_days(milliseconds[~missing]) else "s"
    whole = np.where(missing, 0, milliseconds).astype("datetime64[ms]")
    texts = whole.astype(f"datetime64[{unit}]").astype(str).tolist()
    return [None if none else text for text, none in zip(texts, missing, strict=True)]


def are_days(milliseconds: FloatArray) -> bool:
    """Say whether all of them are whole days, and to be written so."""
    return bool((milliseconds % _DAY == 0).all())


def _without_zone(value: Any) -> np.datetime64:
    if value is None:
        return np.datetime64("NaT", "ms")
    if isinstance(value, datetime) and value.tzinfo is not None:
        return np.datetime64(round(1000 * value.timestamp()), "ms")  # in UTC
    return np.datetime64(value, "ms")
