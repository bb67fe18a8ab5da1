"""Print the way of a fit through the files, up to the first iteration of the descent.

``python tools/walk.py`` traces a fit with sparse P and the FFT repulsion on the CPU, and the same
by PyTorch. A change of file is a call from one file of the package into another.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dtsne

if TYPE_CHECKING:
    from types import FrameType

PACKAGE = Path(dtsne.__file__).parent
STOP = "descend"


def trace(**parameters: Any) -> list[str]:
    """Return the files whose functions are called, in order, until the descent begins."""
    visited: list[str] = []
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 60))
    model = dtsne.DTSNE(perplexity=30, method="fft", max_iter=1, **parameters)
    ended = False

    def observe(frame: FrameType, event: str, _: object) -> None:
        nonlocal ended
        path = Path(frame.f_code.co_filename)
        if event != "call" or ended or PACKAGE not in path.parents:
            return
        if frame.f_code.co_name.startswith("<"):
            return
        ended = frame.f_code.co_name == STOP
        visited.append(str(path.relative_to(PACKAGE)))

    import dtsne._fit as _fit

    _fit.MAX_DENSE = 0
    model.fit(X)  # compiles, so that only our own files are seen
    sys.setprofile(observe)
    try:
        model.fit(X)
    finally:
        sys.setprofile(None)
    return visited


def main() -> None:
    import warnings

    warnings.simplefilter("ignore")
    import torch

    for name, parameters in (("CPU", {}), ("torch", {"device": torch.device("cpu")})):
        visited = trace(**parameters)
        changes = [b for a, b in zip(visited, visited[1:], strict=False) if a != b]
        print(f"{name}: {len(set(visited))} files, {len(changes)} changes of file")
        print("   ", *changes)


if __name__ == "__main__":
    main()
