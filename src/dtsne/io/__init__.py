"""Tables of points in files of many formats: reading, transforming and writing.

csv, tsv, parquet and feather need ``pip install "dtsne[tables]"``, h5ad ``"dtsne[anndata]"`` and
fcs ``"dtsne[fcs]"``; npy, npz and mtx need nothing, nor does writing csv and tsv.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dtsne.io._anndata import write_h5ad
    from dtsne.io._errors import TableError
    from dtsne.io._files import SUFFIXES
    from dtsne.io._options import ReadOptions
    from dtsne.io._read import align, read_embedding, read_table
    from dtsne.io._table import Table
    from dtsne.io._transforms import arcsinh, log1p
    from dtsne.io._write import write_table
    from dtsne.runtime._atomic import check_output

__all__ = [  # noqa: RUF022
    "ReadOptions", "SUFFIXES", "Table", "TableError", "align", "arcsinh", "check_output", "log1p",
    "read_embedding", "read_table", "write_h5ad", "write_table",
]  # fmt: skip
# Loaded at first use: the help of the command line lists the formats, and should not wait.
_MODULES = {
    "ReadOptions": "_options", "SUFFIXES": "_files", "Table": "_table", "TableError": "_errors",
    "align": "_read", "arcsinh": "_transforms", "check_output": ".runtime._atomic",
    "log1p": "_transforms", "read_embedding": "_read", "read_table": "_read",
    "write_h5ad": "_anndata", "write_table": "_write",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
