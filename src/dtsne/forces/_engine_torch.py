"""The engine of a device: attraction over the pairs of P, and repulsion, in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dtsne.forces._attraction_torch import attraction
from dtsne.forces._base import Engine, Evaluation
from dtsne.forces._exact_torch import exact_repulsion, four_numbers
from dtsne.forces._recorder_torch import Recorder
from dtsne.forces._step import gradient_step as step_on_any_device
from dtsne.runtime._progress import Timings
from dtsne.runtime._triton import dispatch, runs_triton

if TYPE_CHECKING:
    from dtsne.affinity._sparse_torch import Affinities
    from dtsne.forces._step import Motion, StepSettings
    from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion


def torch_engine(
    affinities: Affinities, n_components: int, fft_tolerance: float | None, timings: Timings
) -> TorchEngine:
    """Return an engine; without a tolerance it sums over all pairs."""
    from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion

    repulsion = None
    if fft_tolerance is not None:
        repulsion = TorchFftRepulsion(n_components, fft_tolerance)
    return TorchEngine(affinities, repulsion, timings=timings)


class TorchEngine(Engine[Tensor]):
    """See :class:`dtsne.forces._base.Engine`; maps, scales and gradients are tensors in float64.

    Within, everything is float32 but for sums over all points: Z and KL. Nothing waits for the
    device but the decisions of the FFT repulsion, and KL where it is asked for.
    """

    def __init__(
        self,
        affinities: Affinities,
        repulsion: TorchFftRepulsion | None = None,
        *,
        timings: Timings | None = None,
    ) -> None:
        self._affinities = affinities
        self._repulsion = repulsion
        self._timings = Timings() if timings is None else timings
        self._negative_entropy = affinities.negative_entropy
        self._epoch: int | None = None
        self._scales = self._centre = torch.empty(0)  # of the epoch; scales in float32
        self._n_taken = 0  # how often scales were taken over
        self._recorder = Recorder()

    def evaluate(
        self, embedding: Tensor, scales: Tensor, *,
        epoch: int | None = None, exaggeration: float = 1.0, with_kl: bool = False,
    ) -> Evaluation[Tensor]:  # fmt: skip
        """See :class:`dtsne.forces._base.Engine`."""
        n_components = embedding.shape[1]
        if epoch is None or epoch != self._epoch:
            self._epoch, self._scales = epoch, scales.float()
            self._n_taken += 1
            # No step moves the middle of the map, so that it need not be found every time.
            self._centre = embedding.mean(dim=0)
        centred = (embedding - self._centre).float()
        points = four_numbers(centred, self._scales)
        with self._timings.phase("attraction"):
            forces, cost = attraction(
                self._affinities, points, n_axes=n_components, with_cost=with_kl
            )
        normaliser: Tensor | float
        with self._timings.phase("repulsion"):
            if self._repulsion is None:
                repulsion, sums = exact_repulsion(points, n_axes=n_components)
                normaliser = sums.sum()
            else:
                repulsion, normaliser = self._repulsion(centred, self._scales, epoch=epoch)
        pull = forces[:, :n_components].double()
        # 4 (pull · exaggeration − repulsion / Z), in as few launches as may be.
        gradient = torch.addcdiv(
            (4.0 * exaggeration) * pull,
            repulsion[:, :n_components].double(),
            torch.as_tensor(normaliser, dtype=torch.float64, device=pull.device),
            value=-4.0,
        )
        if cost is None:
            return Evaluation(gradient, None)
        log_normaliser = float(np.log(float(normaliser)))
        return Evaluation(gradient, self._negative_entropy + float(cost) + log_normaliser)

    def run(
        self, n: int, motion: Motion[Tensor], scales: Tensor, settings: StepSettings, *,
        epoch: int | None = None,
    ) -> Motion[Tensor]:  # fmt: skip
        """See :class:`dtsne.forces._base.Engine`; records iterations that are many and alike."""
        # Plain PyTorch waits for the device, which a recording cannot.
        if n == 1 or epoch is None or not runs_triton(motion.embedding):
            return super().run(n, motion, scales, settings, epoch=epoch)

        def iterate(motion: Motion[Tensor]) -> Motion[Tensor]:
            return super(TorchEngine, self).run(1, motion, scales, settings, epoch=epoch)

        if self._repulsion is None:
            key: tuple[object, ...] = (self._n_taken, settings)
            return self._recorder.repeat(iterate, motion, n, key, scales)
        n_frozen = min(n, self._repulsion.evaluations_before_check(epoch))
        before = motion
        if n_frozen:
            key = (self._n_taken, self._repulsion.n_plans, settings)
            with self._repulsion.frozen_plan(n_frozen):
                motion = self._recorder.repeat(iterate, motion, n_frozen, key, scales)
            if not self._repulsion.stayed_within_grid():
                motion, n_frozen = before, 0  # some points left the grid: once more, with care
        return super().run(n - n_frozen, motion, scales, settings, epoch=epoch)

    def step(
        self, motion: Motion[Tensor], scales: Tensor, gradient: Tensor, settings: StepSettings
    ) -> Motion[Tensor]:
        """See :class:`dtsne.forces._base.Engine`."""
        return gradient_step(motion, scales, gradient, settings)


def _is_scaled(
    motion: Motion[Tensor],  # noqa: ARG001
    scales: Tensor,  # noqa: ARG001
    gradient: Tensor,  # noqa: ARG001
    settings: StepSettings,
) -> bool:
    return settings.rule.scaled and settings.rule.gains


@dispatch("_step_triton", when=_is_scaled)
def gradient_step(
    motion: Motion[Tensor], scales: Tensor, gradient: Tensor, settings: StepSettings
) -> Motion[Tensor]:
    """Do what :func:`dtsne.forces._step.gradient_step` does, in fewer launches where it can."""
    return step_on_any_device(motion, scales, gradient, settings)
