"""Print the way of a fit through the files of the package, up to the start of the descent.

``python tools/walk.py`` traces two fits with sparse P and the FFT repulsion, one on the CPU and one
by PyTorch. Every call of a function is a step, but for compiled kernels, which threads call, and
comprehensions; a change of file is a step in another file than the one before. ``--way`` prints the
files in order.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import dtsne
from dtsne import DTSNE, Config, _estimator
from dtsne.optimize import _descent

if TYPE_CHECKING:
    from types import FrameType

    import torch

PACKAGE = Path(dtsne.__file__).parent
N_POINTS, N_COLUMNS = 600, 60


def walk(device: str) -> list[str]:
    """Return the file of each function that a fit calls, in order, until the descent begins."""
    X = np.random.default_rng(0).normal(size=(N_POINTS, N_COLUMNS))
    model = DTSNE(perplexity=30, method="fft", max_iter=1, tol=0, device=_on(device))
    # With a sparse P, however few points there are.
    vars(_estimator)["Config"] = partial(Config, max_dense=0)
    model.fit(X)  # compiles, and imports what is imported when needed
    kernels = compiled_kernels()
    visited: list[str] = []

    def observe(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        if event != "call" or PACKAGE not in path.parents:
            return
        if (code.co_filename, code.co_name) in kernels or code.co_name.startswith("<"):
            return
        visited.append(path.relative_to(PACKAGE).as_posix())
        if code is _descent.descend.__code__:
            sys.setprofile(None)

    sys.setprofile(observe)
    try:
        model.fit(X)
    finally:
        sys.setprofile(None)
    return visited


def compiled_kernels() -> set[tuple[str, str]]:
    """Return file and name of all functions that numba compiles."""
    modules = [module for name, module in sys.modules.items() if name.startswith("dtsne.")]
    functions = (getattr(value, "py_func", None) for m in modules for value in vars(m).values())
    codes = (function.__code__ for function in functions if function is not None)
    return {(code.co_filename, code.co_name) for code in codes}


def _on(device: str) -> str | torch.device:
    if device == "CPU":
        return "cpu"
    import torch

    return torch.device("cpu")


def main() -> None:
    """Print the counts, and the way if it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--way", action="store_true", help="print the files in order")
    show_way = parser.parse_args().way
    for device in ("CPU", "torch"):
        visited = walk(device)
        n_changes = sum(a != b for a, b in pairwise(visited))
        print(f"{device}: {len(set(visited))} files, {n_changes} changes of file")
        if show_way:
            print(*(f"    {name}" for name, _ in groupby(visited)), sep="\n")


if __name__ == "__main__":
    main()
