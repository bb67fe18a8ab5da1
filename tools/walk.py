"""Print the way of a fit through the files of the package, up to the start of the descent.

``python tools/walk.py`` traces two fits with sparse P and the FFT repulsion, one on the CPU and one
by PyTorch. Every call of a Python function is a step; a change of file is a step in another file
than the one before. ``--way`` prints the steps themselves.
"""

from __future__ import annotations

import argparse
import sys
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import dtsne
from dtsne import DTSNE, Config, embed
from dtsne.optimize import _descent

if TYPE_CHECKING:
    from types import FrameType

    from dtsne.runtime._typing import Device

PACKAGE = Path(dtsne.__file__).parent
N_POINTS, N_COLUMNS = 600, 60


def walk(device: str) -> list[str]:
    """Return the file of each function that a fit calls, in order, until the descent begins."""
    X = np.random.default_rng(0).normal(size=(N_POINTS, N_COLUMNS))
    config = Config(perplexity=30, method="fft", max_iter=1, tol=0, max_dense=0, device=_on(device))
    embed(X, config)  # compiles, and imports what is imported when needed
    visited: list[str] = []

    def observe(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            visited.append(path.relative_to(PACKAGE).as_posix())
            if frame.f_code is _descent.descend.__code__:
                sys.setprofile(None)

    model = DTSNE(perplexity=30, method="fft", max_iter=1, tol=0, device=config.device)
    type(model).config = property(lambda _: config)  # type: ignore[assignment,method-assign]
    sys.setprofile(observe)
    try:
        model.fit(X)
    finally:
        sys.setprofile(None)
    return visited


def _on(device: str) -> Device:
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
