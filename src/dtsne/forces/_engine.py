"""The engine of the CPU: attraction over the pairs of P, and repulsion, in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.forces._attraction import attraction
from dtsne.forces._base import Engine, Evaluation
from dtsne.forces._exact import exact_repulsion
from dtsne.runtime._progress import Timings
from dtsne.runtime._threads import ONE_THREAD, Threads
from dtsne.runtime._typing import FloatArray

if TYPE_CHECKING:
    import torch

    from dtsne.affinity._base import Affinities
    from dtsne.forces.fft._repulsion import FftRepulsion


class CpuEngine(Engine[FloatArray]):
    """Sums the repulsion over all pairs, unless it is given another way."""

    def __init__(
        self,
        affinities: Affinities,
        repulsion: FftRepulsion | None = None,
        *,
        threads: Threads = ONE_THREAD,
        timings: Timings | None = None,
    ) -> None:
        self._affinities = affinities
        self._repulsion = repulsion
        self._threads = threads
        self._timings = Timings() if timings is None else timings
        self._negative_entropy = affinities.negative_entropy

    def evaluate(
        self, embedding: FloatArray, scales: FloatArray, *,
        epoch: int | None = None, exaggeration: float = 1.0, with_kl: bool = False,
    ) -> Evaluation[FloatArray]:  # fmt: skip
        """See :class:`Engine`."""
        n, n_components = embedding.shape
        coordinates = np.zeros((3, n))
        coordinates[:n_components] = embedding.T
        with self._timings.phase("attraction"):
            forces, cost = attraction(
                self._affinities, coordinates, scales, self._threads, with_cost=with_kl
            )
        normaliser: FloatArray | float
        with self._timings.phase("repulsion"):
            if self._repulsion is None:
                repulsion, normaliser = exact_repulsion(coordinates, scales, self._threads)
            else:
                repulsion, normaliser = self._repulsion(coordinates, scales, epoch=epoch)
        gradient = 4.0 * (exaggeration * forces - repulsion / normaliser)[:n_components].T
        if cost is None:
            return Evaluation(gradient, None)
        return Evaluation(gradient, self._negative_entropy + cost + float(np.log(normaliser)))


def engine_for(
    affinities: Affinities,
    n_components: int,
    fft_tolerance: float | None,
    *,
    threads: Threads,
    timings: Timings,
    device: torch.device | None,
) -> Engine[FloatArray]:
    """Return the engine of a device; without a tolerance it sums over all pairs."""
    if device is not None:
        from dtsne.forces._engine_torch import torch_engine

        return torch_engine(affinities, n_components, fft_tolerance, timings)  # type: ignore[arg-type,return-value]
    from dtsne.forces.fft._repulsion import FftRepulsion

    repulsion = None
    if fft_tolerance is not None:
        repulsion = FftRepulsion(n_components, fft_tolerance, threads)
    return CpuEngine(affinities, repulsion, threads=threads, timings=timings)
