"""The descent: from an initialisation to the map, for any engine.

Two rules of descent share one loop. ``PAPER`` is the paper's: the same step n/12 for all points,
momentum .5, after 20 iterations .8. Its effective step for a wide cluster is smaller by (σ_min/σ)²,
which is why it does not converge where scales differ. ``SCALED`` moves every point in units of its
own kernel scale and lets each coordinate's gain grow while it keeps its direction
(delta-bar-delta). docs/optimiser.md holds the experiments behind the numbers.

Arrays are typed as those of numpy; where the engine is on a device, they are tensors of PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from array_api_compat import array_namespace

from dtsne.forces._step import Motion, StepSettings
from dtsne.runtime._progress import Timings
from dtsne.runtime._threads import ONE_THREAD, Threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._config import Rule
    from dtsne.forces._base import Engine
    from dtsne.optimize._calibration import Calibration
    from dtsne.runtime._typing import FloatArray

# KL is taken, and everything that depends on it decided, once in so many iterations.
CHECK_EVERY = 10
_N_EXAGGERATED = 40
# Points that are all alike can be drawn perfectly; relative to a KL of 0 nothing ever settles.
_SMALL_KL = 1e-3
# Most descents settle by about this iteration, whatever the number of points.
_TYPICAL_END = 200


@dataclass(frozen=True)
class Schedule:
    """What the user decides about the descent."""

    learning_rate: float
    exaggeration: float
    max_iter: int
    tol: float

    def exaggeration_at(self, iteration: int) -> float:
        """Exaggeration, which falls evenly to 1: a sudden end would blow the map up once more."""
        if iteration >= _N_EXAGGERATED:
            return 1.0
        return self.exaggeration + (1.0 - self.exaggeration) * iteration / _N_EXAGGERATED

    def settings_at(self, iteration: int, rule: Rule) -> StepSettings:
        """Return the numbers of an iteration."""
        exaggeration = self.exaggeration_at(iteration)
        momentum = rule.early_momentum if iteration < rule.n_early else rule.momentum
        return StepSettings(rule, momentum, self.learning_rate / exaggeration, exaggeration)

    def expected_end(self, iteration: int = 0) -> int:
        """Guess at which iteration the descent will end, having come as far as this one."""
        if self.tol == 0:
            return self.max_iter
        return min(self.max_iter, max(_TYPICAL_END, int(1.1 * iteration)))


@dataclass(frozen=True)
class State:
    """Where the descent stands before an iteration: all that it resumes from."""

    iteration: int
    embedding: FloatArray
    velocity: FloatArray
    gains: FloatArray
    scales: FloatArray
    calibration: Calibration | None
    n_calibrated: int  # rounds of calibration so far; KL compares only within one of them
    previous_kl: float | None  # at the last check, if it can be compared with

    @property
    def motion(self) -> Motion[FloatArray]:
        """Where the points are, and how they move."""
        return Motion(self.embedding, self.velocity, self.gains)

    @classmethod
    def at_start(
        cls, embedding: FloatArray, scales: FloatArray, calibration: Calibration | None = None
    ) -> State:
        """At rest, before the first iteration."""
        xp = array_namespace(embedding)
        rest, even = xp.zeros_like(embedding), xp.ones_like(embedding)
        return cls(0, embedding, rest, even, scales, calibration, 0, None)


@dataclass(frozen=True)
class Checkpoint:
    """The descent where KL was taken."""

    state: State
    kl: float
    settled: bool

    def improves(self, other: Checkpoint | None) -> bool:
        """Whether this is the better map to keep, where the two can be compared at all."""
        if other is None or self.state.n_calibrated > other.state.n_calibrated:
            return True
        return self.kl <= other.kl


def descend(
    engine: Engine[FloatArray],
    state: State,
    rule: Rule,
    schedule: Schedule,
    timings: Timings | None = None,
    threads: Threads = ONE_THREAD,
) -> Iterator[Checkpoint]:
    """Minimise KL(P‖Q), handing out a checkpoint every few iterations and at the end.

    Whoever consumes the checkpoints decides what to keep and may stop at any time. The descent ends
    by itself once KL changes by less than ``tol`` of itself an iteration, or after ``max_iter``.
    From the state of a checkpoint it goes on as it would have, beginning with that checkpoint.
    """
    timings = Timings() if timings is None else timings
    n_rounds = 0 if state.calibration is None else state.calibration.plan.n_rounds
    while True:
        iteration = state.iteration
        at_end = iteration == schedule.max_iter
        found = engine.evaluate(
            state.embedding,
            state.scales,
            epoch=state.n_calibrated,
            exaggeration=schedule.exaggeration_at(iteration),
            with_kl=at_end or iteration % CHECK_EVERY == 0,
        )
        if found.kl is not None:
            relative_change = _relative_change(state, found.kl)
            settled = state.n_calibrated == n_rounds and relative_change < schedule.tol
            yield Checkpoint(state, found.kl, settled)
            if settled or at_end:
                return
            state = replace(state, previous_kl=found.kl if iteration >= _N_EXAGGERATED else None)
            calibration = state.calibration
            if calibration is not None and calibration.is_due(state.n_calibrated, relative_change):
                with timings.phase("calibration"):
                    state = _calibrate(state, calibration, threads)
                found = engine.evaluate(state.embedding, state.scales, epoch=state.n_calibrated)
        settings = schedule.settings_at(iteration, rule)
        state = _moved(1, state, engine.step(state.motion, state.scales, found.gradient, settings))
        state = _until_check(engine, state, rule, schedule)


def _until_check(engine: Engine[FloatArray], state: State, rule: Rule, schedule: Schedule) -> State:
    """Do the iterations up to the next check: many at once where they have the same numbers."""
    end = min(state.iteration + -state.iteration % CHECK_EVERY, schedule.max_iter)
    while state.iteration < end:
        alike = state.iteration >= max(_N_EXAGGERATED, rule.n_early)
        n = end - state.iteration if alike else 1
        settings = schedule.settings_at(state.iteration, rule)
        motion = engine.run(n, state.motion, state.scales, settings, epoch=state.n_calibrated)
        state = _moved(n, state, motion)
    return state


def _moved(n: int, state: State, motion: Motion[FloatArray]) -> State:
    """Return the state after n iterations."""
    return replace(
        state,
        iteration=state.iteration + n,
        embedding=motion.embedding,
        velocity=motion.velocity,
        gains=motion.gains,
    )


def _relative_change(state: State, kl: float) -> float:
    """Change of KL an iteration since the last check, as a share of it."""
    if state.previous_kl is None:
        return float("inf")
    change = abs(state.previous_kl - kl) / (state.iteration % CHECK_EVERY or CHECK_EVERY)
    return change / max(kl, _SMALL_KL)


def _calibrate(state: State, calibration: Calibration, threads: Threads) -> State:
    in_map = calibration.log_radii_in(state.embedding, threads)
    if state.n_calibrated == 0:
        calibration = calibration.following(in_map)
    return replace(
        state,
        velocity=0.0 * state.velocity,
        scales=calibration.adjust(in_map, state.scales),
        calibration=calibration,
        n_calibrated=state.n_calibrated + 1,
        previous_kl=None,  # of another objective
    )
