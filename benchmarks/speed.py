"""Time, memory and quality of dtsne beside its peers: docs/benchmarks/speed.md.

Run with ``make bench``, or a part of it: ``python benchmarks/speed.py --only dtsne --sizes 5000``.
Every fit has a process of its own (see _peers.py) and leaves a file in docs/benchmarks/runs, of
which the report is made: ``--report-only`` makes it again. The CyTOF data is read from the folder
in DTSNE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from joblib import cpu_count
from sklearn.decomposition import PCA

import dtsne
from _arguments import several_of
from _peers import METHODS, Measured
from _speed_report import Record, read_records, write_record, write_report
from dtsne.datasets import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.runtime._typing import FloatArray

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
CYTOF_FILE = "multicenter_cytof.npz"
CYTOF_COFACTOR = 5  # the usual one for mass cytometry
LONGEST_SECONDS = 2 * 60 * 60
# Every kernel is compiled and cached before anything is timed. Beyond 20,000 points dtsne takes the
# last of its ways; the peers' caches are filled by the fit of few points that starts every run.
CACHED_BY = {"dtsne": 21_000}
PACKAGES = (
    "openTSNE", "umap-learn", "pynndescent", "pacmap", "numba", "numpy", "scipy",
    "scikit-learn",
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One method on a number of points of a data set."""

    method: str
    data: str
    n: int


PLAN = (
    *(Run(method, "MNIST", n) for n in (5_000, 20_000, 70_000) for method in METHODS),
    *(Run("dtsne", "CyTOF", n) for n in (20_000, 70_000, 200_000, 929_685)),
)


@cache
def whole(data: str) -> FloatArray:
    """Load a data set as all methods get it."""
    if data == "MNIST":
        reduced = PCA(50, svd_solver="covariance_eigh").fit_transform(load("mnist").X)
        return np.asarray(reduced, dtype=np.float32)
    path = Path(os.environ.get("DTSNE_DATA", "")).expanduser() / CYTOF_FILE
    if not path.is_file():
        raise FileNotFoundError(f"set DTSNE_DATA to a folder that holds {CYTOF_FILE}")
    with np.load(path, allow_pickle=False) as stored:
        return np.asarray(np.arcsinh(stored["X"] / CYTOF_COFACTOR), dtype=np.float32)


def prepare(data: str, n: int, folder: Path) -> Path:
    """Write a random subset of a data set, once, and return its file."""
    path = folder / f"{data}-{n}.npy"
    if not path.exists():
        X = whole(data)
        rows = np.sort(np.random.default_rng(0).choice(len(X), n, replace=False))
        np.save(path, X[rows])
    return path


def fill_caches(method: str, folder: Path, jobs: int) -> None:
    """Let a method compile what it keeps on disk; a failure will show in its runs."""
    rng = np.random.default_rng(0)
    n = CACHED_BY.get(method, 1_000)
    path = folder / "blobs.npy"
    np.save(path, (rng.normal(size=(n, 8)) + 4 * rng.integers(3, size=(n, 1))).astype(np.float32))
    fit_in_new_process(method, path, jobs)


def measure(run: Run, folder: Path, jobs: int) -> Record:
    """Make one run, or tell why it cannot be made."""
    load_before = os.getloadavg()[0]
    outcome: Measured | str
    try:
        outcome = fit_in_new_process(run.method, prepare(run.data, run.n, folder), jobs)
    except (OSError, ValueError, ImportError) as error:  # from the loading of the data
        outcome = str(error)
    return Record(
        method=run.method,
        data=run.data,
        n=run.n,
        jobs=jobs,
        outcome=outcome,
        load_before=load_before,
        load_after=os.getloadavg()[0],
        machine=machine(),
        versions=versions(),
    )


def fit_in_new_process(method: str, data: Path, jobs: int) -> Measured | str:
    """Return what was measured, or the reason why nothing was."""
    # For the methods that have no parameter for it, and for the libraries below.
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    threads = dict.fromkeys(names, str(jobs))
    child = Path(__file__).with_name("_peers.py")
    result = data.with_suffix(".json")
    try:
        done = subprocess.run(
            [sys.executable, child, method, data, result, "--jobs", str(jobs)],
            env=os.environ | threads,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {LONGEST_SECONDS / 3600:.0f} hours"
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    if done.returncode > 0:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    return Measured(**json.loads(result.read_text()))


@cache
def machine() -> str:
    """Describe the processor and the system."""
    cpu = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        models = [s for s in described.read_text().splitlines() if s.startswith("model name")]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    return f"{cpu}, {cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


@cache
def versions() -> dict[str, str]:
    """Return the versions of the packages that are compared, and of those they stand on."""
    found = {"dtsne": dtsne.__version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def measure_all(plan: Sequence[Run], folder: Path, jobs: int) -> None:
    """Make the runs one after the other, and keep each as soon as it is made."""
    with tempfile.TemporaryDirectory() as scratch:
        for method in dict.fromkeys(run.method for run in plan):
            print(f"filling the caches of {method}", flush=True)
            fill_caches(method, Path(scratch), jobs)
        for run in plan:
            record = measure(run, Path(scratch), jobs)
            write_record(record, folder / "runs")
            found = record.outcome
            shown = found if isinstance(found, str) else f"{found.cpu_seconds:.1f} CPU s"
            print(f"{run.data} {run.n:,} {run.method}: {shown}", flush=True)


def main() -> None:
    sizes = sorted({run.n for run in PLAN})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=several_of(METHODS), help="methods, as in dtsne,UMAP")
    parser.add_argument("--sizes", type=several_of(sizes), help="as in 5000,20000")
    parser.add_argument("--jobs", type=int, default=cpu_count(), help="threads (default all)")
    parser.add_argument("--report-only", action="store_true", help="from the runs at hand")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the runs and the report")
    arguments = parser.parse_args()
    if not arguments.report_only:
        plan = [
            run
            for run in PLAN
            if run.method in (arguments.only or METHODS)
            and str(run.n) in (arguments.sizes or map(str, sizes))
        ]
        measure_all(plan, arguments.folder, arguments.jobs)
    write_report(read_records(arguments.folder / "runs"), arguments.folder)
    print(f"see {arguments.folder / 'speed.md'}")


if __name__ == "__main__":
    main()
