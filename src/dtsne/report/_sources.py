"""The data and the map of a report: coordinates, or neighbours alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dtsne._config import EUCLIDEAN_METRICS, OTHER_METRICS
from dtsne.quality._inputs import Spaces, check_choice, check_same_rows, check_spaces
from dtsne.runtime._arrays import on_host, to_host
from dtsne.runtime._devices import device_for, working_on
from dtsne.runtime._errors import DataError, setting

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike

    from dtsne._config import NeighborGraph
    from dtsne._embedding import NeighborLists
    from dtsne.data._base import Data
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import Device, FloatArray, IntArray, MatrixLike


@dataclass(frozen=True, eq=False)
class Source:
    """The data and its map, checked, row by row the same points.

    Attributes
    ----------
    coordinates : ndarray of shape (n, d) or None
        Coordinates with Euclidean distances; None where only distances to neighbours are known.
    map : ndarray of shape (n, 2 or 3)
    data : Data
        In which neighbours are searched for.
    lists : NeighborLists or None
        Neighbours in `data` that were found before.
    min_searched : int
        The fewest neighbours to search for: the fit searched for so many, and an approximate search
        for fewer may find others.
    device : torch.device or None
        Where to measure; None for numpy.
    """

    coordinates: FloatArray | None
    map: FloatArray
    data: Data
    lists: NeighborLists | None = None
    min_searched: int = 1
    device: torch.device | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.map)

    @cached_property
    def spaces(self) -> Spaces:
        """Data and map as the measures take them, on the device."""
        data = np.empty((self.n, 0)) if self.coordinates is None else self.coordinates
        spaces = Spaces(data, self.map)
        if self.device is None:
            return spaces
        from dtsne.quality._quality_torch import spaces_on

        return spaces_on(self.device, spaces)

    def search(self, k: int, threads: Threads) -> tuple[IntArray, FloatArray, float]:
        """Find k neighbours of every point: their indices, their distances, and the share found."""
        from dtsne.neighbors._base import NeighborIndex

        found = None if self.lists is None else self.lists.nearest(k)
        if found is None:
            n_searched = max(k, min(self.min_searched, self.data.max_neighbors))
            with working_on(self.data.device):
                index = NeighborIndex.build(self.data, threads=threads)
                found = index.neighbors_on_host(n_searched)
        indices, distances, recall = found
        return indices[:, :k], distances[:, :k] * self.data.unit, recall


def open_source(
    X: MatrixLike | None,
    Y: ArrayLike,
    metric: str,
    neighbors: NeighborGraph | None,
    device: Device = "cpu",
) -> Source:
    """Check what the user passes; nothing is searched for yet."""
    check_choice("metric", metric, (*EUCLIDEAN_METRICS, *OTHER_METRICS, "precomputed"))
    resolved = device_for(device, X=X, Y=Y)
    X, Y = on_host(X), on_host(Y)
    if X is None:
        if neighbors is None:
            reason = f"{setting('X', None)} leaves nothing to compare the map with"
            raise DataError(reason, f"pass X or {setting('neighbors')}")
        map_ = _check_map(Y)
        return Source(None, map_, _precomputed(neighbors, len(map_)), device=resolved)
    if metric not in EUCLIDEAN_METRICS:
        map_ = _check_map(Y)
        return Source(None, map_, _prepared(X, len(map_), metric, neighbors), device=resolved)
    spaces = check_spaces(X, Y, metric)
    coordinates, map_ = to_host(spaces.data), to_host(spaces.map)
    if neighbors is not None:
        data: Data = _precomputed(neighbors, spaces.n)
    else:
        data = _points(coordinates, resolved)
    return Source(coordinates, map_, data, device=resolved)


def source_of(
    data: Data,
    map_: FloatArray,
    lists: NeighborLists | None = None,
    min_searched: int = 1,
) -> Source:
    """Take data that the method has prepared, and a map with a row for each of its points."""
    coordinates = data.euclidean_coordinates()
    return Source(coordinates, map_, data, lists, min_searched, data.device)


def _check_map(Y: ArrayLike) -> FloatArray:
    shape = np.shape(Y)
    return to_host(check_spaces(np.zeros((shape[0] if shape else 0, 1)), Y).map)


def _points(coordinates: FloatArray, device: torch.device | None) -> Data:
    """Return points as they are for an exact search, and prepared for one in float32."""
    from dtsne.data._points import Points
    from dtsne.data._prepare import prepare
    from dtsne.neighbors._base import MAX_EXACT_NEIGHBORS

    if device is None and len(coordinates) <= MAX_EXACT_NEIGHBORS:
        return Points(coordinates, unit=1.0)
    with working_on(device):
        return prepare(coordinates, metric="euclidean", n_pcs=None, device=device)


def _precomputed(neighbors: NeighborGraph, n: int) -> Data:
    from dtsne.data._precomputed import PrecomputedNeighbors, graph_of

    data = PrecomputedNeighbors(graph_of(neighbors, n), unit=1.0)
    if data.max_neighbors == 0:
        raise DataError(
            f"row {np.diff(data.graph.indptr).argmin()} of the neighbour graph has no neighbours "
            "other than itself",
            "search for more neighbours, or drop such points",
            argument="neighbors",
        )
    return data


def _prepared(X: MatrixLike, n: int, metric: str, neighbors: NeighborGraph | None) -> Data:
    """Prepare data of which only distances are known."""
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    from dtsne.data._prepare import prepare

    checked = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    check_same_rows(checked.shape[0], n)
    if neighbors is None and metric == "precomputed" and issparse(checked):
        neighbors = checked
    if neighbors is not None:
        return _precomputed(neighbors, n)
    return prepare(checked, metric=metric, n_pcs=None)
