"""A map into a copy of the AnnData file that its data came from."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.io._anndata import anndata_io, opened
from dtsne.io._columns import as_text
from dtsne.io._errors import TableError
from dtsne.io._files import existing_file
from dtsne.runtime._atomic import check_output, whole_file
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike

    from dtsne.io._table import Field


def write_h5ad(
    path_out: str | os.PathLike[str],
    path_in: str | os.PathLike[str],
    *,
    obsm: Mapping[str, ArrayLike] | None = None,
    obs: Mapping[str, ArrayLike] | None = None,
    uns: Mapping[str, Any] | None = None,
    overwrite_source: bool = False,
) -> None:
    """Write a copy of an AnnData file with entries added, or replaced where they are there.

    Everything else is copied as it is and need not fit into memory. The file is written whole or
    not at all.

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
    if path_out.suffix.lower() != ".h5ad":
        raise TableError(f"{path_out}: an AnnData file is called .h5ad; rename it.")
    io = anndata_io()
    h5py = optional("h5py", extra="anndata", purpose="reading or writing .h5ad files")
    with opened(path_in) as file:
        n = _n_rows(file, path_in)
    maps = {name: np.asarray(values) for name, values in (obsm or {}).items()}
    columns = {name: _column(values) for name, values in (obs or {}).items()}
    for name, array in {**maps, **columns}.items():
        if array.shape[:1] != (n,):
            raise TableError(
                f"{path_out}: {name!r} has the shape {array.shape} where {path_in} has {n:,} rows."
            )
    with whole_file(path_out) as part:
        shutil.copyfile(path_in, part)
        with _writing(path_out), h5py.File(part, "r+") as file:
            _add(io, file, "obsm", maps)
            _add(io, file, "uns", _without_none(uns or {}))
            _add_columns(io, file["obs"], columns)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except (TableError, OSError):
        raise
    except Exception as error:  # anndata has errors of its own for what it cannot store
        raise TableError(
            f"{path} cannot be written ({error}); leave out what AnnData cannot store."
        ) from error


def _n_rows(file: Any, path: Path) -> int:
    obs = file["obs"]
    if not hasattr(obs, "keys") or "_index" not in obs.attrs:
        raise TableError(
            f"{path} was written by an anndata older than 0.7; read and write it once with a newer "
            "one (anndata.read_h5ad(…).write_h5ad(…))."
        )
    index = obs[obs.attrs["_index"]]
    # Strings that may be missing, as pandas 3 has them, are a group of values and a mask.
    return int((index["values"] if hasattr(index, "keys") else index).shape[0])


def _column(values: ArrayLike) -> Field:
    array = np.asarray(values)
    return array if array.dtype.kind in "iufb" or array.ndim != 1 else as_text(array)


def _add(io: Any, file: Any, group: str, entries: Mapping[str, Any]) -> None:
    if group not in file:
        io.write_elem(file, group, {})
    for name, value in entries.items():
        io.write_elem(file[group], name, value)


def _add_columns(io: Any, obs: Any, columns: Mapping[str, Field]) -> None:
    order = [str(name) for name in obs.attrs["column-order"]]
    for name, values in columns.items():
        if name == obs.attrs["_index"]:
            raise TableError(f"a column of obs cannot be called {name!r}, as its index is.")
        io.write_elem(obs, name, values)
    added = [name for name in columns if name not in order]
    obs.attrs["column-order"] = np.array([*order, *added], dtype=object)


def _without_none(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in entries.items()
        if value is not None
    }
