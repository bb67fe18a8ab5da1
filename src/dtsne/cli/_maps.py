"""EMBEDDING: a map from a file, with all that the file says of its points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.cli._numbers import check_size
from dtsne.scanpy._layout import _COLUMNS
from dtsne.tables import read_embedding
from dtsne.tables._anndata import opened, size
from dtsne.tables._files import format_of
from dtsne.tables._formats import MAPS
from dtsne.tables._numpy_files import Archive
from dtsne.tables._options import Options as ReadOptions
from dtsne.tables._read import open_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dtsne._typing import FloatArray
    from dtsne.tables._columns import Columns
    from dtsne.tables._table import Field, TextArray

# Columns of the account by the names that they have in the obs of an AnnData.
_IN_OBS = {column: name for name, column in _COLUMNS.items()}
# Of these a file by dtsne has one: of embed in a table, an .npz and an .h5ad, and of an account.
_OURS = frozenset({"dtsne_1", "dtsne", "dtsne_sigma", "sigma_at_bound"})


def in_obs(column: str) -> str:
    """Return what a column of the account is called in the obs of an AnnData."""
    return f"dtsne_{_IN_OBS.get(column, column)}"


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map, the names of its points if it has any, and further columns by name.

    `is_ours` says that dtsne wrote the file, so that its sigma is what we mean by the word.
    """

    Y: FloatArray
    ids: TextArray | None
    columns: dict[str, Field]
    is_ours: bool

    def of_account(self, name: str) -> Field | None:
        """Return a column of the account, if the file has it."""
        for known in (name, in_obs(name)):
            column = self.columns.get(known)
            if column is not None and column.dtype.kind in "iuf":
                return column.astype(np.float64)
        return None

    @property
    def sigma(self) -> Field | None:
        """σ of each point, if the file has it."""
        found = self.of_account("sigma") if self.is_ours else None
        usable = found is not None and np.isfinite(found).all() and (found > 0).all()
        return found if usable else None

    @property
    def sigma_at_bound(self) -> Field | None:
        """Whether σ of each point is not one of the data, if the file has that beside σ."""
        for name in ("sigma_at_bound", in_obs("sigma_at_bound")):
            column = self.columns.get(name)
            if column is not None and column.dtype.kind == "b" and self.sigma is not None:
                return column
        return None


def read_map(
    path: Path,
    *,
    file_format: str | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    key: str | None = None,
) -> MapFile:
    """Read a map that `embed` or another tool wrote."""
    Y, ids = read_embedding(path, format=file_format, columns=columns, id_column=id_column, key=key)
    check_size(Y, path)
    name = format_of(path, file_format, MAPS)
    # Unlike the numbers of data, these may have gaps; so they are not read as such.
    if name == "npy":
        found: dict[str, Field] = {}
    elif name == "npz":
        found = _in_archive(path, len(Y))
    elif name == "h5ad":
        found = _in_anndata(path, key)
    else:
        table = open_columns(path, name, ReadOptions())
        found = _fields(table, table.names)
    others = {n: c for n, c in found.items() if not _is_known(c, Y, ids)}
    return MapFile(Y, ids, others, not _OURS.isdisjoint(found))


def _in_archive(path: Path, n: int) -> dict[str, Field]:
    """Return the arrays that have a value for each point, and our map by its name."""
    with Archive.opened(path) as archive:
        return {
            key: archive.load(key)
            for key, (shape, dtype) in archive.headers.items()
            if (shape == (n,) or key in _OURS) and not dtype.hasobject
        }


def _in_anndata(path: Path, key: str | None) -> dict[str, Field]:
    if key is None:  # any will do, as only what is beside it is wanted
        with opened(path) as file:
            key = min(file["obsm"], key=lambda name: size(file["obsm"][name]))
    table = open_columns(path, "h5ad", ReadOptions(use_rep=key))
    return _fields(table, table.beside)


def _fields(table: Columns, names: Sequence[str]) -> dict[str, Field]:
    values = {name: table.values(name) for name in names}
    return {name: column for name, column in values.items() if column is not None}


def _is_known(column: Field, Y: FloatArray, ids: TextArray | None) -> bool:
    """Whether a column is the map or an axis of it, or its ids."""
    if column.ndim == 2:
        return True
    if column.dtype.kind not in "iufb":
        return ids is not None and np.array_equal(column.astype(str), ids.astype(str))
    return any(np.array_equal(column, axis) for axis in Y.T)
