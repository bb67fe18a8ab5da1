"""Two ways of the code for a GPU: kernels in Triton, and their twins in plain PyTorch.

The twins are tested on the CPU. The kernels run on a GPU where there is one, and elsewhere under
Triton's interpreter, which has to be asked for before Triton is imported, and is slow.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from collections.abc import Iterator

_HAS_GPU = torch.cuda.is_available()
if not _HAS_GPU:
    os.environ["TRITON_INTERPRET"] = "1"
_DISPATCHING = ("_arrange", "_cells", "_near", "_grid", "_map_radii")


def _can_run_triton() -> bool:
    try:
        major, minor = version("triton").split(".")[:2]
    except PackageNotFoundError:
        return False
    # Older interpreters do not know a number that NumPy 2.4 made of an array.
    return _HAS_GPU or (int(major), int(minor)) >= (3, 7)


needs_triton = pytest.mark.skipif(not _can_run_triton(), reason="Triton 3.7 or a GPU is needed")
both_ways = pytest.mark.parametrize("way", ["twin", pytest.param("triton", marks=needs_triton)])


def is_slow(way: str) -> bool:
    """Whether kernels are interpreted: some hundred points are many."""
    return way == "triton" and not _HAS_GPU


@contextmanager
def going(way: str) -> Iterator[torch.device]:
    """Take one of the ways; yields the device that tensors have to be on."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with pytest.MonkeyPatch.context() as patch:
            if is_slow(way):
                for name in _DISPATCHING:
                    patch.setattr(f"dtsne.gpu.{name}.runs_triton", lambda _: True)
            # What is no number on a device is a warning of NumPy's in the interpreter.
            with np.errstate(all="ignore" if is_slow(way) else None):
                yield torch.device("cuda" if way == "triton" and _HAS_GPU else "cpu")
    finally:
        torch.set_num_threads(n_threads)
