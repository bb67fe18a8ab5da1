"""What the optimiser asks of an engine, and the engine of the CPU.

With kernel scales s_i (1 for a typical point) the objective and its gradient are::

    γ_ij = 4 / (s_i + s_j)²
    w_ij = 1 / (1 + γ_ij ‖y_i − y_j‖²),     Z = Σ_{k≠l} w_kl,     q_ij = w_ij / Z
    KL(P‖Q)  = Σ p_ij log p_ij + Σ p_ij log(1/w_ij) + log Z
    ∂KL/∂y_i = 4 Σ_j (p_ij − q_ij) γ_ij w_ij (y_i − y_j)

No engine keeps an n × n array of q or γ, and none lets the number of threads change a bit of the
result: each row is summed by one thread in a fixed order, and rows are added up afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from dtsne.forces._attraction import attractive_cost, attractive_forces
from dtsne.forces._exact import exact_repulsion
from dtsne.runtime._timings import Timings

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne._config import Rule
    from dtsne.affinity._base import Affinities
    from dtsne.optimize._descent import State
    from dtsne.runtime._typing import FloatArray

Repulsion: TypeAlias = "Callable[[FloatArray, FloatArray], tuple[FloatArray, float]]"


@dataclass(frozen=True)
class Evaluation:
    """Gradient of the (exaggerated) objective, and KL(P‖Q), never exaggerated, if asked for."""

    gradient: Any  # of the kind of the map
    kl: float | None


class Engine(Protocol):
    """Evaluates the objective for one P."""

    def evaluate(
        self,
        embedding: FloatArray,
        scales: FloatArray,
        *,
        exaggeration: float = 1.0,
        with_kl: bool = False,
    ) -> Evaluation:
        """Evaluate a map of shape (n, n_components) for kernel scales of shape (n,)."""
        ...


@runtime_checkable
class DeviceEngine(Engine, Protocol):
    """An engine that knows quicker ways of what the descent does with its gradients."""

    def moved(self, *state: Any, rule: Rule, momentum: float, step: float) -> Any:
        """Do what :func:`dtsne.optimize._descent.moved` does."""
        ...

    def repeat(self, iterate: Callable[[State], State], state: State, n: int) -> State:
        """Do n iterations from a state, which differ in nothing but the state."""
        ...


class CpuEngine:
    """Attraction over the pairs of P, and any kind of repulsion, added up in float64."""

    def __init__(
        self,
        affinities: Affinities,
        repulsion: Repulsion = exact_repulsion,
        timings: Timings | None = None,
    ) -> None:
        self._affinities = affinities
        self._repulsion = repulsion
        self._timings = Timings() if timings is None else timings
        self._negative_entropy = affinities.negative_entropy

    def evaluate(
        self,
        embedding: FloatArray,
        scales: FloatArray,
        *,
        exaggeration: float = 1.0,
        with_kl: bool = False,
    ) -> Evaluation:
        """See :class:`Engine`."""
        n, n_components = embedding.shape
        coordinates = np.zeros((3, n))
        coordinates[:n_components] = embedding.T
        with self._timings.phase("attraction"):
            attraction = attractive_forces(self._affinities, coordinates, scales)
        with self._timings.phase("repulsion"):
            repulsion, normaliser = self._repulsion(coordinates, scales)
        forces = exaggeration * attraction - repulsion / normaliser
        kl = None
        if with_kl:
            with self._timings.phase("attraction"):
                cost = attractive_cost(self._affinities, coordinates, scales)
            kl = self._negative_entropy + cost + float(np.log(normaliser))
        return Evaluation(4.0 * forces[:n_components].T, kl)
