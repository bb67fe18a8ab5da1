"""What the report on a map rests on, as in docs/account.md.

``python benchmarks/account.py`` prints which points are found to be in clusters too small for the
perplexity, by set and perplexity, what too large a perplexity does to σ, and how often the
intervals of ratios of spreads hold the truth. Real sets (DTSNE_DATA or a download) that are named
as arguments are searched for small clusters too, in subsets of 4000 points.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.decomposition import PCA

from dtsne.affinity._affinities import find_sigmas
from dtsne.datasets import load
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.report._bootstrap import interval, resampled_spreads
from dtsne.report._islands import island_sizes, smallest_size
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray

Draw: TypeAlias = "Callable[[tuple[int, int], np.random.Generator], FloatArray]"

PERPLEXITIES = (30, 50, 100, 165)
SYNTHETIC = ("2D-samples", "2D-density", "G3-s", "G3-d", "G10-d", "U5-d", "digits")
N_SEEDS = 3
N_REAL = 4000
N_REPEATS, N_RESAMPLES = 1000, 500
SHAPES = ((2, 10, 10), (2, 20, 60), (2, 100, 100), (50, 10, 10), (50, 20, 60), (50, 100, 100))


def print_small_clusters(names: tuple[str, ...]) -> None:
    print("\nShare of points found in clusters too small for the perplexity, and the sizes found")
    print("| set |", *(f"{perplexity} |" for perplexity in PERPLEXITIES))
    print("|---|" + "---|" * len(PERPLEXITIES))
    for name in names:
        real = name not in SYNTHETIC
        found: dict[int, list[int]] = {perplexity: [] for perplexity in PERPLEXITIES}
        n_points = 0
        for seed in range(1 if real or name == "digits" else N_SEEDS):
            X = load(name, seed=seed, n=N_REAL if real else None).X
            X = PCA(50, random_state=0).fit_transform(X) if X.shape[1] > 50 else X
            neighbors = nearest_neighbors(X, smallest_size(max(PERPLEXITIES)))
            n_points += len(X)
            for perplexity in PERPLEXITIES:
                sizes = island_sizes(*neighbors, smallest_size(perplexity))
                found[perplexity] += sizes[sizes > 0].tolist()
        cells = [
            f"{len(sizes) / n_points:.1%} {tuple(sorted(set(sizes))) if sizes else ''} |"
            for sizes in found.values()
        ]
        print(f"| {name} |", *cells)


def print_inflation() -> None:
    X, labels, _ = load("2D-samples")
    _, distances = nearest_neighbors(X, 3 * 100)
    print(
        "\nσ in the cluster of 100 points, over what its density alone would give (∝ √perplexity)"
    )
    usual = 0.0
    for perplexity in (30, 50, 80, 90, 100):
        sigma = np.median(find_sigmas(distances**2, perplexity)[labels == 0])
        usual = usual or sigma / np.sqrt(perplexity)
        print(f"perplexity {perplexity}: {sigma / usual / np.sqrt(perplexity):.2f}")


def gaussian(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    return rng.normal(size=shape)


def heavy_tailed(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Multivariate t of 3 degrees of freedom: few points far out make most of the spread."""
    return rng.normal(size=shape) / np.sqrt(rng.chisquare(3, size=(shape[0], 1)) / 3)


def coverage(draw: Draw, d: int, sizes: tuple[int, int], rng: np.random.Generator) -> float:
    """Share of the 95 % intervals for the ratio of the spreads of two groups that hold it."""
    held = 0
    for _ in range(N_REPEATS):
        wide, narrow = (
            resampled_spreads([spread * draw((n, d), rng)], N_RESAMPLES, rng)[0]
            for spread, n in zip((3.0, 1.0), sizes, strict=True)
        )
        low, high = interval(wide / narrow)
        held += bool(low <= 3.0 <= high)
    return held / N_REPEATS


def print_coverage() -> None:
    print("\nShare of the 95 % intervals that hold the true ratio of the spreads of two groups")
    print("| dimensions | points | Gaussian | t, 3 degrees of freedom |\n|---|---|---|---|")
    rng = np.random.default_rng(0)
    with open_threads(1):
        for d, n_wide, n_narrow in SHAPES:
            shares = [
                coverage(draw, d, (n_wide, n_narrow), rng) for draw in (gaussian, heavy_tailed)
            ]
            print(f"| {d} | {n_wide} and {n_narrow} |", *(f"{share:.1%} |" for share in shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help="real sets, beside the synthetic ones")
    print_small_clusters((*SYNTHETIC, *parser.parse_args().sets))
    print_inflation()
    print_coverage()


if __name__ == "__main__":
    main()
