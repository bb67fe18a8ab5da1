"""From data to what the descent works on: neighbours, σ, P, the scales of the kernel.

Arrays are typed as those of numpy; where the data is on a device, they are tensors of PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import array_namespace

from dtsne._cost import stored_neighbors
from dtsne._embedding import KernelScales, NeighborLists
from dtsne.affinity._base import gaussians_of_all, gaussians_of_neighbors
from dtsne.data._duplicates import spread_duplicates
from dtsne.neighbors._base import NeighborIndex
from dtsne.neighbors._reorder import inverse_of, to_internal_order
from dtsne.optimize._calibration import Calibration

if TYPE_CHECKING:
    import torch

    from dtsne._config import Config
    from dtsne._cost import Job
    from dtsne.affinity._base import Affinities
    from dtsne.data._base import Data
    from dtsne.runtime._progress import Progress
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import BoolArray, FloatArray, HostArray, IntArray


@dataclass(frozen=True)
class Problem:
    """The objective, for the points in internal order.

    Attributes
    ----------
    data : Data
        In input order, duplicates spread.
    lists : NeighborLists or None
        The nearest neighbours before duplicates were spread, if they are stored.
    order : ndarray of int or None
        The row of the data that each point is; None if the internal order is that of the input.
    affinities : Affinities
    sigmas : ndarray of shape (n,)
        In the unit of the data.
    unit : float
        σ of a typical point.
    at_floor : ndarray of bool
        True where σ was not estimated from the data: a duplicate that was spread, or clipped.
    scales : KernelScales
    calibration : Calibration or None
    recall : float
    device : torch.device or None
    """

    data: Data
    lists: NeighborLists | None
    order: IntArray | None
    affinities: Affinities
    sigmas: FloatArray
    unit: float
    at_floor: BoolArray
    scales: KernelScales
    calibration: Calibration | None
    recall: float
    device: torch.device | None

    def to_internal_order(self, of_rows: FloatArray) -> FloatArray:
        """Return values of the rows of the data as values of the points."""
        return of_rows if self.order is None else of_rows[self.order]

    def to_input_order(self, of_points: HostArray) -> HostArray:
        """Return values of the points as values of the rows of the data."""
        return of_points if self.order is None else of_points[inverse_of(self.order)]


def state_problem(
    data: Data, job: Job, config: Config, progress: Progress, threads: Threads
) -> Problem:
    """Find neighbours, σ and P, over all pairs or over neighbours.

    The neighbour lists, which are as large as P, are gone when this is done, but for the first
    neighbours that a report needs.
    """
    perplexity, dense, n_neighbors = job.perplexity, job.is_dense, job.n_neighbors
    device = data.device
    progress.begin("neighbours")
    found = _search(data, n_neighbors, config, threads)
    # Precomputed neighbours need not be stored.
    lists = _first_neighbors(found, perplexity) if job.searches else None
    spread = np.zeros(job.n, bool)
    apart = spread_duplicates(data, found[1], perplexity)
    if apart is not None:
        data, rows = apart
        spread[rows] = True
        found = _search(data, n_neighbors, config, threads)
    indices, distances, recall = found
    del found
    progress.begin("affinities")
    order = None
    if dense:
        gaussians = gaussians_of_all(data.squared_distances(threads), perplexity, threads)
    else:
        if device is None:  # the cache of a GPU holds the positions of a million points
            order, indices, distances = to_internal_order(indices, distances)
        gaussians = gaussians_of_neighbors(distances, perplexity, threads)
    sigmas, unit = gaussians.sigmas, gaussians.unit
    at_floor = gaussians.is_clipped | (spread if order is None else spread[order])
    scales = (sigmas / unit) ** config.density_scale
    calibration = None
    if config.uses_calibration:
        calibration = Calibration.from_neighbors(
            config.calibration_plan, indices, distances, scales,
            perplexity=perplexity, density_scale=config.density_scale,
        )  # fmt: skip
    del distances
    affinities = gaussians.affinities(None if dense else indices, threads)
    kernel_scales = KernelScales(scales, unit * data.unit)
    if config.is_paper:
        kernel_scales = _relative_to_smallest(kernel_scales, config.density_scale)
    return Problem(
        data=data,
        lists=lists,
        order=order,
        affinities=affinities,
        sigmas=sigmas,
        unit=unit,
        at_floor=at_floor,
        scales=kernel_scales,
        calibration=calibration,
        recall=recall,
        device=device,
    )


def _search(
    data: Data, k: int, config: Config, threads: Threads
) -> tuple[IntArray, FloatArray, float]:
    index = NeighborIndex.build(
        data,
        threads=threads,
        max_exact=config.max_exact_neighbors,
        recall=config.neighbor_recall,
    )
    found: tuple[IntArray, FloatArray, float] = index.neighbors(k)  # type: ignore[assignment]
    return found


def _first_neighbors(
    found: tuple[IntArray, FloatArray, float], perplexity: float
) -> NeighborLists | None:
    """Return the first neighbours of each point if they take little memory."""
    indices, distances, recall = found
    n, n_found = indices.shape
    n_stored = stored_neighbors(n, n_found, perplexity)
    if n_stored == 0:
        return None
    # In memory of their own, as a view would hold the whole lists.
    xp = array_namespace(indices)
    near = xp.asarray(indices[:, :n_stored], copy=True)
    return NeighborLists(near, xp.asarray(distances[:, :n_stored], copy=True), recall)


def _relative_to_smallest(scales: KernelScales, density_scale: float) -> KernelScales:
    """Return the scales as the paper has them: its γ is 1/(σ_i + σ_j)² over its maximum."""
    smallest = float(scales.values.min())
    # A scale of 1 is that of the smallest σ, of which the scales are powers.
    sigma_share = smallest ** (1.0 / density_scale) if density_scale > 0 else 1.0
    return KernelScales(scales.values / smallest, scales.unit * sigma_share)
