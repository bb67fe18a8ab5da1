"""Which device to work on, whether it is there, what memory it has, and work on it.

PyTorch is imported by the functions that need it: on the CPU nothing here does.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from dtsne.runtime._arrays import is_on_device, is_torch
from dtsne.runtime._errors import (
    DataError,
    DeviceError,
    MissingPackageError,
    OutOfMemoryError,
    ParameterError,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import ModuleType

    import torch

    from dtsne.runtime._typing import Device

# The oldest that all tests were run with, on a GPU.
MIN_TORCH = (2, 11)
P = ParamSpec("P")
T = TypeVar("T")


def device_for(asked: Device, **arrays: object) -> torch.device | None:
    """Return the device of PyTorch to work on; None for numpy, on the CPU.

    Parameters
    ----------
    asked : {"cpu", "auto"} or what PyTorch takes for a device
        "cpu" is numpy. "auto" is where a tensor lies already, and otherwise a GPU where there is
        one. A `torch.device`, of the CPU as well, is worked on by PyTorch.
    **arrays
        The input, by the names that the user knows. Tensors must be where the work is.
    """
    tensors = {
        name: array
        for name, array in arrays.items()
        if not isinstance(array, np.ndarray) and is_on_device(array)
    }
    if isinstance(asked, str) and asked == "cpu":
        for name, tensor in tensors.items():
            raise _elsewhere(name, getattr(tensor, "device", "a GPU"), "cpu")
        return None
    there = {name: device_of(tensor) for name, tensor in tensors.items()}
    if isinstance(asked, str) and asked == "auto":
        if not there and not has_cuda():
            return None
        asked = next(iter(there.values())) if there else "cuda"
    device = resolve_device(asked)
    for name, place in there.items():
        if place != device:
            raise _elsewhere(name, place, str(device))
    return device


def device_of(array: object) -> torch.device:
    """Return where a tensor of any library lies."""
    if is_torch(array):
        return array.device
    from torch.utils.dlpack import from_dlpack

    return from_dlpack(array).device


def resolve_device(asked: Device) -> torch.device:
    """Return a device of PyTorch, or raise an error that says why it cannot be had."""
    _require_torch(asked)
    import torch

    known = "'cpu', 'cuda', 'cuda:1' or 'auto'"
    try:
        device = torch.device(asked)
    except (RuntimeError, TypeError):
        raise ParameterError("device", asked, known) from None
    if device.type == "cpu":
        return device
    if device.type != "cuda":
        raise ParameterError("device", str(asked), known)
    wanted = setting("device", str(asked))
    if not torch.cuda.is_available():
        built = getattr(torch.version, "cuda", None)
        why = (
            f"it was built for CUDA {built}, but finds no GPU or driver"
            if built
            else "this build of it is for the CPU only"
        )
        raise DeviceError(
            f"{wanted} needs a CUDA GPU, and PyTorch {torch.__version__} sees none: {why}",
            f"use {setting('device', 'cpu')}, or {setting('device', 'auto')}, which takes a GPU "
            "where there is one",
        )
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= torch.cuda.device_count():
        raise DeviceError(
            f"{wanted} does not exist: PyTorch sees {torch.cuda.device_count()} GPU(s), counted "
            "from 0"
        )
    return torch.device("cuda", index)


def free_memory(device: torch.device) -> int | None:
    """Bytes that can still be had on a device; None where that is not known."""
    if device.type != "cuda":
        return None
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    # What PyTorch has asked for before, and does not use, it can use again.
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free + unused)


def has_cuda() -> bool:
    """Whether PyTorch is installed, is not too old, and sees a GPU."""
    if find_spec("torch") is None:
        return False
    import torch

    return _version(torch) >= MIN_TORCH and bool(torch.cuda.is_available())


def launching_on(device: torch.device) -> AbstractContextManager[object]:
    """Make a device the current one, where Triton launches its kernels."""
    import torch

    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@contextmanager
def working_on(device: torch.device | None) -> Iterator[None]:
    """Work on a device, or for None on the CPU, within: a fit's work or a measure's.

    The error of PyTorch, where the estimate of memory was too low or others took it, becomes a
    clear one.
    """
    if device is None:
        yield
        return
    import torch

    try:
        with launching_on(device):
            yield
    except torch.cuda.OutOfMemoryError as error:
        raise OutOfMemoryError(
            f"The GPU has no memory left ({str(error).splitlines()[0]})",
            f"lower {setting('perplexity')}, map fewer points, free what other programs hold, or "
            f"use {setting('device', 'cpu')}",
        ) from error


def on_its_device(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function work on the device of its first argument, whichever is the current one."""

    @wraps(function)
    def wrapped(*args: P.args, **named: P.kwargs) -> T:
        with working_on(device_of(args[0])):
            return function(*args, **named)

    return wrapped


def _elsewhere(name: str, place: object, device: str) -> DataError:
    return DataError(
        f"{name} is a tensor on {place}, and {setting('device', device)} is another place",
        f"use {setting('device', 'auto')}, which works where tensors are, or copy {name} there",
        argument=name,
    )


def _require_torch(asked: object) -> None:
    what = setting("device", str(asked))
    try:
        import torch
    except ImportError as error:
        raise MissingPackageError(
            f"{what} needs PyTorch", 'pip install "dtsne[gpu]"', package="torch"
        ) from error
    if _version(torch) < MIN_TORCH:
        oldest = ".".join(map(str, MIN_TORCH))
        raise MissingPackageError(
            f"{what} needs PyTorch {oldest} or newer, and {torch.__version__} is installed",
            'pip install --upgrade "dtsne[gpu]"',
            package="torch",
        )


def _version(torch: ModuleType) -> tuple[int, ...]:
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
