"""What bounds each phase, and how far it is from that: the table of docs/benchmarks/profile.md.

Run with ``make profile`` or ``python benchmarks/roofline.py --n 70000``. First it measures what the
machine can do: read memory, multiply matrices, transform. Then it maps MNIST, and times each part
of an iteration by itself on the final map. All times are CPU seconds, the least of several.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from dtsne import DTSNE
from dtsne._config import Config
from dtsne._cost import Job
from dtsne._problem import state_problem
from dtsne.affinity._base import SparseAffinities
from dtsne.data._points import Points
from dtsne.forces._attraction import attraction
from dtsne.forces.fft._cells import BORDER, sort_into_cells
from dtsne.forces.fft._grid import convolve
from dtsne.forces.fft._kernels import STENCIL
from dtsne.forces.fft._repulsion import FftRepulsion, sum_far, sum_near_pairs
from dtsne.optimize._radii import neighbor_radii
from dtsne.runtime._jit import compiled
from dtsne.runtime._progress import shown_progress
from dtsne.runtime._threads import Threads, open_threads, resolve_n_jobs
from quality import prepared

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray

# Evaluations until the plan of the repulsion is that of a descent well under way.
N_TO_SETTLE = 80
PERPLEXITY = 100.0


def least_cpu(work: Callable[[], object], repeats: int = 5) -> float:
    """CPU seconds of some work, after a call that does not count."""
    work()
    times = []
    for _ in range(repeats):
        before = process_time()
        work()
        times.append(process_time() - before)
    return min(times)


@compiled()
def _read(begin, end, columns, values, sums):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for e in range(begin, end):
        total += values[e] * np.float32(columns[e])
    sums[0] = total


def bytes_per_second(P: SparseAffinities[FloatArray], threads: Threads) -> float:
    """Read P, and do next to nothing with it."""
    sums = np.empty(1, np.float32)
    n_bytes = P.columns.nbytes + P.values.nbytes
    return n_bytes / least_cpu(
        lambda: threads.for_rows(_read, len(P.values), P.columns, P.values, sums)
    )


def products_per_second(n_columns: int) -> float:
    """Multiply and add numbers of matrices as the neighbour search has them, on one thread."""
    rng = np.random.default_rng(0)
    rows, others = (rng.random((n, n_columns), dtype=np.float32) for n in (64, 14_000))
    out = np.empty((64, 14_000), np.float32)
    return out.size * n_columns / least_cpu(lambda: np.matmul(rows, others.T, out=out))


def transform_seconds(shape: tuple[int, ...], n_nodes: int) -> float:
    """Transform grids there and back, all at once and without padding, as scipy does it best."""
    grids = np.random.default_rng(0).random((n_nodes, *shape), dtype=np.float32)
    axes = tuple(range(1, grids.ndim))
    return least_cpu(lambda: fft.irfftn(fft.rfftn(grids, axes=axes), s=shape, axes=axes))


def row(part: str, seconds: float, bound: str, limit: float | None) -> None:
    least = "" if limit is None else f"{1e3 * limit:.1f}"
    ratio = "" if limit is None else f"{seconds / limit:.1f}"
    print(f"| {part} | {1e3 * seconds:.1f} | {bound} | {least} | {ratio} |", flush=True)


def profile(X: FloatArray, n_jobs: int) -> None:
    model = DTSNE(n_jobs=n_jobs).fit(X)
    n, d = X.shape
    with open_threads(n_jobs) as threads, shown_progress(0) as progress:
        job = Job(n, d, 2, PERPLEXITY, 0, 0, "fft", 1, n_jobs)
        problem = state_problem(Points(X, unit=1.0), job, Config(), progress, threads)
        P = problem.affinities
        assert isinstance(P, SparseAffinities)
        coordinates = np.zeros((3, n))
        coordinates[:2] = model.embedding_[problem.order].T
        scales = model.kernel_scale_[problem.order]
        repulsion = FftRepulsion(2, 0.01, threads)
        for _ in range(N_TO_SETTLE):
            repulsion(coordinates, scales, epoch=0)
        plan = repulsion.plan
        assert plan is not None
        reading, multiplying = bytes_per_second(P, threads), products_per_second(d + 1)
        print(
            f"{n} points, {len(P.values)} entries of P, {n_jobs} threads; a processor reads "
            f"{reading / 1e9:.1f} GB/s and multiplies {multiplying / 1e9:.0f} · 10⁹ pairs/s.\n"
        )
        seconds = ", ".join(f"{name} {value:.1f}" for name, value in model.timings_.items())
        print(f"The whole fit, {model.n_iter_} iterations, CPU s: {seconds}.\n")
        print("| part | CPU ms | bound by | at best, ms | times that |\n" + "|---" * 5 + "|")
        n_bytes = P.columns.nbytes + P.values.nbytes
        forces = least_cpu(lambda: attraction(P, coordinates, scales, threads))
        both = least_cpu(lambda: attraction(P, coordinates, scales, threads, with_cost=True))
        row("attraction", forces, "reading P once", n_bytes / reading)
        row("its cost (one iteration in ten)", both - forces, "reading P once", n_bytes / reading)
        used = coordinates[:2]
        origin = used.min(axis=1)
        cells = sort_into_cells(used, origin, plan.cell_width)
        points = np.zeros((3, n))
        points[:2] = (used - origin[:, np.newaxis])[:, cells.order]
        grid = np.zeros((*plan.grid_shape[::-1], plan.weights.shape[1]), np.float32)
        row("repulsion, far",
            least_cpu(lambda: sum_far(plan, points, cells, threads)), "", None)  # fmt: skip
        transforms = transform_seconds(plan.padded_shape[::-1], len(plan.nodes.values))
        row("— of it, the convolution", least_cpu(lambda: convolve(plan, grid, threads)),
            "its transforms", transforms)  # fmt: skip
        if plan.cutoff > 0:
            in_cell = np.diff(cells.starts).astype(float)
            sorted_scales = scales[cells.order]
            n_met = (2 * BORDER + 1) ** 2 * float((in_cell**2).sum())
            near = least_cpu(
                lambda: sum_near_pairs(plan.cutoff, points, sorted_scales, cells, threads)
            )
            row(f"repulsion, near ({1e9 * near / n_met:.2f} ns for each of {n_met:.2g} pairs met)",
                near, "a division for each pair", n_met * division_seconds(threads))  # fmt: skip
        radii = least_cpu(lambda: neighbor_radii(used.T, (30, 100), threads))
        row("radii of a calibration", radii, "", None)
        print(
            f"\nThe plan: cutoff {plan.cutoff:.2f}, spacing {plan.spacing:.2f}, "
            f"{len(plan.nodes.values)} scale nodes, a grid of {plan.grid_shape}, "
            f"{STENCIL}² nodes for each point."
        )


@compiled()
def _divide(begin, end, values, sums):  # type: ignore[no-untyped-def]
    one = np.float32(1)
    for repeat in range(begin, end):
        total = np.float32(0)
        for i in range(len(values)):
            total += one / (values[i] + np.float32(repeat))
        sums[repeat % len(sums)] = total


def division_seconds(threads: Threads) -> float:
    """Seconds of a division in float32, of numbers in the first cache."""
    values, sums = np.ones(2048, np.float32), np.empty(16, np.float32)
    seconds = least_cpu(lambda: threads.for_rows(_divide, 20_000, values, sums))
    return seconds / (20_000 * len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=70_000)
    parser.add_argument("--jobs", type=int, default=None)
    arguments = parser.parse_args()
    X, _ = prepared("mnist", 0, n=arguments.n)
    profile(X - X.mean(axis=0), resolve_n_jobs(arguments.jobs))


if __name__ == "__main__":
    main()
