"""The quality of dtSNE's maps on the paper's sets: means over seeds, as in docs/quality.md.

Sets of no more than 5000 points are taken whole, and once.

Run with ``make quality`` (everything) or ``python benchmarks/quality.py G3-d mnist``. The real sets
are random subsets of 5000 points and need DTSNE_DATA or a download. Quality is measured against the
first 50 principal components, which is what is mapped.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from sklearn.decomposition import PCA

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.quality import Quality, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtsne.runtime._typing import FloatArray, IntArray

SYNTHETIC = ("G3-s", "G3-d", "G10-d", "U5-d")
REAL = ("mnist", "samusik", "himc", "pbmc4k", "newsgroups", "amazon")
N_REAL = 5000
MEASURES = {
    "ρ": "distance_correlation",
    "ρ_knn": "neighbor_distance_correlation",
    "ρ_r": "density_ratio_correlation",
    "log r": "density_log_correlation",
    "trust": "trustworthiness",
    "recall": "neighbor_recall",
}


@dataclass(frozen=True)
class Measured:
    """Means over seeds."""

    means: dict[str, float]
    radius_error: float  # of the synthetic sets' clusters: mean over seeds of the largest
    cpu_seconds: float


@cache
def prepared(name: str, seed: int, n: int = N_REAL) -> tuple[FloatArray, IntArray]:
    """Draw a set, n points of the large ones, and reduce it to 50 principal components."""
    whole = load(name, seed) if n_points(name) <= n else load(name, seed, n=n)
    X = whole.X.astype(np.float64)
    if X.shape[1] > 50:
        X = PCA(50, svd_solver="covariance_eigh").fit_transform(X)
    assert whole.labels is not None
    return X, whole.labels


@cache
def n_points(name: str) -> int:
    """Count the points of a set."""
    return len(load(name).X)


def with_dtsne(**parameters: object) -> Callable[[FloatArray], FloatArray]:
    """Return a function that maps data with these parameters."""
    return lambda X: DTSNE(**parameters).fit_transform(X)  # type: ignore[arg-type]


def with_densmap(X: FloatArray) -> FloatArray:
    """Map data with densMAP as umap-learn has it by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from umap import UMAP

        embedding: FloatArray = UMAP(densmap=True, random_state=0).fit_transform(X)
    return embedding


def measure(
    name: str, mapper: Callable[[FloatArray], FloatArray], seeds: Sequence[int] = range(5)
) -> Measured:
    """Map a set once for each seed and average what `evaluate` says."""
    if name not in SYNTHETIC and n_points(name) <= N_REAL:
        seeds = seeds[:1]  # the whole set, which is the same for every seed
    results: list[Quality] = []
    cpu_seconds = 0.0
    for seed in seeds:
        X, labels = prepared(name, seed)
        before = time.process_time()
        embedding = mapper(X)
        cpu_seconds += time.process_time() - before
        results.append(evaluate(X, embedding, labels=labels if name in SYNTHETIC else None))
    means = {
        symbol: float(np.mean([getattr(result, field) for result in results]))
        for symbol, field in MEASURES.items()
    }
    errors = [abs(r.clusters.largest_error) for r in results if r.clusters is not None]
    radius_error = float(np.mean(errors)) if errors else float("nan")
    return Measured(means, radius_error, cpu_seconds / len(seeds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=[*SYNTHETIC, *REAL])
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default 5)")
    parser.add_argument("--densmap", action="store_true", help="compare with umap-learn's densMAP")
    arguments = parser.parse_args()
    mappers = {"calibrated": with_dtsne(), "plain": with_dtsne(calibration=False)}
    if arguments.densmap:
        mappers["densMAP"] = with_densmap
    print("| set | method | " + " | ".join(MEASURES) + " | radius error | CPU s |")
    print("|---" * (len(MEASURES) + 4) + "|")
    for name in arguments.sets:
        for label, mapper in mappers.items():
            found = measure(name, mapper, range(arguments.seeds))
            values = " | ".join(f"{value:.3f}" for value in found.means.values())
            error = "–" if np.isnan(found.radius_error) else f"{found.radius_error:.1%}"
            print(
                f"| {name} | {label} | {values} | {error} | {found.cpu_seconds:.1f} |", flush=True
            )


if __name__ == "__main__":
    main()
