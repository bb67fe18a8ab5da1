"""Which columns are numbers, IDs, labels and fields: from the content of a file to a table."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from dtsne.io._errors import NOWHERE, TableError, where
from dtsne.io._table import Table, as_text, is_sparse
from dtsne.runtime._errors import UserNotice, setting
from dtsne.runtime._logging import warn
from dtsne.runtime._names import listed, nearest_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field, Matrix, Source, TextArray

# Names of columns of row IDs, in lower case, the likeliest first; and of groups.
ID_NAMES = (
    "id", "ids", "cell_id", "cellid", "cell", "barcode", "barcodes", "obs_names", "index",
    "sample_id", "event_id", "row_id", "rowid", "row",
)  # fmt: skip
_LABEL_NAMES = ("label", "labels", "class", "cluster", "target", "leiden", "louvain")
# Columns of numbers by these names hardly ever are measurements.
_SUSPICIOUS = frozenset({*ID_NAMES, *_LABEL_NAMES})
# Of fewer rows integers can be consecutive by chance, and above this they are hardly measured.
_MIN_ROWS, _MAX_MEASURED = 10, 2**31
_PATTERN = frozenset("*?[")


def counted(n: int, one: str, several: str) -> str:
    """Write a number of things as 1 cell, or 1,200 cells."""
    return f"{n:,} {one if n == 1 else several}"


def unknown(
    name: str, names: Iterable[str], what: str = "column", path: Path | None = None
) -> TableError:
    """Return the error for a name that is not there, with those that are nearest to it."""
    return TableError(f"the file has no {what} {name!r}", nearest_names(name, names), path=path)


def matching(wanted: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the names asked for, each literally or by a pattern such as ``PC_*``."""
    known = set(names)
    found: dict[str, None] = {}
    for name in wanted:
        if name in known:
            found[name] = None
            continue
        matches = [other for other in names if fnmatchcase(other, name)]
        if not matches or not _PATTERN.intersection(name):
            raise unknown(name, names)
        found.update(dict.fromkeys(matches))
    return list(found)


def select(source: Source, options: ReadOptions) -> Table:
    """Choose numbers, IDs, labels and fields, and check what was chosen."""
    if options.id_column in source.id_names:  # they are the IDs without being chosen
        options = replace(options, id_column=None)
    for name in sorted(options.named):
        if name not in source.all_names:
            raise unknown(name, source.all_names)
    excluded = set(matching(options.exclude, source.all_names)) | options.named
    numbers = _number_columns(source, options, excluded)
    X = source.numbers(numbers)
    if not X.shape[0]:
        raise TableError("the file has no rows", "export it again")
    _check_finite(X, numbers, source)
    fields = _fields(source, options, {*numbers, options.id_column}, excluded)
    label = options.label_column
    if label is not None and label not in fields:
        raise _unusable("label_column", label)
    return Table(
        X=X,
        feature_names=tuple(numbers),
        ids=_ids(source, options.id_column),
        fields=fields,
        labels=None if label is None else fields[label],
        source=_described(X.shape, source, set(numbers)),
        categories={name: order for name, order in source.categories.items() if name in fields},
    )


def _number_columns(source: Source, options: ReadOptions, excluded: set[str]) -> list[str]:
    if options.columns is not None:
        chosen = [n for n in matching(options.columns, source.names) if n not in excluded]
        source.check(chosen)
        for name in chosen:
            if not source.is_number(name):
                raise _not_numbers(name, source)
    else:
        free = [n for n in source.names if n not in excluded and n not in source.set_aside]
        source.check(free)
        chosen = [name for name in free if source.is_number(name)]
        _warn_of_suspicious(chosen, source)
    if not chosen:
        there = listed(source.names) or "none"
        reason = f"no column of numbers is left to map; the columns are {there}"
        if any(c is not None and c.dtype.kind == "b" for c in source.columns.values()):
            raise TableError(reason, "write columns of true and false as 1 and 0")
        raise TableError(reason, f"add some, or exclude fewer ({setting('exclude')})")
    return chosen


def _not_numbers(name: str, source: Source) -> TableError:
    values = source.values(name)
    reason, place = "the column does not hold numbers", NOWHERE
    for row, value in enumerate(() if values is None else values):
        if str(value):
            reason, place = f"{reason} but {str(value)!r}", source.locate(row)
            break
    return TableError(reason, f"remove it from {setting('columns')}", column=name, place=place)


def _unusable(option: str, column: str) -> TableError:
    fix = f"pass another column as {setting(option)}"
    return TableError("the column holds nothing that can be shown", fix, column=column)


def _warn_of_suspicious(numbers: Sequence[str], source: Source) -> None:
    suspicious = [
        name
        for name in numbers
        if name.lower() in _SUSPICIOUS
        or (source.is_integer(name) and _name_rows(source.values(name)))
    ]
    if suspicious:
        reason = f"{source.path}: {listed(suspicious)} will be mapped as measurements"
        fix = f"if they are row IDs or labels, pass them as {setting('id_column')} or "
        fix += f"{setting('label_column')}; otherwise leave them out with {setting('exclude')}"
        warn(UserNotice(reason, fix))


def _name_rows(values: Field | None) -> bool:
    """Whether integers look like row IDs: all different, and without a gap or huge."""
    if values is None or len(values) < _MIN_ROWS:
        return False
    least, largest = int(values.min()), int(values.max())
    if largest - least != len(values) - 1 and max(-least, largest) < _MAX_MEASURED:
        return False
    return len(np.unique(values)) == len(values)


def _check_finite(X: Matrix, names: Sequence[str], source: Source) -> None:
    """Reject numbers that are missing or infinite, with the place of the first."""
    if is_sparse(X):
        bad = np.flatnonzero(~np.isfinite(X.data))
        columns = X.indices[bad]
        rows = np.searchsorted(X.indptr, bad, side="right") - 1
        counts = np.bincount(columns, minlength=len(names))
    else:
        dense = np.asarray(X)
        counts = np.array([len(dense) - np.isfinite(column).sum() for column in dense.T])
    if not counts.any():
        return
    worst = int(counts.argmax())
    first = rows[columns == worst][0] if is_sparse(X) else np.isfinite(dense[:, worst]).argmin()
    n_columns = int((counts > 0).sum())
    among = f", in {n_columns:,} columns, most in this" if n_columns > 1 else ""
    raise TableError(
        f"{counted(int(counts.sum()), 'cell is', 'cells are')} empty, NaN or infinite{among} "
        f"({counts[worst]:,} of {X.shape[0]:,})",
        f"leave such columns out with {setting('exclude')}, or drop or fill such rows in the file",
        column=names[worst],
        place=source.locate(int(first)),
    )


def _fields(
    source: Source, options: ReadOptions, taken: set[str | None], excluded: set[str]
) -> dict[str, Field]:
    """Return the other columns, but not numbers that nobody asked for."""
    wanted = excluded | source.set_aside
    names = [
        *(n for n in source.names if n not in taken and (n in wanted or not source.is_number(n))),
        *(name for name in source.fields if name != options.id_column),
    ]
    found = ((name, source.values(name)) for name in names)
    return {name: values for name, values in found if values is not None}


def _ids(source: Source, id_column: str | None) -> TextArray | None:
    """Return the row IDs: a column, or those that the format has a place for."""
    ids = source.ids
    if id_column is not None:
        values = source.values(id_column)
        if values is None:
            raise _unusable("id_column", id_column)
        ids = as_text(values)
    if ids is not None:
        _warn_of_duplicates(ids, source)
    return ids


def _warn_of_duplicates(ids: TextArray, source: Source) -> None:
    first: dict[str, int] = {}
    again = [row for row, name in enumerate(ids) if first.setdefault(name, row) != row]
    if again:
        number = counted(len(again), "ID occurs", "IDs occur")
        place = where(source.path, place=source.locate(again[0]))
        reason = f"{place}: {number} more than once, the first again is {ids[again[0]]!r}"
        fix = "a map can be matched to its data by IDs only where each occurs once"
        warn(UserNotice(reason, fix))


def _described(shape: tuple[int, ...], source: Source, taken: set[str]) -> str:
    size = f"{counted(shape[0], 'row', 'rows')} × {counted(shape[1], 'number', 'numbers')}"
    left_out = [name for name in source.names if name not in taken]
    noun = "column" if len(left_out) == 1 else "columns"
    rest = f"; {noun} {listed(left_out)} left out of the numbers" if left_out else ""
    return f"{size} from {source.what}{rest}"
