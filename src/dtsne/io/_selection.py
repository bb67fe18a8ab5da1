"""Which columns are numbers, ids, labels and fields; from columns to the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._columns import as_text
from dtsne.io._errors import TableError
from dtsne.io._names import ID_NAMES, LABEL_NAMES, counted, listed, matching, unknown
from dtsne.io._table import Table
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dtsne.io._columns import Columns
    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field, TextArray

# Columns of numbers by these names hardly ever are measurements.
_SUSPICIOUS = frozenset({*ID_NAMES, *LABEL_NAMES})
# Of fewer rows integers can be consecutive by chance, and above this they are hardly measured.
_FEWEST_ROWS, _LARGEST_MEASURED = 10, 2**31
_MOST_LOOKED_AT = 100


def table_of(columns: Columns, options: ReadOptions) -> Table:
    """Choose numbers, ids, labels and fields, and check what was chosen."""
    if options.id_column in columns.id_names:  # they are the ids without being named
        options = replace(options, id_column=None)
    for name in sorted(options.named):
        if name not in columns.names and name not in columns.beside:
            raise unknown(name, [*columns.names, *columns.beside], columns.path)
    numbers, X = numbers_of(columns, options)
    fields = _fields(columns, options, numbers)
    label = options.label_column
    if label is not None and label not in fields:
        raise TableError(
            f"{columns.path}: the column {label!r} holds nothing that can be a label; name another."
        )
    taken = set(numbers)
    left_out = [name for name in columns.names if name not in taken]
    return Table(
        X=X,
        feature_names=tuple(numbers),
        ids=ids_of(columns, options.id_column),
        fields=fields,
        labels=None if label is None else fields[label],
        source=_described(X, columns, left_out),
        categories=categories_of(columns, fields),
    )


def numbers_of(columns: Columns, options: ReadOptions) -> tuple[list[str], Any]:
    """Return the names of the columns to take as numbers, and these, all of them finite."""
    names = _numbers(columns, options)
    X = columns.numbers(names)
    if not X.shape[0]:
        raise TableError(f"{columns.path} has no rows; export it again.")
    check_finite(X, names, columns)
    return names, X


def _numbers(columns: Columns, options: ReadOptions) -> list[str]:
    names, path = columns.names, columns.path
    excluded = set(matching(options.exclude, [*names, *columns.beside], path)) | options.named
    if options.columns is not None:
        chosen = [n for n in matching(options.columns, names, path) if n not in excluded]
        columns.check(chosen)
        for name in chosen:
            if not columns.is_number(name):
                raise _not_numbers(name, columns)
    else:
        excluded |= columns.set_aside
        columns.check([name for name in names if name not in excluded])
        chosen = [name for name in names if name not in excluded and columns.is_number(name)]
        _warn_of_suspicious(chosen, columns)
    if not chosen:
        raise TableError(
            f"{path} has no column of numbers left to map; {_why_not(columns)}."
            if names
            else f"{path} has no columns."
        )
    return chosen


def _why_not(columns: Columns) -> str:
    """Say what the columns are instead, and what to do."""
    values = {name: columns.values(name) for name in columns.names[:_MOST_LOOKED_AT]}
    if any(column is not None and column.dtype.kind == "b" for column in values.values()):
        return (
            f"its columns are {listed(columns.names)}, of which those of true and false are none: "
            "write these as 1 and 0"
        )
    return f"its columns are {listed(columns.names)}; give it some, or leave fewer out"


def _not_numbers(name: str, columns: Columns) -> TableError:
    values = columns.values(name)
    filled = [] if values is None else np.flatnonzero(values.astype(str) != "").tolist()
    example = ""
    if values is not None and filled:
        example = f" ({str(values[filled[0]])!r} in {columns.where(filled[0])})"
    return TableError(
        f"{columns.path}: the column {name!r} does not hold numbers{example}; take it out of the "
        "columns asked for."
    )


def _warn_of_suspicious(numbers: Sequence[str], columns: Columns) -> None:
    suspicious = [
        name
        for name in numbers
        if name.lower() in _SUSPICIOUS
        or (columns.is_integer(name) and _name_rows(columns.values(name)))
    ]
    if suspicious:
        warn(
            f"{columns.path}: {listed(suspicious)} will be mapped as measurements; if they are "
            "not, say what they are (id_column, label_column), or leave them out (exclude)."
        )


def _name_rows(values: Field | None) -> bool:
    """Whether integers look like names of rows: all different, and without a gap or huge."""
    if values is None or len(values) < _FEWEST_ROWS:
        return False
    least, largest = int(values.min()), int(values.max())
    if largest - least != len(values) - 1 and max(-least, largest) < _LARGEST_MEASURED:
        return False
    return len(np.unique(values)) == len(values)


def check_finite(X: Any, names: Sequence[str], columns: Columns) -> None:
    """Refuse numbers that are missing or infinite, and say where they are."""
    if hasattr(X, "indptr"):
        bad = np.flatnonzero(~np.isfinite(X.data))
        rows = np.searchsorted(X.indptr, bad, side="right") - 1
        counts = np.bincount(X.indices[bad], minlength=len(names))
    else:
        counts = np.array([len(X) - np.isfinite(column).sum() for column in X.T])
    if not counts.any():
        return
    worst = int(counts.argmax())
    if not hasattr(X, "indptr"):
        rows = np.flatnonzero(~np.isfinite(X[:, worst]))
    else:
        rows = rows[X.indices[bad] == worst]
    n_columns = int((counts > 0).sum())
    among = f"in {n_columns:,} columns, most " if n_columns > 1 else ""
    raise TableError(
        f"{columns.path}: {counted(int(counts.sum()), 'cell is', 'cells are')} empty, NaN or "
        f"infinite, {among}in {names[worst]!r} ({counts[worst]:,} of {X.shape[0]:,}, the first in "
        f"{columns.where(int(rows[0]))}); leave such columns out (exclude), or drop or fill such "
        "rows in the file."
    )


def _fields(columns: Columns, options: ReadOptions, numbers: Sequence[str]) -> dict[str, Field]:
    taken = set(numbers) | {options.id_column}
    asked_for = set(matching(options.exclude, [*columns.names, *columns.beside], columns.path))
    asked_for |= options.named | columns.set_aside
    candidates = [
        name
        for name in columns.names
        if name not in taken and (name in asked_for or not columns.is_number(name))
    ]
    beside = [name for name in columns.beside if name != options.id_column]
    found = ((name, columns.values(name)) for name in [*candidates, *beside])
    return {name: values for name, values in found if values is not None}


def categories_of(columns: Columns, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the categories of those fields that have such."""
    orders = ((name, columns.categories(name)) for name in names)
    return {name: order for name, order in orders if order is not None}


def ids_of(columns: Columns, id_column: str | None) -> TextArray | None:
    """Return the names of the rows: a column, or those that the format has a place for."""
    ids = columns.ids
    if id_column is not None:
        values = columns.values(id_column)
        if values is None:
            raise TableError(
                f"{columns.path}: the column {id_column!r} holds nothing that can be an id; name "
                "another."
            )
        ids = as_text(values)
    if ids is not None:
        _warn_of_duplicates(ids, columns.where, str(columns.path))
    return ids


def _warn_of_duplicates(ids: TextArray, where: Callable[[int], str], path: str) -> None:
    seen: set[str] = set()
    again = [row for row, name in enumerate(ids) if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if again:
        warn(
            f"{path}: {counted(len(again), 'id occurs', 'ids occur')} more than once, the first "
            f"again {ids[again[0]]!r} in {where(again[0])}; a map is matched to its data by ids "
            "only where each occurs once."
        )


def _described(X: Any, columns: Columns, left_out: Sequence[str]) -> str:
    n, d = X.shape
    size = f"{counted(n, 'row', 'rows')} × {counted(d, 'number', 'numbers')}"
    text = f"{size} from {columns.what}"
    if not left_out:
        return text
    noun = "column" if len(left_out) == 1 else "columns"
    return f"{text}; {noun} {listed(left_out)} left out of the numbers"
