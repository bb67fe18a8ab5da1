"""Labels of points, of any kind that people have them in: groups in an order that makes sense."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dtsne._typing import IntArray

Labels: TypeAlias = np.ndarray[Any, Any]

# Floats up to here that are whole are the integers they look like.
_LARGEST_INTEGER = 2**53


class Groups(NamedTuple):
    """The points of each label."""

    names: Labels  # numbers, truth values or text
    codes: IntArray  # the label of each point, as a place in names; -1 for one that has none
    members: Sequence[IntArray]

    @property
    def sizes(self) -> IntArray:
        """Number of points of each label."""
        return np.array([len(members) for members in self.members], int)

    @property
    def labels(self) -> Labels:
        """The label of each point, None for one that has none."""
        if (self.codes >= 0).all():
            return self.names[self.codes]
        labels = np.full(len(self.codes), None, object)
        labels[self.codes >= 0] = self.names[self.codes[self.codes >= 0]]
        return labels


def group_by(labels: ArrayLike, n: int) -> Groups:
    """Sort n points by their labels; those without one (None, NaN, NaT) are in no group.

    Groups are in the order of a categorical column, or else in the natural one: "c9" before "c10".
    Numbers, truth values and texts stay what they are, all else becomes text.
    """
    categories = getattr(labels, "cat", labels)
    if hasattr(categories, "categories") and hasattr(categories, "codes"):  # pandas
        codes = np.asarray(categories.codes).astype(np.int64)
        _check_shape(codes, n)
        return _grouped(list(categories.categories), codes)
    values = _as_array(labels)
    _check_shape(values, n)
    codes = np.full(n, -1)
    known = ~_is_missing(values)
    different: list[Any]
    if values.dtype.kind == "O":
        index: dict[Any, int] = {}
        codes[known] = [index.setdefault(value, len(index)) for value in values[known].tolist()]
        different = list(index)
    else:
        names, of_known = np.unique(values[known], return_inverse=True)
        codes[known] = of_known.reshape(-1)
        different = names.tolist()
    order = _natural_order(different)
    rank = np.empty(len(different) + 1, np.int64)
    rank[order], rank[-1] = np.arange(len(different)), -1
    return _grouped([different[place] for place in order], rank[codes])


def _grouped(names: list[Any], codes: IntArray) -> Groups:
    """Leave out names that no point has, and list the points of the others."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    if not sizes.any():
        raise ValueError("labels has missing values only; leave it out.")
    used = np.flatnonzero(sizes)
    place = np.full(len(names) + 1, -1)
    place[used] = np.arange(len(used))
    codes = place[codes]
    rows = np.flatnonzero(codes >= 0)
    by_label = rows[np.argsort(codes[rows], kind="stable")]
    members = np.split(by_label, np.cumsum(sizes[used])[:-1])
    return Groups(_plain_names([names[g] for g in used]), codes, members)


def _as_array(labels: ArrayLike) -> Labels:
    values = np.asarray(labels)
    if values.dtype.kind not in "mM":
        return values
    # Of dates and spans of time, lists would have numbers of nanoseconds.
    is_date = values.dtype.kind == "M"
    text = np.datetime_as_string(values, unit="auto") if is_date else values.astype(str)
    labels_as_text = text.astype(object)
    labels_as_text[np.isnat(values)] = None
    return labels_as_text


def _check_shape(values: Labels, n: int) -> None:
    if values.shape != (n,):
        raise ValueError(
            f"labels has shape {values.shape} for {n} points; give one label for each point."
        )


def _is_missing(values: Labels) -> npt.NDArray[np.bool_]:
    """Say which are None, or do not equal themselves (NaN, NaT, pandas.NA)."""
    if values.dtype.kind != "O":
        different: npt.NDArray[np.bool_] = values != values
        return different
    return np.array([v is None or (v == v) is not True for v in values.tolist()], bool)


def _natural_order(values: list[Any]) -> list[int]:
    """Sort texts with the numbers in them by size, and all else as it compares."""
    try:
        return sorted(range(len(values)), key=lambda place: _natural(values[place]))
    except TypeError as error:
        raise ValueError(
            "labels mix kinds that have no order; convert them, e.g. with list(map(str, labels))."
        ) from error


def _natural(label: Any) -> Any:
    if not isinstance(label, str):
        return label
    parts = re.split(r"(\d+)", label)
    # The text itself, too, so that the order is one even where all else is equal ("a1", "A01").
    return tuple((int(p), "") if p.isdecimal() else (-1, p.casefold()) for p in parts), label


def _plain_names(names: list[Any]) -> Labels:
    plain = [name.item() if isinstance(name, np.generic) else name for name in names]
    if not all(isinstance(name, bool | int | float | str) for name in plain):
        plain = [str(name) for name in plain]
    # Whole numbers become floats where some are missing.
    whole = (isinstance(x, float) and x.is_integer() and abs(x) < _LARGEST_INTEGER for x in plain)
    if all(whole):
        plain = [int(name) for name in plain]
    return np.array(plain)
