"""A table: as it lies in a file (`Source`), and as the caller gets it (`Table`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dtsne.io._errors import Place, TableError
from dtsne.labels._format import MAX_WHOLE, is_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import TypeGuard

    from numpy.typing import NDArray

    from dtsne.runtime._typing import FloatArray, HostArray, SparseMatrix

    # Text is kept as objects of str: one long text among many short ones would make numpy's own
    # type of text, whose cells are all equally wide, as large as the number of rows times it.
    TextArray: TypeAlias = NDArray[np.object_]
    Field: TypeAlias = HostArray
    Matrix: TypeAlias = FloatArray | SparseMatrix


@dataclass(frozen=True, eq=False)  # eq: two arrays have no single truth value
class Table:
    """The content of a data file, one point in each row.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n, d)
        The numbers, float32 or float64, all of them finite. Sparse where the file is.
    feature_names : tuple of str
        The names of the columns of X, each one once.
    ids : ndarray of str, shape (n,), or None
        The row IDs, where the file has any.
    fields : dict of str to ndarray of shape (n,)
        Other columns: text (as str objects, '' where empty), columns left out of the numbers, the
        labels; of an AnnData the columns of `obs`.
    labels : ndarray of shape (n,) or None
        The field that was chosen as the labels.
    source : str
        What was read, in a sentence.
    categories : dict of str to tuple of str
        For fields of text that the file keeps as categories (AnnData, parquet and feather can): all
        categories, in their order.
    """

    X: Matrix
    feature_names: tuple[str, ...]
    ids: TextArray | None
    fields: dict[str, Field]
    labels: Field | None
    source: str
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Source:
    """What a reader returns: columns, from which numbers, IDs and labels are chosen."""

    path: Path
    what: str  # such as "X_pca of cells.h5ad"
    names: tuple[str, ...]  # of the columns of the table itself, each once
    X: Matrix | None = None  # these columns, where the file holds one matrix
    columns: dict[str, Field | None] = field(default_factory=dict)  # else; None cannot be shown
    fields: dict[str, Field] = field(default_factory=dict)  # columns next to the table
    ids: TextArray | None = None  # row IDs, where the format has a place for them
    id_names: frozenset[str] = frozenset()  # of that place, where it is not one of the columns
    set_aside: frozenset[str] = frozenset()  # columns not mapped unless asked for
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)  # as in `Table`
    # From a row, from 0 on, to its place in the file.
    locate: Callable[[int], Place] = lambda row: Place(row=row + 1)
    # Rejects columns, by name, that should be numbers and are not.
    check: Callable[[Sequence[str]], None] = lambda names: None  # noqa: ARG005

    @property
    def all_names(self) -> tuple[str, ...]:
        """The columns of the table and those next to it."""
        return (*self.names, *self.fields)

    def is_number(self, name: str) -> bool:
        """Whether a column of the table holds numbers."""
        return self.X is not None or _kind(self.columns[name]) in "iuf"

    def is_integer(self, name: str) -> bool:
        """Whether a column of the table holds integers, as row IDs may be."""
        return self.X is None and _kind(self.columns[name]) in "iu"

    def values(self, name: str) -> Field | None:
        """Return a column; None where it cannot be shown."""
        if name in self.fields:
            return self.fields[name]
        if self.X is None:
            return self.columns[name]
        column = self.X[:, [self.names.index(name)]]
        return np.asarray(column.toarray() if is_sparse(column) else column).ravel()

    def numbers(self, names: Sequence[str]) -> Matrix:
        """Return columns as a matrix of float32 or float64; what is missing is NaN."""
        if self.X is None:
            columns = [column for name in names if (column := self.columns[name]) is not None]
            dtype = np.result_type(*{float_type(column.dtype) for column in columns})
            X: FloatArray = np.empty((len(columns[0]), len(columns)), dtype)
            for i, column in enumerate(columns):
                X[:, i] = column
            return X
        if tuple(names) == self.names:
            return _as_float(self.X)
        index = {name: i for i, name in enumerate(self.names)}
        return _as_float(self.X[:, [index[name] for name in names]])


def _kind(column: Field | None) -> str:
    return "-" if column is None else column.dtype.kind


def is_sparse(X: Matrix) -> TypeGuard[SparseMatrix]:
    """Whether a matrix is sparse, without importing scipy."""
    return hasattr(X, "indptr")


def float_type(dtype: np.dtype[np.generic]) -> type[np.float32 | np.float64]:
    """Return float32 where that holds all digits of a type."""
    return np.float32 if dtype.itemsize <= (4 if dtype.kind == "f" else 2) else np.float64


_KINDS = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "time spans"}
_TO_NUMBERS = {"c": "numpy.abs(X), or numpy.hstack([X.real, X.imag])"}


def _as_float(X: Matrix) -> Matrix:
    kind = X.dtype.kind
    if kind not in "iufb":
        raise TableError(
            f"the matrix holds {_KINDS.get(kind, str(X.dtype))}, not numbers that can be mapped",
            "save it as float32 or float64",
            in_python=_TO_NUMBERS.get(kind, "X.astype(float)"),
        )
    wanted = np.dtype(float_type(X.dtype))
    if not is_sparse(X):
        return np.ascontiguousarray(X, dtype=wanted)
    return X if X.dtype == wanted else X.astype(wanted)


def as_text(values: Iterable[object] | Field) -> TextArray:
    """Return values as str objects; None, and NaN among text, become ''."""
    found = [_text(value) for value in values]
    texts = np.empty(len(found), dtype=object)
    texts[:] = found
    return texts


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str) and is_missing(value):
        return ""
    return str(value)


def has_gaps(column: Field) -> bool:
    """Whether a column is of integers, some of which are missing: floats, as numpy has them."""
    if column.dtype.kind != "f":
        return False
    known = column[~np.isnan(column)]
    if not 0 < len(known) < len(column):
        return False
    return bool((np.abs(known) < MAX_WHOLE).all() and (known == np.trunc(known)).all())


def default_names(d: int, stem: str = "column") -> tuple[str, ...]:
    """Return names for columns that have none."""
    return tuple(f"{stem}_{i + 1}" for i in range(d))


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, with a number where they come again: a, a.1, a.2."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        while new in taken:
            counts[name] = counts.get(name, 0) + 1
            new = f"{name}.{counts[name]}"
        taken.add(new)
        result.append(new)
    return tuple(result)
