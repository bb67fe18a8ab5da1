"""dtSNE as a tool for AnnData, in the manner of scanpy's own (``pip install "dtsne[anndata]"``).

>>> import scanpy as sc  # doctest: +SKIP
>>> from dtsne.scanpy import dtsne  # doctest: +SKIP
>>> adata = sc.datasets.pbmc68k_reduced()  # doctest: +SKIP
>>> dtsne(adata, perplexity=30, groupby="bulk_labels")  # doctest: +SKIP
>>> sc.pl.embedding(adata, "dtsne", color=["bulk_labels", "dtsne_log_radius"])  # doctest: +SKIP

Neither scanpy nor anndata is imported here: what is used of them is the object that is given.
"""

from dtsne.scanpy._tool import dtsne

__all__ = ["dtsne"]
