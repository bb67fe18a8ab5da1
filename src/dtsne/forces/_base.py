"""What the descent asks of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from dtsne.forces._step import gradient_step
from dtsne.runtime._typing import Array

if TYPE_CHECKING:
    from dtsne.forces._step import Motion, StepSettings


@dataclass(frozen=True)
class Evaluation(Generic[Array]):
    """Gradient of the (exaggerated) objective, and KL(P‖Q), never exaggerated, if asked for."""

    gradient: Array
    kl: float | None


class Engine(ABC, Generic[Array]):
    """Evaluates the objective for one P, and takes the steps of one descent.

    With kernel scales s_i (1 for a typical point) the objective and its gradient are::

        γ_ij = 4 / (s_i + s_j)²
        w_ij = 1 / (1 + γ_ij ‖y_i − y_j‖²),     Z = Σ_{k≠l} w_kl,     q_ij = w_ij / Z
        KL(P‖Q)  = Σ p_ij log p_ij + Σ p_ij log(1/w_ij) + log Z
        ∂KL/∂y_i = 4 Σ_j (p_ij − q_ij) γ_ij w_ij (y_i − y_j)

    No engine keeps an n × n array of q or γ, and none lets the number of threads change a bit of
    the result: each row is summed by one thread in a fixed order, and rows are added up afterwards.

    An `epoch` numbers the kernel scales: calls with the same one have the same scales. An engine
    keeps what it made of them (plans, recordings) from call to call of an epoch. Without a number
    nothing is kept.
    """

    @abstractmethod
    def evaluate(
        self, embedding: Array, scales: Array, *,
        epoch: int | None = None, exaggeration: float = 1.0, with_kl: bool = False,
    ) -> Evaluation[Array]:  # fmt: skip
        """Evaluate a map of shape (n, n_components) for kernel scales of shape (n,)."""

    def step(
        self, motion: Motion[Array], scales: Array, gradient: Array, settings: StepSettings
    ) -> Motion[Array]:
        """Move the points once."""
        return gradient_step(motion, scales, gradient, settings)

    def run(
        self, n: int, motion: Motion[Array], scales: Array, settings: StepSettings, *,
        epoch: int | None = None,
    ) -> Motion[Array]:  # fmt: skip
        """Evaluate and move n times, with the same scales and numbers."""
        for _ in range(n):
            found = self.evaluate(
                motion.embedding, scales, epoch=epoch, exaggeration=settings.exaggeration
            )
            motion = self.step(motion, scales, found.gradient, settings)
        return motion
