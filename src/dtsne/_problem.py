"""From data to what the descent works on: neighbours, σ, P, the scales of the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._embedding import first_neighbors
from dtsne.affinity._base import floor_sigmas
from dtsne.data._base import needed_neighbors
from dtsne.data._duplicates import spread_duplicates
from dtsne.neighbors._base import NeighborIndex
from dtsne.neighbors._reorder import inverse_of
from dtsne.optimize._calibration import Calibration
from dtsne.runtime._arrays import median, to_host

if TYPE_CHECKING:
    from dtsne._backend import Backend
    from dtsne._config import CalibrationPlan
    from dtsne._embedding import NeighborLists
    from dtsne.data._base import Data
    from dtsne.runtime._progress import Progress
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray


@dataclass(frozen=True)
class Problem:
    """What is to be minimised, for the points in an order of its own."""

    data: Data  # in the order of the user, copies moved apart
    lists: NeighborLists | None  # the nearest neighbours, copies where they were, if they are kept
    order: IntArray | None  # the row of the data that each point is; None if they are in order
    affinities: Any
    sigmas: Any
    unit: float  # σ of a typical point
    at_bound: Any  # whether σ is none of the data: that of a copy moved apart, or raised
    scales: Any
    calibration: Calibration | None
    recall: float

    def in_own_order(self, of_rows: FloatArray) -> FloatArray:
        """Return what belongs to the rows of the data in the order of the points."""
        return of_rows if self.order is None else of_rows[self.order]

    def in_order_of_rows(self, of_points: Any) -> Any:
        """Return what belongs to the points in the order of the data."""
        return of_points if self.order is None else of_points[inverse_of(self.order)]


def state_problem(
    data: Data,
    perplexity: float,
    *,
    dense: bool,
    density_scale: float,
    plan: CalibrationPlan | None,
    max_exact_neighbors: int | None = None,
    recall: float | None = None,
    progress: Progress,
    backend: Backend,
    threads: Threads,
) -> Problem:
    """Find neighbours, σ and P, over all pairs or over neighbours.

    All arrays are those of the device, on which data and backend have to be. The neighbour lists,
    which are as large as P, are gone when this is done, but for the beginnings that are kept.
    """
    n = len(data)
    n_neighbors = needed_neighbors(perplexity, n)
    with progress.phase("neighbours"):
        build = partial(
            NeighborIndex.build, threads=threads, max_exact=max_exact_neighbors, recall=recall
        )
        found: tuple[Any, Any, float] = build(data).neighbors(n_neighbors)
        lists = first_neighbors(data, *found, perplexity)
        spread = spread_duplicates(data, found[1], perplexity)
        moved = np.zeros(n, bool)
        if spread is not None:
            data, rows = spread
            moved[rows] = True
            found = build(data).neighbors(n_neighbors)
        indices, distances, found_share = found
        del found
    with progress.phase("affinities"):
        order = None
        if not dense:
            order, indices, distances = backend.arranged(indices, distances)
        # Squares of float32 in a unit of their own: in that of the data they may be too small.
        length = 1.0 if dense else float(median(distances[:, -1]))
        squared = data.squared_distances(threads) if dense else backend.squared(distances, length)
        searched = length * backend.find_sigmas(squared, perplexity, skip_diagonal=dense)
        unit = float(median(searched[searched > 0]))
        sigmas = floor_sigmas(searched, unit)
        at_bound = to_host(sigmas > searched) | (moved if order is None else moved[order])
        scales = (sigmas / unit) ** density_scale
        calibration = None
        if plan is not None:
            calibration = Calibration.from_neighbors(
                plan, indices, distances, scales,
                perplexity=perplexity, density_scale=density_scale
            )  # fmt: skip
        del distances
        affinities = (
            backend.dense_affinities(squared, sigmas)
            if dense
            else backend.sparse_affinities(indices, squared, sigmas / length)
        )
    return Problem(
        data=data,
        lists=lists,
        order=order,
        affinities=affinities,
        sigmas=sigmas,
        unit=unit,
        at_bound=at_bound,
        scales=scales,
        calibration=calibration,
        recall=found_share,
    )
