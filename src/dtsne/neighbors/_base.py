"""What finds nearest neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from dtsne.runtime._arrays import to_host
from dtsne.runtime._errors import ParameterError

if TYPE_CHECKING:
    from dtsne.data._base import Data
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, AnyIntArray, FloatArray, IntArray

# Up to this many points all distances are computed; beyond, most neighbours are found without.
MAX_EXACT_NEIGHBORS = 20_000
RECALL = 0.99


class Neighbors(NamedTuple):
    """The nearest neighbours of some points, from near to far.

    Attributes
    ----------
    indices : int32 array of shape (m, k)
    distances : array of shape (m, k)
        In the unit of the data; float64, or float32 on a device.
    recall : float
        Share of the true neighbours found: 1 if the search is exact, else measured on a sample;
        NaN where it is not known.
    """

    indices: AnyIntArray
    distances: AnyArray
    recall: float


class HostNeighbors(NamedTuple):
    """`Neighbors` as arrays of numpy, with distances in float64."""

    indices: IntArray
    distances: FloatArray
    recall: float


class NeighborIndex(ABC):
    """Finds the nearest neighbours of the points it is built of, and of new ones among them.

    Neighbours are sorted by distance, then by index, so that ties and duplicates have one order.
    Distances are exact, also where not all neighbours are found. Which are found does not depend
    on the number of threads, nor, for new points, on the others that are asked for together.

    An index works on the threads it is built with, and on one after these have ended.
    """

    @staticmethod
    def build(
        data: Data,
        *,
        threads: Threads,
        max_exact: int | None = None,
        recall: float | None = None,
    ) -> NeighborIndex:
        """Build the index for data of any kind.

        Parameters
        ----------
        data : Data
        threads : Threads
        max_exact : int, optional
            Number of points up to which all distances are computed; a default of the device.
        recall : float, optional
            Share of the true neighbours to find beyond.
        """
        from dtsne.data._distances import PairwiseData
        from dtsne.data._metrics import MetricPoints
        from dtsne.data._points import Points
        from dtsne.data._precomputed import PrecomputedNeighbors
        from dtsne.neighbors._exact import ExactIndex, PairwiseIndex

        recall = RECALL if recall is None else recall
        if data.device is not None:
            from dtsne.neighbors._search_torch import device_index

            return device_index(data, threads, max_exact=max_exact, recall=recall)
        exact = len(data) <= (MAX_EXACT_NEIGHBORS if max_exact is None else max_exact)
        match data:
            case Points() if exact:
                return ExactIndex(data, threads)
            case Points():
                from dtsne.neighbors._ivf import IvfIndex

                return IvfIndex(data, threads, recall=recall)
            case PrecomputedNeighbors():
                from dtsne.neighbors._precomputed import GraphIndex

                return GraphIndex(data, threads)
            case MetricPoints() if not exact:
                from dtsne.neighbors._nndescent import NNDescentIndex

                return NNDescentIndex(data, threads, recall=recall)
            case PairwiseData():
                return PairwiseIndex(data, threads)
        raise TypeError(f"there is no index for {type(data).__name__}")

    @property
    def recall(self) -> float:
        """Share of the true neighbours that the last search found; see `Neighbors`."""
        return 1.0

    @abstractmethod
    def neighbors(self, k: int) -> Neighbors:
        """Find the k nearest others of every point. A point is not its own neighbour."""

    @abstractmethod
    def query(self, new: AnyArray, k: int) -> Neighbors:
        """Find the k nearest points of new ones.

        Parameters
        ----------
        new : array of shape (m, d)
            Rows like those that the data holds, in its unit: coordinates, or for precomputed
            distances those to all points.
        k : int
            At most the number of points.
        """

    def neighbors_on_host(self, k: int) -> HostNeighbors:
        """Find the k nearest others of every point, as arrays of numpy."""
        indices, distances, recall = self.neighbors(k)
        return HostNeighbors(to_host(indices), to_host(distances).astype(float, copy=False), recall)


def check_number(k: int, most: int) -> None:
    """Reject a number of neighbours that so many points do not have."""
    if not 1 <= k <= most:
        raise ParameterError("k", k, f"a number of neighbours from 1 to {most}")
