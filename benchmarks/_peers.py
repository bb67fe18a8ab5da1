"""The methods that speed.py compares, and the measured fit of one of them in this process.

Run by speed.py, each time anew: ``python benchmarks/_peers.py METHOD DATA.npy RESULT.json``.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray

N_FIRST_CALL = 1000
# Quality is measured around this many points; of a large set around fewer, as each is compared with
# all points, which would take minutes.
ROWS_MEASURED = 10_000
N_LARGE = 100_000
ROWS_OF_LARGE = 2_000


@dataclass(frozen=True)
class Fitted:
    """A map, and what its method tells of the way to it."""

    embedding: FloatArray
    n_iter: int | None = None
    phases: dict[str, float] = field(default_factory=dict)  # CPU seconds


@dataclass(frozen=True)
class Method:
    """An adapter and its settings; `as_if_many` lets few points take the path of many."""

    adapter: Callable[..., Fitted]
    settings: dict[str, Any] = field(default_factory=dict)
    as_if_many: dict[str, Any] = field(default_factory=dict)

    def fit(self, X: FloatArray, jobs: int) -> Fitted:
        return self.adapter(X, jobs, **self.settings)

    def rehearse(self, X: FloatArray, jobs: int) -> None:
        self.adapter(X, jobs, **self.settings, **self.as_if_many)


@dataclass(frozen=True)
class Measured:
    """One fit. Peak memory is that of the process, with its imports and the data."""

    wall_seconds: float
    cpu_seconds: float
    first_call_seconds: float
    peak_mb: float
    n_iter: int | None
    phases: dict[str, float]
    quality: dict[str, Any]


def fit_dtsne(X: FloatArray, jobs: int) -> Fitted:
    from dtsne import DTSNE

    model = DTSNE(n_jobs=jobs).fit(X)
    return Fitted(model.embedding_, model.n_iter_, dict(getattr(model, "timings_", {})))


def fit_opentsne(X: FloatArray, jobs: int, *, perplexity: int) -> Fitted:
    from openTSNE import TSNE

    return Fitted(np.asarray(TSNE(perplexity=perplexity, n_jobs=jobs, random_state=0).fit(X)))


def fit_umap(X: FloatArray, jobs: int, **settings: Any) -> Fitted:
    from umap import UMAP

    # Not seeded: a seed takes it to one thread.
    return Fitted(UMAP(n_jobs=jobs, **settings).fit_transform(X))


def fit_pacmap(X: FloatArray, jobs: int) -> Fitted:  # noqa: ARG001 - threads by environment only
    from pacmap import PaCMAP

    # Not seeded: a seed takes its search for neighbours to one thread.
    return Fitted(PaCMAP().fit_transform(X))


# Below 4096 points UMAP compares all pairs, and would leave its search to be compiled later.
SEARCHED = {"force_approximation_algorithm": True}

METHODS = {
    "dtsne": Method(fit_dtsne),
    "openTSNE-30": Method(fit_opentsne, {"perplexity": 30}),
    "openTSNE-100": Method(fit_opentsne, {"perplexity": 100}),
    "UMAP": Method(fit_umap, as_if_many=SEARCHED),
    "densMAP": Method(fit_umap, {"densmap": True}, as_if_many=SEARCHED),
    "PaCMAP": Method(fit_pacmap),
}


def measure(method: Method, X: FloatArray, jobs: int) -> Measured:
    """Fit a few points, so that all is imported and compiled; then fit, timed; then evaluate."""
    few = np.ascontiguousarray(X[:: max(1, len(X) // N_FIRST_CALL)][:N_FIRST_CALL])
    before = time.perf_counter()
    method.rehearse(few, jobs)
    first_call = time.perf_counter() - before

    before, cpu_before = time.perf_counter(), time.process_time()
    fitted = method.fit(X, jobs)
    wall, cpu = time.perf_counter() - before, time.process_time() - cpu_before
    peak = peak_megabytes()

    from dtsne.quality import evaluate

    rows = ROWS_MEASURED if len(X) <= N_LARGE else ROWS_OF_LARGE
    quality = evaluate(X, fitted.embedding, max_rows=rows).as_dict()
    return Measured(wall, cpu, first_call, peak, fitted.n_iter, fitted.phases, quality)


def peak_megabytes() -> float:
    """Return the most memory this process has held."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux ru_maxrss starts from the peak of the process that started this one.
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1024
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1024**2 if sys.platform == "darwin" else 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("data", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--jobs", type=int, required=True)
    arguments = parser.parse_args()
    measured = measure(METHODS[arguments.method], np.load(arguments.data), arguments.jobs)
    arguments.result.write_text(json.dumps(asdict(measured)))


if __name__ == "__main__":
    main()
