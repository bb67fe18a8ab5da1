"""Work on a device: that of its tensors, and with a clear error where memory runs out."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

P = ParamSpec("P")
T = TypeVar("T")


def launching_on(device: Any) -> AbstractContextManager[Any]:
    """Make a device the current one, where Triton launches its kernels."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@contextmanager
def working_on(device: Any) -> Iterator[None]:
    """Work on a device; what all work there is done within, a fit's or a measure's.

    PyTorch's error, where the estimate of memory was too low or others took it, becomes a clear
    one.
    """
    try:
        with launching_on(device):
            yield
    except torch.cuda.OutOfMemoryError as error:
        raise MemoryError(
            f"The GPU has no memory left ({str(error).splitlines()[0]}) Lower the perplexity, map "
            "fewer points, free what other programs hold, or use device='cpu'."
        ) from error


def on_its_device(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function work on the device of its first argument, whichever is the current one."""

    @wraps(function)
    def wrapped(*args: P.args, **named: P.kwargs) -> T:
        first: Any = args[0]
        with working_on(first.device):
            return function(*args, **named)

    return wrapped
