"""Arrays of the host and of devices: what comes in as a tensor goes out as one.

numpy is the kind of everything that is not a tensor: lists, frames, sparse matrices. A tensor is
anything that speaks DLPack and is no array of numpy: PyTorch's, CuPy's, JAX's.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from dtsne._arrays import to_host

_CPU = 1  # of DLPack's numbers of devices


@dataclass(frozen=True)
class Kind:
    """The library that an array is of, None for numpy, and its precision."""

    library: str | None
    single: bool

    def of(self, values: Any, *, exact: bool = False) -> Any:
        """Return an array, of numpy or of PyTorch, as one of this kind, or in float64."""
        single = self.single and not exact
        if self.library is None:
            return to_host(values).astype(np.float32 if single else np.float64, copy=False)
        torch = import_module("torch")
        tensor = torch.as_tensor(values).to(torch.float32 if single else torch.float64)
        return tensor if self.library == "torch" else self._shared(tensor)

    def _shared(self, tensor: Any) -> Any:
        assert self.library is not None
        return import_module(self.library).from_dlpack(tensor)


def is_tensor(X: Any) -> bool:
    """Whether an array is of a library for devices."""
    return hasattr(X, "__dlpack_device__") and not isinstance(X, np.ndarray)


def is_on_device(X: Any) -> bool:
    """Whether an array lies elsewhere than in the memory of the host."""
    return is_tensor(X) and int(X.__dlpack_device__()[0]) != _CPU


def kind_of(X: Any, checked: Any) -> Kind:
    """Return the kind of what came in, and the precision of what became of it."""
    single = str(checked.dtype).endswith("float32")
    if not is_tensor(X):
        return Kind(None, single)
    return Kind(type(X).__module__.partition(".")[0], single)
