"""Neighbours that scanpy has found already: whether they are those that the map needs.

What ``uns`` says of a graph may be missing or no longer true, as where the principal components
were computed anew. So the graph itself is looked at: its distances have to be those between the
cells in the representation that is mapped, and the nearest have to be among its neighbours.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtsne.scanpy._representation import N_PCS, missing

if TYPE_CHECKING:
    from dtsne._estimator import DTSNE
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray
    from dtsne.scanpy._representation import Representation

_LOGGER = logging.getLogger(__name__)

_DEFAULT_KEY = "neighbors"
# Cells whose neighbours are searched for again, to compare.
_MAX_SAMPLED = 200
# Of the largest distance: libraries compute them in float32, by |a|² + |b|² − 2ab.
_ROUNDING = 0.01
_OTHER_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
# Distances 1 − cos of scanpy; ours is that between rows of length 1, whose square is twice it.
_OF_ANGLES = ("cosine", "correlation")

_FIX = (
    " Name what it was computed with (use_rep, n_pcs, metric), compute it again (sc.pp.neighbors), "
    "or leave neighbors_key out."
)


class _PoorGraphError(ValueError):
    """Neighbours that are too few, or not near enough, to find densities from."""


class Graph(NamedTuple):
    """A graph of neighbours, and what is said of it."""

    place: str
    distances: Any
    params: dict[str, Any]
    named: bool  # by the user

    @property
    def metric(self) -> Any:
        """The name of its metric, as DTSNE has it."""
        metric = _plain(self.params.get("metric", "euclidean"))
        return _OTHER_NAMES.get(metric, metric) if isinstance(metric, str) else metric


def graph_in(adata: Any, key: str | None) -> Graph | None:
    """Return the graph of that key of uns, or that of scanpy's default, if there is one."""
    named = key is not None
    key = _DEFAULT_KEY if key is None else key
    known = [name for name, entry in adata.uns.items() if _is_graph(name, entry)]
    if key not in known:
        if named:
            raise missing("adata.uns", key, known, "compute it first (sc.pp.neighbors(adata))")
        return None
    entry = adata.uns[key]
    default = "distances" if key == _DEFAULT_KEY else f"{key}_distances"
    distances_key = str(_plain(entry.get("distances_key", default)))
    if distances_key not in adata.obsp:
        if named:
            raise missing("adata.obsp", distances_key, adata.obsp.keys())
        return None
    place = f"adata.obsp[{distances_key!r}]"
    return Graph(place, adata.obsp[distances_key], dict(entry.get("params", {})), named)


def representation_of(adata: Any, graph: Graph) -> tuple[str, int | None]:
    """Return the use_rep and n_pcs that a graph was computed with, by scanpy's rules."""
    use_rep, n_pcs = (_plain(graph.params.get(name)) for name in ("use_rep", "n_pcs"))
    n_pcs = None if n_pcs is None else int(n_pcs)
    if use_rep is not None:
        return str(use_rep), (None if use_rep == "X" else n_pcs)
    if n_pcs == 0 or adata.n_vars <= N_PCS:
        return "X", None
    return "X_pca", n_pcs


def usable_neighbors(graph: Graph, data: Representation, model: DTSNE) -> Any:
    """Return the distances to neighbours, or None, and say why, where they will not do.

    Raises
    ------
    ValueError
        If the user named the graph, and it is one of other data.
    """
    try:
        return _checked(graph, data, model)
    except ValueError as error:
        if graph.named and not isinstance(error, _PoorGraphError):
            raise
        # Seen also where logging is not set up: that a graph is there and not used may surprise.
        _LOGGER.warning("%s Neighbours are searched for instead.", error)
        return None


def _checked(graph: Graph, data: Representation, model: DTSNE) -> Any:
    from scipy.sparse import issparse

    from dtsne.data._base import needed_neighbors
    from dtsne.data._metrics import METRICS
    from dtsne.data._precomputed import graph_of
    from dtsne.runtime._threads import open_threads

    if model.metric in METRICS:
        raise _PoorGraphError(f"{graph.place} is not used for metric={model.metric!r}.")
    if not issparse(graph.distances):
        raise _PoorGraphError(f"{graph.place} is no sparse matrix of distances to neighbours.")
    n = graph.distances.shape[0]
    n_needed = needed_neighbors(model.perplexity, n)
    _check_number(graph, np.asarray(graph.distances.getnnz(axis=1)), n_needed, model.perplexity)
    neighbors = graph_of(graph.distances, n)
    _check_number(graph, np.diff(neighbors.indptr), n_needed, model.perplexity)
    if model.metric in _OF_ANGLES:
        neighbors.data = np.sqrt(2.0 * neighbors.data)
    with open_threads(model.n_jobs) as threads:
        coordinates = _coordinates(data, model.metric)
        _compare(graph, neighbors, coordinates, n_needed, data.place, threads)
    return neighbors


def _check_number(graph: Graph, degrees: Any, n_needed: int, perplexity: float) -> None:
    fewest = int(degrees.min())
    if fewest < n_needed:
        raise _PoorGraphError(
            f"{graph.place} has {fewest} neighbours of a cell, and perplexity={perplexity:g} "
            f"needs {n_needed} (sc.pp.neighbors(adata, n_neighbors={n_needed + 1}))."
        )


def _compare(
    graph: Graph,
    neighbors: Any,
    coordinates: FloatArray,
    n_needed: int,
    place: str,
    threads: Threads,
) -> None:
    """Refuse a graph whose distances are not those of the coordinates, or not the nearest."""
    from dtsne.data._base import sample_rows
    from dtsne.neighbors._base import RECALL
    from dtsne.neighbors._exact import nearest_neighbors
    from dtsne.neighbors._recall import share_found

    rows = sample_rows(len(coordinates), _MAX_SAMPLED)
    found = np.empty((len(rows), n_needed))
    for i, row in enumerate(rows):
        inside = slice(neighbors.indptr[row], neighbors.indptr[row + 1])
        others, said = neighbors.indices[inside], neighbors.data[inside]
        true = np.linalg.norm(coordinates[others] - coordinates[row], axis=1)
        if not np.abs(said - true).max() <= _ROUNDING * true.max():
            raise ValueError(
                f"{graph.place} is not of the data that is to be mapped: its distances are not "
                f"those in {place}.{_FIX if graph.named else ''}"
            )
        found[i] = np.sort(true)[:n_needed]
    _, nearest = nearest_neighbors(coordinates, n_needed, queries=rows, threads=threads)
    recall = share_found(nearest, found)
    if recall < RECALL:
        raise _PoorGraphError(
            f"{graph.place} has {recall:.1%} of the {n_needed} nearest neighbours, and densities "
            f"need {RECALL:.0%}."
        )


def _coordinates(data: Representation, metric: str) -> FloatArray:
    """Return the points as the method sees them, between which distances are Euclidean."""
    from dtsne.data._prepare import prepare

    X = data.X if hasattr(data.X, "toarray") else np.asarray(data.X, np.float64)
    coordinates = prepare(X, metric=metric, n_pcs=data.n_pcs).euclidean_coordinates()
    assert coordinates is not None  # as the metric is one between coordinates
    return coordinates


def _is_graph(name: str, entry: Any) -> bool:
    return hasattr(entry, "get") and (name == _DEFAULT_KEY or "distances_key" in entry)


def _plain(value: Any) -> Any:
    """Return a value that a file may have given back as an array of one."""
    return value.item() if isinstance(value, np.ndarray | np.generic) else value
