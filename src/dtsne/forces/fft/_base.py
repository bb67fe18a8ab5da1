"""The FFT repulsion on any device: its numerics as a contract, and the driver of its plans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple

import numpy as np

from dtsne.forces.fft._controller import (
    MAX_REFINEMENT,
    Action,
    Arrival,
    Choice,
    Controller,
    ControllerState,
)
from dtsne.forces.fft._cost_model import CostModel
from dtsne.runtime._errors import UserNotice, setting
from dtsne.runtime._logging import warn
from dtsne.runtime._typing import Array

if TYPE_CHECKING:
    from dtsne.forces.fft._cost_model import Work
    from dtsne.forces.fft._plan import Box, Plan, Resolution
    from dtsne.runtime._typing import FloatArray, IntArray

# Points whose true force a plan is tried on.
_N_TRIED = 256
# Z is to be right to a fifth of the tolerance: its error is that of all forces alike.
_SUMS_WEIGHT = 5.0


class ForceSample(NamedTuple):
    """Forces on a sample of points, of shape (axes, points), and their shares of Z."""

    forces: FloatArray
    sums: FloatArray

    def error_of(self, found: ForceSample) -> float:
        """Return the relative error of other forces (median), or that of Z if it matters more."""
        sizes = np.maximum(np.linalg.norm(self.forces, axis=0), np.finfo(float).tiny)
        differences = np.linalg.norm(found.forces - self.forces, axis=0)
        of_sums = abs(float(found.sums.sum() / self.sums.sum()) - 1.0)
        return max(float(np.median(differences / sizes)), _SUMS_WEIGHT * of_sums)


class FftNumerics(ABC, Generic[Array]):
    """What the FFT repulsion computes, on the arrays of one device.

    It decides nothing and keeps nothing. Coordinates are those that the engine of the device has;
    `found` is what `evaluate` returns, in whatever form the other methods take it.
    """

    work: ClassVar[Work]
    # Whether to count pairs in cells takes as long as an evaluation.
    cell_counts_are_expensive: ClassVar[bool]

    @abstractmethod
    def measure(self, coordinates: Array) -> Box[Array]:
        """Find the box that a map lies in."""

    @abstractmethod
    def exact(self, coordinates: Array, scales: Array) -> tuple[Array, Array | float]:
        """Sum over all pairs."""

    @abstractmethod
    def sample_truth(self, rows: IntArray, coordinates: Array, scales: Array) -> ForceSample:
        """Sum over all pairs of some of the points."""

    @abstractmethod
    def make_plan(
        self, resolution: Resolution, extent: FloatArray, scales: Array, *, is_early: bool
    ) -> Plan[Array]:
        """Make the grid for a map of some extent, which may still grow fast, and the spectra."""

    @abstractmethod
    def evaluate(self, plan: Plan[Array], box: Box[Array], scales: Array) -> Array:
        """Find forces and shares of Z by a plan."""

    @abstractmethod
    def sample(self, found: Array, rows: IntArray) -> ForceSample:
        """Take some of the points out of what was found."""

    @abstractmethod
    def forces_and_normaliser(self, found: Array) -> tuple[Array, Array | float]:
        """Turn what was found into forces of all axes, and Z."""

    @abstractmethod
    def pairs_in_cells(self, box: Box[Array], width: float) -> float:
        """Sum the squared numbers of points of all cells of a width."""


class PlannedRepulsion(Generic[Array]):
    """Repulsion to a relative error of the force, by a plan that is kept from call to call.

    It asks a :class:`Controller` what to do, has the numerics do it, and reports what came of it.
    """

    def __init__(
        self,
        numerics: FftNumerics[Array],
        tolerance: float,
        *,
        refinement: float = 1.0,
        max_refinement: float = MAX_REFINEMENT,
    ) -> None:
        self._numerics: FftNumerics[Array] = numerics
        self._controller = Controller(tolerance, numerics.cell_counts_are_expensive, max_refinement)
        self._state = ControllerState(refinement=refinement)
        self._range: tuple[int | None, float, float] = (None, 1.0, 1.0)  # an epoch and its scales
        self.plan: Plan[Array] | None = None  # that the next evaluation is likely to use
        self.n_plans = 0  # so far: the number of the present one

    def __call__(
        self, coordinates: Array, scales: Array, *, epoch: int | None = None
    ) -> tuple[Array, Array | float]:
        """Return forces of the shape of the coordinates, and Z.

        The epoch is the number of the scales; see :class:`dtsne.forces._base.Engine`.
        """
        box = self._numerics.measure(coordinates)
        if not np.isfinite(box.extent).all():  # diverged: the descent will say so
            return coordinates * np.nan, float("nan")
        arrival = self._arrival(box, scales, epoch)
        action, self._state = self._controller.begin(self._state, arrival)
        if action is Action.EXACT:
            return self._numerics.exact(coordinates, scales)
        if action is Action.ENLARGE:
            assert self.plan is not None
            self._make_plan(self.plan, box, scales)
        if action in (Action.USE, Action.ENLARGE):
            found = self._evaluate(box, scales)
        else:
            found = self._renew(action, arrival, coordinates, scales, box)
        return self._numerics.forces_and_normaliser(found)

    def _arrival(self, box: Box[Array], scales: Array, epoch: int | None) -> Arrival:
        if epoch is None or epoch != self._range[0]:
            self._range = epoch, float(scales.min()), float(scales.max())
        is_held = self.plan is not None and self.plan.holds(box.extent)
        could_be_held = self.plan is not None and self.plan.could_hold(box.extent)
        return Arrival(epoch, box.extent, *self._range[1:], is_held, could_be_held)

    def _renew(
        self, action: Action, arrival: Arrival, coordinates: Array, scales: Array, box: Box[Array]
    ) -> Array:
        """Keep the plan, or make one, that is exact enough on a sample; return what it gives."""
        rows = np.linspace(0, box.n - 1, min(_N_TRIED, box.n)).astype(np.int64)
        true = self._numerics.sample_truth(rows, coordinates, scales)
        cost = self._cost_model(arrival, box)
        while True:
            if action is Action.CHOOSE:
                cost = self._cost_model(arrival, box)
                choice = self._choice(cost, arrival)
                action, self._state = self._controller.choose(self._state, choice)
                continue
            if action is Action.MAKE:
                self.plan = None  # its spectra may take a gigabyte
                self._make_plan(cost.resolution(self._state.cutoff), box, scales)
            found = self._evaluate(box, scales)
            error = true.error_of(self._numerics.sample(found, rows))
            action, self._state = self._controller.judge(self._state, error)
            if action is Action.WARN:
                self._warn(error)
            if action is not Action.CHOOSE:
                return found

    def _warn(self, error: float) -> None:
        missed = setting("fft_tolerance", self._controller.tolerance)
        warn(
            UserNotice(
                f"the repulsive forces have a relative error of {error:.2g} (median), more than "
                f"{missed}",
                f"raise {setting('fft_tolerance')} or use {setting('method', 'exact')}",
            )
        )

    def _cost_model(self, arrival: Arrival, box: Box[Array]) -> CostModel:
        tolerance = self._controller.tolerance
        return CostModel(
            n=box.n,
            extent=box.extent,
            min_scale=arrival.min_scale,
            max_scale=arrival.max_scale,
            tolerance=tolerance,
            limit=self._state.shares.limit * tolerance,
            refinement=self._state.refinement,
            work=self._numerics.work,
            pairs_in_cells=partial(self._numerics.pairs_in_cells, box),
        )

    def _choice(self, cost: CostModel, arrival: Arrival) -> Choice:
        cutoff, work = cost.cheapest(self._state.near)
        if self.plan is None or not (self._state.has_candidate and arrival.is_held):
            return Choice(cutoff, work)
        return Choice(cutoff, work, cost.cost_of(self.plan))

    def _make_plan(self, resolution: Resolution, box: Box[Array], scales: Array) -> None:
        self.plan = self._numerics.make_plan(
            resolution, box.extent, scales, is_early=self._state.made_early
        )
        self.n_plans += 1

    def _evaluate(self, box: Box[Array], scales: Array) -> Array:
        assert self.plan is not None
        return self._numerics.evaluate(self.plan, box, scales)
