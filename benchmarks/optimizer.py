"""The experiments behind the defaults of the descent and of the calibration: docs/optimiser.md.

Run with ``make optimizer``, or name tables and sets: ``python benchmarks/optimizer.py --tables
calibration --sets mnist samusik``. Real sets are random subsets of 5000 points.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dtsne import Config, embed
from dtsne._config import SCALED, CalibrationPlan
from dtsne.affinity._affinities import find_sigmas
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.quality import evaluate
from quality import MEASURES, SYNTHETIC, prepared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLAN = CalibrationPlan()
Variants: TypeAlias = "Iterator[tuple[str, Config]]"


def paper_table() -> Variants:
    for iterations in (500, 1000, 2000, 5000):
        yield f"paper, {iterations}", Config(optimizer="paper", max_iter=iterations)
    yield "scaled, until settled", Config(calibration=False)


def descent_table() -> Variants:
    plain = replace(SCALED, gains=False, exaggeration=1.0)
    rules = {
        "step n/4, momentum .9": replace(plain, step_share=0.25),
        "step n/2, momentum .9": plain,
        "step n/2, momentum .95": replace(plain, momentum=0.95),
        "step n, momentum .9": replace(plain, step_share=1.0),
        "step n/4, gains": replace(plain, step_share=0.25, gains=True),
        "step n/2, gains": replace(plain, gains=True),
        "step n/2, gains, momentum .8": replace(plain, gains=True, momentum=0.8),
        "**step n/2, gains, exaggeration 1.5**": SCALED,
        "step n/2, gains, exaggeration 2": replace(SCALED, exaggeration=2.0),
        "step n/2, gains, exaggeration 4": replace(SCALED, exaggeration=4.0),
        "step n/2, gains, exaggeration 12": replace(SCALED, exaggeration=12.0),
    }
    for label, rule in rules.items():
        for iterations in (100, 300):
            config = Config(calibration=False, tol=0.0, max_iter=iterations, rule=rule)
            yield f"{label}; {iterations}", config


def start_table() -> Variants:
    for init in ("pca", "spectral", "random"):
        config = Config(init=init, random_state=0)
        yield f"{init}", config
        yield f"{init}, not calibrated", replace(config, calibration=False)


def calibration_table() -> Variants:
    yield "none", Config(calibration=False)
    plans = {
        "**5 rounds, strength .5, bound 2, k = 30 and 100, 5 neighbours**": PLAN,
        "radius at k = 100 alone": replace(PLAN, shares_of_perplexity=(1.0,)),
        "radius at k = 50 alone": replace(PLAN, shares_of_perplexity=(0.5,)),
        "radii at k = 15, 50, 100, 200": replace(PLAN, shares_of_perplexity=(0.15, 0.5, 1.0, 2.0)),
        "no smoothing": replace(PLAN, n_smoothing=0),
        "smoothing over 15": replace(PLAN, n_smoothing=15),
        "strength .25, 10 rounds": replace(PLAN, strength=0.25, n_rounds=10),
        "strength .5, 10 rounds": replace(PLAN, n_rounds=10),
        "strength .8, 3 rounds": replace(PLAN, strength=0.8, n_rounds=3),
        "strength 1": replace(PLAN, strength=1.0),
        "bound 1.5": replace(PLAN, bound=1.5),
        "bound 4": replace(PLAN, bound=4.0),
        "no bound": replace(PLAN, bound=1e9),
        "started at once": replace(PLAN, start_below=np.inf),
        "started late (KL settled)": replace(PLAN, start_below=5e-4),
        "slope 1 always": replace(PLAN, slope_tolerance=np.inf),
        "slope without tolerance": replace(PLAN, slope_tolerance=0.0),
    }
    for label, plan in plans.items():
        yield label, Config(calibration_plan=plan)


TABLES = {
    "paper": (paper_table, ["G3-d", "U5-d", "G10-d"]),
    "descent": (descent_table, ["G3-d", "G10-d", "mnist", "samusik"]),
    "start": (start_table, ["G3-d", "mnist", "samusik"]),
    "calibration": (
        calibration_table,
        ["G3-s", "G10-d", "mnist", "samusik", "pbmc4k", "newsgroups"],
    ),
}


def print_table(name: str, sets: Sequence[str], seeds: int) -> None:
    print(f"\n## {name}\n\n| set | variant | KL | iterations | " + " | ".join(MEASURES), end="")
    print(" | radius error |\n" + "|---" * (len(MEASURES) + 5) + "|")
    for set_name in sets:
        for label, config in TABLES[name][0]():
            rows = [_one(set_name, seed, config) for seed in range(seeds)]
            kl, iterations, *measures, error = np.mean(rows, axis=0)
            values = " | ".join(f"{value:.3f}" for value in measures)
            shown = "–" if np.isnan(error) else f"{error:.1%}"
            print(
                f"| {set_name} | {label} | {kl:.3f} | {iterations:.0f} | {values} | {shown} |",
                flush=True,
            )


def _one(set_name: str, seed: int, config: Config) -> list[float]:
    X, labels = prepared(set_name, seed)
    embedding = embed(X, config)
    found = evaluate(X, embedding.coordinates, labels=labels if set_name in SYNTHETIC else None)
    error = float("nan") if found.clusters is None else abs(found.clusters.largest_error)
    measures = [getattr(found, field) for field in MEASURES.values()]
    return [embedding.kl_divergence, embedding.n_iter, *measures, error]


def print_sigma_table(sets: Sequence[str]) -> None:
    """Show how much larger σ is without the pairs beyond the nearest neighbours."""
    print("\n## sigma\n\n| set | neighbours | median | 99 % | largest |\n|---|---|---|---|---|")
    for name in sets:
        X, _ = prepared(name, 0)
        distances = nearest_neighbors(X, len(X) - 1)[1]
        whole = find_sigmas(distances**2, 100.0)
        for k in (300, 500, 1000):
            ratios = find_sigmas(distances[:, :k] ** 2, 100.0) / whole
            shown = " | ".join(f"{np.quantile(ratios, q):.3f}" for q in (0.5, 0.99, 1.0))
            print(f"| {name} | {k} | {shown} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tables", nargs="*", choices=[*TABLES, "sigma"], default=[*TABLES, "sigma"]
    )
    parser.add_argument("--sets", nargs="*", help="instead of the sets of each table")
    parser.add_argument(
        "--seeds", type=int, default=1, help="number of seeds to average (default 1)"
    )
    arguments = parser.parse_args()
    for name in arguments.tables:
        if name == "sigma":
            print_sigma_table(arguments.sets or ["mnist", "samusik"])
            continue
        print_table(name, arguments.sets or TABLES[name][1], arguments.seeds)


if __name__ == "__main__":
    main()
