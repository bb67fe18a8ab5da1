"""The method on a GPU: that it is right, how fast it is, and what bounds it.

Run with ``python benchmarks/gpu.py`` on a machine with a CUDA GPU (``--device cpu`` tries it
without). The real sets come from DTSNE_DATA. Times are of a whole `fit_transform` from an array of
the host, warm, medians of five; ``--only check|fits|phases|peers`` does a part.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.quality import density_correlation, trustworthiness

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne._typing import FloatArray

N_TIMES = 5
ROWS_MEASURED = 2_000
CYTOF_FILE = "multicenter_cytof.npz"
MIXTURE = (5_000_000, 50, 20)


def main() -> None:
    arguments = _arguments()
    device = torch.device(arguments.device)
    parts = {"check": check, "fits": time_fits, "phases": time_phases, "peers": time_peers}
    for name, part in parts.items():
        if arguments.only in (None, name):
            print(f"\n## {name}\n")
            part(device, arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", choices=["check", "fits", "phases", "peers"])
    parser.add_argument("--sets", nargs="+", default=["mnist", "himc", "multicenter", "mixture"])
    parser.add_argument("--times", type=int, default=N_TIMES)
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


def check(device: torch.device, arguments: argparse.Namespace) -> None:  # noqa: ARG001
    """Compare with the CPU, and two fits with each other."""
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
        same = "yes" if digest(there.embedding_) == digest(again.embedding_) else "NO"
        r_here, r_there = (density_correlation(X, model.embedding_) for model in (here, there))
        print(
            f"{name}: KL {here.kl_divergence_:.4f} on the CPU, {there.kl_divergence_:.4f} on "
            f"{device}; log r {r_here:.3f} and {r_there:.3f}; the same bits twice: {same}"
        )


def time_fits(device: torch.device, arguments: argparse.Namespace) -> None:
    print("| set | points | s (median) | least | most | iterations | KL | log r | trust | GiB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
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
            model = DTSNE(device=device).fit(X)
            taken.append(time.perf_counter() - started)
        warm = taken[1:] or taken
        peak = torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else float("nan")
        rows = min(ROWS_MEASURED, len(X))
        log_r = density_correlation(X, model.embedding_, max_rows=rows)
        trust = trustworthiness(X, model.embedding_, max_rows=rows) if len(X) < 10**6 else np.nan
        print(
            f"| {name} | {len(X):,} × {X.shape[1]} | {median(warm):.2f} | {min(warm):.2f} | "
            f"{max(warm):.2f} | {model.n_iter_} | {model.kl_divergence_:.4f} | {log_r:.3f} | "
            f"{trust:.3f} | {peak:.1f} |"
        )
        phases = ", ".join(f"{phase} {seconds:.3f}" for phase, seconds in model.timings_.items())
        print(f"<!-- first {taken[0]:.2f} s; {phases} -->")


def time_phases(device: torch.device, arguments: argparse.Namespace) -> None:
    raise NotImplementedError


def time_peers(device: torch.device, arguments: argparse.Namespace) -> None:
    raise NotImplementedError


def digest(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:12]


def least_seconds(function: Callable[[], Any], device: torch.device, times: int = 20) -> float:
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
