"""What depends on the device: how lists of neighbours become P, and what evaluates the objective.

Everything else, from the statement of the problem to the descent, is one code for all devices.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dtsne._cost import check_job, description
from dtsne.affinity._base import dense_affinities, find_sigmas, sparse_affinities
from dtsne.data._prepare import prepare
from dtsne.forces._engine import CpuEngine
from dtsne.forces.fft._repulsion import FftRepulsion
from dtsne.neighbors._reorder import breadth_first_order, reorder_lists
from dtsne.runtime._devices import device_for
from dtsne.runtime._memory import available_memory

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from dtsne._cost import Job
    from dtsne.affinity._base import Affinities
    from dtsne.data._base import Data
    from dtsne.forces._base import Engine
    from dtsne.runtime._progress import Timings
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)


class Backend(Protocol):
    """Arrays are those of the device; `numpy` for the CPU."""

    # Up to this many points, sums over all pairs take no longer than those by FFT, or little.
    max_exact: int

    def session(self) -> AbstractContextManager[None]:
        """Return what all work on the device is done within."""
        ...

    def check_job(self, job: Job) -> None:
        """Raise MemoryError for a fit that does not fit; say what one that does will take."""
        ...

    def prepare(self, X: Any, *, metric: str, n_pcs: int | None, neighbors: Any) -> Data:
        """Turn validated input into data on the device."""
        ...

    def arranged(self, indices: Any, distances: Any) -> tuple[IntArray | None, Any, Any]:
        """Put neighbour lists into an order that is quick to work on; None if it is theirs."""
        ...

    def squared(self, distances: Any, length: float) -> Any:
        """Return squares of distances in units of a length, as P is made of them."""
        ...

    def find_sigmas(self, squared: Any, perplexity: float, *, skip_diagonal: bool) -> Any:
        """Find the scale of each point."""
        ...

    def dense_affinities(self, squared: Any, sigmas: Any) -> Any:
        """Make P over all pairs."""
        ...

    def sparse_affinities(self, indices: Any, squared: Any, sigmas: Any) -> Any:
        """Make P over neighbours."""
        ...

    def engine(
        self,
        affinities: Any,
        n_components: int,
        fft_tolerance: float | None,
        timings: Timings,
        threads: Threads,
    ) -> Engine[Any]:
        """Return what evaluates the objective; without a tolerance, by sums over all pairs."""
        ...

    def array(self, values: Any) -> Any:
        """Bring an array to the device, in float64 and row by row."""
        ...


class CpuBackend:
    """Numba on the CPU."""

    max_exact = 5_000

    def session(self) -> AbstractContextManager[None]:
        """See :class:`Backend`."""
        return nullcontext()

    def check_job(self, job: Job) -> None:
        """See :class:`Backend`."""
        check_job(job, available_memory())
        _LOGGER.info(description(job))

    def prepare(self, X: Any, *, metric: str, n_pcs: int | None, neighbors: Any) -> Data:
        """See :class:`Backend`."""
        return prepare(X, metric=metric, n_pcs=n_pcs, neighbors=neighbors)

    def arranged(
        self, indices: IntArray, distances: FloatArray
    ) -> tuple[IntArray | None, IntArray, FloatArray]:
        """See :class:`Backend`."""
        order = breadth_first_order(indices)
        return order, *reorder_lists(indices, distances, order)

    def squared(self, distances: FloatArray, length: float) -> FloatArray:
        """See :class:`Backend`."""
        squares: FloatArray = np.square((distances / length).astype(np.float32))
        return squares

    def find_sigmas(
        self, squared: FloatArray, perplexity: float, *, skip_diagonal: bool
    ) -> FloatArray:
        """See :class:`Backend`."""
        return find_sigmas(squared, perplexity, skip_diagonal=skip_diagonal)

    def dense_affinities(self, squared: FloatArray, sigmas: FloatArray) -> Affinities:
        """See :class:`Backend`."""
        return dense_affinities(squared, sigmas)

    def sparse_affinities(
        self, indices: IntArray, squared: FloatArray, sigmas: FloatArray
    ) -> Affinities:
        """See :class:`Backend`."""
        return sparse_affinities(indices, squared, sigmas)

    def engine(
        self,
        affinities: Affinities,
        n_components: int,
        fft_tolerance: float | None,
        timings: Timings,
        threads: Threads,
    ) -> Engine[FloatArray]:
        """See :class:`Backend`."""
        repulsion = None
        if fft_tolerance is not None:
            repulsion = FftRepulsion(n_components, fft_tolerance, threads)
        return CpuEngine(affinities, repulsion, threads=threads, timings=timings)

    def array(self, values: FloatArray) -> FloatArray:
        """See :class:`Backend`."""
        return values


def backend_for(device: Any, X: Any) -> Backend:
    """Return the backend of a device; see :func:`dtsne.runtime._devices.device_for`."""
    resolved = device_for(device, X=X)
    if resolved is None:
        return CpuBackend()
    from dtsne._backend_torch import TorchBackend

    return TorchBackend(resolved)
