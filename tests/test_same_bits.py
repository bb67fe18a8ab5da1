"""Maps keep their bits while the code is moved; digests in `same_bits.json` are of the flat layout.

``python tests/test_same_bits.py`` writes them anew.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dtsne import DTSNE

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(__file__).with_name("same_bits.json")


def clusters(n: int = 600, d: int = 8, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return (
        6.0 * rng.normal(size=(3, d))[labels]
        + rng.normal(size=(n, d)) * np.array([0.5, 1.0, 2.0])[labels, None]
    )


def graph(X: Any, k: int) -> Any:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=k).fit(X).kneighbors_graph(mode="distance")


def with_duplicates() -> Any:
    X = clusters(400)
    X[:60] = X[0]
    X[60:70] = X[60]
    return X


def _torch(**parameters: Any) -> dict[str, Any]:
    import torch

    return {"device": torch.device("cpu"), **parameters}


def cases() -> dict[str, Any]:
    X = clusters()
    small = {"perplexity": 30, "max_iter": 120}
    given = {"neighbors": graph(X, 91), **small}
    wide = np.random.default_rng(1).normal(size=(300, 70)) ** 2
    sets = (np.random.default_rng(2).random((300, 40)) < 0.2).astype(float)
    sets[:, 0] = 1.0
    return {
        "exact": (X, small),
        "calibrated until it settles": (X, {"perplexity": 30}),
        "plain": (X, {"calibration": False, **small}),
        "t-SNE": (X, {"density_scale": 0, **small}),
        "half": (X, {"density_scale": 0.5, **small}),
        "paper": (X, {"optimizer": "paper", **small}),
        "fft": (X, {"method": "fft", **small}),
        "fft 1-D": (X, {"method": "fft", "n_components": 1, **small}),
        "fft 3-D": (X, {"method": "fft", "n_components": 3, **small}),
        "exact 1-D": (X, {"n_components": 1, **small}),
        "exact 3-D": (X, {"n_components": 3, **small}),
        "random": (X, {"init": "random", "random_state": 3, **small}),
        "spectral": (X, {"init": "spectral", **small}),
        "own start": (X, {"init": X[:, :2].copy(), **small}),
        "float32": (X.astype(np.float32), small),
        "PCA": (wide, {"n_pcs": 20, **small}),
        "cosine": (wide, {"metric": "cosine", **small}),
        "correlation": (wide, {"metric": "correlation", **small}),
        "manhattan": (wide, {"metric": "manhattan", **small}),
        "braycurtis": (wide, {"metric": "braycurtis", **small}),
        "jaccard": (sets, {"metric": "jaccard", **small}),
        "given": (X, given),
        "given, fft": (X, {"method": "fft", **given}),
        "given, alone": (graph(X, 91), {"metric": "precomputed", **small}),
        "distances": (
            np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)),
            {"metric": "precomputed", **small},
        ),
        "duplicates": (with_duplicates(), small),
        "duplicates, fft": (with_duplicates(), {"method": "fft", **small}),
        "sparse P": (clusters(10_100, 4), {"perplexity": 20, "max_iter": 60}),
        "torch": (X, _torch(**small)),
        "torch, fft": (X, _torch(method="fft", **small)),
        "torch, fft 1-D": (X, _torch(method="fft", n_components=1, **small)),
        "torch, fft 3-D": (X, _torch(method="fft", n_components=3, **small)),
        "torch, given, fft": (X, _torch(method="fft", **given)),
        "torch, t-SNE": (X, _torch(density_scale=0, **small)),
        "torch, paper": (X, _torch(optimizer="paper", **small)),
        "torch, duplicates": (with_duplicates(), _torch(**small)),
        "torch, cosine": (wide, _torch(metric="cosine", **small)),
        "torch, sparse P": (clusters(10_100, 4), _torch(perplexity=20, max_iter=60)),
    }


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """PyTorch on the CPU sums in another order on another number of threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def digests(name: str) -> dict[str, str]:
    X, parameters = cases()[name]
    model = DTSNE(**parameters)
    with warnings.catch_warnings(), one_torch_thread():
        warnings.simplefilter("ignore")
        model.fit(X)
    return {
        attribute: hashlib.sha256(
            np.ascontiguousarray(getattr(model, attribute), dtype=np.float64).tobytes()
        ).hexdigest()[:16]
        for attribute in ("embedding_", "sigma_", "history_")
    }


@pytest.mark.parametrize("name", list(cases()))
def test_map_has_the_bits_it_had(name: str) -> None:
    stored = json.loads(FILE.read_text())
    if stored["machine"] != machine():
        pytest.skip(f"digests are those of {stored['machine']}")
    assert digests(name) == stored["digests"][name]


def machine() -> str:
    """What last bits depend on besides the code."""
    from importlib.metadata import version

    import numba

    parts = [f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "torch")]
    return ", ".join([*parts, platform.machine(), str(numba.config.CPU_NAME or _cpu())])


def _cpu() -> str:
    import llvmlite.binding

    return str(llvmlite.binding.get_host_cpu_name())


if __name__ == "__main__":
    found = {name: digests(name) for name in cases()}
    FILE.write_text(json.dumps({"machine": machine(), "digests": found}, indent=1) + "\n")
    sys.stdout.write(f"{len(found)} maps\n")
