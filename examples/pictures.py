"""Every picture of `dtsne.plots`, of digits and G3-d: ``python examples/pictures.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE, plots
from dtsne.datasets import load

DPI = 100


def log_radii(points, k) -> np.ndarray:
    """Logarithm of the distance to the k-th neighbour."""
    distances, _ = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    return np.log(distances[:, -1])


def tell_unit(name, unit, k, model) -> None:
    print(
        f"{name}: one unit of the map is {unit:.2f} in the data by the radii of {k} neighbours",
        end="",
    )
    print(f", and {np.median(model.sigma_):.2f} by the median of sigma_")


def draw_digits(save) -> None:
    digits = load("digits")
    model = DTSNE(perplexity=50)
    Y = model.fit_transform(digits.X)
    in_data, in_map = log_radii(digits.X, 50), log_radii(Y, 50)
    residual = in_map - in_data
    unit = plots.radius_unit(in_data, in_map)
    tell_unit("digits", unit, 50, model)
    names = {digit: f"digit {digit}" for digit in range(10)}
    save("map", plots.scatter_map(Y, labels=digits.labels, names=names))
    ax = plots.radius_map(Y, in_data, value_name="radius of 50 neighbours in the data")
    save("radii", plots.density_scale_bar(ax, unit, length=50))
    save("residuals", plots.residual_map(Y, residual - np.median(residual)))
    save("radius-plot", plots.radius_plot(in_data, in_map))


def draw_three_gaussians(save) -> None:
    three = load("G3-d")
    names = ["spread 2", "spread 4", "spread 8"]
    models = {"t-SNE": DTSNE(density_scale=0), "dtSNE": DTSNE()}
    maps = {name: model.fit_transform(three.X) for name, model in models.items()}
    figure = plots.side_by_side(maps, labels=three.labels, names=names, radius_ratios=True)
    save("side-by-side", figure)
    Y = maps["dtSNE"]
    in_data, in_map = log_radii(three.X, 30), log_radii(Y, 30)
    unit = plots.radius_unit(in_data, in_map)
    tell_unit("G3-d", unit, 30, models["dtSNE"])
    ax = plots.scatter_map(Y, labels=three.labels, names=names, annotate=False)
    plots.iso_radius_glyphs(ax, Y, np.exp(in_data), unit=unit)
    save("circles", plots.density_scale_bar(ax, unit, length=100))


def draw_a_million(save) -> None:
    """Draw random points, which are no map: only to show how so many are drawn."""
    rng = np.random.default_rng(0)
    labels = rng.integers(12, size=1_000_000)
    spreads = rng.choice([0.5, 1.0, 2.0, 3.0], 12)
    Y = 20 * rng.uniform(size=(12, 2))[labels] + spreads[labels, None] * rng.normal(size=(10**6, 2))
    ax = plots.scatter_map(Y, labels=labels, figsize=(4.2, 4.2), title="1,000,000 points")
    save("a-million-points", ax)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
    folder.mkdir(parents=True, exist_ok=True)

    def save(name, drawn) -> None:
        figure = getattr(drawn, "figure", drawn)
        figure.savefig(folder / f"{name}.png", dpi=DPI)
        print(folder / f"{name}.png")

    draw_digits(save)
    draw_three_gaussians(save)
    draw_a_million(save)


if __name__ == "__main__":
    main()
