"""One suite for all implementations: numba, plain PyTorch and Triton."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

all_ways = pytest.mark.parametrize("way", ["numba", "twin", "triton"])


@contextmanager
def device_for(way: str) -> Iterator[Any]:
    """Give the device of an implementation, None for numba; skip a test where it cannot run."""
    if way == "numba":
        yield None
        return
    pytest.importorskip("torch")
    from gpu_ways import can_run_triton, going

    if way == "triton" and not can_run_triton():
        pytest.skip("Triton 3.7 or a GPU is needed")
    with going(way) as device:
        yield device


def is_slow(way: str) -> bool:
    """Whether kernels are interpreted: some hundred points are many."""
    if way != "triton" or find_spec("torch") is None:
        return False
    from gpu_ways import is_slow

    return is_slow(way)
