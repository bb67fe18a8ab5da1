"""Where the tests run kernels in Triton: on a GPU, or without one on the CPU by its interpreter.

A test module that imports this is skipped where PyTorch is missing, and a test that asks for
kernels where Triton is.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any

import pytest

torch = pytest.importorskip("torch")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported


def kernels(name: str) -> Any:
    """Give the module ``dtsne.gpu._<name>_triton``."""
    pytest.importorskip("triton")
    if DEVICE == "cpu":
        _let_arrays_be_bounds_of_loops()
    return import_module(f"dtsne.gpu._{name}_triton")


@cache
def _let_arrays_be_bounds_of_loops() -> None:
    """Convert the interpreter's arrays of one element, which NumPy 2.4 refuses to do."""
    from triton.runtime import interpreter

    patch_tensor = interpreter._patch_lang_tensor

    def patch_tensor_and_its_index(tensor: Any, scope: Any) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_tensor_and_its_index
