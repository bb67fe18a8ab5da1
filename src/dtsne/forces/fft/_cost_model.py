"""The work of one evaluation, by a model whose constants were measured.

The cutoff, and with it scale nodes and grid, are chosen for the least work that keeps the
tolerance. The error is then tried on a sample of the points (:mod:`dtsne.forces.fft._controller`),
and the plan refined where the model was too hopeful.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._kernels import LANES, STENCIL
from dtsne.forces.fft._plan import MARGIN, MAX_BYTES, Resolution, fewest_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.forces.fft._plan import Plan, ScaleNodes
    from dtsne.runtime._typing import Array, FloatArray

# Measured: the median relative error of the force is about a factor (by number of axes) times
# (h/R)³; the spacing h follows from it. In one dimension forces from the two sides cancel, and
# leave more of the error.
_ERROR_FACTOR, _ERROR_POWER = {1: 1.4, 2: 0.09, 3: 0.09}, 3.0
# Bands of cells are as wide as the cutoff; of less than two steps, those three apart would share
# nodes.
_MIN_RATIO = 2.05
# Spacing that resolves a kernel, as a share of its scale.
_RESOLVING = 0.25
_MIN_STEPS = 8
# On the ladder of cutoffs, work that is so many times what it was will not be less again.
_MAX_COST_INCREASE = 4.0


@dataclass(frozen=True)
class Work:
    """What the steps take on a device, in nanoseconds; only their ratios matter."""

    fft: float  # a transform, there and back: each point of the padded grid, node and doubling
    product: float  # the product of the spectra: each point and pair of nodes
    stencil: float  # spreading and gathering: each point, node of its stencil and scale node
    pair: float  # a pair of points in one cell or no more than two apart
    launched: float = 0.0  # whatever the size


@dataclass(frozen=True)
class CostModel:
    """What the work of a cutoff depends on; a cutoff of 0 is a grid that resolves everything."""

    n: int
    extent: FloatArray
    min_scale: float
    max_scale: float
    tolerance: float
    limit: float  # what of it the error may take
    refinement: float
    work: Work
    pairs_in_cells: Callable[[float], float]  # of a width

    def resolution(self, cutoff: float) -> Resolution:
        """Spacing and scale nodes that keep the error below the tolerance."""
        return Resolution(cutoff, self.spacing(cutoff), self.nodes(cutoff))

    def nodes(self, cutoff: float) -> ScaleNodes:
        """Scale nodes that keep the error below the tolerance."""
        tolerance = self.tolerance / self.refinement**2
        return fewest_nodes(self.min_scale, self.max_scale, cutoff, tolerance)

    def spacing(self, cutoff: float) -> float:
        """Spacing of the grid that keeps the error below the tolerance."""
        if cutoff == 0:
            few = float(self.extent.max()) / _MIN_STEPS
            return min(_RESOLVING * self.min_scale, few) / self.refinement
        error = _ERROR_FACTOR[len(self.extent)]
        ratio = max((error / self.limit) ** (1.0 / _ERROR_POWER), _MIN_RATIO)
        return float(cutoff / max(self.refinement * ratio, _MIN_RATIO))

    def cost(self, cutoff: float) -> float:
        """Work of one evaluation; infinite if it does not fit into memory."""
        steps = np.ceil(self.extent * MARGIN / self.spacing(cutoff)) + STENCIL
        n_nodes = len(self.nodes(cutoff).values)
        return self._cost(cutoff, float(np.prod(2.0 * steps)), n_nodes)

    def cost_of(self, plan: Plan[Array]) -> float:
        """Work of one evaluation on the grid that a plan has."""
        size = float(np.prod(np.array(plan.padded_shape, dtype=float)))
        return self._cost(plan.cutoff, size, len(plan.nodes.values))

    def _cost(self, cutoff: float, size: float, n_nodes: int) -> float:
        # Spectra of the pairs of nodes; charges, potentials and grids of the nodes; and the kernel.
        n_bytes = size * (n_nodes * (n_nodes + 1.0) + 16.0 * n_nodes + 32.0)
        if n_bytes > MAX_BYTES:
            return float("inf")
        n_axes = len(self.extent)
        transform = self.work.fft * float(np.log2(size)) * n_nodes
        product = self.work.product * 0.5 * n_nodes**2
        stencil = self.work.stencil * STENCIL**n_axes * -(-n_nodes // LANES) * LANES
        total = self.work.launched + size * (transform + product) + self.n * stencil
        if cutoff > 0:
            n_around = (2.0 * BORDER + 1.0) ** n_axes
            pairs = n_around * self.pairs_in_cells(cutoff / BORDER)
            total += self.work.pair * pairs
        return float(total)

    def cheapest(self, near: float = 0.0) -> tuple[float, float]:
        """Find the cutoff of least work, none or one of a ladder; its work.

        From large to small, or, near to one that was good before, from there as long as it gets
        better. The steps are powers of √2 of the smallest scale, so that what depends on a cutoff
        and the scales alone is found once.
        """
        best, least = 0.0, self.cost(0.0)
        highest = _step_of(float(self.extent.max()) / 2.0 / self.min_scale)
        if near > 0:
            start = min(round(2.0 * np.log2(near / self.min_scale)), highest)
            ladders = [range(start, 0, -1), range(start + 1, highest + 1)]
        else:
            ladders = [range(highest, 0, -1)]
        for ladder in ladders:
            previous = np.inf
            for step in ladder:
                cutoff = float(self.min_scale * 2.0 ** (step / 2))
                cost = self.cost(cutoff)
                if cost < least:
                    best, least = cutoff, cost
                if cost > (1.0 if near > 0 else _MAX_COST_INCREASE) * previous:
                    break
                previous = min(cost, previous)
        return best, least


def _step_of(ratio: float) -> int:
    """Count the steps of √2 that a ratio holds."""
    return int(np.floor(2.0 * np.log2(ratio))) if ratio > 1.0 else 0
