"""The data and the map of a report: coordinates, or neighbours alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._config import EUCLIDEAN_METRICS, OTHER_METRICS
from dtsne.quality._inputs import Spaces, check_choice, check_same_rows, check_spaces
from dtsne.runtime._arrays import on_host
from dtsne.runtime._devices import device_for
from dtsne.runtime._errors import DataError, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dtsne._embedding import NeighborLists
    from dtsne.data._base import Data
    from dtsne.runtime._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Source:
    """The data and its map, checked, row by row the same points.

    Attributes
    ----------
    data : ndarray of shape (n, d) or None
        Coordinates with Euclidean distances; None where only distances to neighbours are known.
    map : ndarray of shape (n, 2 or 3)
    search : callable
        From a number k of neighbours to their indices, their distances, and the share found.
    max_neighbors : int
        The largest such number.
    on_device : Spaces or None
        Data and map again, as tensors on the device to measure on; the unit is no matter.
    """

    data: Any
    map: Any
    search: Callable[[int], tuple[IntArray, FloatArray, float]]
    max_neighbors: int
    on_device: Spaces | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.map)

    @property
    def spaces(self) -> Spaces:
        """Data and map as the measures of quality take them."""
        if self.on_device is not None:
            return self.on_device
        return Spaces(np.empty((self.n, 0)) if self.data is None else self.data, self.map)


def open_source(
    X: ArrayLike | None, Y: ArrayLike, metric: str, neighbors: Any, device: Any = "cpu"
) -> Source:
    """Check what the user gives; nothing is searched for yet."""
    check_choice("metric", metric, (*EUCLIDEAN_METRICS, *OTHER_METRICS, "precomputed"))
    resolved = device_for(device, X=X, Y=Y)
    X, Y = on_host(X), on_host(Y)
    if X is None:
        if neighbors is None:
            reason = f"{setting('X', None)} leaves nothing to compare the map with"
            raise DataError(reason, f"pass X or {setting('neighbors')}")
        source = _from_graph(None, _check_map(Y), neighbors)
    elif metric not in EUCLIDEAN_METRICS:
        source = _from_metric(X, _check_map(Y), metric, neighbors)
    else:
        spaces = check_spaces(X, Y, metric)
        if neighbors is not None:
            source = _from_graph(spaces.data, spaces.map, neighbors)
        else:
            source = _from_points(spaces, resolved)
    return source if resolved is None else _on_device(source, resolved)


def source_of(
    data: Data,
    map_: FloatArray,
    *,
    of_metric: bool = True,
    lists: NeighborLists | None = None,
    n_searched: int = 1,
) -> Source:
    """Take data that the method has prepared, and a map with a row for each of its points.

    Coordinates beside given neighbours may be there for the start alone, and not `of_metric`. A
    search finds neighbours in the lists, if these are long enough; or else at least so many as the
    fit searched for, since one for fewer may find others.
    """
    from dtsne.data._base import Points
    from dtsne.data._precomputed import GivenNeighbors

    on_host: Data = getattr(data, "on_host", lambda: data)()
    if isinstance(on_host, GivenNeighbors):
        points = on_host.points() if of_metric and on_host.points is not None else None
        most = int(np.diff(on_host.graph.indptr).min())
    else:
        points = on_host if isinstance(on_host, Points) else None
        most = len(data) - 1
    coordinates = None if points is None else points.coordinates * points.unit
    search = partial(_search_in, data, lists=lists, least=min(n_searched, most))
    source = Source(coordinates, map_, search, most)
    device = getattr(data, "device", None)
    return source if device is None else _on_device(source, device)


def _on_device(source: Source, device: Any) -> Source:
    from dtsne.quality._quality_torch import spaces_on

    return replace(source, on_device=spaces_on(device, source.spaces))


def _check_map(Y: ArrayLike) -> Any:
    shape = np.shape(Y)
    return check_spaces(np.zeros((shape[0] if shape else 0, 1)), Y).map


def _from_points(spaces: Spaces, device: Any) -> Source:
    def search(k: int) -> tuple[IntArray, FloatArray, float]:
        from dtsne.data._base import MAX_EXACT_NEIGHBORS

        if device is None and spaces.n <= MAX_EXACT_NEIGHBORS:
            from dtsne.neighbors._exact import nearest_neighbors

            points: Any = spaces.data
            return *nearest_neighbors(points, k), 1.0
        from dtsne._backend import backend_for

        backend = backend_for("cpu" if device is None else device, None)
        # In the middle, and of size 1 or so, as the search is in float32.
        with backend.session():
            data = backend.prepare(spaces.data, metric="euclidean", n_pcs=None, neighbors=None)
            return _search_in(data, k)

    return Source(spaces.data, spaces.map, search, spaces.n - 1)


def _from_graph(data: Any, map_: Any, neighbors: Any) -> Source:
    from dtsne.data._precomputed import GivenNeighbors, graph_of

    graph = graph_of(neighbors, len(map_))
    degrees = np.diff(graph.indptr)
    if degrees.min() == 0:
        raise DataError(
            f"row {degrees.argmin()} of the neighbour graph has no neighbours other than itself",
            "search for more neighbours, or drop such points",
            argument="neighbors",
        )
    given = GivenNeighbors(graph, 1.0, None)
    return Source(data, map_, given.neighbors, int(degrees.min()))


def _from_metric(X: Any, map_: FloatArray, metric: str, neighbors: Any) -> Source:
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    from dtsne.data._prepare import prepare

    checked = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    check_same_rows(checked.shape[0], len(map_))
    if neighbors is not None:
        return _from_graph(None, map_, neighbors)
    if metric == "precomputed" and issparse(checked):
        return _from_graph(None, map_, checked)
    return source_of(prepare(checked, metric=metric, n_pcs=None), map_)


def _search_in(
    data: Data, k: int, *, lists: NeighborLists | None = None, least: int = 1
) -> tuple[IntArray, FloatArray, float]:
    known = None if lists is None else lists.nearest(k)
    if known is None:
        find = getattr(data, "neighbors_on_host", data.neighbors)
        known = find(max(k, least))
    indices, distances, recall = known
    return indices[:, :k], distances[:, :k] * data.unit, recall
