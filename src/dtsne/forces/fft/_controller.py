"""When the FFT repulsion makes a plan, tries it and refines it: a pure state machine.

Nothing is computed here, and nothing is kept: a :class:`Controller` is told what was measured, and
returns what to do next and its new state. A driver (:mod:`dtsne.forces.fft._base`) does it on some
device, and reports what came of it::

    begin(state, arrival)  → EXACT | USE | ENLARGE, or begins a renewal: CHECK | CHOOSE
    choose(state, choice)  → KEEP | MAKE | CHOOSE
    judge(state, error)    → ACCEPT | WARN | CHOOSE

A plan is tried on a sample of points, whose true forces are cheap to sum, and made finer until
their median error is small enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

# A plan is tried again after so many uses, at first and at most, and kept unless another is so much
# better. An error that is not small, and grows by such a factor meanwhile, is tried at the first
# interval again.
_FIRST_INTERVAL, _MAX_INTERVAL, _PLAN_PATIENCE = 2, 20, 1.2
_SMALL, _GROWING = 0.15, 1.5
# From that interval on, a plan is likely to be kept for a while.
_SETTLED_INTERVAL = 8
# A map whose extent has changed by less than that is best served by the plan it has.
_MAX_EXTENT_CHANGE = 1.15
# Finer where the error is too large, and coarser, with the next plan, where it is needlessly small:
# so much that it comes to what is aimed at, as it grows with that power of the spacing (measured,
# near the tolerance). Refinement ends somewhere: float32 has its own errors.
_REFINED_BY, MAX_REFINEMENT, _MIN_REFINEMENT, _ERROR_POWER, _MIN_COARSENING = (
    1.25,
    4.0,
    0.4,
    2.5,
    0.7,
)
# An error that is still so much of the former one is not worth refining any further.
_USELESS = 0.9
# An error of this many tolerances is worth a warning.
_MISSED = 2.0
# In a map of less than this share of its smallest scale all forces cancel, and none matters yet.
_MIN_RELATIVE_EXTENT = 1e-3
# A map larger than this many scales is about to diverge, and leaves float32.
_MAX_RELATIVE_EXTENT = 1e8
# Uses in which a map changes much, and small errors may send it another way.
_N_EARLY = 50


class Shares(NamedTuple):
    """Shares of the tolerance that the error may take, and that it is to take."""

    limit: float
    aim: float


# The map goes on to change under the plan.
_EARLY, _LATER = Shares(0.25, 0.1), Shares(0.5, 0.35)


class Action(Enum):
    """What to do next, and to report."""

    EXACT = "sum over all pairs"
    USE = "evaluate by the plan"
    ENLARGE = "make the same plan on a larger grid, and evaluate by it"
    CHECK = "evaluate by the plan, whose map is much as it was, and report the error"
    CHOOSE = "find the cutoff of least work, and report the work"
    KEEP = "evaluate by the plan, which is cheap enough, and report the error"
    MAKE = "make a plan of the chosen cutoff, evaluate by it, and report the error"
    ACCEPT = "keep the plan, and return its forces"
    WARN = "keep the plan, return its forces, and warn that they miss the tolerance"


@dataclass(frozen=True)
class Arrival:
    """A map whose forces are asked for."""

    epoch: int | None  # the number of its scales
    extent: FloatArray
    min_scale: float
    max_scale: float
    is_held: bool = False  # it lies within the grid of the present plan
    could_be_held: bool = False  # it would lie within a somewhat larger grid


@dataclass(frozen=True)
class Choice:
    """The cutoff of least work, for the refinement of a state."""

    cutoff: float
    work: float  # infinite where no grid fits into memory
    work_of_plan: float = float("inf")  # of the present plan; infinite if it cannot be kept


@dataclass(frozen=True)
class ControllerState:
    """All that decisions depend on."""

    epoch: int | None = None  # the scales that the plan is for
    extent: FloatArray | None = None  # of the map that the plan was made for
    cutoff: float = 0.0  # of the last plan
    plan_refinement: float = 1.0
    made_early: bool = False
    refinement: float = 1.0  # of the next plan
    error: float = 0.0  # as a share of the tolerance, when last tried
    interval: int = _FIRST_INTERVAL
    uses_left: int = 0  # before the plan is tried again
    n_uses: int = 0
    has_warned: bool = False
    # Of a renewal under way:
    arrival: Arrival | None = None
    action: Action = Action.ACCEPT
    has_candidate: bool = False  # the former plan may be kept
    near: float = 0.0  # cutoff around which to look for the best; 0 for all
    former_error: float = float("inf")
    is_finest: bool = False  # nothing finer fits into memory

    @property
    def is_early(self) -> bool:
        """Whether the map still changes much."""
        return self.n_uses < _N_EARLY

    @property
    def shares(self) -> Shares:
        """How much of the tolerance the error of a plan takes."""
        return _EARLY if self.is_early else _LATER


@dataclass(frozen=True)
class Controller:
    """Decides, for a relative error of the forces.

    Where counting points in cells takes as long as an evaluation, only cutoffs near the one that
    was good before are compared, and none as long as the map is much as it was.
    """

    tolerance: float
    cell_counts_are_expensive: bool = False
    max_refinement: float = MAX_REFINEMENT

    def begin(self, state: ControllerState, arrival: Arrival) -> tuple[Action, ControllerState]:
        """Decide what a map needs."""
        size = float(arrival.extent.max())
        if size == 0 or size > _MAX_RELATIVE_EXTENT * arrival.max_scale:
            return Action.EXACT, state
        is_planned = arrival.epoch is not None and arrival.epoch == state.epoch
        if is_planned and state.uses_left > 0:
            if arrival.is_held:
                return Action.USE, used(state)
            if arrival.could_be_held:  # as exact as it was: not to be tried
                return Action.ENLARGE, used(replace(state, made_early=state.is_early))
        state = replace(
            state,
            arrival=arrival,
            has_candidate=is_planned,
            former_error=float("inf"),
            is_finest=False,
        )
        if is_planned and self.cell_counts_are_expensive and plan_still_fits(state, arrival):
            return Action.CHECK, replace(state, action=Action.CHECK)
        return self._choosing(state)

    def choose(self, state: ControllerState, choice: Choice) -> tuple[Action, ControllerState]:
        """Decide between the plan there is and another, by the work of one evaluation."""
        if not np.isfinite(choice.work):
            coarser = state.refinement / _REFINED_BY
            return Action.CHOOSE, replace(state, refinement=coarser, near=0.0, is_finest=True)
        if state.has_candidate and choice.work_of_plan <= _PLAN_PATIENCE * choice.work:
            return Action.KEEP, replace(state, action=Action.KEEP)
        assert state.arrival is not None
        return Action.MAKE, replace(
            state,
            action=Action.MAKE,
            has_candidate=False,
            extent=state.arrival.extent,
            cutoff=choice.cutoff,
            plan_refinement=state.refinement,
            made_early=state.is_early,
        )

    def judge(self, state: ControllerState, error: float) -> tuple[Action, ControllerState]:
        """Decide whether the error of the forces is small enough."""
        if error <= state.shares.limit * self.tolerance:
            return Action.ACCEPT, self._accepted(state, error)
        if state.action is Action.CHECK:
            return self._choosing(state)
        if state.action is Action.KEEP:
            refinement = max(state.refinement, state.plan_refinement)
            return self._choosing(replace(state, refinement=refinement, has_candidate=False))
        is_useless = state.refinement > 1.0 and error > _USELESS * state.former_error
        if state.refinement > self.max_refinement or is_useless or state.is_finest:
            state = replace(state, refinement=state.refinement / _REFINED_BY)
            if self._is_missed(state, error) and not state.has_warned:
                return Action.WARN, self._accepted(replace(state, has_warned=True), error)
            return Action.ACCEPT, self._accepted(state, error)
        finer = state.refinement * _REFINED_BY
        return self._choosing(replace(state, refinement=finer, former_error=error))

    def _choosing(self, state: ControllerState) -> tuple[Action, ControllerState]:
        near = state.cutoff if self.cell_counts_are_expensive else 0.0
        return Action.CHOOSE, replace(state, near=near)

    def _is_missed(self, state: ControllerState, error: float) -> bool:
        assert state.arrival is not None
        size = float(state.arrival.extent.max())
        matters = size > _MIN_RELATIVE_EXTENT * state.arrival.min_scale
        return matters and error > _MISSED * self.tolerance

    def _accepted(self, state: ControllerState, error: float) -> ControllerState:
        """Decide when to try the plan next, and whether the next may be coarser.

        Where forces nearly cancel, as in a map that is still small, the error may grow tenfold in a
        few steps: then the plan is tried at every second.
        """
        assert state.arrival is not None
        share = error / self.tolerance
        grows = share > _SMALL and share > _GROWING * state.error
        interval = _FIRST_INTERVAL if grows else min(2 * state.interval, _MAX_INTERVAL)
        refinement = state.refinement
        if share < state.shares.aim:
            coarser = max((share / state.shares.aim) ** (1.0 / _ERROR_POWER), _MIN_COARSENING)
            refinement = max(_MIN_REFINEMENT, coarser * state.plan_refinement)
        return used(
            replace(
                state,
                epoch=state.arrival.epoch,
                error=share,
                interval=interval,
                uses_left=interval,
                refinement=refinement,
                arrival=None,
                action=Action.ACCEPT,
            )
        )


def used(state: ControllerState, n: int = 1) -> ControllerState:
    """Return the state after n evaluations by the plan."""
    return replace(state, uses_left=state.uses_left - n, n_uses=state.n_uses + n)


def plan_still_fits(state: ControllerState, arrival: Arrival) -> bool:
    """Whether a map is much as it was when its plan was the cheapest."""
    if not arrival.is_held or state.extent is None:
        return False
    if state.made_early and not state.is_early:  # it has more room to grow than is needed now
        return False
    grown, shrunk = arrival.extent / _MAX_EXTENT_CHANGE, arrival.extent * _MAX_EXTENT_CHANGE
    return bool(((grown < state.extent) & (state.extent < shrunk)).all())


def evaluations_before_check(state: ControllerState, epoch: int | None) -> int:
    """Count the evaluations that may follow with the plan as it is: none if it is young."""
    if epoch is None or epoch != state.epoch or state.interval < _SETTLED_INTERVAL:
        return 0
    return state.uses_left
