"""What is measured of every map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtsne.quality import evaluate
from reproduce import _theory

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray
    from reproduce._sets import DatasetSample

# The measures of the paper first.
SYMBOLS = {
    "distance_correlation": "ρ",
    "neighbor_distance_correlation": "ρ_knn",
    "density_ratio_correlation": "ρ_r",
    "density_log_correlation": "log r",
    "trustworthiness": "trust",
    "neighbor_recall": "recall",
}
PAPER = tuple(SYMBOLS)[:3]
THEORY = {"anywhere": True, "same region": False}


def measure(drawn: DatasetSample, embedding: FloatArray, *, synthetic: bool) -> dict[str, Any]:
    """Take all measures of a map, as plain values that can be written to a file."""
    quality = evaluate(drawn.X, embedding, labels=drawn.labels if synthetic else None)
    found: dict[str, Any] = {name: getattr(quality, name) for name in SYMBOLS}
    if quality.clusters is not None:
        found["radii_data"] = quality.clusters.data.tolist()
        found["radii_map"] = quality.clusters.map.tolist()
    for where, anywhere in THEORY.items():
        ratios = _theory.compare_ratios(drawn.X, embedding, anywhere=anywhere)
        found[f"theory, {where}"] = {
            "correlation": ratios.correlation,
            "slope": ratios.slope,
            "factor": ratios.typical_factor,
        }
    return found
