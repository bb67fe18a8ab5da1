"""Tables of points in files of many formats: reading, writing, and what lies between.

csv, tsv, parquet and feather need ``pip install "dtsne[tables]"``, h5ad ``"dtsne[anndata]"`` and
fcs ``"dtsne[fcs]"``; npy, npz and mtx need nothing, nor does writing csv and tsv.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dtsne.io._embedding import align, read_embedding
    from dtsne.io._errors import TableError
    from dtsne.io._formats import SUFFIXES
    from dtsne.io._options import ReadOptions
    from dtsne.io._read import read_table
    from dtsne.io._table import Table
    from dtsne.io._transforms import arcsinh, log1p
    from dtsne.io._write import write_table
    from dtsne.io._write_anndata import write_h5ad
    from dtsne.runtime._atomic import check_output

__all__ = [
    "SUFFIXES",
    "ReadOptions",
    "Table",
    "TableError",
    "align",
    "arcsinh",
    "check_output",
    "log1p",
    "read_embedding",
    "read_table",
    "write_h5ad",
    "write_table",
]

# Loaded at first use: the help of the command line lists the formats, and should not wait.
_MODULES = {
    "ReadOptions": "_options",
    "SUFFIXES": "_formats",
    "Table": "_table",
    "TableError": "_errors",
    "align": "_embedding",
    "arcsinh": "_transforms",
    "check_output": ".runtime._atomic",
    "log1p": "_transforms",
    "read_embedding": "_embedding",
    "read_table": "_read",
    "write_h5ad": "_write_anndata",
    "write_table": "_write",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
