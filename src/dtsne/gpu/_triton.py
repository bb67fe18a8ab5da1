"""Whether kernels in Triton can be used."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any


@cache
def has_triton() -> bool:
    """Whether Triton is installed; it comes with PyTorch for CUDA on Linux."""
    return find_spec("triton") is not None


def runs_triton(tensor: Any) -> bool:
    """Whether a kernel in Triton can work on a tensor: its twin takes all others."""
    return bool(tensor.is_cuda) and has_triton()
