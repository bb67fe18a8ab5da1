"""The descent: from a start to the map, for any engine.

Two rules of descent share one loop. ``PAPER`` is the paper's: the same step n/12 for all points,
momentum .5, after 20 iterations .8. Its effective step for a wide cluster is smaller by (σ_min/σ)²,
which is why it does not converge where scales differ. ``SCALED`` moves every point in units of its
own kernel scale and lets each coordinate's gain grow while it keeps its direction
(delta-bar-delta). docs/optimiser.md holds the experiments behind the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne._timings import Timings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._calibration import Calibration
    from dtsne._engine import Engine
    from dtsne._typing import FloatArray

# KL is taken, and everything that depends on it decided, once in so many iterations.
CHECK_EVERY = 10
_GAIN_STEP, _GAIN_DECAY, _GAIN_RANGE = 0.2, 0.8, (0.01, 10.0)
# A step longer than this many kernel scales is cut: it would leave the region its gradient is for.
_LONGEST_STEP = 5.0
_N_EXAGGERATED = 40
# Points that are all alike can be drawn perfectly; relative to a KL of 0 nothing ever settles.
_SMALL_KL = 1e-3
# Most descents settle by about this iteration, whatever the number of points.
_TYPICAL_END = 200


@dataclass(frozen=True)
class Rule:
    """How a gradient becomes a step."""

    step_share: float  # the step, as a share of n
    early_momentum: float
    momentum: float
    n_early: int
    scaled: bool  # steps in units of each point's kernel scale, and none too long
    gains: bool
    settles: bool  # may end before max_iter; the paper's rests long on its first plateau
    exaggeration: float


PAPER = Rule(1 / 12, 0.5, 0.8, 20, scaled=False, gains=False, settles=False, exaggeration=1.0)
SCALED = Rule(1 / 2, 0.5, 0.9, 20, scaled=True, gains=True, settles=True, exaggeration=1.5)


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
class Checkpoint:
    """The descent as it stands after a number of iterations."""

    iteration: int
    kl: float
    embedding: FloatArray
    scales: FloatArray
    n_calibrated: int  # rounds of calibration so far; KL compares only within one of them
    settled: bool

    def improves(self, other: Checkpoint | None) -> bool:
        """Whether this is the better map to keep, where the two can be compared at all."""
        return other is None or self.n_calibrated > other.n_calibrated or self.kl <= other.kl


@dataclass(frozen=True)
class _Motion:
    embedding: FloatArray
    velocity: FloatArray
    gains: FloatArray


def descend(
    engine: Engine,
    start: FloatArray,
    scales: FloatArray,
    rule: Rule,
    schedule: Schedule,
    calibration: Calibration | None = None,
    timings: Timings | None = None,
) -> Iterator[Checkpoint]:
    """Minimise KL(P‖Q), handing out a checkpoint every few iterations and at the end.

    Whoever consumes the checkpoints decides what to keep and may stop at any time. The descent ends
    by itself once KL changes by less than ``tol`` of itself an iteration, or after ``max_iter``.
    """
    timings = Timings() if timings is None else timings
    motion = _Motion(start, np.zeros_like(start), np.ones_like(start))
    n_rounds = 0 if calibration is None else calibration.plan.n_rounds
    n_calibrated = 0
    previous_kl: float | None = None
    for iteration in range(schedule.max_iter + 1):
        exaggeration = schedule.exaggeration_at(iteration)
        at_end = iteration == schedule.max_iter
        checking = at_end or iteration % CHECK_EVERY == 0
        found = engine.evaluate(
            motion.embedding, scales, exaggeration=exaggeration, with_kl=checking
        )
        if found.kl is not None:
            relative_change = np.inf
            if previous_kl is not None:
                change = abs(previous_kl - found.kl) / (iteration % CHECK_EVERY or CHECK_EVERY)
                relative_change = change / max(found.kl, _SMALL_KL)
            settled = n_calibrated == n_rounds and relative_change < schedule.tol
            yield Checkpoint(iteration, found.kl, motion.embedding, scales, n_calibrated, settled)
            if settled or at_end:
                return
            previous_kl = found.kl if iteration >= _N_EXAGGERATED else None
            if calibration is not None and calibration.is_due(n_calibrated, relative_change):
                with timings.phase("calibration"):
                    if n_calibrated == 0:
                        calibration = calibration.following(motion.embedding)
                    scales = calibration.adjust(motion.embedding, scales)
                n_calibrated += 1
                previous_kl = None  # of another objective
                motion = _Motion(motion.embedding, np.zeros_like(start), motion.gains)
                found = engine.evaluate(motion.embedding, scales)
        motion = _step(motion, found.gradient, scales, rule, schedule, iteration)


def _step(
    motion: _Motion,
    gradient: FloatArray,
    scales: FloatArray,
    rule: Rule,
    schedule: Schedule,
    iteration: int,
) -> _Motion:
    momentum = rule.early_momentum if iteration < rule.n_early else rule.momentum
    step = schedule.learning_rate / schedule.exaggeration_at(iteration)
    own_scale = scales[:, np.newaxis] if rule.scaled else 1.0
    gains = motion.gains
    if rule.gains:
        keeps_direction = motion.velocity * gradient < 0
        gains = np.where(keeps_direction, gains + _GAIN_STEP, gains * _GAIN_DECAY)
        gains = gains.clip(*_GAIN_RANGE)
    velocity = momentum * motion.velocity - step * own_scale**2 * gains * gradient
    if rule.scaled:
        length = np.linalg.norm(velocity, axis=1, keepdims=True)
        longest = _LONGEST_STEP * own_scale
        velocity *= longest / np.maximum(length, longest)
        # Forces cancel; steps of different size do not, and the map as a whole would wander off.
        velocity -= velocity.mean(axis=0)
    return _Motion(motion.embedding + velocity, velocity, gains)
