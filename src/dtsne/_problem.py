"""From data to what the descent works on: neighbours, σ, P, the scales of the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne._affinities import dense_affinities, find_sigmas, floor_sigmas, sparse_affinities
from dtsne._calibration import Calibration
from dtsne._data import NEIGHBORS_PER_PERPLEXITY
from dtsne._input import with_copies_apart
from dtsne._order import breadth_first_order, inverse_of, reorder_lists

if TYPE_CHECKING:
    from dtsne._affinities import Affinities
    from dtsne._calibration import CalibrationPlan
    from dtsne._data import Data
    from dtsne._progress import Progress
    from dtsne._typing import FloatArray, IntArray


@dataclass(frozen=True)
class Problem:
    """What is to be minimised, for the points in an order of its own."""

    data: Data  # in the order of the user, copies moved apart
    order: IntArray  # the row of the data that each point is
    affinities: Affinities
    sigmas: FloatArray
    unit: float  # σ of a typical point
    scales: FloatArray
    calibration: Calibration | None
    recall: float

    def in_order_of_rows(self, of_points: FloatArray) -> FloatArray:
        """Return what belongs to the points in the order of the data."""
        return of_points[inverse_of(self.order)]


def state_problem(
    data: Data,
    perplexity: float,
    *,
    dense: bool,
    density_scale: float,
    plan: CalibrationPlan | None,
    progress: Progress,
) -> Problem:
    """Find neighbours, σ and P, over all pairs or over neighbours.

    The neighbour lists, which are as large as P, are gone when this is done.
    """
    n = len(data)
    n_neighbors = min(n - 1, int(np.ceil(NEIGHBORS_PER_PERPLEXITY * perplexity)))
    with progress.phase("neighbours"):
        indices, distances, recall = data.neighbors(n_neighbors)
        apart = with_copies_apart(data, distances, perplexity)
        if apart is not None:
            data = apart
            indices, distances, recall = data.neighbors(n_neighbors)
    with progress.phase("affinities"):
        order: IntArray = np.arange(n)
        if not dense:
            order = breadth_first_order(indices)
            indices, distances = reorder_lists(indices, distances, order)
        # Squares of float32 in a unit of their own: in that of the data they may be too small.
        length = 1.0 if dense else float(np.median(distances[:, -1]))
        squared = (
            data.squared_distances()
            if dense
            else np.square((distances / length).astype(np.float32))
        )
        found = length * find_sigmas(squared, perplexity, skip_diagonal=dense)
        unit = float(np.median(found[found > 0]))
        sigmas = floor_sigmas(found, unit)
        scales = (sigmas / unit) ** density_scale
        calibration = None
        if plan is not None:
            calibration = Calibration.from_neighbors(
                plan, indices, distances, scales,
                perplexity=perplexity, density_scale=density_scale
            )  # fmt: skip
        del distances
        affinities: Affinities = (
            dense_affinities(squared, sigmas)
            if dense
            else sparse_affinities(indices, squared, sigmas / length)
        )
    return Problem(data, order, affinities, sigmas, unit, scales, calibration, recall)
