"""Which device to work on: the one that is asked for, or the one that a tensor is on."""

from __future__ import annotations

from typing import Any

from dtsne.runtime._kinds import is_on_device


def device_for(asked: Any, **arrays: Any) -> Any | None:
    """Return the device of PyTorch to work on; None for numpy, on the CPU.

    Parameters
    ----------
    asked : {"cpu", "auto"} or what PyTorch takes for a device
        "cpu" is numpy. "auto" is where a tensor lies already, and else a GPU where there is one. A
        `torch.device`, of the CPU as well, is worked on by PyTorch.
    **arrays
        What comes in, by the name that the user knows it by. Tensors have to be where the work is.
    """
    there = {name: array for name, array in arrays.items() if is_on_device(array)}
    if isinstance(asked, str) and asked == "cpu":
        for name, array in there.items():
            raise ValueError(
                f"{name} is a tensor on {array.device}, and device='cpu'; use device='auto', which "
                f"works where {name} is, or bring {name} to the host."
            )
        return None
    if isinstance(asked, str) and asked == "auto":
        if there:
            asked = _device_of(next(iter(there.values())))
        else:
            from dtsne.runtime._device_torch import has_cuda

            if not has_cuda():
                return None
            asked = "cuda"
    from dtsne.runtime._device_torch import resolve_device

    device = resolve_device(asked)
    for name, array in there.items():
        if _device_of(array) != device:
            raise ValueError(
                f"{name} is a tensor on {_device_of(array)}, and device={str(device)!r} is "
                f"another; use device='auto', which works where tensors are, or bring {name} there."
            )
    return device


def _device_of(array: Any) -> Any:
    from dtsne.runtime._device_torch import as_tensor

    return as_tensor(array).device
