"""The engine of a device: attraction over the pairs of P, and repulsion, in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dtsne.forces._attraction_torch import attraction
from dtsne.forces._base import Evaluation
from dtsne.forces._exact_torch import exact_repulsion
from dtsne.forces._graph_torch import Recorder
from dtsne.forces._step_torch import moved
from dtsne.runtime._timings import Timings
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne._config import Rule
    from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion
    from dtsne.optimize._descent import State


class TorchEngine:
    """See :class:`dtsne.forces._base.Engine`; maps, scales and gradients are tensors in float64.

    Within, everything is float32 but for sums over all points: Z and KL. Nothing waits for the
    device but the decisions of the FFT repulsion, and KL where it is asked for.
    """

    def __init__(
        self,
        affinities: Any,
        repulsion: TorchFftRepulsion | None = None,
        timings: Timings | None = None,
    ) -> None:
        self._affinities = affinities
        self._repulsion = repulsion
        self._timings = Timings() if timings is None else timings
        self._negative_entropy = affinities.negative_entropy
        self._scales: Any = None  # as they came, and
        self._single: Any = None  # in float32
        self._centre: Any = None
        self._recorder = Recorder()

    def evaluate(
        self, embedding: Any, scales: Any, *, exaggeration: float = 1.0, with_kl: bool = False
    ) -> Evaluation:
        """See :class:`dtsne.forces._base.Engine`."""
        n_components = embedding.shape[1]
        if self._scales is not scales:  # the same object as long as they are the same
            self._scales, self._single = scales, scales.float()
            # No step moves the middle of the map, so that it need not be found every time.
            self._centre = embedding.mean(dim=0)
        centred = (embedding - self._centre).float()
        points = four_numbers(centred, self._single)
        with self._timings.phase("attraction"):
            forces, cost = attraction(
                self._affinities, points, n_axes=n_components, with_cost=with_kl
            )
        with self._timings.phase("repulsion"):
            if self._repulsion is None:
                repulsion, sums = exact_repulsion(points, n_axes=n_components)
                normaliser: Any = sums.sum()
            else:
                repulsion, normaliser = self._repulsion(centred, self._single)
        pull = forces[:, :n_components].double()
        # 4 (pull · exaggeration − repulsion / Z), in as few launches as may be.
        gradient = torch.addcdiv(
            (4.0 * exaggeration) * pull,
            repulsion[:, :n_components].double(),
            torch.as_tensor(normaliser, dtype=torch.float64, device=pull.device),
            value=-4.0,
        )
        kl = None
        if cost is not None:
            kl = self._negative_entropy + float(cost) + float(np.log(float(normaliser)))
        return Evaluation(gradient, kl)

    def moved(self, *state: Any, rule: Rule, momentum: float, step: float) -> Any:
        """See :class:`dtsne.forces._base.DeviceEngine`."""
        return moved(*state, rule=rule, momentum=momentum, step=step)

    def repeat(self, iterate: Callable[[State], State], state: State, n: int) -> State:
        """See :class:`dtsne.forces._base.DeviceEngine`."""
        before, n_done = state, 0
        embedding: Any = state.embedding
        if runs_triton(embedding):  # plain PyTorch waits for the device, and so no graph
            if self._repulsion is None:
                return self._recorder.repeat(iterate, state, n, (state.scales,))
            n_done = min(n, self._repulsion.n_without_decisions(self._single))
            if n_done:
                same = (state.scales, self._repulsion.plan)
                with self._repulsion.deciding_nothing(n_done):
                    state = self._recorder.repeat(iterate, state, n_done, same)
                if not self._repulsion.held_all():
                    state, n_done = before, 0  # some points left the grid: once more, with care
        for _ in range(n - n_done):
            state = iterate(state)
        return state


def four_numbers(centred: Any, scales: Any) -> Any:
    """(2y, s) of every point, side by side, of shape (n, 4); unused axes are 0."""
    n, n_axes = centred.shape
    unused = [centred.new_zeros((n, 3 - n_axes))] if n_axes < 3 else []
    return torch.cat([2.0 * centred, *unused, scales[:, None]], dim=1)
