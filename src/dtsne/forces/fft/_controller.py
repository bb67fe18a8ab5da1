"""When the FFT repulsion makes its plan, tries it, and refines it: the same on every device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from dtsne.forces.fft._plan import Options
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from dtsne.forces.fft._plan import Box, Plan, ScaleNodes, Work
    from dtsne.runtime._typing import FloatArray, IntArray

# A plan is tried again after so many uses, at first and at most, and kept unless another is so much
# better. An error that is not small, and grows by such a factor meanwhile, is tried at the first
# interval again.
_FIRST_INTERVAL, _LONGEST_INTERVAL, _PLAN_PATIENCE = 2, 20, 1.2
# A map whose extent has changed by less than that is best served by the plan it has.
_MUCH_AS_IT_WAS = 1.15
_SMALL, _GROWING = 0.15, 1.5
# Points whose true force a new plan is tried on.
_N_TRIED = 256
# Finer where the error is too large, and coarser, with the next plan, where it is needlessly small:
# so much that it comes to what is aimed at, as it grows with that power of the spacing (measured,
# near the tolerance). Refinement ends somewhere: float32 has its own errors.
_REFINED_BY, _FINEST, _COARSEST, _GROWS_AS, _COARSER_AT_ONCE = 1.25, 4.0, 0.4, 2.5, 0.7


class Sampled(NamedTuple):
    """Forces on a sample of points, of shape (axes, points), and their shares of Z."""

    forces: FloatArray
    sums: FloatArray


class _Trial(NamedTuple):
    """Points whose true forces are known."""

    rows: IntArray
    true: Sampled

    def error_of(self, found: Sampled) -> float:
        """Return the relative error of the forces (median), or that of Z if it matters more."""
        sizes = np.maximum(np.linalg.norm(self.true.forces, axis=0), np.finfo(float).tiny)
        differences = np.linalg.norm(found.forces - self.true.forces, axis=0)
        of_sums = abs(float(found.sums.sum() / self.true.sums.sum()) - 1.0)
        return max(float(np.median(differences / sizes)), _SUMS_WEIGHT * of_sums)


class _Shares(NamedTuple):
    """Shares of the tolerance that the error may take, and that it is to take."""

    limit: float
    aim: float


# The map goes on to change under the plan. In the first uses it changes much, and small errors may
# send it another way.
_N_FIRST, _AT_FIRST, _LATER = 50, _Shares(0.25, 0.1), _Shares(0.5, 0.35)
# Z is to be right to a fifth of the tolerance: its error is that of all forces alike.
_SUMS_WEIGHT = 5.0
# An error of this many tolerances is worth a warning.
_MISSED = 2.0
# In a map of less than this share of its smallest scale all forces cancel, and none matters yet.
_SHAPELESS = 1e-3
# A map larger than this many scales is about to diverge, and leaves float32.
_LARGEST = 1e8


class PlannedRepulsion(ABC):
    """Repulsion of maps of n_components dimensions, to a relative error of the force.

    A callable as :func:`dtsne.forces._exact.exact_repulsion`, which keeps its plan, and with it the
    spectra of the kernel, from one call to the next. A new plan is tried on a sample of points,
    whose true forces are cheap to sum, and made finer until their median error is small enough.
    The arrays are those of the device that a subclass is for; here only a few numbers of each are
    looked at.
    """

    work: ClassVar[Work]
    # Where to count pairs in cells takes as long as an evaluation, only cutoffs near the one that
    # was good before are tried.
    counts_slowly: ClassVar[bool] = False

    @abstractmethod
    def _measured(self, coordinates: Any) -> Box:
        """Find the box that a map lies in."""

    @abstractmethod
    def _exact(self, coordinates: Any, scales: Any) -> tuple[Any, float]:
        """Sum over all pairs."""

    @abstractmethod
    def _truth(self, rows: IntArray, coordinates: Any, scales: Any) -> Sampled:
        """Sum over all pairs of some of the points."""

    @abstractmethod
    def _make_plan(
        self, cutoff: float, spacing: float, extent: FloatArray, nodes: ScaleNodes, scales: Any
    ) -> Plan:
        """Make the grid and the spectra."""

    @abstractmethod
    def _evaluate(self, plan: Plan, box: Box, scales: Any) -> Any:
        """Find forces and shares of Z by a plan, in a form that `_sampled` and `_whole` take."""

    @abstractmethod
    def _sampled(self, found: Any, rows: IntArray) -> Sampled:
        """Take some of the points out of what `_evaluate` gave."""

    @abstractmethod
    def _whole(self, found: Any, coordinates: Any) -> tuple[Any, float]:
        """Turn what `_evaluate` gave into forces of all axes, and Z."""

    @abstractmethod
    def _pairs_in_cells(self, box: Box, width: float) -> float:
        """Sum the squared numbers of points of all cells of a width."""

    def __init__(self, n_components: int, tolerance: float) -> None:
        self._n_components = n_components
        self._tolerance = tolerance
        self._plan: Plan | None = None
        self._epoch: int | None = None  # that the plan is for
        self._known: int | None = None  # that the range is of
        self._range = (1.0, 1.0)
        self._refinement = 1.0  # of the next plan
        self._refinement_of_plan = 1.0
        self._cutoff = 0.0  # of the last plan, and the extent of the map that it was made for
        self._extent: FloatArray = np.ones(n_components)
        self._error = 0.0  # as a share of the tolerance, when last tried
        self._interval = _FIRST_INTERVAL
        self._n_uses = self._uses_left = 0
        self._warned = False

    @property
    def plan(self) -> Plan | None:
        """What the next evaluation is likely to use."""
        return self._plan

    def __call__(
        self, coordinates: Any, scales: Any, *, epoch: int | None = None
    ) -> tuple[Any, float]:
        """Return forces of the shape of the coordinates, and Z; see `exact_repulsion`.

        The epoch is the number of the scales; see :class:`dtsne.forces._base.Engine`.
        """
        box = self._measured(coordinates)
        extent = box.extent
        if not np.isfinite(extent).all():  # diverged: the descent will say so
            return coordinates * np.nan, float("nan")
        if epoch is None or self._known != epoch:
            self._range = float(scales.min()), float(scales.max())
            self._known = epoch
        if not extent.any() or extent.max() > _LARGEST * self._range[1]:
            return self._exact(coordinates, scales)
        if self._is_due(extent, epoch):
            found = self._renew(coordinates, scales, box, epoch)
        else:
            found = self._evaluate(self._plan_for(extent, scales), box, scales)
        self._uses_left -= 1
        self._n_uses += 1
        return self._whole(found, coordinates)

    def _is_due(self, extent: FloatArray, epoch: int | None) -> bool:
        """Whether to choose the plan anew, or to try whether it is still good enough."""
        plan = self._plan
        if plan is None or not self._is_of(epoch) or self._uses_left == 0:
            return True
        return not (plan.holds(extent) or plan.could_hold(extent))

    def _is_of(self, epoch: int | None) -> bool:
        return epoch is not None and epoch == self._epoch

    def _plan_for(self, extent: FloatArray, scales: Any) -> Plan:
        plan = self._plan
        assert plan is not None
        if not plan.holds(extent):
            # The same on a larger grid is as exact as it was, and need not be tried again.
            plan = self._make_plan(plan.cutoff, plan.spacing, extent, plan.nodes, scales)
            self._plan = plan
        return plan

    def _renew(self, coordinates: Any, scales: Any, box: Box, epoch: int | None) -> Any:
        """Keep the plan, or make one, that is exact enough on a sample; return what it gives."""
        plan = self._plan if self._is_of(epoch) else None
        trial = self._trial(coordinates, scales)
        if plan is not None and self.counts_slowly and self._serves_still(plan, box):
            found = self._evaluate(plan, box, scales)
            error = trial.error_of(self._sampled(found, trial.rows))
            if error <= self._shares.limit * self._tolerance:
                self._plan_ahead(error / self._tolerance)
                return found
        former_error, is_finest = np.inf, False
        while True:
            options = self._options(box)
            known = self._cutoff if self.counts_slowly else 0.0
            cutoff, least = options.cheapest(known)
            while not np.isfinite(least):  # a grid as fine as that has no room
                is_finest = True
                self._refinement /= _REFINED_BY
                options = self._options(box)
                cutoff, least = options.cheapest()
            enough = _PLAN_PATIENCE * least
            kept = plan is not None and plan.holds(box.extent) and options.cost_of(plan) <= enough
            if plan is None or not kept:
                plan = self._plan = None  # its spectra may take a gigabyte
                spacing, nodes = options.spacing(cutoff), options.nodes(cutoff)
                plan = self._make_plan(cutoff, spacing, box.extent, nodes, scales)
                self._refinement_of_plan = self._refinement
                self._cutoff, self._extent = cutoff, box.extent
            found = self._evaluate(plan, box, scales)
            error = trial.error_of(self._sampled(found, trial.rows))
            if error <= self._shares.limit * self._tolerance:
                break
            if kept:
                self._refinement = max(self._refinement, self._refinement_of_plan)
            else:
                of_no_use = self._refinement > 1.0 and error > 0.9 * former_error
                if self._refinement > _FINEST or of_no_use or is_finest:
                    self._refinement /= _REFINED_BY
                    if box.extent.max() > _SHAPELESS * self._range[0]:
                        self._warn_once(error)
                    break
                former_error = error
                self._refinement *= _REFINED_BY
            plan = None
        self._plan, self._epoch = plan, epoch
        self._plan_ahead(error / self._tolerance)
        return found

    def _trial(self, coordinates: Any, scales: Any) -> _Trial:
        rows = np.linspace(0, len(scales) - 1, min(_N_TRIED, len(scales))).astype(np.int64)
        return _Trial(rows, self._truth(rows, coordinates, scales))

    def _serves_still(self, plan: Plan, box: Box) -> bool:
        """Whether a map is much as it was when its plan was the cheapest."""
        grown = box.extent / self._extent
        return plan.holds(box.extent) and bool((abs(np.log(grown)) < np.log(_MUCH_AS_IT_WAS)).all())

    def _options(self, box: Box) -> Options:
        limit = self._shares.limit * self._tolerance
        return Options(
            box, *self._range, self._tolerance, limit, self._refinement, self.work,
            self._pairs_in_cells,
        )  # fmt: skip

    @property
    def _shares(self) -> _Shares:
        return _AT_FIRST if self._n_uses < _N_FIRST else _LATER

    def _warn_once(self, error: float) -> None:
        if error > _MISSED * self._tolerance and not self._warned:
            self._warned = True
            warn(
                f"The repulsive forces have a relative error of {error:.2g} (median), more than "
                f"fft_tolerance={self._tolerance:g}; raise it, or use method='exact'."
            )

    def _plan_ahead(self, error: float) -> None:
        """Decide when to try the plan next, and whether the next may be coarser.

        Where forces nearly cancel, as in a map that is still small, the error may grow tenfold in a
        few steps: then the plan is tried at every second.
        """
        grows = error > _SMALL and error > _GROWING * self._error
        self._interval = _FIRST_INTERVAL if grows else min(2 * self._interval, _LONGEST_INTERVAL)
        self._uses_left = self._interval
        self._error = error
        aim = self._shares.aim
        if error < aim:
            coarser = max((error / aim) ** (1.0 / _GROWS_AS), _COARSER_AT_ONCE)
            self._refinement = max(_COARSEST, coarser * self._refinement_of_plan)
