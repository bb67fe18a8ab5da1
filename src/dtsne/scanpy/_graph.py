"""Neighbours that scanpy has found already: whether they are those that the map needs.

What ``uns`` says of a graph may be missing or no longer true, as where the principal components
were computed again. So the graph itself is checked: its distances must be those between the cells
in the representation that is mapped, and the nearest cells must be among its neighbours.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtsne.runtime._errors import DataError, setting
from dtsne.scanpy._representation import N_PCS, MissingEntryError

if TYPE_CHECKING:
    from anndata import AnnData
    from scipy.sparse import csr_array

    from dtsne._config import Config
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray
    from dtsne.scanpy._representation import Representation

_LOGGER = logging.getLogger(__name__)

_DEFAULT_KEY = "neighbors"
# Cells whose neighbours are searched for again, to compare.
_MAX_SAMPLED = 200
# Of the largest distance: libraries compute them in float32, by |a|² + |b|² − 2ab.
_ROUNDING = 0.01
_OTHER_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
# Distances 1 − cos of scanpy; ours is that between rows of length 1, whose square is twice it.
_ANGULAR = ("cosine", "correlation")


class _PoorGraphError(DataError):
    """Neighbours that are too few, or not near enough, to find densities from."""


class Graph(NamedTuple):
    """A graph of neighbours, and what ``uns`` says of it."""

    place: str
    distances: csr_array
    params: Mapping[str, object]
    named: bool  # by the user

    @property
    def metric(self) -> str:
        """The name of its metric, as DTSNE has it."""
        metric = str(_plain(self.params.get("metric", "euclidean")))
        return _OTHER_NAMES.get(metric, metric)


def graph_in(adata: AnnData, key: str | None) -> Graph | None:
    """Return the graph of that key of uns, or that of scanpy's default, if there is one."""
    named = key is not None
    key = _DEFAULT_KEY if key is None else key
    known = [name for name, entry in adata.uns.items() if _is_graph(name, entry)]
    if key not in known:
        if named:
            fix = "compute it first (sc.pp.neighbors(adata))"
            raise MissingEntryError("adata.uns", key, known, fix)
        return None
    entry = adata.uns[key]
    default = "distances" if key == _DEFAULT_KEY else f"{key}_distances"
    distances_key = str(_plain(entry.get("distances_key", default)))
    if distances_key not in adata.obsp:
        if named:
            raise MissingEntryError("adata.obsp", distances_key, adata.obsp.keys())
        return None
    place = f"adata.obsp[{distances_key!r}]"
    return Graph(place, adata.obsp[distances_key], dict(entry.get("params", {})), named)


def representation_of(adata: AnnData, graph: Graph) -> tuple[str, int | None]:
    """Return the use_rep and n_pcs that a graph was computed with, by scanpy's rules."""
    use_rep, n_pcs = (_plain(graph.params.get(name)) for name in ("use_rep", "n_pcs"))
    n_pcs = None if n_pcs is None else int(str(n_pcs))
    if use_rep is not None:
        return str(use_rep), (None if use_rep == "X" else n_pcs)
    if n_pcs == 0 or adata.n_vars <= N_PCS:
        return "X", None
    return "X_pca", n_pcs


def usable_neighbors(graph: Graph, data: Representation, config: Config) -> csr_array | None:
    """Return the distances to neighbours; None, with a log record, if they cannot be used.

    Raises
    ------
    DataError
        If the user named the graph, and it is one of other data.
    """
    try:
        return _checked(graph, data, config)
    except DataError as error:
        if graph.named and not isinstance(error, _PoorGraphError):
            raise
        # A warning, shown also where logging is not set up: it may surprise that a graph is there
        # and not used.
        _LOGGER.warning("%s Neighbours are searched for instead.", error)
        return None


def _checked(graph: Graph, data: Representation, config: Config) -> csr_array:
    from scipy.sparse import issparse

    from dtsne._config import EUCLIDEAN_METRICS
    from dtsne._cost import needed_neighbors
    from dtsne.data._precomputed import graph_of
    from dtsne.runtime._threads import open_threads

    if config.metric not in EUCLIDEAN_METRICS:
        raise _poor(graph, f"is not used for {setting('metric', config.metric)}")
    if not issparse(graph.distances):
        raise _poor(graph, "is not a sparse matrix of distances to neighbours")
    n = graph.distances.shape[0]
    n_needed = needed_neighbors(config.perplexity, n)
    _check_number(graph, np.asarray(graph.distances.getnnz(axis=1)), n_needed, config.perplexity)
    neighbors = graph_of(graph.distances, n)
    _check_number(graph, np.diff(neighbors.indptr), n_needed, config.perplexity)
    if config.metric in _ANGULAR:
        neighbors.data = np.sqrt(2.0 * neighbors.data)
    with open_threads(config.n_jobs) as threads:
        coordinates = _coordinates(data, config.metric)
        recall = _compare(graph, neighbors, coordinates, n_needed, data.place, threads)
    if recall < config.neighbor_recall:
        raise _poor(
            graph,
            f"has {recall:.1%} of the {n_needed} nearest neighbours, and densities need "
            f"{config.neighbor_recall:.0%}",
        )
    return neighbors


def _check_number(graph: Graph, degrees: IntArray, n_needed: int, perplexity: float) -> None:
    smallest = int(degrees.min())
    if smallest < n_needed:
        raise _poor(
            graph,
            f"has {smallest} neighbours of a cell, and {setting('perplexity', perplexity)} needs "
            f"{n_needed}",
            f"sc.pp.neighbors(adata, n_neighbors={n_needed + 1})",
        )


def _poor(graph: Graph, reason: str, in_python: str = "") -> _PoorGraphError:
    return _PoorGraphError(f"{graph.place} {reason}", in_python=in_python, argument="neighbors_key")


def _compare(
    graph: Graph,
    neighbors: csr_array,
    coordinates: FloatArray,
    n_needed: int,
    place: str,
    threads: Threads,
) -> float:
    """Return the share of the nearest neighbours that a graph has.

    Raises
    ------
    DataError
        If its distances are not those of the coordinates.
    """
    from dtsne.data._base import sample_rows
    from dtsne.neighbors._exact import nearest_neighbors
    from dtsne.neighbors._recall import share_found

    rows = sample_rows(len(coordinates), _MAX_SAMPLED)
    found = np.empty((len(rows), n_needed))
    for i, row in enumerate(rows):
        inside = slice(neighbors.indptr[row], neighbors.indptr[row + 1])
        others, stored = neighbors.indices[inside], neighbors.data[inside]
        true = np.linalg.norm(coordinates[others] - coordinates[row], axis=1)
        if not np.abs(stored - true).max() <= _ROUNDING * true.max():
            settings = ", ".join(map(setting, ("use_rep", "n_pcs", "metric")))
            raise DataError(
                f"{graph.place} is not of the data that is mapped: its distances are not those in "
                f"{place}",
                f"pass what it was computed with ({settings}), compute it again "
                f"(sc.pp.neighbors), or drop {setting('neighbors_key')}"
                if graph.named
                else "",
                argument="neighbors_key",
            )
        found[i] = np.sort(true)[:n_needed]
    _, nearest = nearest_neighbors(coordinates, n_needed, queries=rows, threads=threads)
    return share_found(nearest, found)


def _coordinates(data: Representation, metric: str) -> FloatArray:
    """Return the points as the method sees them, between which distances are Euclidean."""
    from dtsne.data._prepare import prepare

    X = data.X if hasattr(data.X, "toarray") else np.asarray(data.X, np.float64)
    coordinates = prepare(X, metric=metric, n_pcs=data.n_pcs).euclidean_coordinates()
    assert coordinates is not None  # as the metric is one between coordinates
    return coordinates


def _is_graph(name: str, entry: object) -> bool:
    return isinstance(entry, Mapping) and (name == _DEFAULT_KEY or "distances_key" in entry)


def _plain(value: object) -> object:
    """Return a value that a file may have given back as an array of one."""
    return value.item() if isinstance(value, np.ndarray | np.generic) else value
