"""What the paper prints: its table of results, as it stands there."""

from __future__ import annotations

# The columns of the table. "Wong" could not be had; see `_sets`.
SETS = ("G3-s", "G3-d", "G10-d", "U5-d", "Amazon", "MNIST", "Samusik", "Wong")

# By measure and method. t-SNE's ρ on G3-s is printed as ".100", which can only mean 1.00.
RESULTS: dict[str, dict[str, tuple[float, ...]]] = {
    "distance_correlation": {
        "dtsne": (0.99, 0.95, 0.62, 0.79, 0.27, 0.49, 0.80, 0.60),
        "largevis": (0.98, 0.95, 0.59, 0.85, 0.35, 0.42, 0.78, 0.43),
        "lle": (0.92, 0.93, 0.16, 0.56, 0.0, -0.18, 0.64, 0.22),
        "ncvis": (0.95, 0.92, 0.45, 0.80, 0.35, 0.36, 0.63, 0.45),
        "tsne": (1.00, 0.95, 0.65, 0.86, 0.38, 0.48, 0.77, 0.60),
        "umap": (0.98, 0.95, 0.57, 0.85, 0.33, 0.44, 0.79, 0.46),
    },
    "neighbor_distance_correlation": {
        "dtsne": (0.74, 0.81, 0.71, 0.82, 0.54, 0.68, 0.85, 0.78),
        "largevis": (0.56, 0.08, 0.39, 0.13, 0.52, 0.47, 0.67, 0.68),
        "lle": (0.15, -0.08, 0.21, -0.28, -0.28, -0.40, 0.64, 0.52),
        "ncvis": (0.59, 0.09, 0.40, 0.10, 0.44, 0.49, 0.74, 0.64),
        "tsne": (0.70, 0.12, 0.40, 0.12, 0.62, 0.61, 0.76, 0.69),
        "umap": (0.56, 0.06, 0.39, 0.11, 0.45, 0.44, 0.65, 0.66),
    },
    "density_ratio_correlation": {
        "dtsne": (0.31, 0.88, 0.91, 0.89, 0.22, 0.67, 0.66, 0.70),
        "largevis": (0.02, -0.01, -0.01, -0.01, 0.15, 0.08, 0.31, 0.42),
        "lle": (-0.06, -0.02, 0.08, -0.11, -0.16, -0.24, 0.34, 0.22),
        "ncvis": (0.16, -0.07, -0.08, -0.08, 0.01, -0.01, 0.45, 0.33),
        "tsne": (0.20, -0.11, 0.01, -0.09, 0.34, 0.38, 0.31, 0.44),
        "umap": (-0.02, -0.05, -0.02, -0.01, 0.04, 0.02, 0.40, 0.38),
    },
}


# Our readings of the paper's dtSNE: its objective, converged; and with its own descent.
_ROW_OF = {"dtsne-plain": "dtsne", "dtsne-paper": "dtsne"}


def printed(measure: str, method: str, column: str | None) -> float | None:
    """Return the number that the paper prints, or None where it prints none."""
    row = RESULTS.get(measure, {}).get(_ROW_OF.get(method, method))
    return None if row is None or column is None else row[SETS.index(column)]
