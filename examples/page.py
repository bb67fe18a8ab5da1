"""A page of the digits: t-SNE and dtSNE beside one another, and what to believe of each point.

Run with ``python examples/page.py digits.html`` and open the file in a browser.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.page import write_page
from dtsne.quality import evaluate

N_NEIGHBORS = 50
N_RECALLED = 15


def neighbors(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithm of the distance to the last neighbour, and the nearest of them."""
    distances, indices = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(points).kneighbors()
    return np.log(distances[:, -1]), indices[:, :N_RECALLED]


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "digits.html"
    X, labels, _ = load("digits")
    maps = {
        name: DTSNE(perplexity=50, density_scale=scale).fit_transform(X)
        for name, scale in [("t-SNE", 0.0), ("dtSNE", 1.0)]
    }
    radius, near = neighbors(X)
    radius_in_map, near_in_map = neighbors(maps["dtSNE"])
    shift = np.median(radius - radius_in_map)
    residual = radius_in_map + shift - radius
    recall = (near[:, :, None] == near_in_map[:, None, :]).any(axis=2).mean(axis=1)
    flags = np.select(
        [np.abs(residual) > np.log(1.5), recall < 0.2],
        ["size off by half", "neighbours lost"],
        default="none",
    )
    columns = {
        "digit": labels,
        "log radius in the data": radius,
        "log radius in the map": radius_in_map,
        "density residual": residual,
        "recall of 15 neighbours": recall,
        "flag": flags,
    }
    quality = evaluate(X, maps["dtSNE"])
    account = {
        "unit": {"dtSNE": float(np.exp(shift))},
        "correlation of log radii": quality.density_log_correlation,
        "trustworthiness": quality.trustworthiness,
        "recall of 15 neighbours": quality.neighbor_recall,
    }
    written = write_page(
        path,
        maps,
        columns,
        ids=[f"digit-{i:04d}" for i in range(len(X))],
        title="Handwritten digits",
        account=account,
        notes="Sizes may be compared in dtSNE, and not in t-SNE.",
    )
    print(f"{written}: {written.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
