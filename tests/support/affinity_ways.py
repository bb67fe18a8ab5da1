"""σ and P by each implementation: numba, plain PyTorch and Triton, from and to arrays of numpy."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from ways import device_for

from dtsne.affinity import _affinities

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Implementation:
    """Functions of the affinities, of numba without a device."""

    device: Any = None

    def find_sigmas(self, squared: Any, perplexity: float, **options: Any) -> Any:
        if self.device is None:
            return _affinities.find_sigmas(squared, perplexity, **options)
        from dtsne.affinity import _sigmas_torch

        found = _sigmas_torch.find_sigmas(self._tensor(squared), perplexity, **options)
        assert str(found.dtype) == "torch.float64"
        return found.cpu().numpy()

    def dense_affinities(self, squared: Any, sigmas: Any, dtype: type = np.float32) -> Any:
        if self.device is None:
            return _affinities.dense_affinities(squared, sigmas, dtype)
        from dtsne.affinity import _sparse_torch

        arrays = (self._tensor(array) for array in (squared, sigmas))
        return _sparse_torch.dense_affinities(*arrays, self._dtype(dtype))

    def sparse_affinities(
        self, indices: Any, squared: Any, sigmas: Any, dtype: type = np.float32
    ) -> Any:
        if self.device is None:
            return _affinities.sparse_affinities(indices, squared, sigmas, dtype)
        from dtsne.affinity import _sparse_torch

        arrays = (self._tensor(array) for array in (indices, squared, sigmas))
        return _sparse_torch.sparse_affinities(*arrays, self._dtype(dtype))

    def symmetric_graph(self, indices: Any, squared: Any) -> list[Any]:
        if self.device is None:
            return list(_affinities.symmetric_graph(indices, squared))
        from dtsne.affinity import _sparse_torch

        found = _sparse_torch.symmetric_graph(self._tensor(indices), self._tensor(squared))
        return [tensor.cpu().numpy() for tensor in found]

    def _tensor(self, array: Any) -> Any:
        import torch

        return torch.as_tensor(np.ascontiguousarray(array), device=self.device)

    @staticmethod
    def _dtype(dtype: type) -> Any:
        import torch

        return torch.float32 if dtype is np.float32 else torch.float64


@contextmanager
def implementation(way: str) -> Iterator[Implementation]:
    """Give one of the implementations, or skip the test where it cannot run."""
    with device_for(way) as device:
        yield Implementation(device)
