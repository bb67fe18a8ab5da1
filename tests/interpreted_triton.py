"""Let kernels in Triton run on the CPU, by its interpreter: import this before any of them.

A test module that imports it is skipped where PyTorch or Triton is missing.
"""

from __future__ import annotations

import os

import pytest

os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("torch")
pytest.importorskip("triton")

from triton.runtime import interpreter

_patch_tensor = interpreter._patch_lang_tensor


def _patch_tensor_and_its_index(tensor, scope) -> None:
    """Let the bounds of a loop be arrays of one element, which NumPy 2.4 no longer converts."""
    _patch_tensor(tensor, scope)
    scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))


interpreter._patch_lang_tensor = _patch_tensor_and_its_index
