"""One step of the descent: from a gradient to where the points are next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from array_api_compat import array_namespace

from dtsne.runtime._typing import Array

if TYPE_CHECKING:
    from dtsne._config import Rule

# What is added to a gain, what it is multiplied by, and its range.
GAIN_RULE = 0.2, 0.8, 0.01, 10.0
# A step longer than this many kernel scales is cut: it would leave the region its gradient is for.
MAX_STEP = 5.0


@dataclass(frozen=True)
class Motion(Generic[Array]):
    """Where the points are, and how they move; each of shape (n, n_components)."""

    embedding: Array
    velocity: Array
    gains: Array


@dataclass(frozen=True)
class StepSettings:
    """The numbers of an iteration."""

    rule: Rule
    momentum: float
    learning_rate: float
    exaggeration: float = 1.0


def gradient_step(
    motion: Motion[Array], scales: Array, gradient: Array, settings: StepSettings
) -> Motion[Array]:
    """Move the points once, by momentum and gains, each in units of its own kernel scale."""
    xp = array_namespace(gradient)
    rule, velocity, gains = settings.rule, motion.velocity, motion.gains
    own_scale = scales[:, None] if rule.scaled else 1.0
    if rule.gains:
        added, decay, least, most = GAIN_RULE
        gains = xp.where(velocity * gradient < 0, gains + added, gains * decay).clip(least, most)
    velocity = settings.momentum * velocity - (
        settings.learning_rate * own_scale**2 * gains * gradient
    )
    if rule.scaled:
        length = xp.sqrt((velocity**2).sum(1))[:, None]
        longest = MAX_STEP * own_scale
        velocity *= longest / xp.maximum(length, longest)
        # Forces cancel; steps of different size do not, and the map as a whole would wander off.
        velocity -= velocity.mean(0)
    return Motion(motion.embedding + velocity, velocity, gains)
