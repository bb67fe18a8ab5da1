"""Matrix Market files (.mtx), such as those of 10x Genomics, by scipy."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

from dtsne.io._errors import TableError, naming, reading
from dtsne.io._files import check_magic, check_room, count_lines, open_text
from dtsne.io._select import counted
from dtsne.io._table import Source, as_text, default_names, unique
from dtsne.runtime._errors import setting

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.io._options import ReadOptions

_KIND = "a Matrix Market file, which begins with %%MatrixMarket,"
_MAX_LINE = 4096
# What numbers are made of, nan and infinity too. scipy passes over other bytes behind a number, or,
# at a zero byte, crashes.
_OF_NUMBERS = b"0123456789+-.eEnaifNAIFty \t\r\n"
# Row, column and value, in COO and again in CSR.
_BYTES_PER_ENTRY = 40


class _Header(NamedTuple):
    """What the first lines declare."""

    is_sparse: bool
    n_rows: int
    n_columns: int
    n_entries: int
    n_bytes: int  # of these lines


def read_mtx(path: Path, options: ReadOptions) -> Source:
    """Read a matrix, and turn it so that points are rows."""
    from scipy.io import mmread
    from scipy.sparse import csr_matrix, issparse

    with reading("a Matrix Market file"):
        _check_size(path, _header(path))
        with open_text(path) as file:
            # In a file that can seek, scipy goes back after an error; where that fails it ends the
            # process.
            X = mmread(SimpleNamespace(read=file.read))
    rows, columns = _names_next_to(path, "barcodes"), _names_next_to(path, "features", "genes")
    transposed = _is_transposed(X.shape, rows, columns, transpose=options.transpose)
    X = X.T if transposed else X
    return Source(
        path,
        f"{path.name} (transposed: its columns are the rows)" if transposed else path.name,
        default_names(X.shape[1]) if columns is None else unique(columns),
        csr_matrix(X) if issparse(X) else X,
        ids=None if rows is None else as_text(rows),
        id_names=frozenset(() if rows is None else ("barcodes",)),
    )


def _header(path: Path) -> _Header:
    with open_text(path) as file:
        first = file.readline(_MAX_LINE)
        check_magic(first, b"%%MatrixMarket", _KIND)
        _, kind, form, values, *_ = first.decode("ascii", "replace").lower().split()
        line = file.readline(_MAX_LINE)
        while line and (line.startswith(b"%") or not line.strip()):
            line = file.readline(_MAX_LINE)
        n_bytes = file.tell()
    if kind != "matrix" or form not in ("coordinate", "array"):
        raise TableError(f"the file holds a {kind} in the form {form}", "write it as a matrix")
    if values == "complex":
        raise TableError("the file holds complex numbers", "write it as real ones")
    sizes = [int(word) for word in line.split()]
    is_sparse = form == "coordinate"
    return _Header(is_sparse, sizes[0], sizes[1], sizes[2] if is_sparse else 0, n_bytes)


def _check_size(path: Path, header: _Header) -> None:
    """Compare what the header declares with the lines there are, and with memory."""
    is_sparse, n_rows, n_columns, n_entries, begin = header
    if min(n_rows, n_columns, n_entries) < 0:
        raise TableError("the file is corrupt: its header declares a negative size")
    n_declared = n_entries if is_sparse else n_rows * n_columns // 2
    per_line = _BYTES_PER_ENTRY if is_sparse else 16
    n_lines = count_lines(path, per_line, begin=begin, allowed=_OF_NUMBERS)
    if n_lines + 1 < n_declared:
        found = f"and it has {counted(n_lines, 'line', 'lines')}"
        reason = (
            f"the file is corrupt or cut off: its header declares {n_declared:,} entries, {found}"
        )
        raise TableError(reason, "copy it again")
    check_room(_BYTES_PER_ENTRY * n_declared + 8 * (n_rows + n_columns))


def _names_next_to(path: Path, *names: str) -> list[str] | None:
    """Return the names in the file next to a matrix, as 10x Genomics writes them.

    They are matrix.mtx, barcodes.tsv and features.tsv (earlier genes.tsv), possibly with a common
    beginning, as in GEO (GSM123_matrix.mtx.gz), and compressed or not.
    """
    stem = path.name.removesuffix(".gz").removesuffix(".mtx")
    beginnings = [stem.removesuffix("matrix")] if stem.endswith("matrix") else [f"{stem}_", ""]
    for beginning, name, suffix in product(beginnings, names, (".tsv", ".tsv.gz")):
        neighbour = path.with_name(f"{beginning}{name}{suffix}")
        if neighbour.is_file():
            return _second_column(neighbour)
    return None


def _second_column(path: Path) -> list[str]:
    """Return the second column, where features have their symbol, or the only one."""
    with naming(path), reading("a list of names"):
        count_lines(path, 100)
        with open_text(path) as file:
            cells = [line.decode().rstrip("\r\n").split("\t") for line in file]
    return [row[1] if len(row) > 1 and row[1] else row[0] for row in cells]


def _is_transposed(
    shape: tuple[int, int],
    rows: list[str] | None,
    columns: list[str] | None,
    *,
    transpose: bool | None,
) -> bool:
    """Whether the points are the columns of the file: as asked for, or by the names next to it."""
    if rows is None and columns is None:
        return bool(transpose)
    lengths = (None if rows is None else len(rows), None if columns is None else len(columns))
    for transposed in (True, False) if transpose is None else (transpose,):
        turned = shape[::-1] if transposed else shape
        if all(n in (None, m) for n, m in zip(lengths, turned, strict=True)):
            return transposed
    raise TableError(
        f"the matrix has {shape[0]:,} rows and {shape[1]:,} columns, and the files next to it have "
        f"{lengths[0] or 'no'} barcodes and {lengths[1] or 'no'} features",
        "move these files away if they belong to another matrix, or turn the matrix with "
        f"{setting('transpose')}",
    )
