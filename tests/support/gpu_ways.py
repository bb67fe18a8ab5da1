"""Two ways of the code for a GPU: kernels in Triton, and their twins in plain PyTorch.

The twins are tested on the CPU. The kernels run on a GPU where there is one, and elsewhere under
Triton's interpreter, which has to be asked for before Triton is imported, and is slow.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from collections.abc import Iterator

_HAS_GPU = torch.cuda.is_available()
if not _HAS_GPU:
    os.environ["TRITON_INTERPRET"] = "1"
DEVICE = "cuda" if _HAS_GPU else "cpu"
# Those of the search take the interpreter a second a row.
_SEARCH = ("dtsne.neighbors.",)


def can_run_triton() -> bool:
    """Whether kernels can run here, on a GPU or interpreted."""
    try:
        major, minor = version("triton").split(".")[:2]
    except PackageNotFoundError:
        return False
    # Older interpreters do not know a number that NumPy 2.4 made of an array.
    return _HAS_GPU or (int(major), int(minor)) >= (3, 7)


needs_triton = pytest.mark.skipif(not can_run_triton(), reason="Triton 3.7 or a GPU is needed")
both_ways = pytest.mark.parametrize("way", ["twin", pytest.param("triton", marks=needs_triton)])


def is_slow(way: str) -> bool:
    """Whether kernels are interpreted: some hundred points are many."""
    return way == "triton" and not _HAS_GPU


def kernels(name: str) -> Any:
    """Give the module ``dtsne.<name>_triton``, or skip the test where there is no Triton."""
    pytest.importorskip("triton")
    if not _HAS_GPU:
        _let_arrays_be_bounds_of_loops()
    return import_module(f"dtsne.{name}_triton")


@cache
def _let_arrays_be_bounds_of_loops() -> None:
    """Convert the interpreter's arrays of one element, which NumPy 2.4 refuses to do."""
    from triton.runtime import interpreter

    patch_tensor = interpreter._patch_lang_tensor

    def patch_tensor_and_its_index(tensor: Any, scope: Any) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_tensor_and_its_index


@contextmanager
def going(way: str, *, without: tuple[str, ...] = _SEARCH) -> Iterator[torch.device]:
    """Take one of the ways; yields the device that tensors have to be on.

    Kernels of the modules `without` are left to their twins where they would be interpreted.
    """
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def is_interpreted(kernels: str, _: torch.Tensor) -> bool:
        return not kernels.startswith(without)

    try:
        with pytest.MonkeyPatch.context() as patch:
            if is_slow(way):
                _let_arrays_be_bounds_of_loops()
                patch.setattr("dtsne.runtime._triton._is_for", is_interpreted)
            # What is no number on a device is a warning of NumPy's in the interpreter.
            with np.errstate(all="ignore" if is_slow(way) else None):
                yield torch.device("cuda" if way == "triton" and _HAS_GPU else "cpu")
    finally:
        torch.set_num_threads(n_threads)
