"""What a fit is estimated to take beside what it takes, for the constants of `_estimate.py`.

Run ``python benchmarks/estimate.py`` or name sizes: ``python benchmarks/estimate.py 5000 30000
--perplexity 30``. Each is mapped in a process of its own, as the peak of a process never falls, for
the iterations it needs. The estimate of time is for as many. Linux only.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dtsne import DTSNE
from dtsne._config import Config
from dtsne._cost import Job, cpu_seconds_by_phase, memory_by_phase
from dtsne._embed import MAX_EXACT

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

SIZES = (2_000, 5_000, 10_000, 15_000, 30_000, 70_000)
D = 50


def mixture(n: int) -> FloatArray:
    """Ten Gaussians of different widths."""
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=n)
    centres, widths = 8.0 * rng.normal(size=(10, D)), np.geomspace(1.0, 4.0, 10)
    points: FloatArray = centres[labels] + widths[labels, None] * rng.normal(size=(n, D))
    return points


def compare(n: int, perplexity: float) -> None:
    """Map n points, and print a line of the table for memory and for each phase."""
    X = mixture(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiles, so that neither its time nor its memory is counted.
        for method in ("exact", "fft"):
            DTSNE(perplexity=5.0, max_iter=20, method=method).fit(X[:300])
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    model = DTSNE(perplexity=perplexity).fit(X)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    measured = peak - pages * resource.getpagesize()
    job = Job(n, D, 2, perplexity, Config.max_dense, MAX_EXACT, "auto", model.n_iter_, 1)
    phases = {phase: sum(parts.values()) for phase, parts in memory_by_phase(job).items()}
    largest = max(phases, key=lambda phase: phases[phase])
    print(f"| {n} | {perplexity:g} | MiB ({largest}) | {phases[largest] / 2**20:.0f} "
          f"| {measured / 2**20:.0f} |")  # fmt: skip
    for phase, seconds in cpu_seconds_by_phase(job).items():
        print(f"| | | {phase}, CPU s | {seconds:.1f} | {model.timings_.get(phase, 0.0):.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--perplexity", type=float, nargs="*", default=[30.0, 100.0])
    arguments = parser.parse_args()
    if len(arguments.sizes) == 1 and len(arguments.perplexity) == 1:
        compare(arguments.sizes[0], arguments.perplexity[0])
        return
    print("| n | perplexity | what | estimated | measured |\n" + "|---" * 5 + "|", flush=True)
    for n in arguments.sizes:
        for perplexity in arguments.perplexity:
            command = [sys.executable, __file__, str(n), "--perplexity", str(perplexity)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
