"""NumPy's own files, .npy and .npz: without pickle, and not before it is clear what they hold."""

from __future__ import annotations

import logging
import zipfile
from contextlib import contextmanager
from math import prod
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_magic, check_room
from dtsne.io._select import ID_NAMES, counted, unknown
from dtsne.io._table import Source, as_text, default_names, unique
from dtsne.runtime._errors import setting
from dtsne.runtime._names import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scipy.sparse import csr_matrix

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field

_LOGGER = logging.getLogger(__name__)

_NPY, _NPZ = "a NumPy array (.npy)", "a NumPy archive (.npz)"
_SPARSE = frozenset({"indices", "indptr", "format", "shape", "data"})  # scipy.sparse.save_npz
_LABEL_KEYS = ("labels", "y")
_LABEL_NAMES = "label_names"  # what the labels stand for, where they are numbers
_FEATURE_NAMES = ("feature_names", "columns", "var_names")
# Of arrays next to the matrix that nobody asked for: the longest text in bytes, and all together.
_MAX_PER_ROW, _MAX_EXTRA = 2**12, 2**30


class _Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    n_bytes: int  # of the array, with its header


def _header(file: IO[bytes]) -> _Header:
    version = np.lib.format.read_magic(file)
    # The later ones differ in names of fields alone.
    later = np.lib.format.read_array_header_2_0
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else later
    shape, _, dtype = read(file)
    return _Header(shape, dtype, file.tell() + prod(shape) * dtype.itemsize)


def _load(file: IO[bytes], header: _Header, size: int, what: str = "the array") -> Field:
    """Read an array out of `size` bytes, if it fits into them, and into memory."""
    if header.dtype.hasobject:
        raise TableError(
            f"{what} holds Python objects, which only pickle can read, and a pickle can run any "
            "program: it is never loaded",
            "save it as numbers or text",
            in_python="X.astype(float), labels.astype(str)",
        )
    if min(header.shape, default=0) < 0 or header.n_bytes > size:
        declared = f"its header declares the shape {header.shape}, {header.n_bytes:,} bytes"
        reason = f"{what} is corrupt or cut off: {declared}, and there are {size:,}"
        raise TableError(reason, "save it again")
    check_room(2 * header.n_bytes, what)
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def read_npy(path: Path, options: ReadOptions) -> Source:  # noqa: ARG001
    """Read the array of an .npy file."""
    with path.open("rb") as file:
        check_magic(file.read(8), b"\x93NUMPY", _NPY)
        file.seek(0)
        with reading(_NPY):
            X = _load(file, _header(file), path.stat().st_size)
    _check_matrix(X)
    return Source(path, path.name, default_names(X.shape[1]), X)


def read_npz(path: Path, options: ReadOptions) -> Source:
    """Read one matrix of an .npz file, and other arrays with a value for each row."""
    with Archive.opened(path) as archive:
        if options.key is None and archive.headers.keys() >= _SPARSE:
            matrix = archive.sparse()
            return Source(path, path.name, default_names(matrix.shape[1]), matrix)
        key = archive.matrix_key() if options.key is None else options.key
        X = archive.load(key)
        _check_matrix(X)
        n, d = X.shape
        extra = archive.extra_arrays((n, d), options.named)
    names = next((extra[k] for k in _FEATURE_NAMES if k in extra and len(extra[k]) == d), None)
    id_name = next((k for k in ID_NAMES if k in extra and len(extra[k]) == n), None)
    return Source(
        path,
        f"{key} of {path.name}",
        default_names(d) if names is None else unique(as_text(names)),
        X,
        fields=_fields(extra, n, {*_FEATURE_NAMES, id_name}),
        ids=None if id_name is None else as_text(extra[id_name]),
        id_names=frozenset(() if id_name is None else (id_name,)),
    )


class Archive:
    """An .npz file, whose arrays are read one by one, and only where their sizes are true."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self.headers: dict[str, _Header] = {}
        for name in file.namelist():
            if name.endswith(".npy"):
                with file.open(name) as member:
                    self.headers[name.removesuffix(".npy")] = _header(member)

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Archive]:
        """Open an .npz file."""
        with path.open("rb") as file:
            check_magic(file.read(8), b"PK", _NPZ)
        with reading(_NPZ), zipfile.ZipFile(path) as archive:
            yield cls(archive)

    def load(self, key: str) -> Field:
        """Return one array, once it is clear that it is as large as declared, and fits."""
        if key not in self.headers:
            raise unknown(key, self.headers, "array")
        size, header = self._file.getinfo(f"{key}.npy").file_size, self.headers[key]
        if not header.dtype.hasobject and 0 <= header.n_bytes < size:
            sizes = f"the archive declares {size:,} bytes, its header {header.n_bytes:,}"
            raise TableError(f"the array {key!r} is corrupt: {sizes}", "save it again")
        with self._file.open(f"{key}.npy") as file:
            return _load(file, header, size, f"the array {key!r}")

    def extra_arrays(self, lengths: tuple[int, int], wanted: set[str]) -> dict[str, Field]:
        """Return the arrays with a value for each row or column, but for those that are huge."""
        found: dict[str, Field] = {}
        left = _MAX_EXTRA
        for name, (shape, dtype, _) in self.headers.items():
            if len(shape) != 1 or not (shape[0] in lengths or name == _LABEL_NAMES):
                continue
            n_bytes = shape[0] * dtype.itemsize
            if name not in wanted:
                if dtype.hasobject:
                    continue
                if dtype.itemsize > _MAX_PER_ROW or n_bytes > left:
                    _LOGGER.info("the array %r is left out, as it is large", name)
                    continue
            found[name] = self.load(name)
            left -= n_bytes
        return found

    def matrix_key(self) -> str:
        """Return the array to take by default: X, or the only one of two dimensions."""
        matrices = [key for key, header in self.headers.items() if len(header.shape) == 2]
        if "X" in matrices or len(matrices) == 1:
            return "X" if "X" in matrices else matrices[0]
        if matrices:
            reason = f"the file holds several arrays of two dimensions: {listed(matrices)}"
            raise TableError(reason, f"choose one with {setting('key')}")
        there = listed(list(self.headers)) or "nothing"
        reason = f"the file holds no array of two dimensions, rows × columns, but {there}"
        raise TableError(reason, "save the data as one")

    def sparse(self) -> csr_matrix:
        """Return the matrix of a file by scipy.sparse.save_npz."""
        from scipy import sparse

        form = as_text([self.load("format").item()])[0]
        if form not in ("csr", "csc"):
            raise TableError(f"the matrix is sparse as {form}", "save it as CSR (X.tocsr())")
        parts = tuple(self.load(key) for key in ("data", "indices", "indptr"))
        shape = tuple(int(length) for length in self.load("shape"))
        matrix = getattr(sparse, f"{form}_matrix")(parts, shape=shape)
        # Indices that point outside would be read, and written, as memory of others.
        matrix.check_format(full_check=True)
        check_room(16 * (matrix.nnz + shape[0]), "the matrix as CSR")
        return matrix.tocsr()


def _check_matrix(X: Field) -> None:
    if X.dtype.names is not None:
        first = ", ".join(f"X[{name!r}]" for name in X.dtype.names[:2])
        raise TableError(
            f"the array holds records (a structured array) with the fields {listed(X.dtype.names)}",
            "save the fields to map as a matrix, or all of them as csv",
            in_python=f"numpy.column_stack([{first}, …]), or pandas.DataFrame(X).to_csv",
        )
    if X.ndim != 2:
        number = f"{counted(X.ndim, 'dimension', 'dimensions')} (shape {X.shape})"
        reason, fix = f"the array has {number}, and a table two", "save one row for each point"
        raise TableError(reason, fix, in_python="X.reshape(len(X), -1)")


def _fields(extra: dict[str, Field], n: int, used: set[str | None]) -> dict[str, Field]:
    """Return the arrays that have a value for each row; labels by their names, if there are any."""
    fields = {
        key: as_text(values) if values.dtype.kind in "US" else values
        for key, values in extra.items()
        if len(values) == n and values.dtype.kind in "iufbUS" and key not in used
    }
    names = extra.get(_LABEL_NAMES)
    for key in _LABEL_KEYS:
        codes = fields.get(key)
        if names is None or codes is None or codes.dtype.kind not in "iu" or not n:
            continue
        if codes.min() >= 0 and codes.max() < len(names):
            fields[key] = as_text(names)[codes]
            fields.pop(_LABEL_NAMES, None)
    return fields
