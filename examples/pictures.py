"""Every picture of `dtsne.plots`, of digits and G3-d: ``python examples/pictures.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dtsne import DTSNE, plots
from dtsne.datasets import load

DPI = 100


def tell_unit(name, report) -> None:
    print(
        f"{name}: one unit of the map is {report.radius_unit:.2f} in the data by the radii of "
        f"{report.quality.k} neighbours, and {report.kernel_unit:.2f} by the median of sigma_"
    )


def log_radius(report) -> np.ndarray:
    """Logarithms of the radii in the data, whose unit in a report is that of the map."""
    return report.points.log_radius_data + np.log(report.kernel_unit)


def draw_digits(save) -> None:
    digits = load("digits")
    model = DTSNE(perplexity=50)
    Y = model.fit_transform(digits.X)
    report = model.report()
    tell_unit("digits", report)
    names = {digit: f"digit {digit}" for digit in range(10)}
    save("map", plots.scatter_map(Y, labels=digits.labels, names=names))
    name = "radius of 50 neighbours in the data"
    ax = plots.radius_map(Y, log_radius(report), value_name=name)
    save("radii", plots.density_scale_bar(ax, report.radius_unit, length=50))
    points = report.points
    save("residuals", plots.residual_map(Y, points.density_residual))
    save("radius-plot", plots.radius_plot(points.log_radius_data, points.log_radius_map))


def draw_three_gaussians(save) -> None:
    three = load("G3-d")
    names = ["spread 2", "spread 4", "spread 8"]
    models = {"t-SNE": DTSNE(density_scale=0), "dtSNE": DTSNE()}
    maps = {name: model.fit_transform(three.X) for name, model in models.items()}
    figure = plots.side_by_side(maps, labels=three.labels, names=names, radius_ratios=True)
    save("side-by-side", figure)
    report = models["dtSNE"].report(k=30)
    tell_unit("G3-d", report)
    Y, unit = maps["dtSNE"], report.radius_unit
    ax = plots.scatter_map(Y, labels=three.labels, names=names, annotate=False)
    plots.iso_radius_glyphs(ax, Y, np.exp(log_radius(report)), unit=unit)
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
