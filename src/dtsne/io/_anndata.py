"""AnnData files (.h5ad): only what is asked for is read, once it is clear that it fits."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._columns import MatrixColumns, as_text
from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room
from dtsne.io._names import unique, unknown
from dtsne.io._numpy_files import default_names
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field

_KIND = "an AnnData file (.h5ad)"
_BYTES_PER_TEXT = 64  # of a text as a Python object, about


def anndata_io() -> ModuleType:
    """Import what reads and writes the elements of a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those at its import are not for our users
        return optional("anndata.io", extra="anndata", purpose="reading or writing .h5ad files")


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file for reading."""
    h5py = optional("h5py", extra="anndata", purpose="reading or writing .h5ad files")
    with reading(path, _KIND), h5py.File(path, "r") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old formats, which are read all the same
        for part in ("obs", "var"):
            if part not in file:
                raise TableError(
                    f"{path} is HDF5, but not {_KIND}: it has no {part!r}. Write it as one "
                    "(anndata.AnnData(X).write_h5ad), or save the matrix as .npy."
                )
        yield file


def read_h5ad(path: Path, options: ReadOptions) -> MatrixColumns:
    """Read X, a layer, or one of `obsm`, and all of `obs`."""
    if options.layer is not None and options.use_rep is not None:
        raise TableError(f"{path}: layer and use_rep exclude each other; give one of them.")
    anndata_io()
    with opened(path) as file:
        place = _place(file, options, path)
        X = matrix(file[place], path)
        obs = _frame(file["obs"], path)
        id_names = frozenset({"obs_names", str(file["obs"].attrs.get("_index", "index"))})
        if options.use_rep in (None, "X"):
            names = as_text(_frame(file["var"], path).index)
        else:
            names = as_text(default_names(X.shape[1], options.use_rep))
    ids = as_text(obs.index)
    fields = {str(name): _field(obs[name]) for name in obs.columns}
    if X.shape != (len(ids), len(names)):
        raise TableError(
            f"{path} is damaged: {place} is {X.shape[0]:,} × {X.shape[1]:,}, and there are "
            f"{len(ids):,} × {len(names):,} names; write it again."
        )
    return MatrixColumns(
        path,
        f"{place} of {path.name}",
        X,
        unique(names),
        fields,
        ids,
        id_names=id_names - set(fields),
        orders=_orders(obs),
    )


def _place(file: Any, options: ReadOptions, path: Path) -> str:
    """Return where in the file the numbers are."""
    if options.layer is not None:
        return _within(file, "layers", options.layer, path)
    if options.use_rep not in (None, "X"):
        return _within(file, "obsm", options.use_rep, path)
    if "X" not in file:
        raise TableError(
            f"{path} has no X; name a layer ({_keys(file, 'layers')}) or a representation "
            f"(use_rep: {_keys(file, 'obsm')})."
        )
    return "X"


def _within(file: Any, group: str, key: str, path: Path) -> str:
    keys = list(file.get(group, ()))
    if key not in keys:
        raise unknown(key, keys, path, f"entry of {group!r} called")
    return f"{group}/{key}"


def _keys(file: Any, group: str) -> str:
    return ", ".join(file.get(group, ())) or "there are none"


def matrix(element: Any, path: Path) -> Any:
    """Read a matrix, dense or sparse, or the numbers of a data frame."""
    from scipy.sparse import csr_matrix, issparse

    check_room(path, 2 * size(element))
    X = anndata_io().read_elem(element)
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if issparse(X):
        X = csr_matrix(X)
        X.check_format(full_check=True)
        return X
    X = np.asarray(X)
    if X.ndim != 2:
        raise TableError(
            f"{path}: {element.name} has the shape {X.shape}, and a table two lengths."
        )
    return X


def size(element: Any) -> int:
    """Bytes of an element in memory, as the file announces them."""
    if hasattr(element, "keys"):
        return sum(size(child) for child in element.values())
    is_text = element.dtype.kind in "OSU"
    return int(element.size * (_BYTES_PER_TEXT if is_text else element.dtype.itemsize))


def _frame(element: Any, path: Path) -> Any:
    """Return a data frame of pandas."""
    check_room(path, 2 * size(element))
    return anndata_io().read_elem(element)


def _orders(frame: Any) -> dict[str, tuple[str, ...]]:
    """Return the categories of those columns that have such."""
    categorical = {str(name): getattr(frame[name], "cat", None) for name in frame.columns}
    return {
        name: tuple(as_text(column.categories))
        for name, column in categorical.items()
        if column is not None
    }


def _field(series: Any) -> Field:
    """Return a column of a pandas frame as plain numpy: numbers and truth values, or text."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iufb" and isinstance(series.dtype, np.dtype):
        return np.asarray(series)
    if kind in "iuf":  # of pandas' own types, with missing values
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return as_text(series)
