"""Columns of a file, whatever its format: the one thing that all readers return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._errors import TableError
from dtsne.labels._format import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dtsne.io._table import Field, TextArray


class Columns(ABC):
    """The columns of a table, and fields beside it, to choose numbers, ids and labels from.

    Attributes
    ----------
    path : Path
        The file, for messages.
    what : str
        What was read, such as "X_pca of cells.h5ad".
    names : tuple of str
        The columns of the table itself, each name once.
    beside : tuple of str
        Fields that the file keeps beside its table, such as the `obs` of an AnnData.
    ids : ndarray of str or None
        Names of the rows, where the format has a place for them.
    set_aside : frozenset of str
        Columns that are numbers, but are not taken as such unless asked for.
    id_names : frozenset of str
        What the place of `ids` is called, where it is not one of the columns.
    """

    path: Path
    what: str
    names: tuple[str, ...]
    ids: TextArray | None
    set_aside: frozenset[str]
    id_names: frozenset[str] = frozenset()

    @property
    @abstractmethod
    def beside(self) -> tuple[str, ...]:
        """Names of the fields beside the table."""

    @abstractmethod
    def is_number(self, name: str) -> bool:
        """Whether a column of the table holds numbers."""

    def is_integer(self, name: str) -> bool:  # noqa: ARG002
        """Whether a column of the table holds integers, as those of names of rows are."""
        return False

    @abstractmethod
    def numbers(self, names: Sequence[str]) -> Any:
        """Return columns as a matrix of float32 or float64; what is missing is NaN."""

    @abstractmethod
    def values(self, name: str) -> Field | None:
        """Return a field, or a column as one; None where it is nothing to show."""

    def categories(self, name: str) -> tuple[str, ...] | None:  # noqa: ARG002
        """Return the categories of a field, as text and in their order, if it has such."""
        return None

    def where(self, row: int) -> str:
        """Say where a row stands in the file."""
        return f"row {row + 1:,}"

    def check(self, names: Sequence[str]) -> None:  # noqa: B027 (most formats have nothing to check)
        """Refuse columns that are not what they should be, of those that may become numbers."""


@dataclass(frozen=True, eq=False)
class MatrixColumns(Columns):
    """Columns of a file that holds one matrix of numbers, dense or CSR."""

    path: Path
    what: str
    X: Any
    names: tuple[str, ...]
    fields: dict[str, Field] = field(default_factory=dict)
    ids: TextArray | None = None
    set_aside: frozenset[str] = frozenset()
    id_names: frozenset[str] = frozenset()
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of categories, by field

    @property
    def beside(self) -> tuple[str, ...]:
        """See :class:`Columns`."""
        return tuple(self.fields)

    def is_number(self, name: str) -> bool:  # noqa: ARG002
        """See :class:`Columns`."""
        return True

    def numbers(self, names: Sequence[str]) -> Any:
        """See :class:`Columns`."""
        if len(names) == len(self.names):
            return as_float(self.X, self.path)
        index = {name: i for i, name in enumerate(self.names)}
        return as_float(self.X[:, [index[name] for name in names]], self.path)

    def categories(self, name: str) -> tuple[str, ...] | None:
        """See :class:`Columns`."""
        return self.orders.get(name)

    def values(self, name: str) -> Field | None:
        """See :class:`Columns`."""
        if name in self.fields:
            return self.fields[name]
        column = self.X[:, [self.names.index(name)]]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def as_float(X: Any, path: Path) -> Any:
    """Return a matrix as float32, where that holds all its digits, or as float64."""
    if X.dtype.kind not in "iufb":
        raise TableError(
            f"{path} holds {_KINDS.get(X.dtype.kind, str(X.dtype))}, not numbers that can be "
            f"mapped; {_FIXES.get(X.dtype.kind, 'convert and save it as float32 or float64')}."
        )
    small = X.dtype.itemsize <= (4 if X.dtype.kind == "f" else 2)
    wanted = np.dtype(np.float32 if small else np.float64)
    if not hasattr(X, "indptr"):
        return np.ascontiguousarray(X, dtype=wanted)
    return X if X.dtype == wanted else X.astype(wanted)


_KINDS = {
    "c": "complex numbers",
    "U": "text",
    "S": "text",
    "M": "dates",
    "m": "time spans",
    "V": "records (a structured array)",
    "O": "Python objects",
}
_FIXES = {
    "c": "save what you mean as real ones: numpy.abs(X), or numpy.hstack([X.real, X.imag])",
    "U": "save it as numbers (X.astype(float))",
    "S": "save it as numbers (X.astype(float))",
}


def as_text(values: Any) -> TextArray:
    """Return values as str objects; None, and NaN among text, become ''."""
    texts = np.empty(len(values), dtype=object)
    texts[:] = [_text(value) for value in values]
    return texts


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str) and is_missing(value):
        return ""
    return str(value)
