"""The method on a GPU: that it is right, how fast it is, and what bounds it.

Run with ``python benchmarks/gpu.py`` on a machine with a CUDA GPU. Real sets come from DTSNE_DATA.
``--only check|fits|phases|peers`` does a part: all tests of the GPU and maps beside those of the
CPU; times of a whole `fit_transform` from an array of the host, warm, medians of five; the parts of
a fit beside what bounds them; TorchDR's t-SNE. It ends with an error where a map is not as good as
that of the CPU. ``--device cpu`` fits on the CPU, and ``torch-cpu`` tries the script without a GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dtsne import DTSNE
from dtsne._config import SCALED
from dtsne.affinity._sigmas_torch import find_sigmas
from dtsne.affinity._sparse_torch import sparse_affinities
from dtsne.datasets import load
from dtsne.forces._attraction_torch import attraction
from dtsne.forces._engine_torch import gradient_step
from dtsne.forces._exact_torch import exact_repulsion, four_numbers
from dtsne.forces._step import Motion, StepSettings
from dtsne.forces.fft._cells_torch import arrange, count_cells, sort_into_cells
from dtsne.forces.fft._grid_torch import convolve, gather, spread
from dtsne.forces.fft._near_torch import sum_near
from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion, TorchNumerics
from dtsne.neighbors._search_torch import nearest
from dtsne.optimize._radii_torch import neighbor_radii
from dtsne.quality import density_correlation, trustworthiness

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray

N_TIMES = 5
ROWS_MEASURED = 2_000
CYTOF_FILE = "multicenter_cytof.npz"
N_PEERS = 20_000
# Evaluations after which the plan of the FFT repulsion is that of a settled descent.
N_TO_SETTLE = 200
MIXTURE = (5_000_000, 50, 20)
# What a map has to reach: KL beside that of the CPU, and on MNIST the correlation of log radii.
MOST_KL, LEAST_LOG_R = 1.01, 0.82
COMPARED = ("mnist", "himc")


def main() -> None:
    arguments = _arguments()
    device = torch.device(arguments.device.removeprefix("torch-"))
    parts = {"check": check, "fits": time_fits, "phases": time_phases, "peers": time_peers}
    failures: list[str] = []
    for name, part in parts.items():
        if arguments.only in (None, name):
            print(f"\n## {name}\n", flush=True)
            part(device, arguments, failures)
    if failures:
        sys.exit("\n".join(["", "Not as it should be:", *failures]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu", "torch-cpu"])
    parser.add_argument("--only", choices=["check", "fits", "phases", "peers"])
    parser.add_argument("--sets", nargs="+", default=["mnist", "himc", "multicenter", "mixture"])
    parser.add_argument("--times", type=int, default=N_TIMES)
    parser.add_argument("--peer-points", type=int, default=N_PEERS, help="of MNIST, up to 70000")
    return parser.parse_args()


def points_of(name: str) -> FloatArray:
    """Return a set as it is mapped; MNIST reduced to 50 principal components."""
    if name == "mixture":
        n, d, n_clusters = MIXTURE
        rng = np.random.default_rng(0)
        centres = 10.0 * rng.normal(size=(n_clusters, d))
        which = rng.integers(n_clusters, size=n)
        spread = np.linspace(1.0, 3.0, n_clusters)
        noise = rng.standard_normal((n, d), dtype=np.float32)
        return (centres[which] + spread[which, None] * noise).astype(np.float32)
    if name == "multicenter":
        raw = np.load(Path(os.environ["DTSNE_DATA"]) / CYTOF_FILE)["X"]
        return np.asarray(np.arcsinh(raw / 5.0), np.float32)
    X = load(name).X
    if X.shape[1] > 50:
        from sklearn.decomposition import PCA

        X = PCA(50, svd_solver="covariance_eigh").fit_transform(X.astype(np.float64))
    return np.ascontiguousarray(X, dtype=np.float32)


def check(
    device: torch.device,
    arguments: argparse.Namespace,  # noqa: ARG001
    failures: list[str],
) -> None:
    """Run the tests, compare with the CPU, and two fits with each other."""
    if find_spec("pytest") is None:
        failures.append("the tests were not run: pip install pytest hypothesis")
    else:
        tests = sorted(map(str, Path(__file__).parents[1].glob("tests/test_gpu_*.py")))
        quietly = ["-q", "--no-header", "-p", "no:cacheprovider"]
        if subprocess.run(
            [sys.executable, "-m", "pytest", *quietly, *tests], check=False
        ).returncode:
            failures.append("tests/test_gpu_*.py")
    tried: dict[str, dict[str, Any]] = {
        "G10-d": {},
        "G10-d, fft": {"method": "fft"},
        "G10-d, 3 dimensions": {"n_components": 3, "method": "fft"},
    }
    for name, parameters in tried.items():
        X = load(name.split(",")[0]).X
        here = DTSNE(**parameters).fit(X)
        there = DTSNE(device=device, **parameters).fit(X)
        again = DTSNE(device=device, **parameters).fit(X)
        same = digest(there.embedding_) == digest(again.embedding_)
        r_here, r_there = (
            density_correlation(X, model.embedding_, of="log") for model in (here, there)
        )
        print(
            f"{name}: KL {here.kl_divergence_:.4f} on the CPU, {there.kl_divergence_:.4f} on "
            f"{device}; log r {r_here:.3f} and {r_there:.3f}; the same bits twice: "
            f"{'yes' if same else 'NO'}",
            flush=True,
        )
        if not same:
            failures.append(f"{name}: two fits differ")
        if there.kl_divergence_ > MOST_KL * here.kl_divergence_ or r_there < r_here - 0.01:
            failures.append(f"{name}: not as good as on the CPU")


def time_fits(device: torch.device, arguments: argparse.Namespace, failures: list[str]) -> None:
    columns = ["set", "points", "s (median)", "least", "most", "iterations", "KL", "on the CPU"]
    columns += ["log r", "trust", "recall", "GiB"]
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for name in arguments.sets:
        X = points_of(name)
        taken = []
        times = 1 if name == "mixture" else arguments.times + 1
        for _ in range(times):
            if device.type == "cuda":
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
                torch.cuda.synchronize()
            started = time.perf_counter()
            model = DTSNE(device="cpu" if arguments.device == "cpu" else device).fit(X)
            taken.append(time.perf_counter() - started)
        warm = taken[1:] or taken
        peak = torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else float("nan")
        rows = min(ROWS_MEASURED, len(X))
        log_r = (
            density_correlation(X, model.embedding_, of="log", max_rows=rows)
            if len(X) < 10**6
            else np.nan
        )
        trust = trustworthiness(X, model.embedding_, max_rows=rows) if len(X) < 10**6 else np.nan
        of_cpu = np.nan
        if name in COMPARED and arguments.device != "cpu":
            of_cpu = DTSNE().fit(X).kl_divergence_
            if model.kl_divergence_ > MOST_KL * of_cpu:
                failures.append(f"{name}: KL {model.kl_divergence_:.4f}, on the CPU {of_cpu:.4f}")
        if name == "mnist" and log_r < LEAST_LOG_R:
            failures.append(f"{name}: log r {log_r:.3f}")
        print(
            f"| {name} | {len(X):,} × {X.shape[1]} | {median(warm):.2f} | {min(warm):.2f} | "
            f"{max(warm):.2f} | {model.n_iter_} | {model.kl_divergence_:.4f} | "
            f"{known(of_cpu, 4)} | {known(log_r, 3)} | {known(trust, 3)} | "
            f"{model.neighbor_recall_:.4f} | {known(peak, 1)} |",
            flush=True,
        )
        phases = ", ".join(f"{phase} {seconds:.3f}" for phase, seconds in model.timings_.items())
        print(f"<!-- first {taken[0]:.2f} s; {phases} -->")


def time_phases(
    device: torch.device,
    arguments: argparse.Namespace,  # noqa: ARG001
    failures: list[str],  # noqa: ARG001
) -> None:
    """Print what each part takes, beside what its bytes and operations would need."""
    bandwidth, rate = measured_bandwidth(device), measured_rate(device)
    print(f"copy {bandwidth / 1e12:.2f} TB/s, products in float32 {rate / 1e12:.0f} TFLOP/s\n")
    X = torch.as_tensor(points_of("mnist"), device=device)
    model = DTSNE(device=device).fit(X)
    n, d = X.shape
    k = int(3 * model.perplexity_)
    points = X - X.mean(dim=0)
    indices, distances, _ = nearest(points, k)
    length = float(distances[:, -1].median())
    squared = (distances / length) ** 2
    sigmas = find_sigmas(squared, model.perplexity_)
    P = sparse_affinities(indices, squared, sigmas)
    embedding = torch.as_tensor(model.embedding_)
    y = (embedding - embedding.mean(dim=0)).float()
    scales = torch.as_tensor(model.kernel_scale_).float()
    numbers = four_numbers(y, scales)
    repulsion, numerics = TorchFftRepulsion(2, 0.01), TorchNumerics(2)
    for _ in range(N_TO_SETTLE):
        repulsion(y, scales, epoch=0)
    plan = repulsion.plan
    assert plan is not None
    box = numerics.measure(y)
    cells = sort_into_cells(
        y, box.origin, plan.cell_width, count_cells(box.extent.tolist(), plan.cell_width)
    )
    taken = arrange(y, scales, cells.order, box.origin, plan)
    grid = spread(taken.positions, taken.weights, plan.grid_shape[::-1])
    potentials = convolve(grid, plan.spectra, plan.padded_shape[::-1])
    in_cell = torch.diff(cells.starts).double()
    n_near = 25.0 * float((in_cell**2).sum())
    n_nodes, size = grid.shape[0], float(np.prod(plan.padded_shape))
    at, wide = y.double(), scales.double()
    ones = torch.ones_like(at)
    print(
        f"{n:,} points, {P.values.numel():,} pairs of P; cutoff {plan.cutoff:.2f}, grid "
        f"{plan.grid_shape}, {n_nodes} scale nodes, {n_near / n:.0f} near pairs a point\n"
    )
    print("| part | ms | bytes, GB | operations, G | bound, ms | ratio |")
    print("|---|---|---|---|---|---|")

    def row(name: str, call: Callable[[], Any], n_bytes: float, n_operations: float) -> None:
        seconds = median_seconds(call, device)
        bound = max(n_bytes / bandwidth, n_operations / rate)
        # Of less than a microsecond, it is the launch that takes the time.
        ratio = f"{seconds / bound:.1f}" if bound > 1e-6 else "–"
        print(
            f"| {name} | {1e3 * seconds:.3f} | {n_bytes / 1e9:.3f} | {n_operations / 1e9:.1f} | "
            f"{1e3 * bound:.3f} | {ratio} |",
            flush=True,
        )

    row("neighbours", lambda: nearest(points, k), 4.0 * n * d + 8.0 * n * k, 2.0 * n * n * d)
    row("σ", lambda: find_sigmas(squared, model.perplexity_), 4.0 * n * k, 30.0 * 10 * n * k)
    row("P", lambda: sparse_affinities(indices, squared, sigmas),
        8.0 * n * k + 8.0 * P.values.numel(), 0.0)  # fmt: skip
    row("attraction", lambda: attraction(P, numbers, n_axes=2),
        8.0 * P.values.numel() + 28.0 * n, 13.0 * P.values.numel())  # fmt: skip
    row("cells", lambda: sort_into_cells(y, box.origin, plan.cell_width, cells.counts),
        24.0 * n, 0.0)  # fmt: skip
    row("near pairs", lambda: sum_near(taken.relative, taken.scales, cells, plan.cutoff),
        28.0 * n, 25.0 * n_near)  # fmt: skip
    row("spread", lambda: spread(taken.positions, taken.weights, plan.grid_shape[::-1]),
        n * (8.0 + 4.0 * n_nodes) + 12.0 * grid.numel(), 40.0 * n * n_nodes)  # fmt: skip
    row("convolution", lambda: convolve(grid, plan.spectra, plan.padded_shape[::-1]),
        size * n_nodes * 24.0 + 4.0 * plan.spectra.numel(),
        5.0 * n_nodes * size * np.log2(size))  # fmt: skip
    row("gather", lambda: gather(taken.positions, taken.weights, potentials),
        n * (24.0 + 4.0 * n_nodes), 60.0 * n * n_nodes)  # fmt: skip
    motion, settings = Motion(at, 0.1 * at, ones), StepSettings(SCALED, 0.9, learning_rate=1.0)
    row("step", lambda: gradient_step(motion, wide, 1e-3 * at, settings),
        9.0 * 16.0 * n, 40.0 * n)  # fmt: skip
    row("radii in the map", lambda: neighbor_radii(y, [30, 100]), 16.0 * n, 0.0)
    row("all pairs, exactly", lambda: exact_repulsion(numbers, n_axes=2), 28.0 * n, 14.0 * n * n)
    seconds = median_seconds(lambda: exact_repulsion(numbers, n_axes=2), device)
    print(f"\nexact: {n * n / seconds / 1e12:.2f}·10¹² pairs/s")


def measured_bandwidth(device: torch.device) -> float:
    """Bytes read and written in a second by a large copy."""
    values = torch.empty(2**28 if device.type == "cuda" else 2**24, device=device)
    other = torch.empty_like(values)
    return 2.0 * values.nbytes / median_seconds(lambda: other.copy_(values), device)


def measured_rate(device: torch.device) -> float:
    """Operations in a second by a large product of matrices in float32."""
    n = 8192 if device.type == "cuda" else 512
    matrix = torch.randn((n, n), device=device)
    return 2.0 * n**3 / median_seconds(lambda: matrix @ matrix, device, times=5)


def time_peers(
    device: torch.device,
    arguments: argparse.Namespace,
    failures: list[str],  # noqa: ARG001
) -> None:
    """Compare with TorchDR's t-SNE, where it is installed, on a part of MNIST."""
    if find_spec("torchdr") is None:
        print("TorchDR is not installed: pip install torchdr")
        return
    import torchdr

    n = arguments.peer_points
    X = points_of("mnist")[np.random.default_rng(0).permutation(70_000)[:n]]
    peers: dict[str, Callable[[FloatArray], Any]] = {
        "dtsne": lambda X: DTSNE(device=device).fit_transform(X),
        "dtsne, density_scale=0": lambda X: DTSNE(device=device, density_scale=0).fit_transform(X),
        "TorchDR TSNE": lambda X: torchdr.TSNE(
            perplexity=100, device=str(device), random_state=0
        ).fit_transform(torch.as_tensor(X, device=device)),
    }
    print(f"MNIST, {n:,} points, perplexity 100, warm\n")
    print("| method | s | log r | trust |")
    print("|---|---|---|---|")
    for name, fit in peers.items():
        fit(X if name.startswith("dtsne") else X[:2000])  # TorchDR compiles nothing
        started = time.perf_counter()
        found = fit(X)
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        Y = found.detach().cpu().numpy() if isinstance(found, torch.Tensor) else np.asarray(found)
        log_r = density_correlation(X, Y, of="log", max_rows=ROWS_MEASURED)
        trust = trustworthiness(X, Y, max_rows=ROWS_MEASURED)
        print(f"| {name} | {seconds:.2f} | {log_r:.3f} | {trust:.3f} |", flush=True)


def known(value: float, n_digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.{n_digits}f}"


def digest(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:12]


def median_seconds(function: Callable[[], Any], device: torch.device, times: int = 20) -> float:
    """Median seconds of a call on the device."""
    for _ in range(3):
        function()
    found = []
    for _ in range(times):
        if device.type == "cuda":
            torch.cuda.synchronize()
        started = time.perf_counter()
        function()
        if device.type == "cuda":
            torch.cuda.synchronize()
        found.append(time.perf_counter() - started)
    return median(found)


if __name__ == "__main__":
    main()
