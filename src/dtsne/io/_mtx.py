"""Matrix Market files (.mtx), such as those of 10x Genomics, by scipy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from dtsne.io._columns import MatrixColumns, as_text
from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room, count_lines, looks_like, open_text
from dtsne.io._names import counted, unique
from dtsne.io._numpy_files import default_names

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.io._options import ReadOptions

_KIND = "a Matrix Market file"
_LONGEST_LINE = 4096
# What numbers are made of, nan and infinity too. scipy passes over other bytes behind a number, or,
# at a zero byte, crashes.
_OF_NUMBERS = b"0123456789+-.eEnaifNAIFty \t\r\n"
# Row, column and value, in COO and again in CSR.
_BYTES_PER_ENTRY = 40


@dataclass(frozen=True)
class _Header:
    """What the first lines announce."""

    is_sparse: bool
    shape: tuple[int, int]
    n_entries: int
    n_bytes: int  # of these lines


def read_mtx(path: Path, options: ReadOptions) -> MatrixColumns:
    """Read a matrix; with points as rows, whichever way it lies in the file."""
    from scipy.io import mmread
    from scipy.sparse import csr_matrix, issparse

    with reading(path, _KIND):
        header = _header(path)
        _check_size(path, header)
        with open_text(path) as file:
            X = mmread(_OnlyRead(file))
    rows, columns = _names_beside(path, "barcodes"), _names_beside(path, "features", "genes")
    transposed = _is_transposed(path, X.shape, rows, columns, options.transpose)
    if transposed:
        X = X.T
    X = csr_matrix(X) if issparse(X) else X
    what = f"{path.name} (transposed: its columns are the rows)" if transposed else path.name
    names = default_names(X.shape[1]) if columns is None else unique(columns)
    return MatrixColumns(
        path,
        what,
        X,
        names,
        ids=None if rows is None else as_text(rows),
        id_names=frozenset() if rows is None else frozenset({"barcodes"}),
    )


class _OnlyRead:
    """A file that cannot seek.

    In one that can, scipy's reader wants to go back after an error, where that fails it ends the
    whole process.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, n: int = -1) -> bytes:
        """Read on."""
        return self._file.read(n)


def _header(path: Path) -> _Header:
    with open_text(path) as file:
        first = file.readline(_LONGEST_LINE)
        if not first.lower().startswith(b"%%matrixmarket"):
            what = looks_like(first) or "something else"
            raise TableError(
                f"{path} is not {_KIND}, which begins with %%MatrixMarket, but {what}; name what "
                "it is (format)."
            )
        _, kind, form, values, *_ = first.decode("ascii", "replace").lower().split()
        line = file.readline(_LONGEST_LINE)
        while line and (line.startswith(b"%") or not line.strip()):
            line = file.readline(_LONGEST_LINE)
        n_bytes = file.tell()
    if kind != "matrix" or form not in ("coordinate", "array"):
        raise TableError(f"{path} holds a {kind} in the form {form}; write it as a matrix.")
    if values == "complex":
        raise TableError(f"{path} holds complex numbers; write it as real ones.")
    sizes = [int(word) for word in line.split()]
    n_rows, n_columns = sizes[:2]
    is_sparse = form == "coordinate"
    return _Header(is_sparse, (n_rows, n_columns), sizes[2] if is_sparse else 0, n_bytes)


def _check_size(path: Path, header: _Header) -> None:
    """Compare what the header announces with the lines there are, and with memory."""
    n_rows, n_columns = header.shape
    if min(n_rows, n_columns, header.n_entries) < 0:
        raise TableError(f"{path} is damaged: its header announces a negative size.")
    n_announced = header.n_entries if header.is_sparse else n_rows * n_columns // 2
    per_line = _BYTES_PER_ENTRY if header.is_sparse else 16
    n_lines = count_lines(
        path, lambda free: free // per_line, begin=header.n_bytes, allowed=_OF_NUMBERS
    )
    if n_lines + 1 < n_announced:
        raise TableError(
            f"{path} is damaged or cut off: its header announces {n_announced:,} entries, and it "
            f"has {counted(n_lines, 'line', 'lines')}; copy it again."
        )
    check_room(path, _BYTES_PER_ENTRY * n_announced + 8 * (n_rows + n_columns))


def _names_beside(path: Path, *names: str) -> list[str] | None:
    """Return the names in the file that lies beside a matrix, by the habit of 10x Genomics.

    They are matrix.mtx, barcodes.tsv and features.tsv (earlier genes.tsv), possibly with a common
    beginning, as in GEO (GSM123_matrix.mtx.gz), and compressed or not.
    """
    stem = path.name.removesuffix(".gz").removesuffix(".mtx")
    beginnings = [stem.removesuffix("matrix")] if stem.endswith("matrix") else [f"{stem}_", ""]
    for beginning in beginnings:
        for name in names:
            for suffix in (".tsv", ".tsv.gz"):
                beside = path.with_name(f"{beginning}{name}{suffix}")
                if beside.is_file():
                    return _first_names(beside)
    return None


def _first_names(path: Path) -> list[str]:
    """Return the second column, where features have their symbol, or the only one."""
    count_lines(path, lambda free: free // 100)
    with reading(path, "a list of names"), open_text(path) as file:
        cells = [line.decode().rstrip("\r\n").split("\t") for line in file]
    return [row[1] if len(row) > 1 and row[1] else row[0] for row in cells]


def _is_transposed(
    path: Path,
    shape: tuple[int, int],
    rows: list[str] | None,
    columns: list[str] | None,
    given: bool | None,  # noqa: FBT001
) -> bool:
    """Whether the points are the columns of the file: said, or found by the names beside it."""
    lengths = (None if rows is None else len(rows), None if columns is None else len(columns))

    def fits(shape: tuple[int, ...]) -> bool:
        return all(n in (None, m) for n, m in zip(lengths, shape, strict=True))

    if rows is None and columns is None:
        return bool(given)
    for transposed in (True, False) if given is None else (given,):
        if fits(shape[::-1] if transposed else shape):
            return transposed
    raise TableError(
        f"{path} has {shape[0]:,} rows and {shape[1]:,} columns, and beside it lie names of "
        f"{lengths[0] or 'no'} barcodes and {lengths[1] or 'no'} features; these belong to another "
        "matrix (move them away), or to one that lies the other way (transpose)."
    )
