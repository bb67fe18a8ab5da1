"""NumPy's own files, .npy and .npz: without pickle, and not before it is clear what they hold."""

from __future__ import annotations

import logging
import zipfile
from contextlib import contextmanager
from math import prod
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dtsne.io._columns import MatrixColumns, as_text
from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room, looks_like
from dtsne.io._names import ID_NAMES, counted, listed, unique, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field

_LOGGER = logging.getLogger(__name__)

# What deflate can do at most; a directory that says more is lying.
_HIGHEST_RATIO = 1032
_SPARSE = frozenset({"indices", "indptr", "format", "shape", "data"})  # scipy.sparse.save_npz
_LABEL_KEYS = ("labels", "y")
_NAMES = "label_names"  # what the labels stand for, where they are numbers
_NAME_KEYS = ("feature_names", "columns", "var_names")
# Of arrays beside the matrix that nobody asked for: the longest text (in bytes), and all together.
_MOST_PER_ROW, _MOST_BESIDE = 2**12, 2**30


def read_npy(path: Path, options: ReadOptions) -> MatrixColumns:  # noqa: ARG001
    """Read the array of an .npy file."""
    X = load_npy(path)
    _check_matrix(X, str(path))
    return MatrixColumns(path, path.name, X, default_names(X.shape[1]))


def load_npy(path: Path) -> NDArray[Any]:
    """Return the array of an .npy file, of any shape."""
    size = path.stat().st_size
    with path.open("rb") as file:
        _check_magic(path, file.read(8), b"\x93NUMPY", "a NumPy array (.npy)")
        file.seek(0)
        with reading(path, "a NumPy array (.npy)"):
            return _array(file, size, path, str(path))


def read_npz(path: Path, options: ReadOptions) -> MatrixColumns:
    """Read one matrix of an .npz file, and what else there is of each row."""
    with Archive.opened(path) as archive:
        if options.key is None and archive.keys.issuperset(_SPARSE):
            X = archive.sparse()
            return MatrixColumns(path, path.name, X, default_names(X.shape[1]))
        key = options.key if options.key is not None else archive.matrix_key()
        X = archive.load(key)
        _check_matrix(X, f"{path}: {key!r}")
        n, d = X.shape
        beside = archive.beside((n, d), options.named)
    names = next((beside[k] for k in _NAME_KEYS if k in beside and len(beside[k]) == d), None)
    id_name = next((k for k in ID_NAMES if k in beside and len(beside[k]) == n), None)
    return MatrixColumns(
        path,
        f"{key} of {path.name}",
        X,
        default_names(d) if names is None else unique(as_text(names)),
        _fields(beside, n, {*_NAME_KEYS, id_name}),
        None if id_name is None else as_text(beside[id_name]),
        id_names=frozenset() if id_name is None else frozenset({id_name}),
    )


def default_names(d: int, stem: str = "column") -> tuple[str, ...]:
    """Return names for columns that have none."""
    return tuple(f"{stem}_{i + 1}" for i in range(d))


class Archive:
    """An .npz file, whose arrays are read one by one, and only where their sizes are true."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self._members = {
            info.filename.removesuffix(".npy"): info
            for info in file.infolist()
            if info.filename.endswith(".npy")
        }
        self.keys = set(self._members)
        self.headers = {key: self._header(key) for key in self._members}

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Archive]:
        """Open an .npz file."""
        with path.open("rb") as file:
            _check_magic(path, file.read(8), b"PK", "a NumPy archive (.npz)")
        with reading(path, "a NumPy archive (.npz)"), zipfile.ZipFile(path) as file:
            yield cls(path, file)

    def load(self, key: str) -> NDArray[Any]:
        """Return one array, once it is clear that it is as large as it says, and fits."""
        if key not in self._members:
            raise unknown(key, list(self._members), self._path, "array")
        info = self._members[key]
        where = f"{self._path}: {key!r}"
        if info.file_size > _HIGHEST_RATIO * max(info.compress_size, 1) + 2**16:
            raise TableError(f"{where} is damaged: no compression is as high as its sizes say.")
        check_room(self._path, 2 * info.file_size, f"its array {key!r}")
        with self._file.open(info) as file:
            return _array(file, info.file_size, self._path, where)

    def beside(self, lengths: tuple[int, int], wanted: set[str]) -> dict[str, NDArray[Any]]:
        """Return the arrays with a value for each row or column, but for those that are huge."""
        found: dict[str, NDArray[Any]] = {}
        left = _MOST_BESIDE
        for name, (shape, dtype) in self.headers.items():
            if len(shape) != 1 or not (shape[0] in lengths or name == _NAMES):
                continue
            if dtype.hasobject and name in wanted:
                raise _objects(f"{self._path}: {name!r}", "labels.astype(str)")
            n_bytes = shape[0] * dtype.itemsize
            if dtype.hasobject:
                continue
            if name not in wanted and (dtype.itemsize > _MOST_PER_ROW or n_bytes > left):
                _LOGGER.info("%r of %s is left out, as it is large", name, self._path.name)
                continue
            found[name] = self.load(name)
            left -= n_bytes
        return found

    def matrix_key(self) -> str:
        """Return the array to take where none is named: X, or the only one of two dimensions."""
        matrices = [key for key, (shape, _) in self.headers.items() if len(shape) == 2]
        if "X" in matrices or len(matrices) == 1:
            return "X" if "X" in matrices else matrices[0]
        if matrices:
            raise TableError(
                f"{self._path} holds several arrays of two dimensions: {listed(matrices)}; name "
                "one (key)."
            )
        if self.headers.get("X", ((), np.dtype(float)))[1].hasobject:
            raise _objects(f"{self._path}: 'X'")
        raise TableError(
            f"{self._path} holds no array of two dimensions, rows × columns, but "
            f"{listed(list(self._members)) or 'nothing'}; save the data as one."
        )

    def sparse(self) -> Any:
        """Return the matrix of a file by scipy.sparse.save_npz."""
        from scipy import sparse

        form = self.load("format").item()
        form = form.decode() if isinstance(form, bytes) else form
        makers = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
        if form not in makers:
            raise TableError(f"{self._path} is sparse as {form}; save it as CSR (X.tocsr()).")
        parts = tuple(self.load(key) for key in ("data", "indices", "indptr"))
        shape = tuple(int(length) for length in self.load("shape"))
        if len(shape) != 2 or min(shape) < 0:
            raise TableError(f"{self._path} is damaged: it says its shape is {shape}.")
        matrix = makers[form](parts, shape=shape)
        # Indices that point outside would be read, and written, as memory of others.
        matrix.check_format(full_check=True)
        check_room(self._path, 16 * (matrix.nnz + shape[0]), "it as CSR")
        return matrix.tocsr()

    def _header(self, key: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        with self._file.open(self._members[key]) as file:
            shape, _, dtype = _header(file, f"{self._path}: {key!r}")
            return shape, dtype


def _check_magic(path: Path, beginning: bytes, magic: bytes, kind: str) -> None:
    if not beginning.startswith(magic):
        what = looks_like(beginning) or "something else"
        raise TableError(f"{path} is not {kind} but {what}; name what it is (format).")


def _header(file: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    else:  # only records with names that are not ASCII need it
        raise TableError(
            f"{where} is in version {version} of the format; save it as plain numbers."
        )
    return shape, fortran, dtype


def _array(file: IO[bytes], size: int, path: Path, where: str) -> NDArray[Any]:
    """Read an array out of `size` bytes, if they are as many as its header announces."""
    shape, _, dtype = _header(file, where)
    if dtype.hasobject:
        raise _objects(where)
    n_bytes = prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or n_bytes > size - file.tell():
        raise TableError(
            f"{where} is damaged or cut off: its header announces an array of shape {shape}, "
            f"{n_bytes:,} bytes, and {max(0, size - file.tell()):,} follow; save it again."
        )
    check_room(path, 2 * n_bytes)
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _objects(where: str, fix: str = "X.astype(float)") -> TableError:
    return TableError(
        f"{where} holds Python objects, which only pickle can read, and a pickle can run any "
        f"program: it is never loaded. Save it as numbers or text ({fix})."
    )


def _check_matrix(X: NDArray[Any], where: str) -> None:
    if X.dtype.names is not None:
        names = X.dtype.names
        first = ", ".join(f"X[{name!r}]" for name in names[:2])
        raise TableError(
            f"{where} holds records (a structured array) with the fields {listed(names)}; save "
            f"those to map as a table (numpy.column_stack([{first}, …])), or all of them as a csv "
            "(pandas.DataFrame(X).to_csv)."
        )
    if X.ndim != 2:
        raise TableError(
            f"{where} has {counted(X.ndim, 'dimension', 'dimensions')} (shape {X.shape}), and a "
            "table two: one row for each point (X.reshape(len(X), -1))."
        )


def _fields(beside: dict[str, NDArray[Any]], n: int, used: set[str | None]) -> dict[str, Field]:
    """Return the arrays that have a value for each row; labels by their names, where given."""
    fields = {
        key: as_text(values) if values.dtype.kind in "US" else values
        for key, values in beside.items()
        if len(values) == n and values.dtype.kind in "iufbUS" and key not in used
    }
    label_names = beside.get(_NAMES)
    for key in _LABEL_KEYS:
        codes = fields.get(key)
        if label_names is None or codes is None or codes.dtype.kind not in "iu" or not n:
            continue
        if codes.min() >= 0 and codes.max() < len(label_names):
            fields[key] = as_text(label_names)[codes]
            fields.pop(_NAMES, None)
    return fields
