"""What dtSNE is about, in two pictures: run ``make demo`` or ``python examples/demo.py FOLDER``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.quality import cluster_radius_ratios, evaluate

# Colour-blind safe (Okabe and Ito), and ten of matplotlib's for the digits.
THREE_COLOURS = ["#0072B2", "#E69F00", "#009E73"]


def scatter(axes, points, labels, title, colours) -> None:
    for label in np.unique(labels):
        chosen = labels == label
        axes.scatter(*points[chosen].T, s=6, color=colours[label], linewidths=0, label=label)
    axes.set_title(title, fontsize=10)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])


def ratios(X, Y, labels) -> str:
    found = cluster_radius_ratios(X, Y, labels)
    return " : ".join(f"{ratio:.2f}" for ratio in found.map)


def draw_three_gaussians(path: Path) -> None:
    figure, rows = plt.subplots(2, 3, figsize=(10.5, 7.2), layout="constrained")
    for axes, name in zip(rows, ["2D-density", "G3-d"], strict=True):
        X, labels, _ = load(name)
        maps = {
            "t-SNE (density_scale=0)": DTSNE(density_scale=0).fit_transform(X),
            "dtSNE": DTSNE().fit_transform(X),
        }
        seen = "the data" if X.shape[1] == 2 else f"two of the data's {X.shape[1]} dimensions"
        true = ratios(X, X, labels)
        scatter(axes[0], X[:, :2], labels, f"{name}: {seen}\nradii {true}", THREE_COLOURS)
        for ax, (title, Y) in zip(axes[1:], maps.items(), strict=True):
            scatter(ax, Y, labels, f"{title}\nradii {ratios(X, Y, labels)}", THREE_COLOURS)
        print(f"\n{name}: radii of the clusters, relative to the first: {true} in the data")
        for title, Y in maps.items():
            print(f"  {title:<24} {ratios(X, Y, labels)}")
        print(evaluate(X, maps["dtSNE"], labels=labels))
    figure.savefig(path, dpi=150)


def draw_digits(path: Path) -> None:
    digits = load("digits")
    Y = DTSNE(perplexity=50).fit_transform(digits.X)
    figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
    scatter(axes, Y, digits.labels, "digits: dtSNE, perplexity 50", plt.colormaps["tab10"].colors)
    axes.legend(
        title="digit", markerscale=3, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    print(f"\n{digits.description}")
    print(evaluate(digits.X, Y, k=50, labels=digits.labels))
    figure.savefig(path, dpi=150)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    print("The first run compiles for some seconds; later ones do not.")
    draw_three_gaussians(folder / "three-gaussians.png")
    draw_digits(folder / "digits.png")
    print(f"\nThe maps are {folder / 'three-gaussians.png'} and {folder / 'digits.png'}", end="")
    print(f" ({time.perf_counter() - started:.0f} s).")


if __name__ == "__main__":
    main()
