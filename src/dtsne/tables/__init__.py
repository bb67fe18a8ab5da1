"""Tables of points in files of many formats: reading, writing, and what lies between.

csv, tsv, parquet and feather need ``pip install "dtsne[tables]"``, h5ad ``"dtsne[anndata]"`` and
fcs ``"dtsne[fcs]"``; npy, npz and mtx need nothing, nor does writing csv and tsv.
"""

from dtsne.tables._embedding import align, read_embedding
from dtsne.tables._errors import TableError
from dtsne.tables._files import SUFFIXES
from dtsne.tables._read import read_table
from dtsne.tables._table import Table
from dtsne.tables._transforms import arcsinh, log1p
from dtsne.tables._whole import check_output
from dtsne.tables._write import write_table
from dtsne.tables._write_anndata import write_h5ad

__all__ = [
    "SUFFIXES",
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
