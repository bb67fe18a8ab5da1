"""One code for arrays of numpy and for tensors of PyTorch, and tensors of other libraries.

What numpy and PyTorch call by the same name, with the same arguments, is asked of their namespace;
the rest is here. PyTorch is never imported: where a tensor of it comes in, it is there already. A
tensor is anything that speaks DLPack and is not an array of numpy: PyTorch's, CuPy's, JAX's.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar

import numpy as np
from array_api_compat import is_torch_array

from dtsne.runtime._errors import DataTypeError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import torch

    from dtsne.runtime._typing import AnyArray, Array, FloatArray, HostArray

    FromDlpack: TypeAlias = Callable[[AnyArray], object]

_Values = TypeVar("_Values")

# Of DLPack's numbers of devices: memory of the host, and such that a GPU reads directly.
_ON_HOST = (1, 3)


def is_torch(array: object) -> TypeGuard[torch.Tensor]:
    """Whether an array is a tensor of PyTorch."""
    return bool(is_torch_array(array))


def is_tensor(array: object) -> bool:
    """Whether an array is of a library for devices."""
    return hasattr(array, "__dlpack_device__") and not isinstance(array, np.ndarray)


def is_on_device(array: object) -> bool:
    """Whether an array lies elsewhere than in the memory of the host."""
    if is_torch(array):
        return str(array.device.type) != "cpu"
    return is_tensor(array) and int(array.__dlpack_device__()[0]) not in _ON_HOST  # type: ignore[attr-defined]


def median(values: Array) -> Array:
    """Return the median, of an even number the mean of the middle two, as PyTorch's is not."""
    if isinstance(values, np.ndarray):
        return np.median(values)  # type: ignore[return-value]
    ordered = values.sort().values
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def clone(array: _Values) -> _Values:
    """Return the values in memory of their own."""
    return array.clone() if is_torch(array) else array.copy()  # type: ignore[attr-defined,return-value]


def to_host(array: object) -> HostArray:
    """Return an array or tensor of any library as an array of numpy."""
    if isinstance(array, np.ndarray):
        return array
    tensor = array if is_torch(array) else _torch().from_dlpack(array)
    host: HostArray = tensor.detach().cpu().numpy()
    return host


def on_host(values: _Values) -> _Values:
    """Return a tensor as an array of numpy, and what numpy can read itself as it is."""
    readable = hasattr(values, "__array__") and not is_torch(values) and not is_on_device(values)
    if readable or not is_tensor(values):
        return values
    if is_on_device(values) or is_torch(values):
        return to_host(values)  # type: ignore[return-value]
    return np.from_dlpack(values)  # type: ignore[arg-type,return-value]


def asarray_like(array: AnyArray, other: Array) -> Array:
    """Return an array as one of the kind, and on the device, of another; row by row in memory."""
    if isinstance(other, np.ndarray):
        return array  # type: ignore[return-value]
    rows = np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array
    torch = sys.modules["torch"]
    like: Array = torch.as_tensor(rows, dtype=other.dtype, device=other.device).contiguous()
    return like


def clip_min(values: _Values, minimum: float) -> _Values:
    """Element-wise ``max(values, minimum)``; accepts scalars."""
    if is_torch(values):
        return values.clamp(min=minimum)  # type: ignore[return-value]
    return np.maximum(values, minimum)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class OutputFormat:
    """How arrays are given back: in the library, precision and place that the input had.

    Attributes
    ----------
    from_tensor : callable or None
        Makes an array of the library of the input; None for numpy.
    single : bool
        Whether the input was float32.
    device : torch.device, str or None
        Where results go; None for where they are.
    """

    from_tensor: FromDlpack | None
    single: bool
    device: torch.device | str | None = None

    def convert(self, values: AnyArray, *, keep_float64: bool = False) -> FloatArray:
        """Return an array of numpy or PyTorch in this format."""
        single = self.single and not keep_float64
        if self.from_tensor is None:
            return to_host(values).astype(np.float32 if single else np.float64, copy=False)
        torch = _torch()
        dtype = torch.float32 if single else torch.float64
        tensor = torch.as_tensor(values, dtype=dtype, device=self.device)
        converted: FloatArray = self.from_tensor(tensor)  # type: ignore[assignment]
        return converted


def output_format(X: object, checked: AnyArray) -> OutputFormat:
    """Return the format of an input, and the precision that it has after validation.

    An array of a library that takes none back is rejected here, before the work.
    """
    single = str(checked.dtype).endswith("float32")
    if not is_tensor(X):
        return OutputFormat(None, single)
    if is_torch(X):
        return OutputFormat(lambda tensor: tensor, single, X.device)
    return OutputFormat(_from_dlpack_of(X), single, None if is_on_device(X) else "cpu")


def _from_dlpack_of(X: object) -> FromDlpack:
    """Return the function by which the library of X takes arrays."""
    name = type(X).__module__.partition(".")[0]
    has_namespace = hasattr(X, "__array_namespace__")
    library = X.__array_namespace__() if has_namespace else import_module(name)  # type: ignore[attr-defined]
    if not hasattr(library, "from_dlpack"):
        raise DataTypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, whose library takes no tensors back",
            "pass an array of numpy, PyTorch, CuPy or JAX",
        )
    from_dlpack: FromDlpack = library.from_dlpack
    return from_dlpack


def _torch() -> ModuleType:
    """Return PyTorch, by which arrays of all libraries come from a device."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise MissingPackageError(
            "tensors on a device are read by PyTorch", 'pip install "dtsne[gpu]"', package="torch"
        ) from error
