"""What :class:`dtsne._backend.Backend` asks for, on a device of PyTorch."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from dtsne._cost import check_job
from dtsne._cost_torch import peak_memory
from dtsne.affinity._sigmas_torch import find_sigmas
from dtsne.affinity._sparse_torch import dense_affinities, sparse_affinities
from dtsne.data._prepare import prepare
from dtsne.forces._engine_torch import TorchEngine
from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion
from dtsne.runtime._devices import free_memory, working_on

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from dtsne._cost import Job
    from dtsne.data._base import Data
    from dtsne.runtime._progress import Timings
    from dtsne.runtime._threads import Threads

_LOGGER = logging.getLogger(__name__)


class TorchBackend:
    """Tensors on one device; all but the map and its scales in float32."""

    max_exact = 10_000

    def __init__(self, device: Any) -> None:
        self.device = device

    def session(self) -> AbstractContextManager[None]:
        """See :class:`dtsne._backend.Backend`."""
        return working_on(self.device)

    def check_job(self, job: Job) -> None:
        """See :class:`dtsne._backend.Backend`."""
        free = free_memory(self.device)
        check_job(job, free, partial(peak_memory, free=free))
        gibibytes = peak_memory(job, free) / 2**30
        _LOGGER.info("%s points on %s, at most %.1f GiB", f"{job.n:,}", self.device, gibibytes)

    def prepare(self, X: Any, *, metric: str, n_pcs: int | None, neighbors: Any) -> Data:
        """See :class:`dtsne._backend.Backend`."""
        return prepare(X, metric=metric, n_pcs=n_pcs, neighbors=neighbors, device=self.device)

    def arranged(self, indices: Any, distances: Any) -> tuple[None, Any, Any]:
        """Leave them as they are: the positions of a million points fit into the cache."""
        return None, indices, distances

    def squared(self, distances: Any, length: float) -> Any:
        """See :class:`dtsne._backend.Backend`."""
        return (distances / length) ** 2

    def find_sigmas(self, squared: Any, perplexity: float, *, skip_diagonal: bool) -> Any:
        """See :class:`dtsne._backend.Backend`."""
        return find_sigmas(squared, perplexity, skip_diagonal=skip_diagonal)

    def dense_affinities(self, squared: Any, sigmas: Any) -> Any:
        """See :class:`dtsne._backend.Backend`."""
        return dense_affinities(squared, sigmas)

    def sparse_affinities(self, indices: Any, squared: Any, sigmas: Any) -> Any:
        """See :class:`dtsne._backend.Backend`."""
        return sparse_affinities(indices, squared, sigmas)

    def engine(
        self,
        affinities: Any,
        n_components: int,
        fft_tolerance: float | None,
        timings: Timings,
        threads: Threads,  # noqa: ARG002
    ) -> TorchEngine:
        """See :class:`dtsne._backend.Backend`."""
        repulsion = None
        if fft_tolerance is not None:
            repulsion = TorchFftRepulsion(n_components, fft_tolerance)
        return TorchEngine(affinities, repulsion, timings=timings)

    def array(self, values: Any) -> Any:
        """See :class:`dtsne._backend.Backend`."""
        return torch.as_tensor(values, dtype=torch.float64, device=self.device).contiguous()
