"""Labels of points, of any kind that people have them in: groups in an order that makes sense."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from dtsne.labels._dates import are_dates, as_all_texts, as_dates, as_texts
from dtsne.labels._format import is_missing, is_whole, natural_order
from dtsne.runtime._kinds import on_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from dtsne.runtime._typing import IntArray

Labels: TypeAlias = np.ndarray[Any, Any]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each point.

    Attributes
    ----------
    names : ndarray
        The different labels in their order: numbers, truth values or text. Some may be of no point,
        where a categorical column has more categories than are used.
    codes : ndarray of int
        The label of each point, as a place in names; -1 for one that has none.
    """

    names: Labels
    codes: IntArray

    @classmethod
    def in_order(cls, names: Sequence[Any], labels: Iterable[Any]) -> Groups:
        """Take labels whose order is known already; any other is taken for none."""
        place = {name: code for code, name in enumerate(names)}
        return cls(names_array(names), np.array([place.get(label, -1) for label in labels], int))

    @property
    def sizes(self) -> IntArray:
        """Number of points of each label."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Whether a point has no label."""
        return np.asarray(self.codes < 0)

    @cached_property
    def members(self) -> Sequence[IntArray]:
        """The points of each label."""
        rows = np.flatnonzero(self.codes >= 0)
        by_label = rows[np.argsort(self.codes[rows], kind="stable")]
        return np.split(by_label, np.cumsum(self.sizes)[:-1])

    @property
    def labels(self) -> Labels:
        """The label of each point, None for one that has none."""
        if not self.missing.any():
            return self.names[self.codes]
        labels = np.full(len(self.codes), None, object)
        labels[~self.missing] = self.names[self.codes[~self.missing]]
        return labels

    def used(self) -> Groups:
        """Leave out labels that no point has."""
        used = np.flatnonzero(self.sizes)
        place = np.full(len(self.names) + 1, -1)
        place[used] = np.arange(len(used))
        return Groups(self.names[used], place[self.codes])


def group_by(labels: Any, n: int, *, to_show: bool = False) -> Groups:
    """Sort n points by their labels; those without one (None, NaN, NaT) are in no group.

    Groups are in the order of a categorical column, or else in the natural one: numbers by size,
    "c9" before "c10". Numbers, truth values and texts stay what they are, all else becomes text.

    Groups that are only to be shown, and not to be compared, may be of no point (where they are
    categories), mix numbers and texts (these are then the last), or be none at all.
    """
    groups = _with_order(labels, n)
    if groups is None:
        groups = _sorted(labels, n)
        kinds = {isinstance(name, str) for name in groups.names.tolist()}
        if len(kinds) > 1 and not to_show:
            raise ValueError(
                "labels mix kinds that have no order; convert them, e.g. with "
                "list(map(str, labels))."
            )
    if to_show:
        return groups
    groups = groups.used()
    if not len(groups.names):
        raise ValueError("labels has missing values only; leave it out.")
    return groups


def names_array(names: Sequence[Any]) -> Labels:
    """Return plain values as an array, in which those of several kinds stay what they are."""
    kinds = {type(name) for name in names}
    if kinds <= {str}:
        # numpy's own texts lose zeros at the end.
        return np.array(names, object if any(n.endswith("\0") for n in names) else np.str_)
    is_one_kind = kinds in ({bool}, {int}, {float})
    return np.array(names, None if is_one_kind else object)


def by_name(given: Mapping[Any, T]) -> dict[Any, T]:
    """Return what is given by label by the names that groups of such labels may have."""
    return {**given, **{name: value for key, value in given.items() for name in _names_of(key)}}


def _with_order(labels: Any, n: int) -> Groups | None:
    """Return labels that have an order of their own; None for others."""
    if isinstance(labels, Groups):
        _check_shape(labels.codes, n)
        return labels
    categorical = getattr(labels, "cat", labels)
    if not hasattr(categorical, "categories") or not hasattr(categorical, "codes"):  # of pandas
        return None
    codes = np.asarray(categorical.codes).astype(np.int64)
    _check_shape(codes, n)
    return Groups(names_array(_plain(_as_array(categorical.categories))), codes)


def _sorted(labels: Any, n: int) -> Groups:
    values = _as_array(labels)
    _check_shape(values, n)
    different, places = _distinct(values)
    plain = _plain(different)
    names = sorted({name for name in plain if name is not None}, key=natural_order)
    code_of = {**{name: code for code, name in enumerate(names)}, None: -1}
    codes = np.array([code_of[name] for name in plain], dtype=np.int64)[places]
    return Groups(names_array(names), codes)


def _as_array(labels: Any) -> Labels:
    """Make an array; of texts in a list one of objects, as in numpy's own NaN is a text."""
    values = np.asarray(on_host(labels))
    if values.dtype.kind in "US" and not isinstance(labels, np.ndarray):
        return np.asarray(labels, dtype=object)
    return values


def _check_shape(values: Labels, n: int) -> None:
    if values.shape != (n,):
        raise ValueError(
            f"labels has shape {values.shape} for {n} points; give one label for each point."
        )


def _distinct(values: Labels) -> tuple[Labels, IntArray]:
    """Return the different values, and which of them each one is."""
    if values.dtype.kind != "O":
        different, places = np.unique(values, return_inverse=True)
        return different, places.reshape(-1)
    index: dict[Any, int] = {}  # as values may be of kinds that have no order among them
    try:
        places = np.array([index.setdefault(v, len(index)) for v in values.tolist()], dtype=int)
    except TypeError as error:
        raise ValueError(
            "labels has lists or arrays as values; give one number or text for each point."
        ) from error
    different = np.empty(len(index), dtype=object)
    different[:] = list(index)
    return different, places


def _plain(values: Labels) -> list[Any]:
    """Turn values into numbers, truth values and texts; None where they are missing."""
    if values.dtype.kind == "O" and are_dates(values):
        values = as_dates(values)
    if values.dtype.kind == "M":
        return list(as_texts(values))
    plain = [None if is_missing(value) else _plain_value(value) for value in values]
    # Whole numbers become floats where some are missing.
    if all(value is None or is_whole(value) for value in plain):
        return [None if value is None else int(value) for value in plain]
    return plain


def _names_of(label: Any) -> Sequence[Any]:
    """Return what a label is called: a date in as much detail as the others need, or more."""
    if is_missing(label):
        return []
    return as_all_texts(label) if are_dates([label]) else [_plain_value(label)]


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.floating):
        return float(str(value))  # as many digits as the type has: .1 and not .10000000149
    if isinstance(value, np.timedelta64):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | str):
        return value
    return float(value) if isinstance(value, Real | Decimal) else str(value)
