"""One code for arrays of numpy and for tensors of PyTorch.

What the two call by the same name, with the same arguments, is asked of their module; what they do
not is here. PyTorch is never imported: where a tensor comes in, it is there already.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def namespace_of(array: Any) -> Any:
    """Return the module that an array is of, numpy or torch."""
    return np if isinstance(array, np.ndarray) else sys.modules["torch"]


def median(values: Any) -> Any:
    """Return the median, of an even number the mean of the middle two, as PyTorch's is not."""
    if isinstance(values, np.ndarray):
        return np.median(values)
    ordered = values.sort().values
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def copy_of(array: Any) -> Any:
    """Return the values in memory of their own."""
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


def to_host(array: Any) -> Any:
    """Return an array of numpy."""
    if isinstance(array, np.ndarray):
        return array
    torch = sys.modules["torch"]
    tensor = array if isinstance(array, torch.Tensor) else torch.from_dlpack(array)
    return tensor.detach().cpu().numpy()


def like(array: Any, other: Any) -> Any:
    """Return an array of numpy as one of the kind, and on the device, of another."""
    if isinstance(other, np.ndarray):
        return array
    rows = np.ascontiguousarray(array)
    return sys.modules["torch"].as_tensor(rows, dtype=other.dtype, device=other.device)


def at_least(values: Any, least: float) -> Any:
    """Return the values, or what they have to be at least; of a number as well as of an array."""
    return values.clamp(min=least) if hasattr(values, "clamp") else np.maximum(values, least)
