"""Memory of a device: what a fit will take."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from dtsne._config import NEIGHBORS_PER_PERPLEXITY
from dtsne.affinity import _sparse_torch as _neighbor_graph
from dtsne.neighbors import _search_torch as _neighbors

if TYPE_CHECKING:
    from dtsne._cost import Job

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
