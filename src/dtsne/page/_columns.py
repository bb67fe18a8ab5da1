"""Columns of any kind, encoded for the page to colour, show, filter and search by.

A column is a category (strings, booleans, few distinct integers or dates) or a number (the rest,
dates too). Groups are always categories. Where a page has several maps, the name of a column that
belongs to one of them says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dtsne.labels._format import MAX_INTEGER_LABELS, is_missing, shortened, shown_text
from dtsne.labels._groups import Groups, are_dates, as_dates, categories_of, group_by
from dtsne.page._arrays import float_type, integer_type, packed, packed_texts
from dtsne.plots._palette import color_limits
from dtsne.runtime._arrays import on_host
from dtsne.runtime._errors import DataError, DataTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.labels._groups import Labels
    from dtsne.page._arrays import NumpyArray
    from dtsne.runtime._typing import FloatArray

Column: TypeAlias = "Labels | Groups"
Columns: TypeAlias = "Mapping[str, Column | Mapping[str, Column]]"
Encoded: TypeAlias = dict[str, object]

# More categories than this have no colour of their own: the page draws the rest as "other".
MAX_CATEGORIES = 50
# Characters that fit a row of the legend.
_MAX_LENGTH = 28
# Milliseconds, in which a browser counts.
_DAY = 24 * 60 * 60 * 1000


def encode_columns(columns: Columns, maps: Sequence[str], n: int) -> list[Encoded]:
    """Encode every column; those of one map also name the map."""
    encoded, names = [], []
    for key, values in columns.items():
        if not isinstance(values, Mapping):
            names.append(str(key))
            encoded.append(encode_column(names[-1], values, n))
            continue
        check_map_names(f"column {str(key)!r}", values, maps, "columns")
        for map_, of_map in values.items():
            names.append(f"{key} in {map_}" if len(maps) > 1 else str(key))
            column = encode_column(names[-1], of_map, n)
            encoded.append({**column, "map": str(map_), "base": str(key)})
    name, count = next(iter(Counter(names).most_common(1)), ("", 0))
    if count > 1:
        raise DataError(f"two columns are called {name!r}", "rename one", argument="columns")
    return encoded


def check_map_names(
    what: str, by_map: Mapping[str, object], maps: Sequence[str], argument: str
) -> None:
    """Raise an error if something is given for a map that is not there."""
    unknown = [str(name) for name in by_map if str(name) not in maps]
    if unknown:
        reason = f"{what} has an entry for {unknown[0]!r}, which is not one of the maps {maps}"
        raise DataError(reason, "use the names of the maps", argument=argument)


def as_array(values: Column, what: str, n: int, argument: str) -> NumpyArray:
    """Return n values; texts as objects, as numpy's own lose NaN, and zeros at the end."""
    try:
        array = np.asarray(on_host(values))
    except ValueError as error:  # lists of several lengths
        raise _not_single_values(what, argument) from error
    if array.shape != (n,):
        raise DataError(
            f"{what} has shape {array.shape} and the maps have {n} points",
            "pass one value for each point",
            argument=argument,
        )
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        return np.asarray(values, dtype=object)
    return array


def encode_column(name: str, values: Column, n: int) -> Encoded:
    """Encode one column of n values."""
    what = f"column {name!r}"
    grouped = values.codes if isinstance(values, Groups) else None
    array = as_array(values if grouped is None else grouped, what, n, "columns")
    if grouped is not None or categories_of(values) is not None:
        return _category(name, values, n)
    kind = array.dtype.kind
    if kind == "c":
        fix = "pass its modulus, or its parts"
        raise DataTypeError(f"{what} is complex", fix, argument="columns")
    if kind in "iu":
        return _integers(name, array)
    if kind == "f":
        return _numbers(name, array.astype(np.float64))
    if kind == "M":
        return _dates(name, array)
    if kind == "m":
        seconds = array.astype(np.timedelta64) / np.timedelta64(1, "s")  # NaT becomes NaN
        return _numbers(f"{name} (s)", seconds)
    return _objects(name, array) if kind == "O" else _category(name, array, n)


def _objects(name: str, array: NumpyArray) -> Encoded:
    """Encode Python objects by what all of them are, those missing left aside."""
    values = array.tolist()
    if any(isinstance(value, list | np.ndarray) for value in values):
        raise _not_single_values(f"column {name!r}", "columns")
    present = [None if is_missing(value) else value for value in values]
    kinds = {type(value) for value in present if value is not None}
    is_flag = kinds <= {bool, np.bool_}
    if not is_flag and all(issubclass(kind, Real | Decimal) for kind in kinds):
        return _numbers(name, np.array([np.nan if v is None else float(v) for v in present]))
    if are_dates(present):
        return _dates(name, as_dates(present))
    if not all(issubclass(kind, Hashable) for kind in kinds):  # sets, for example
        array = np.array([None if v is None else str(v) for v in present], dtype=object)
    return _category(name, array, len(array))


def _integers(name: str, array: NumpyArray) -> Encoded:
    distinct = np.unique(array)
    if len(distinct) <= MAX_INTEGER_LABELS:
        return _category(name, array, len(array))
    dtype = integer_type(int(distinct[0]), int(distinct[-1]))
    return _number(name, array, dtype, array.astype(np.float64))


def _dates(name: str, dates: NumpyArray) -> Encoded:
    since_1970 = dates.astype("datetime64[ms]").astype(np.int64).astype(np.float64)
    milliseconds = np.where(np.isnat(dates), np.nan, since_1970)
    known = milliseconds[~np.isnan(milliseconds)]
    if len(np.unique(known)) <= MAX_INTEGER_LABELS:
        return _category(name, dates, len(dates))
    precision = "day" if (known % _DAY == 0).all() else "second"
    return {**_number(name, milliseconds, "f8", milliseconds), "date": precision}


def _numbers(name: str, array: FloatArray) -> Encoded:
    return _number(name, array, float_type(array), array)


def _number(name: str, array: NumpyArray, dtype: str, values: FloatArray) -> Encoded:
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


def _category(name: str, values: Column, n: int) -> Encoded:
    """Encode groups as codes; the code after the last category is that of missing values."""
    groups = group_by(values, n, to_show=True).drop_unused()
    is_flag = groups.names.dtype.kind == "b"
    texts = [_text(label, is_flag=is_flag) for label in groups.names.tolist()]
    counts = dict.fromkeys(texts, 0)  # labels may look the same
    for text, size in zip(texts, groups.sizes.tolist(), strict=True):
        counts[text] += size
    categories = list(counts)
    if len(categories) > MAX_CATEGORIES:  # the frequent ones first: they keep their colours
        categories.sort(key=lambda text: -counts[text])
    code_of = {text: code for code, text in enumerate(categories)}
    # The last one is what the code of missing points, -1, finds.
    codes = np.array([*(code_of[text] for text in texts), len(categories)])[groups.codes]
    return {
        "name": name,
        "kind": "category",
        "codes": packed(codes, integer_type(0, len(categories))),
        "categories": packed_texts(categories),
        "listed": shortened(categories[:MAX_CATEGORIES], _MAX_LENGTH),
        "coloured": MAX_CATEGORIES,
        "flag": is_flag,
    }


def _text(label: object, *, is_flag: bool) -> str:
    return ("yes" if label else "no") if is_flag else shown_text(str(label))


def _not_single_values(what: str, argument: str) -> DataError:
    reason = f"{what} has lists or arrays as values"
    return DataError(reason, "pass one number or text for each point", argument=argument)
