"""The picture of the README: ``python examples/story.py story.png`` (MNIST is downloaded, or read).

Above, three Gaussians of different spread; below MNIST, whose ones are the tightest digit.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure

from dtsne import DTSNE, plots
from dtsne.datasets import load
from dtsne.quality import cluster_radius_ratios

METHODS = {"t-SNE": 0.0, "dtSNE": 1.0}
ONE = 1
SPREADS = ["spread 1", "spread 2", "spread 4"]


def ratios_of(X, Y, labels) -> str:
    found = cluster_radius_ratios(X, Y, labels)
    return " : ".join(f"{ratio:.2f}" for ratio in found.map)


def distance_of_ones(log_radii, labels) -> float:
    """Median distance of the ones to their neighbours, over that of all other digits."""
    ones = labels == ONE
    return float(np.exp(np.median(log_radii[ones]) - np.median(log_radii[~ones])))


def draw_gaussians(axes) -> None:
    three = load("G3-d")
    print(f"three Gaussians in 50 dimensions: {ratios_of(three.X, three.X, three.labels)}")
    for ax, (name, density_scale) in zip(axes, METHODS.items(), strict=True):
        Y = DTSNE(density_scale=density_scale).fit_transform(three.X)
        drawn = ratios_of(three.X, Y, three.labels)
        print(f"  {name}: {drawn}")
        title = f"{name} draws three Gaussians of spread 1 : 2 : 4\nas {drawn}"
        plots.scatter_map(Y, labels=three.labels, names=SPREADS, ax=ax)
        ax.set_title(title, fontsize=10)


def draw_digits(axes) -> None:
    digits = load("mnist")
    labels = digits.labels.astype(int)
    for ax, (name, density_scale) in zip(axes, METHODS.items(), strict=True):
        model = DTSNE(density_scale=density_scale, verbose=1)
        Y = model.fit_transform(digits.X)
        report = model.report()
        true = distance_of_ones(report.points.log_radius_data, labels)
        drawn = distance_of_ones(report.points.log_radius_map, labels)
        log_r = report.quality.density_log_correlation
        print(f"MNIST, {len(Y)} digits, {name}: the ones lie {drawn:.2f} times as far from their")
        print(
            f"  neighbours as others, {true:.2f} in the data; correlation of log radii {log_r:.2f}"
        )
        plots.scatter_map(Y, labels=labels, ax=ax, point_size=1, alpha=0.4)
        ax.set_title(
            f"{name} draws MNIST's ones {drawn:.2f} times as far from\n"
            f"their neighbours as others; in the data it is {true:.2f}",
            fontsize=10,
        )


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "story.png"
    figure = Figure((9.0, 9.6), layout="constrained")
    rows = figure.subplots(2, 2)
    draw_gaussians(rows[0])
    draw_digits(rows[1])
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main()
