"""What a fit will take, before it starts: the memory at its peak, and the time.

Both are sums of named parts, so that a part can be checked, or measured anew, by itself:
`benchmarks/estimate.py` prints them beside what was measured, and that is where the constants come
from.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from dtsne._config import NEIGHBORS_PER_PERPLEXITY
from dtsne.neighbors._base import MAX_EXACT_NEIGHBORS
from dtsne.runtime._devices import free_memory
from dtsne.runtime._memory import available_memory, shortage

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

_LOGGER = logging.getLogger(__name__)

# --- bytes: counted in the code, and found to add up to what is measured ---

# A list of neighbours: an index (int32) and a distance (float64).
_LISTED = 4 + 8
# Search by inverted lists: the points once more in order of their cells, and twice in float32.
_SEARCHED = 8 + 2 * 4
# Dense P: an affinity (float32) for each pair; and while it is made, its squared distance (float64)
# and a little more.
_DENSE_PAIR, _DENSE_IN_THE_MAKING = 4, 8.5
# Sparse P: pairs for each listed neighbour, as lists are not mutual; a column (int32) and an
# affinity (float32) each.
_PAIRS_PER_NEIGHBOR, _SPARSE_PAIR = 1.4, 4 + 4
# While that is made, the lists hold squared distances (float32); besides there are, for each listed
# neighbour, two transposes of them (column, squared distance).
_SPARSE_IN_THE_MAKING = 4 + 4 + 2 * (4 + 4)
# Float64 arrays held at once, of the map's shape and as many of the three axes of the kernels.
_MAPS_HELD = 6
# Grids of the FFT repulsion, most of them spectra: typically this much, and at most 2 GiB.
_GRIDS = 200e6

# --- CPU seconds: measured, on mixtures of Gaussians in 50 dimensions ---

# All distances: for each pair, and number of a point.
_DISTANCE = 0.4e-9
# Inverted lists: for each of 14,000 points looked at from each, and number of it; and to rank a
# neighbour.
_LOOKED_AT, _RANKED = 14_000 * 0.04e-9, 200e-9
# σ and P, for each pair of dense P, and for each listed neighbour of sparse P.
_DENSE_AFFINITY, _SPARSE_AFFINITY = 50e-9, 100e-9
# One iteration: a pair of dense P, a pair of sparse P, the exact repulsion of a pair, the FFT's of
# a point.
_DENSE_PULL, _SPARSE_PULL, _PUSH, _FFT_PUSH = 0.6e-9, 2.5e-9, 0.6e-9, 1.0e-6
# All rounds of calibration, for each point.
_CALIBRATED = 15e-6
# Share of the work that the threads divide among them.
_DIVIDED = 0.9

# Smaller ones are not worth suggesting: a map of them would be another one.
_LEAST_PERPLEXITY, _LEAST_POINTS = 5, 100


# Neighbours for each unit of perplexity that a report looks at, to find clusters too small for it;
# and for small perplexities, those that a map should keep.
_LISTED_PER_PERPLEXITY, _MIN_LISTED = 1.25, 16
# An index (int32) and a distance (float64) each; so many bytes are those of 44,000 points at a
# perplexity of 100, and little compared with what their fit takes. Of a million, a model would hold
# more than a gigabyte for a report that nobody may ask for.
_BYTES_LISTED = 4 + 8
_MAX_BYTES = 2**26


def stored_neighbors(n: int, n_found: int, perplexity: float) -> int:
    """Count the neighbours of each point that a fit stores for its report; 0 if too many."""
    n_stored = min(n_found, _n_reported(perplexity))
    return 0 if _BYTES_LISTED * n * n_stored > _MAX_BYTES else n_stored


def max_list_bytes(n: int, perplexity: float) -> int:
    """Return what the lists of n points may take; more points never have less."""
    return min(_BYTES_LISTED * n * _n_reported(perplexity), _MAX_BYTES)


def _n_reported(perplexity: float) -> int:
    return max(_MIN_LISTED, ceil(_LISTED_PER_PERPLEXITY * perplexity))


def needed_neighbors(perplexity: float, n: int) -> int:
    """Count the neighbours of each of n points that a perplexity asks for."""
    return min(n - 1, ceil(NEIGHBORS_PER_PERPLEXITY * perplexity))


@dataclass(frozen=True)
class Job:
    """What the cost of a fit depends on."""

    n: int
    d: int | None  # None where not points but all their distances are given
    n_components: int
    perplexity: float
    max_dense: int  # up to so many points P is over all pairs
    max_exact: int  # up to so many points, the repulsion too
    method: str
    n_iter: int
    n_threads: int
    searches: bool = True  # False where neighbours are given

    @property
    def is_dense(self) -> bool:
        """Whether P is over all pairs."""
        return self.n <= self.max_dense

    @property
    def is_exact(self) -> bool:
        """Whether the repulsion is summed over all pairs."""
        return self.method == "exact" or (self.method == "auto" and self.n <= self.max_exact)

    @property
    def searches_cells(self) -> bool:
        """Whether neighbours are found without all distances."""
        return self.searches and self.d is not None and self.n > MAX_EXACT_NEIGHBORS

    @property
    def n_numbers(self) -> int:
        """Numbers that all points come with."""
        return self.n * (self.n if self.d is None else self.d)

    @property
    def n_neighbors(self) -> int:
        """Neighbours of each point that the perplexity asks for."""
        return needed_neighbors(self.perplexity, self.n)

    @property
    def n_listed(self) -> int:
        """Neighbours in all lists together."""
        return self.n * self.n_neighbors

    @property
    def n_pairs(self) -> float:
        """Entries of P."""
        return self.n**2 if self.is_dense else _PAIRS_PER_NEIGHBOR * self.n_listed


def memory_by_phase(job: Job) -> dict[str, dict[str, float]]:
    """Bytes of what is held in each phase, beyond what the process has before the fit."""
    kept = max_list_bytes(job.n, job.perplexity) if job.searches else 0
    points, lists = {"points": 8.0 * job.n_numbers}, float(_LISTED * job.n_listed)
    lasting = {**points, "kept lists": float(kept)}
    search = _SEARCHED * job.n_numbers if job.searches_cells else 0.0
    if job.is_dense:
        p, making = _DENSE_PAIR * job.n_pairs, _DENSE_IN_THE_MAKING * job.n_pairs + lists
    else:
        p, making = _SPARSE_PAIR * job.n_pairs, _SPARSE_IN_THE_MAKING * job.n_listed
    axes = 3 + job.n_components
    return {
        # The lists twice, as they are put into another order.
        "neighbours": {**lasting, "lists": 2 * lists, "search": search},
        "affinities": {**lasting, "P": p, "making of P": making},
        "descent": {
            **lasting,
            "P": p,
            "maps": 8.0 * _MAPS_HELD * axes * job.n,
            "grids": 0.0 if job.is_exact else _GRIDS,
        },
    }


def peak_memory(job: Job) -> float:
    """Bytes that are held where they are most."""
    return max(sum(parts.values()) for parts in memory_by_phase(job).values())


def cpu_seconds_by_phase(job: Job) -> dict[str, float]:
    """Seconds of all cores together, by the names that `timings_` has."""
    if job.searches_cells:
        search = _LOOKED_AT * job.n_numbers + _RANKED * job.n_listed
    else:
        search = _DISTANCE * job.n * job.n_numbers
    pulls = (_DENSE_PULL if job.is_dense else _SPARSE_PULL) * job.n_pairs
    pushes = _PUSH * job.n**2 if job.is_exact else _FFT_PUSH * job.n
    return {
        "neighbours": search,
        "affinities": (
            _DENSE_AFFINITY * job.n_pairs if job.is_dense else _SPARSE_AFFINITY * job.n_listed
        ),
        "attraction": job.n_iter * pulls,
        "repulsion": job.n_iter * pushes,
        "calibration": _CALIBRATED * job.n,
    }


def seconds(job: Job) -> float:
    """Seconds of the clock."""
    cpu = sum(cpu_seconds_by_phase(job).values())
    return cpu * (1.0 - _DIVIDED + _DIVIDED / job.n_threads)


def check_cost(job: Job, device: torch.device | None) -> None:
    """Log what a fit will take, or raise an error if it does not fit into the memory there is."""
    if device is None:
        check_job(job, available_memory())
        _LOGGER.info(description(job))
        return
    from dtsne._cost_torch import peak_memory as peak_on_device

    free = free_memory(device)
    check_job(job, free, partial(peak_on_device, free=free))
    gibibytes = peak_on_device(job, free) / 2**30
    _LOGGER.info("%s points on %s, at most %.1f GiB", f"{job.n:,}", device, gibibytes)


def description(job: Job) -> str:
    """Return time and memory of a fit, in a line."""
    threads = "1 thread" if job.n_threads == 1 else f"{job.n_threads} threads"
    return f"{job.n:,} points: about {_time(seconds(job))} on {threads} and {_size(job)}"


def check_job(job: Job, free: int | None, needs: Callable[[Job], float] | None = None) -> None:
    """Raise MemoryError where a fit, whose points are there already, does not fit into memory.

    `needs` is what a fit takes, by default on the CPU.
    """
    needs = needs or _memory_to_come
    needed = needs(job)
    if free is None or needed <= free:
        return

    def fits(**changes: int) -> bool:
        return needs(replace(job, **changes)) <= free  # type: ignore[arg-type]

    fixes = []
    lower = _largest(lambda p: fits(perplexity=p), _LEAST_PERPLEXITY, ceil(job.perplexity) - 1)
    if lower is not None:
        fixes.append(f"lower the perplexity to {lower}")
    # Two ranges, as fewer points with a dense P may need more than many with a sparse one.
    most = job.n - 1
    for least, below in ((job.max_dense + 1, most), (_LEAST_POINTS, min(job.max_dense, most))):
        fewer = _largest(lambda n: fits(n=n), least, below)
        if fewer is not None:
            fixes.append(f"map no more than {fewer:,} points")
            break
    what = f"A map of {job.n:,} points at perplexity {job.perplexity:g}"
    raise shortage(needed, free, what, ", or ".join([*fixes, "free some memory"]))


def _memory_to_come(job: Job) -> float:
    return peak_memory(job) - memory_by_phase(job)["descent"]["points"]


def _largest(fits: Callable[[int], bool], least: int, most: int) -> int | None:
    """Find the largest number that fits, to two digits, or None if the least does not."""
    if most < least or not fits(least):
        return None
    low, high = least, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    unit: int = 10 ** max(0, len(str(low)) - 2)
    return max(least, low // unit * unit)


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(1.0, seconds):.0f} s"


def _size(job: Job) -> str:
    n_bytes = peak_memory(job)
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"
