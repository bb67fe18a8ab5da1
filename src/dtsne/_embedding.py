"""The result of a fit, and what it keeps for a report.

Arrays are typed as those of numpy; where the data is on a device, they are tensors of PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from dtsne._config import NeighborGraph
    from dtsne.data._base import Data
    from dtsne.runtime._typing import BoolArray, FloatArray, IntArray

# Too large for a file, or only there to save time; a model that is loaded is given the data again.
_NOT_PICKLED = ("data", "lists")


class Result(Enum):
    """How a fit ended; the value is the message."""

    CONVERGED = "KL settled within tol"
    MAX_ITER = "max_iter iterations were made"
    STOPPED = "the callback ended the descent"
    INTERRUPTED = "the fit was interrupted; this is the best map so far"


class KernelScales(NamedTuple):
    """The scale of each point in the kernel of the map, and what a scale of 1 is in the data."""

    values: FloatArray
    unit: float


class Preparation(NamedTuple):
    """What the data was prepared with."""

    metric: str
    n_pcs: int | None
    neighbors: NeighborGraph | None


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """The nearest neighbours of all points, from near to far, before duplicates were spread."""

    indices: IntArray
    distances: FloatArray
    recall: float

    def nearest(self, k: int) -> tuple[IntArray, FloatArray, float] | None:
        """Return what a search for k neighbours found, on the host; None if fewer were kept."""
        if k > self.indices.shape[1]:
            return None
        distances: FloatArray = to_host(self.distances[:, :k]).astype(float)
        return to_host(self.indices[:, :k]), distances, self.recall


@dataclass(frozen=True, eq=False)
class FitArtifacts:
    """What a fit keeps for its report.

    Attributes
    ----------
    data : Data or None
        As the method saw it, before duplicates were spread; not pickled.
    lists : NeighborLists or None
        Neighbours that were searched for, in the unit of `data`; not pickled.
    preparation : Preparation
        What the data was prepared with, whatever the parameters are set to by now.
    fingerprint : ndarray
        See :mod:`dtsne.runtime._digest`.
    at_floor : ndarray of bool, shape (n,)
        True where σ was not estimated from the data: a duplicate that was spread out, or clipped.
    """

    data: Data | None
    lists: NeighborLists | None
    preparation: Preparation
    fingerprint: FloatArray
    at_floor: BoolArray

    def __getstate__(self) -> dict[str, object]:
        """Leave out what need not be in a file with the model."""
        return {**self.__dict__, **dict.fromkeys(_NOT_PICKLED)}


@dataclass(frozen=True, eq=False)
class Embedding:
    """A map, and how it was found; arrays are of the kind of the input, rows in its order.

    Attributes
    ----------
    coordinates : array of shape (n, n_components)
    kernel_scales : KernelScales
        After calibration; the unit of the map is that of the scales.
    sigma : array of shape (n,)
        The scale of each point in the data.
    kl_divergence : float
        KL(P‖Q), for the final kernel scales.
    history : ndarray of shape (n_checks, 2)
        Iteration and KL.
    n_iter, n_calibrations : int
    result : Result
    perplexity : float
        As used.
    density_scale : float
    neighbor_recall : float
        Share of the neighbours that were found; NaN for precomputed neighbours.
    timings : dict of str to float
        CPU seconds by phase.
    artifacts : FitArtifacts
    """

    coordinates: FloatArray
    kernel_scales: KernelScales
    sigma: FloatArray
    kl_divergence: float
    history: FloatArray
    n_iter: int
    n_calibrations: int
    result: Result
    perplexity: float
    density_scale: float
    neighbor_recall: float
    timings: dict[str, float]
    artifacts: FitArtifacts

    @property
    def is_tsne(self) -> bool:
        """Whether all points have one kernel, so that the map has no unit of the data."""
        return self.density_scale == 0

    @property
    def name(self) -> str:
        """The method that the map is of."""
        return "t-SNE" if self.is_tsne else "dtSNE"


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C during the descent.

    Attributes
    ----------
    embedding : Embedding
        The best map so far.
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding
