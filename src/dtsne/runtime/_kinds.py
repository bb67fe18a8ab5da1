"""Arrays of the host and of devices: what comes in as a tensor goes out as one.

numpy is the kind of everything that is not a tensor: lists, frames, sparse matrices. A tensor is
anything that speaks DLPack and is no array of numpy: PyTorch's, CuPy's, JAX's.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from collections.abc import Callable

# Of DLPack's numbers of devices: memory of the host, and such that a GPU reads directly.
_ON_HOST = (1, 3)


@dataclass(frozen=True)
class Kind:
    """How arrays are given back: by a function of the library they came from, None for numpy."""

    from_tensor: Callable[[Any], Any] | None
    single: bool
    device: Any = None  # of PyTorch, to which results go back; None for where they are

    def of(self, values: Any, *, exact: bool = False) -> Any:
        """Return an array, of numpy or of PyTorch, as one of this kind, or in float64."""
        single = self.single and not exact
        if self.from_tensor is None:
            return to_host(values).astype(np.float32 if single else np.float64, copy=False)
        torch = import_module("torch")
        dtype = torch.float32 if single else torch.float64
        return self.from_tensor(torch.as_tensor(values, dtype=dtype, device=self.device))


def is_tensor(X: Any) -> bool:
    """Whether an array is of a library for devices."""
    return hasattr(X, "__dlpack_device__") and not isinstance(X, np.ndarray)


def is_on_device(X: Any) -> bool:
    """Whether an array lies elsewhere than in the memory of the host."""
    if _is_torch(X):
        return str(X.device.type) != "cpu"
    return is_tensor(X) and int(X.__dlpack_device__()[0]) not in _ON_HOST


def on_host(values: Any) -> Any:
    """Return a tensor as an array of numpy, and what numpy can read itself as it is."""
    readable = hasattr(values, "__array__") and not _is_torch(values) and not is_on_device(values)
    if readable or not is_tensor(values):
        return values
    import_module("torch")  # by which arrays of all libraries come from a device
    return to_host(values)


def kind_of(X: Any, checked: Any) -> Kind:
    """Return the kind of what came in, and the precision of what became of it.

    An array of a library that takes none back is refused here, before the work.
    """
    single = str(checked.dtype).endswith("float32")
    if not is_tensor(X):
        return Kind(None, single)
    if _is_torch(X):
        return Kind(lambda tensor: tensor, single, X.device)
    return Kind(_way_back_to(X), single, None if is_on_device(X) else "cpu")


def _way_back_to(X: Any) -> Callable[[Any], Any]:
    """Return the function that makes an array of X's library of one that speaks DLPack."""
    if hasattr(X, "__array_namespace__"):
        library = X.__array_namespace__()
    else:
        library = import_module(type(X).__module__.partition(".")[0])
    if not hasattr(library, "from_dlpack"):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, and its library takes no tensors "
            "back; give an array of numpy, PyTorch, CuPy or JAX."
        )
    way_back: Callable[[Any], Any] = library.from_dlpack
    return way_back


def _is_torch(X: Any) -> bool:
    # Where PyTorch is not imported, nothing is of it.
    return isinstance(X, getattr(sys.modules.get("torch"), "Tensor", ()))
