"""Columns of any kind → what the page colours, shows, filters and searches by.

A column is a category (strings, booleans, few different integers or dates) or a number (the rest,
dates too).
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._colors import color_limits
from dtsne._columns import (
    MOST_INTEGER_LABELS,
    is_missing,
    natural_order,
    shortened,
    shown_text,
)
from dtsne.page._arrays import float_type, integer_type, packed, packed_texts
from dtsne.page._dates import are_days, as_milliseconds, as_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from dtsne._typing import FloatArray

# More categories than this have no colour of their own: the page draws the rest as "other".
MAX_CATEGORIES = 50
# Characters that fit a row of the legend.
_LONGEST = 28


def as_array(name: str, values: ArrayLike) -> np.ndarray[Any, Any]:
    """Make an array; of texts one of objects, as numpy's own lose NaN, and zeros at the end."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of several lengths
        raise _no_single_values(name) from error
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        return np.asarray(values, dtype=object)
    return array


def encode_column(name: str, values: ArrayLike, n: int) -> dict[str, Any]:
    """Encode one column of n values."""
    array = as_array(f"column {name!r}", values)
    if array.shape != (n,):
        raise ValueError(
            f"column {name!r} has shape {array.shape} and the maps have {n} points; "
            "give one value for each point."
        )
    categorical = getattr(values, "cat", values)
    if hasattr(categorical, "categories") and hasattr(categorical, "codes"):  # pandas
        return _categorical(name, categorical)
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"column {name!r} is complex; give its modulus, or its parts.")
    if kind == "b":
        return _category(name, _flags(array.tolist()), flag=True)
    if kind in "iu":
        return _integers(name, array)
    if kind == "f":
        return _numbers(name, array.astype(np.float64))
    if kind == "M":
        return _dates(name, as_milliseconds(array))
    if kind == "m":
        seconds = array / np.timedelta64(1, "s")  # NaT becomes NaN
        return _numbers(f"{name} (s)", seconds.astype(np.float64))
    return _objects(name, array.tolist())


def _objects(name: str, values: list[Any]) -> dict[str, Any]:
    """Encode Python objects by what all of them are, those missing left aside."""
    if any(isinstance(value, list | np.ndarray) for value in values):
        raise _no_single_values(f"column {name!r}")
    present = [None if is_missing(value) else value for value in values]
    kinds = {type(value) for value in present if value is not None}
    if kinds and kinds <= {bool, np.bool_}:
        return _category(name, _flags(present), flag=True)
    if kinds and all(issubclass(kind, Real | Decimal) for kind in kinds):
        return _numbers(name, np.array([np.nan if v is None else float(v) for v in present]))
    if kinds and all(issubclass(kind, date) for kind in kinds):
        return _dates(name, as_milliseconds(present))
    return _category(name, [None if value is None else _text(value) for value in present])


def _integers(name: str, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    distinct = np.unique(array)
    if len(distinct) <= MOST_INTEGER_LABELS:
        return _category(name, [str(value) for value in array.tolist()])
    dtype = integer_type(int(distinct[0]), int(distinct[-1]))
    return _number(name, array, dtype, array.astype(np.float64))


def _dates(name: str, milliseconds: FloatArray) -> dict[str, Any]:
    known = milliseconds[~np.isnan(milliseconds)]
    if len(np.unique(known)) <= MOST_INTEGER_LABELS:
        return _category(name, as_texts(milliseconds))
    precision = "day" if are_days(known) else "second"
    return {**_number(name, milliseconds, "f8", milliseconds), "date": precision}


def _numbers(name: str, array: FloatArray) -> dict[str, Any]:
    return _number(name, array, float_type(array), array)


def _number(
    name: str, array: np.ndarray[Any, Any], dtype: str, values: FloatArray
) -> dict[str, Any]:
    diverging = "residual" in name.lower()
    finite = values[np.isfinite(values)]
    return {
        "name": name,
        "kind": "number",
        "values": packed(array, dtype),
        "diverging": diverging,
        "domain": list(color_limits(finite, 0.0 if diverging else None)),
        "range": [float(finite.min()), float(finite.max())] if finite.size else [0.0, 1.0],
    }


def _categorical(name: str, column: Any) -> dict[str, Any]:
    """Encode a column of pandas' categories, which have an order of their own."""
    codes = np.asarray(column.codes).tolist()
    names = [shown_text(_text(category)) for category in column.categories]
    texts = [None if code < 0 else names[code] for code in codes]
    return _category(name, texts, order=names)


def _category(
    name: str,
    texts: list[str | None],
    *,
    order: Sequence[str] | None = None,
    flag: bool = False,
) -> dict[str, Any]:
    """Encode texts as codes; the code after the last category is that of missing values."""
    texts = [None if text is None else shown_text(text) for text in texts]
    counts = Counter(text for text in texts if text is not None)
    if order is None:
        categories = sorted(counts, key=natural_order)
    else:
        categories = [text for text in dict.fromkeys(order) if text in counts]
    if len(categories) > MAX_CATEGORIES:  # the frequent ones first: they keep their colours
        categories.sort(key=lambda text: -counts[text])
    code_of: dict[str | None, int] = {text: code for code, text in enumerate(categories)}
    code_of[None] = len(categories)
    codes = np.array([code_of[text] for text in texts], dtype=np.int64)
    return {
        "name": name,
        "kind": "category",
        "codes": packed(codes, integer_type(0, len(categories))),
        "categories": packed_texts(categories),
        "listed": shortened(categories[:MAX_CATEGORIES], _LONGEST),
        "coloured": MAX_CATEGORIES,
        "flag": flag,
    }


def _flags(values: Iterable[Any]) -> list[str | None]:
    return [None if value is None else "yes" if value else "no" for value in values]


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _no_single_values(name: str) -> ValueError:
    return ValueError(
        f"{name} has lists or arrays as values; give one number or text for each point."
    )
