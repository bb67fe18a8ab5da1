"""Labels of points, of any kind, as groups in a sensible order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from dtsne.labels._format import is_missing, is_whole, natural_order
from dtsne.runtime._arrays import on_host
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from dtsne.runtime._typing import BoolArray, IntArray

Label: TypeAlias = bool | int | float | str
LabelArray: TypeAlias = npt.NDArray[np.generic]
# What a user may pass: an array, a list with None, or a column of pandas, polars or Arrow.
Labels: TypeAlias = "npt.ArrayLike | Sequence[object]"
DateArray: TypeAlias = npt.NDArray[np.datetime64]
T = TypeVar("T")

# How dates are written, the coarsest unit first.
_DATE_UNITS = ("D", "s", "ms", "us")


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each point.

    Attributes
    ----------
    names : ndarray
        The distinct labels in order: numbers, booleans or text. Categories that no point has may
        be among them.
    codes : ndarray of int
        The label of each point, as an index into names; -1 for a point without a label.
    """

    names: LabelArray
    codes: IntArray

    @classmethod
    def in_order(cls, names: Sequence[Label | None], labels: Iterable[object]) -> Groups:
        """Take labels whose order is known; any other label counts as missing."""
        place = {name: code for code, name in enumerate(names)}
        codes = np.array([place.get(label, -1) for label in labels], np.int64)  # type: ignore[call-overload]
        return cls(names_array(names), codes)

    @property
    def sizes(self) -> IntArray:
        """Number of points of each label."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))

    @property
    def missing(self) -> BoolArray:
        """Whether a point has no label."""
        return np.asarray(self.codes < 0)

    @cached_property
    def members(self) -> Sequence[IntArray]:
        """The points of each label."""
        rows = np.flatnonzero(self.codes >= 0)
        by_label = rows[np.argsort(self.codes[rows], kind="stable")]
        return np.split(by_label, np.cumsum(self.sizes)[:-1])

    @property
    def labels(self) -> LabelArray:
        """The label of each point, None for a point without one."""
        if not self.missing.any():
            return self.names[self.codes]
        return np.array([*self.names.tolist(), None], object)[self.codes]

    def drop_unused(self) -> Groups:
        """Drop labels that no point has."""
        used = np.flatnonzero(self.sizes)
        place = np.full(len(self.names) + 1, -1)
        place[used] = np.arange(len(used))
        return Groups(self.names[used], place[self.codes])


def group_by(labels: Labels | Groups, n: int, *, to_show: bool = False) -> Groups:
    """Group n points by their labels; points with a missing label (None, NaN) are in no group.

    Groups are in the order of a categorical column, or else in natural order: numbers by size,
    "c9" before "c10". Numbers, booleans and texts stay what they are, all else becomes text.

    Groups that are only shown, and not compared, may be categories that no point has, mix numbers
    and texts (which then come last), or be none at all.
    """
    if isinstance(labels, Groups):
        _check_shape(labels.codes.shape, n)
        groups = labels
    else:
        groups = _grouped(labels, n, may_mix=to_show)
    if to_show:
        return groups
    groups = groups.drop_unused()
    if not len(groups.names):
        raise _error("labels has only missing values", "pass another column, or no labels")
    return groups


def categories_of(labels: object) -> LabelArray | None:
    """Return the categories of a pandas, polars or Arrow column, in their order; None for others.

    By hand, as narwhals returns the categories in use, as text, in the order of appearance. The
    categories of polars.Categorical have no order, those of polars.Enum do.
    """
    chunks = getattr(labels, "chunks", [labels])
    if chunks and hasattr(chunks[0], "dictionary"):  # pyarrow
        values = [value for chunk in chunks for value in chunk.dictionary.to_pylist()]
        return _as_array(list(dict.fromkeys(values)))
    categories = getattr(getattr(labels, "dtype", None), "categories", None)  # pandas, polars
    return _as_array(categories) if hasattr(categories, "__array__") else None


def names_array(names: Sequence[Label | None]) -> LabelArray:
    """Return plain values as an array, in which values of several kinds stay what they are."""
    kinds = {type(name) for name in names}
    if kinds <= {str}:
        # numpy's own texts lose zeros at the end.
        return np.array(names, object if any(str(n).endswith("\0") for n in names) else np.str_)
    is_one_kind = kinds in ({bool}, {int}, {float})
    return np.array(names, None if is_one_kind else object)


def by_name(given: Mapping[Hashable, T]) -> dict[Hashable, T]:
    """Return a mapping from labels under the names that groups of such labels may have."""
    named = dict(given)
    for label, value in given.items():
        if are_dates([label]):
            dates = as_dates([label])
            units = (dates.astype(f"datetime64[{unit}]")[0] for unit in _DATE_UNITS)
            named |= {str(unit): value for unit in units if unit == dates[0]}
        elif not is_missing(label):
            named[_plain_value(label)] = value
    return named


def are_dates(values: Iterable[object]) -> bool:
    """Whether all values that are not missing are dates, and some are."""
    known = [value for value in values if not is_missing(value)]
    return bool(known) and all(isinstance(value, date | np.datetime64) for value in known)


def as_dates(values: Iterable[object]) -> DateArray:
    """Return dates of Python, numpy and pandas as those of numpy, in UTC; NaT where missing."""
    known = (None if is_missing(value) else value for value in values)
    in_utc = [
        value.astimezone(UTC).replace(tzinfo=None)
        if isinstance(value, datetime) and value.tzinfo
        else value
        for value in known
    ]
    return np.array(in_utc, dtype="datetime64[us]")


def _grouped(labels: Labels, n: int, *, may_mix: bool) -> Groups:
    values, categories = _as_array(labels), categories_of(labels)
    _check_shape(values.shape, n)
    distinct, places = _distinct(values)
    order: list[Label | None]
    if categories is None:
        plain = _plain(distinct)
        order = sorted({name for name in plain if name is not None}, key=natural_order)
        if not may_mix and len({isinstance(name, str) for name in order}) > 1:
            reason = "labels mixes numbers and text, which have no common order"
            raise _error(reason, "convert all of them to text", "list(map(str, labels))")
    else:  # together, as dates are written in as much detail as all of them need
        both = _plain(np.concatenate([categories, distinct]))
        order, plain = both[: len(categories)], both[len(categories) :]
    found = Groups.in_order(order, plain)
    return Groups(found.names, found.codes[places])


def _as_array(labels: object) -> LabelArray:
    """Make an array; texts of a list as objects, as numpy turns NaN among them into text."""
    if hasattr(labels, "to_pylist"):  # pyarrow, whose own arrays lose what is missing in chunks
        return np.array([*labels.to_pylist(), None], object)[:-1]
    values = np.asarray(on_host(labels))
    if values.dtype.kind in "US" and not isinstance(labels, np.ndarray):
        return np.asarray(labels, dtype=object)
    return values


def _distinct(values: LabelArray) -> tuple[LabelArray, IntArray]:
    """Return the distinct values, and which of them each value is."""
    if values.dtype.kind != "O":
        distinct, places = np.unique(values, return_inverse=True)
        return distinct, places.reshape(-1)
    index: dict[Hashable, int] = {}  # as values of several kinds have no common order
    try:
        places = np.array([index.setdefault(v, len(index)) for v in values.tolist()], dtype=int)
    except TypeError as error:
        reason = "labels has lists or arrays as values"
        raise _error(reason, "pass one number or text for each point") from error
    return np.array([*index, None], dtype=object)[:-1], places


def _plain(values: LabelArray) -> list[Label | None]:
    """Turn values into numbers, booleans and texts; None where they are missing."""
    if values.dtype.kind == "O" and are_dates(values):
        values = as_dates(values)
    if values.dtype.kind == "M":
        return _as_texts(values.astype("datetime64[us]"))
    plain = [None if is_missing(value) else _plain_value(value) for value in values]
    # Integers become floats where some are missing.
    if all(value is None or is_whole(value) for value in plain):
        return [None if value is None else int(value) for value in plain]
    return plain


def _as_texts(dates: DateArray) -> list[Label | None]:
    """Write dates in ISO 8601: to the day, or in as much detail as they need."""
    known = dates[~np.isnat(dates)]
    for unit in _DATE_UNITS:
        if (known.astype(f"datetime64[{unit}]") == known).all():
            break
    texts = dates.astype(f"datetime64[{unit}]").astype(str).tolist()
    return [None if text == "NaT" else text for text in texts]


def _plain_value(value: object) -> Label:
    if isinstance(value, np.floating):
        return float(str(value))  # as many digits as the type has: 0.1 and not 0.10000000149
    if isinstance(value, np.timedelta64):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | str):
        return value
    return float(value) if isinstance(value, Real | Decimal) else str(value)


def _check_shape(shape: tuple[int, ...], n: int) -> None:
    if shape != (n,):
        raise _error(f"labels has shape {shape} for {n} points", "pass one label for each point")


def _error(reason: str, fix: str, in_python: str = "") -> DataError:
    return DataError(reason, fix, in_python=in_python, argument="labels")
