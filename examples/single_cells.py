"""Cells mapped by dtSNE and drawn by scanpy, whose data comes with it.

Run with ``python examples/single_cells.py cells.png`` (``pip install scanpy``).
"""

from __future__ import annotations

import logging
import sys

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import scanpy as sc

from dtsne.scanpy import dtsne

PERPLEXITY = 30
GROUPS = "louvain"
MEASURES = ["density_log_correlation", "neighbor_distance_correlation", "trustworthiness"]


def tell(adata) -> None:
    measured = pd.DataFrame(
        {name: adata.uns[key]["quality"] for key, name in [("dtsne", "dtSNE"), ("plain", "t-SNE")]}
    ).loc[MEASURES]
    print(f"radii of {adata.uns['dtsne']['quality']['k']} neighbours")
    print(measured.astype(float).round(3).to_string())
    print()
    print(*adata.uns["dtsne"]["reliability"], sep="\n")
    print()
    groups = pd.DataFrame(adata.uns["dtsne"]["groups"]).set_index("label")
    shown = groups[["n", "spread_data", "spread_map", "map_over_data", "share_unreliable"]]
    print(shown.sort_values("n", ascending=False).round(2).to_string())
    print()
    print(f"unreliable cells: {adata.obs['dtsne_unreliable'].sum()} of {adata.n_obs}")


def draw(adata, path: str) -> None:
    figure, rows = plt.subplots(2, 2, figsize=(9.6, 9), layout="constrained")
    panels = [
        ("plain", GROUPS, "t-SNE (density_scale=0)"),
        ("dtsne", GROUPS, "dtSNE"),
        ("dtsne", "dtsne_log_radius", "log radius in the data"),
        ("dtsne", "dtsne_density_residual", "density residual"),
    ]
    for ax, (key, column, title) in zip(rows.flat, panels, strict=True):
        labelled = {"legend_loc": "on data", "legend_fontoutline": 2} if column == GROUPS else {}
        colours = {"cmap": "coolwarm", "vcenter": 0} if "residual" in column else {}
        sc.pl.embedding(
            adata, key, color=column, title=title, size=40, ax=ax, show=False, **labelled, **colours
        )
        ax.set_aspect("equal")  # sizes are to be compared
    figure.savefig(path, dpi=100)


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "cells.png"
    logging.basicConfig(format="%(message)s")
    logging.getLogger("dtsne.scanpy").setLevel(logging.INFO)
    adata = sc.datasets.pbmc68k_reduced()
    dtsne(adata, perplexity=PERPLEXITY, groupby=GROUPS)
    dtsne(adata, perplexity=PERPLEXITY, density_scale=0, key_added="plain")
    tell(adata)
    draw(adata, path)
    print(path)


if __name__ == "__main__":
    main()
