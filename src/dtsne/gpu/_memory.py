"""Memory of a device: what a fit will take, and what to say where it does not suffice."""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING

import torch

from dtsne._data import NEIGHBORS_PER_PERPLEXITY
from dtsne.gpu import _neighbor_graph, _neighbors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._estimate import Job

# Dense P in float32, and while it is made the squared distances in float64 and float32.
_DENSE_PAIR = 4 + 8 + 4 + 4
# Tensors of the map's size that are held at once, in the descent and in its recording.
_MAPS_HELD = 60
# Grids and spectra of the FFT repulsion; a typical size, as on the CPU.
_GRIDS = 500e6


def peak_memory(job: Job, free: int | None = None) -> float:
    """Bytes on the device that a fit takes where it takes the most, beyond the points.

    With less that is free, less is worked on at once.
    """
    k = min(job.n - 1, ceil(NEIGHBORS_PER_PERPLEXITY * job.perplexity))
    d = 1 if job.d is None else job.d
    making = _neighbors.peak_bytes(job.n, d, k, free) if job.searches and job.d is not None else 0
    descent = 4.0 * _MAPS_HELD * job.n * job.n_components + _GRIDS
    if job.is_dense:
        return max(making, _DENSE_PAIR * float(job.n) ** 2) + descent
    return max(making, _neighbor_graph.peak_bytes(job.n, k)) + descent


@contextmanager
def said_shortage() -> Iterator[None]:
    """Turn PyTorch's error, where the estimate was too low or others took it, into a clear one."""
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise MemoryError(
            f"The GPU has no memory left ({str(error).splitlines()[0]}) Lower the perplexity, map "
            "fewer points, free what other programs hold, or use device='cpu'."
        ) from error
