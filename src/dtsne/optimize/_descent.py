"""The descent: from a start to the map, for any engine.

Two rules of descent share one loop. ``PAPER`` is the paper's: the same step n/12 for all points,
momentum .5, after 20 iterations .8. Its effective step for a wide cluster is smaller by (σ_min/σ)²,
which is why it does not converge where scales differ. ``SCALED`` moves every point in units of its
own kernel scale and lets each coordinate's gain grow while it keeps its direction
(delta-bar-delta). docs/optimiser.md holds the experiments behind the numbers.

Maps are arrays of numpy or tensors of PyTorch, whatever the engine works on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dtsne.forces._base import DeviceEngine
from dtsne.runtime._arrays import namespace_of
from dtsne.runtime._timings import Timings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._config import Rule
    from dtsne.forces._base import Engine
    from dtsne.optimize._calibration import Calibration
    from dtsne.runtime._typing import FloatArray

# KL is taken, and everything that depends on it decided, once in so many iterations.
CHECK_EVERY = 10
# What is added to a gain, what it is multiplied by, and its range.
GAIN_RULE = 0.2, 0.8, 0.01, 10.0
# A step longer than this many kernel scales is cut: it would leave the region its gradient is for.
LONGEST_STEP = 5.0
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

    def expected_end(self, iteration: int = 0) -> int:
        """Guess at which iteration the descent will end, having come as far as this one."""
        if self.tol == 0:
            return self.max_iter
        return min(self.max_iter, max(_TYPICAL_END, int(1.1 * iteration)))


@dataclass(frozen=True)
class State:
    """Where the descent stands before an iteration: all that it goes on from."""

    iteration: int
    embedding: FloatArray
    velocity: FloatArray
    gains: FloatArray
    scales: FloatArray
    calibration: Calibration | None
    n_calibrated: int  # rounds of calibration so far; KL compares only within one of them
    previous_kl: float | None  # at the last check, if it can be compared with

    @classmethod
    def at_start(
        cls, embedding: FloatArray, scales: FloatArray, calibration: Calibration | None = None
    ) -> State:
        """At rest, before the first iteration."""
        xp = namespace_of(embedding)
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
    engine: Engine,
    state: State,
    rule: Rule,
    schedule: Schedule,
    timings: Timings | None = None,
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
                    state = _calibrate(state, calibration)
                found = engine.evaluate(state.embedding, state.scales)
        state = _step(engine, state, found.gradient, rule, schedule)
        state = _until_check(engine, state, rule, schedule)


def _until_check(engine: Engine, state: State, rule: Rule, schedule: Schedule) -> State:
    """Do the iterations up to the next check, of which an engine may do many alike at once."""

    def iterate(state: State) -> State:
        exaggeration = schedule.exaggeration_at(state.iteration)
        found = engine.evaluate(state.embedding, state.scales, exaggeration=exaggeration)
        return _step(engine, state, found.gradient, rule, schedule)

    n = min(-state.iteration % CHECK_EVERY, schedule.max_iter - state.iteration)
    if isinstance(engine, DeviceEngine) and state.iteration >= max(_N_EXAGGERATED, rule.n_early):
        return engine.repeat(iterate, state, n)
    for _ in range(n):
        state = iterate(state)
    return state


def _relative_change(state: State, kl: float) -> float:
    """Change of KL an iteration since the last check, as a share of it."""
    if state.previous_kl is None:
        return float("inf")
    change = abs(state.previous_kl - kl) / (state.iteration % CHECK_EVERY or CHECK_EVERY)
    return change / max(kl, _SMALL_KL)


def _calibrate(state: State, calibration: Calibration) -> State:
    in_map = calibration.log_radii_in(state.embedding)
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


def _step(engine: Engine, state: State, gradient: Any, rule: Rule, schedule: Schedule) -> State:
    move = engine.moved if isinstance(engine, DeviceEngine) else moved
    embedding, velocity, gains = move(
        state.embedding,
        state.velocity,
        state.gains,
        state.scales,
        gradient,
        rule=rule,
        momentum=rule.early_momentum if state.iteration < rule.n_early else rule.momentum,
        step=schedule.learning_rate / schedule.exaggeration_at(state.iteration),
    )
    return replace(
        state,
        iteration=state.iteration + 1,
        embedding=embedding,
        velocity=velocity,
        gains=gains,
    )


def moved(
    embedding: Any,
    velocity: Any,
    gains: Any,
    scales: Any,
    gradient: Any,
    *,
    rule: Rule,
    momentum: float,
    step: float,
) -> tuple[Any, Any, Any]:
    """Return where the points are after a step, and their velocities and gains."""
    xp = namespace_of(gradient)
    own_scale = scales[:, None] if rule.scaled else 1.0
    if rule.gains:
        added, decay, least, most = GAIN_RULE
        gains = xp.where(velocity * gradient < 0, gains + added, gains * decay).clip(least, most)
    velocity = momentum * velocity - step * own_scale**2 * gains * gradient
    if rule.scaled:
        length = xp.sqrt((velocity**2).sum(axis=1, keepdims=True))
        longest = LONGEST_STEP * own_scale
        velocity *= longest / xp.maximum(length, longest)
        # Forces cancel; steps of different size do not, and the map as a whole would wander off.
        velocity -= velocity.mean(axis=0)
    return embedding + velocity, velocity, gains
