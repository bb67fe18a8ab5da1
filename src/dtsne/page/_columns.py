"""Columns of any kind → what the page colours, shows, filters and searches by.

A column is a category (strings, booleans, dates, few different integers) or a number (the rest).
"""

from __future__ import annotations

import re
from collections import Counter
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.page._arrays import float_type, integer_type, packed, packed_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from dtsne._typing import FloatArray

# More categories than this have no colour of their own: the page draws the rest as "other".
MAX_CATEGORIES = 50
# Integers with no more different values than this are taken for labels.
MAX_INTEGER_LABELS = 20
# A few far values must not leave one colour to all others: where the range is that much wider
# than these percentiles, the colours span the percentiles.
_COLOUR_PERCENTILES = (0.5, 99.5)
_FAR = 1.5


def encode_columns(columns: Mapping[str, ArrayLike], n: int) -> list[dict[str, Any]]:
    """Encode every column, or say which one does not fit the maps."""
    names = [str(name) for name in columns]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}; give each a name of its own.")
    return [
        encode_column(name, values, n) for name, values in zip(names, columns.values(), strict=True)
    ]


def as_array(values: ArrayLike) -> np.ndarray[Any, Any]:
    """Make an array; of texts one of objects, as numpy's own lose NaN, and zeros at the end."""
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        return np.asarray(values, dtype=object)
    return array


def encode_column(name: str, values: ArrayLike, n: int) -> dict[str, Any]:
    """Encode one column of n values."""
    array = as_array(values)
    if array.shape != (n,):
        raise ValueError(
            f"column {name!r} has shape {array.shape} and the maps have {n} points; "
            "give one value for each point."
        )
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"column {name!r} is complex; give its modulus, or its parts.")
    if kind == "b":
        return _category(name, _flags(array.tolist()), flag=True)
    if kind in "iu":
        return _integers(name, array)
    if kind == "f":
        return _numbers(name, array.astype(np.float64))
    if kind in "mM":
        texts = np.where(np.isnat(array), "", array.astype(str)).tolist()
        return _category(name, [text or None for text in texts])
    return _objects(name, array.tolist())


def _objects(name: str, values: list[Any]) -> dict[str, Any]:
    """Encode Python objects by what all of them are, those missing left aside."""
    present = [None if _is_missing(value) else value for value in values]
    kinds = {type(value) for value in present if value is not None}
    if kinds and kinds <= {bool, np.bool_}:
        return _category(name, _flags(present), flag=True)
    if kinds and all(issubclass(kind, Real) for kind in kinds):
        return _numbers(name, np.array([np.nan if v is None else float(v) for v in present]))
    return _category(name, [None if value is None else _text(value) for value in present])


def _integers(name: str, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    distinct = np.unique(array)
    if len(distinct) <= MAX_INTEGER_LABELS:
        return _category(name, [str(value) for value in array.tolist()])
    dtype = integer_type(int(distinct[0]), int(distinct[-1]))
    return _number(name, array, dtype, array.astype(np.float64))


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
        "domain": _colour_domain(finite, diverging=diverging),
        "range": [float(finite.min()), float(finite.max())] if finite.size else [0.0, 1.0],
    }


def _colour_domain(finite: FloatArray, *, diverging: bool) -> list[float]:
    """Give the values at the two ends of the colours; those of residuals lie evenly around 0."""
    if not finite.size:
        return [0.0, 1.0]
    low, high = float(finite.min()), float(finite.max())
    inner = [float(end) for end in np.percentile(finite, _COLOUR_PERCENTILES)]
    if high - low > _FAR * (inner[1] - inner[0]) > 0:
        low, high = inner
    if diverging:
        high = max(abs(low), abs(high)) or 1.0
        return [-high, high]
    return [low, high] if low < high else [low - 0.5, high + 0.5]


def _category(name: str, texts: list[str | None], *, flag: bool = False) -> dict[str, Any]:
    """Encode texts as codes; the code after the last category is that of missing values."""
    counts = Counter(text for text in texts if text is not None)
    categories = sorted(counts, key=_natural_order)
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
        "coloured": MAX_CATEGORIES,
        "flag": flag,
    }


def _flags(values: Iterable[Any]) -> list[str | None]:
    return [None if value is None else "yes" if value else "no" for value in values]


def _natural_order(text: str) -> tuple[list[tuple[int, str]], str]:
    """Sort "9" before "10", and "T-cell 2" before "T-cell 10"."""
    parts = re.split(r"([0-9]+)", text.lower())  # every second one is digits
    return [(int(part), "") if k % 2 else (-1, part) for k, part in enumerate(parts)], text


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _is_missing(value: object) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT do not equal themselves
    except TypeError:  # pandas.NA has no truth value
        return True
