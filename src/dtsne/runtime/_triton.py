"""Whether kernels in Triton can be used."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

_OLDEST_CAPABILITY = (7, 0)


@cache
def has_triton() -> bool:
    """Whether Triton is installed; it comes with PyTorch for CUDA on Linux."""
    return find_spec("triton") is not None


def runs_triton(tensor: Any) -> bool:
    """Whether a kernel in Triton can work on a tensor: its twin takes all others."""
    return bool(tensor.is_cuda) and has_triton() and _knows_instructions(tensor.device.index)


@cache
def _knows_instructions(index: int) -> bool:
    """Whether a GPU is of a kind that Triton compiles for, and of NVIDIA, as some are named."""
    import torch

    is_nvidia = getattr(torch.version, "hip", None) is None
    return is_nvidia and torch.cuda.get_device_capability(index) >= _OLDEST_CAPABILITY
