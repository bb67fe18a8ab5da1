"""Which device to work on, whether it is there, and what memory it has."""

from __future__ import annotations

from typing import Any

from dtsne.runtime._errors import DeviceError, MissingPackageError, ParameterError, setting

# The oldest that all tests were run with, on a GPU.
OLDEST_TORCH = (2, 11)
_KNOWN = "cpu, cuda, cuda:1 (the second GPU) or auto"


def resolve_device(asked: Any) -> Any:
    """Return a device of PyTorch, or say why it cannot be had and what to do."""
    torch = _torch(setting("device", str(asked)))
    try:
        device = torch.device(asked)
    except (RuntimeError, TypeError) as error:
        raise ParameterError("device", str(asked), _KNOWN) from error
    if device.type == "cpu":
        return device
    if device.type != "cuda":
        raise ParameterError("device", str(asked), _KNOWN)
    if not torch.cuda.is_available():
        built = getattr(torch.version, "cuda", None)
        why = (
            f"it was built for CUDA {built}, but finds no GPU or driver"
            if built
            else "this build of it is for the CPU only"
        )
        raise DeviceError(
            f"{setting('device', str(asked))} needs a CUDA GPU, and PyTorch {torch.__version__} "
            f"sees none: {why}",
            f"use {setting('device', 'cpu')}, or {setting('device', 'auto')} for a GPU where there "
            "is one",
        )
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= torch.cuda.device_count():
        raise DeviceError(
            f"{setting('device', str(asked))} does not exist: PyTorch sees "
            f"{torch.cuda.device_count()} GPU(s), counted from 0"
        )
    return torch.device("cuda", index)


def free_memory(device: Any) -> int | None:
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
    from importlib.util import find_spec

    if find_spec("torch") is None:
        return False
    import torch

    return _version(torch) >= OLDEST_TORCH and bool(torch.cuda.is_available())


def _torch(what: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingPackageError(
            f"{what} needs PyTorch", 'pip install "dtsne[gpu]"', package="torch"
        ) from error
    if _version(torch) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise MissingPackageError(
            f"{what} needs PyTorch {oldest} or newer, and {torch.__version__} is installed",
            'pip install --upgrade "dtsne[gpu]"',
            package="torch",
        )
    return torch


def _version(torch: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
