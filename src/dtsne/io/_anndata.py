"""AnnData files (.h5ad): read in parts, once it is clear that these fit; written as copies."""

from __future__ import annotations

import shutil
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from dtsne.io._errors import TableError, naming, reading
from dtsne.io._files import check_room, existing_file
from dtsne.io._select import unknown
from dtsne.io._table import Source, as_text, default_names, unique
from dtsne.runtime._atomic import atomic_write, check_output
from dtsne.runtime._errors import ParameterError, setting
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import ModuleType

    import h5py
    import pandas as pd
    from numpy.typing import ArrayLike

    from dtsne.io._options import ReadOptions
    from dtsne.io._table import Field, Matrix
    from dtsne.runtime._typing import SparseMatrix

_KIND = "an AnnData file (.h5ad)"
_BYTES_PER_TEXT = 64  # of a text as a Python object, about


def anndata_io(module: str = "anndata.io") -> ModuleType:
    """Import what reads and writes the elements of a file, or h5py."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those at its import are not for our users
        return optional(module, extra="anndata", purpose="reading or writing .h5ad files")


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open a file for reading."""
    hdf5 = anndata_io("h5py")
    with naming(path), reading(_KIND), hdf5.File(path, "r") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old formats, which are read all the same
        for part in ("obs", "var"):
            if part not in file:
                raise TableError(
                    f"the file is HDF5, but not {_KIND}: it has no {part!r}",
                    "write it as one, or save the matrix as .npy",
                    in_python="anndata.AnnData(X).write_h5ad",
                )
        yield file


def read_h5ad(path: Path, options: ReadOptions) -> Source:
    """Read X, a layer, or an entry of `obsm`, and all of `obs`."""
    if options.layer is not None and options.use_rep is not None:
        reason = f"{setting('layer')} and {setting('use_rep')} exclude each other"
        raise ParameterError("layer", options.layer, reason=reason, fix="pass one of them")
    anndata_io()
    with opened(path) as file:
        place = _place(file, options)
        X = _matrix(file[place])
        obs = _read(file["obs"])
        index = str(file["obs"].attrs.get("_index", "index"))
        if options.use_rep in (None, "X"):
            names = tuple(as_text(_read(file["var"]).index))
        else:
            names = default_names(X.shape[1], options.use_rep)
    if X.shape != (len(obs), len(names)):
        sizes = (
            f"{X.shape[0]:,} × {X.shape[1]:,}, and there are {len(obs):,} × {len(names):,} names"
        )
        raise TableError(f"the file is corrupt: {place} is {sizes}", "write it again")
    fields = {str(name): _field(obs[name]) for name in obs.columns}
    return Source(
        path,
        f"{place} of {path.name}",
        unique(names),
        X,
        fields=fields,
        ids=as_text(obs.index),
        id_names=frozenset({"obs_names", index}) - set(fields),
        categories={
            str(name): tuple(as_text(obs[name].cat.categories))
            for name in obs.columns
            if hasattr(obs[name], "cat")
        },
    )


def _place(file: h5py.File, options: ReadOptions) -> str:
    """Return where in the file the numbers are."""
    if options.layer is not None:
        return _within(file, "layers", options.layer)
    if options.use_rep is not None and options.use_rep != "X":
        return _within(file, "obsm", options.use_rep)
    if "X" not in file:
        layers, entries = (", ".join(file.get(g, ())) or "none" for g in ("layers", "obsm"))
        fix = f"set {setting('layer')} (there is {layers}), or {setting('use_rep')} (there is "
        raise TableError("the file has no X", f"{fix}{entries})")
    return "X"


def _within(file: h5py.File, group: str, key: str) -> str:
    if key not in file.get(group, ()):
        raise unknown(key, file.get(group, ()), f"entry of {group!r} called")
    return f"{group}/{key}"


def _matrix(element: h5py.Group | h5py.Dataset) -> Matrix:
    """Read a matrix, dense or sparse, or the numbers of a data frame."""
    from scipy.sparse import csr_matrix, issparse

    found = _read(element)
    if issparse(found):
        matrix: SparseMatrix = csr_matrix(found)
        csr_matrix.check_format(matrix, full_check=True)
        return matrix
    X = np.asarray(found)
    if X.ndim != 2:
        raise TableError(f"{element.name} has the shape {X.shape}, and a table two lengths")
    return X


def _read(element: h5py.Group | h5py.Dataset) -> pd.DataFrame:
    """Read an element, such as a data frame, if it fits."""
    check_room(2 * _size(element))
    return anndata_io().read_elem(element)


def _size(element: h5py.Group | h5py.Dataset) -> int:
    """Bytes of an element in memory, as the file declares them."""
    if hasattr(element, "keys"):
        return sum(_size(child) for child in element.values())
    is_text = element.dtype.kind in "OSU"
    return int(element.size * (_BYTES_PER_TEXT if is_text else element.dtype.itemsize))


def _field(series: pd.Series) -> Field:
    """Return a column of a pandas frame as plain numpy: numbers and truth values, or text."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iufb" and isinstance(series.dtype, np.dtype):
        return np.asarray(series)
    if kind in "iuf":  # of pandas' own types, with missing values
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return as_text(series)


def write_h5ad(
    path_out: str | os.PathLike[str],
    path_in: str | os.PathLike[str],
    *,
    obsm: Mapping[str, ArrayLike] | None = None,
    obs: Mapping[str, ArrayLike] | None = None,
    uns: Mapping[str, object] | None = None,
    overwrite_source: bool = False,
) -> None:
    """Write a copy of an AnnData file with entries added, or replaced where they are there.

    Everything else is copied as it is and need not fit into memory. The write is atomic.

    Parameters
    ----------
    path_out, path_in : path-like
        The file to write, and the one to copy.
    obsm : mapping of str to array-like of shape (n, k), optional
        Such as ``{"X_dtsne": map}``.
    obs : mapping of str to array-like of shape (n,), optional
        Columns of numbers or text.
    uns : mapping of str to anything that AnnData can store, optional
        Nested mappings too. Entries that are None are left out.
    overwrite_source : bool, default=False
        Allow `path_out` to be `path_in`.

    Raises
    ------
    TableError
        If the input is no AnnData file, or an entry has another number of rows.
    OSError
        If a file cannot be read or written.
    ImportError
        If anndata is missing.
    """
    path_in = existing_file(path_in)
    path_out = check_output(path_out, path_in, overwrite_source=overwrite_source)
    with naming(path_out):
        if path_out.suffix.lower() != ".h5ad":
            raise TableError("the suffix of an AnnData file is .h5ad", "rename it")
        anndata_io()
        with opened(path_in) as file:
            n = _n_rows(file)
        maps = {name: np.asarray(values) for name, values in (obsm or {}).items()}
        columns = {name: _column(values) for name, values in (obs or {}).items()}
        for name, array in {**maps, **columns}.items():
            if array.shape[:1] != (n,):
                has = f"where {path_in} has {n:,} rows"
                raise TableError(f"{name!r} has the shape {array.shape} {has}")
        with atomic_write(path_out) as part:
            shutil.copyfile(path_in, part)
            _add_entries(part, maps, columns, _without_none(uns or {}))


def _n_rows(file: h5py.File) -> int:
    obs = file["obs"]
    if not hasattr(obs, "keys") or "_index" not in obs.attrs:
        reason = "the file was written by an anndata older than 0.7"
        fix, code = "read and write it with a newer one", "anndata.read_h5ad(…).write_h5ad(…)"
        raise TableError(reason, fix, in_python=code)
    index = obs[obs.attrs["_index"]]
    # Strings that may be missing, as pandas 3 has them, are a group of values and a mask.
    return int((index["values"] if hasattr(index, "keys") else index).shape[0])


def _column(values: ArrayLike) -> Field:
    array = np.asarray(values)
    return array if array.dtype.kind in "iufb" or array.ndim != 1 else as_text(array)


def _add_entries(
    path: Path, obsm: Mapping[str, Field], obs: Mapping[str, Field], uns: Mapping[str, object]
) -> None:
    io = anndata_io()
    try:
        with anndata_io("h5py").File(path, "r+") as file:
            for group, entries in (("obsm", obsm), ("uns", uns)):
                if group not in file:
                    io.write_elem(file, group, {})
                for name, value in entries.items():
                    io.write_elem(file[group], name, value)
            _add_columns(io, file["obs"], obs)
    except (TableError, OSError):
        raise
    except Exception as error:  # anndata has errors of its own for what it cannot store
        reason = f"the file cannot be written ({error})"
        raise TableError(reason, "leave out what AnnData cannot store") from error


def _add_columns(io: ModuleType, obs: h5py.Group, columns: Mapping[str, Field]) -> None:
    order = [str(name) for name in obs.attrs["column-order"]]
    for name, values in columns.items():
        if name == obs.attrs["_index"]:
            raise TableError(f"a column of obs cannot be called {name!r}, as its index is")
        io.write_elem(obs, name, values)
    added = [name for name in columns if name not in order]
    obs.attrs["column-order"] = np.array([*order, *added], dtype=object)


def _without_none(entries: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in entries.items()
        if value is not None
    }
