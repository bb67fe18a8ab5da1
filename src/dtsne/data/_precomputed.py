"""Neighbours that the user has found already: a graph whose stored entries are distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtsne.data._base import NEIGHBORS_PER_PERPLEXITY, scale_to_distances
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import for_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.data._base import Points
    from dtsne.runtime._typing import FloatArray, IntArray

_N_SAMPLED = 500
_N_SAMPLED_PAIRS = 5000
# The two distances of a pair may differ by this share of the largest: those of libraries that
# compute |a|² + |b|² − 2ab in float32 do.
_ASYMMETRY = 0.01


@dataclass(frozen=True)
class GivenNeighbors:
    """Data of which the distances to neighbours are known, and perhaps coordinates."""

    graph: Any  # a csr_array from `graph_of`, in a unit that makes distances of size 1 or so
    unit: float
    points: Callable[[], Points] | None
    has_all_distances: ClassVar[bool] = False

    def __len__(self) -> int:
        return int(self.graph.shape[0])

    @property
    def n_dimensions(self) -> int:
        """Numbers for each point, of which an index is half a one."""
        return int(1.5 * self.graph.nnz / len(self))

    def neighbors(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Take the k nearest of each row; what share of the true ones that is, is not known."""
        check_degrees(self.graph, k)
        indices = np.empty((len(self), k), np.int32)
        distances = np.empty((len(self), k))
        row_starts = self.graph.indptr.astype(np.int64)
        columns = self.graph.indices.astype(np.int32)
        for_rows(_keep_nearest, len(self), row_starts, columns, self.graph.data, indices, distances)
        return indices, distances, math.nan

    def squared_distances(self) -> FloatArray:
        """Refuse: only those of neighbours are known."""
        raise TypeError("Only the distances to neighbours are known.")

    def apart(self, offsets: FloatArray) -> GivenNeighbors:
        """Return the points moved apart along axes of their own."""
        graph = self.graph.copy()
        squared = ((offsets[_rows_of(graph)] - offsets[graph.indices]) ** 2).sum(axis=1)
        graph.data = np.sqrt(graph.data**2 + squared)
        return replace(self, graph=graph)

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in.

        A row need not list all its copies, but those that it lists have copies of their own.
        """
        from scipy.sparse.csgraph import connected_components

        copies = self.graph.astype(np.float32)
        copies.data[:] = self.graph.data == 0
        copies.eliminate_zeros()
        labels: IntArray = connected_components(copies, directed=False)[1]
        return labels[rows]

    def principal_axes(self, n_axes: int) -> FloatArray | None:
        """Principal components of the coordinates, at the scale of the given distances."""
        if self.points is None:
            return None
        points = self.points()
        stored = np.random.default_rng(0).integers(self.graph.nnz, size=_N_SAMPLED_PAIRS)
        rows = np.searchsorted(self.graph.indptr, stored, side="right") - 1
        columns, distances = self.graph.indices[stored], self.graph.data[stored]
        scale = scale_to_distances(points.coordinates, rows, columns, distances)
        return scale * points.principal_axes(n_axes)


def graph_of(neighbors: Any, n: int) -> Any:
    """Turn what the user gives into a csr_array: columns in order, and no point its own neighbour.

    Parameters
    ----------
    neighbors : sparse matrix of shape (n, n), or pair of arrays of shape (n, k)
        Distances as the stored entries of a matrix, or indices and distances.
    n : int
        Number of points.
    """
    from scipy.sparse import issparse

    if issparse(neighbors):
        graph = _from_matrix(neighbors, n)
    elif isinstance(neighbors, tuple | list) and len(neighbors) == 2:
        indices, distances = map(np.asarray, neighbors)
        graph = _from_pair(indices, distances, n)
    else:
        raise TypeError(
            "neighbors has to be a pair of arrays (indices, distances) of shape (n, k), or a scipy "
            f"sparse matrix of distances, not {type(neighbors).__name__}; for a dense matrix of "
            "all distances use metric='precomputed'."
        )
    graph.sort_indices()
    _check_entries(graph)
    graph = _without_diagonal(graph)
    _check_distances(graph)
    return graph


def check_degrees(graph: Any, k: int) -> None:
    """Refuse a graph with fewer than k neighbours in some row."""
    degrees = np.diff(graph.indptr)
    row = int(degrees.argmin())
    fewest = int(degrees[row])
    if fewest >= k:
        return
    # Rounded down, as the number of neighbours wanted is rounded up.
    largest = math.floor(100 * fewest / NEIGHBORS_PER_PERPLEXITY) / 100
    lower = f", or set perplexity to at most {largest:g}" if largest > 1 else ""
    raise ValueError(
        f"Row {row} of the given graph has {fewest} neighbours other than itself, and {k} are "
        f"needed, {NEIGHBORS_PER_PERPLEXITY} for each unit of perplexity; compute the graph with "
        f"at least {k} neighbours{lower}."
    )


def _from_matrix(matrix: Any, n: int) -> Any:
    from scipy.sparse import csr_array

    if matrix.shape != (n, n):
        raise ValueError(
            f"The graph of neighbours has shape {matrix.shape}; it has to be ({n}, {n}), a row and "
            "a column for each point, in the order of X."
        )
    _check_numbers(matrix.dtype)
    graph = csr_array(matrix, dtype=np.float64, copy=True)
    if matrix.format == "coo" and graph.nnz < matrix.nnz:  # scipy would add them up
        raise ValueError(
            f"The graph of neighbours has {matrix.nnz - graph.nnz} pairs more than once; give each "
            "row and column once."
        )
    return graph


def _from_pair(indices: Any, distances: Any, n: int) -> Any:
    from scipy.sparse import csr_array

    if indices.ndim != 2 or indices.shape != distances.shape:
        raise ValueError(
            "neighbors=(indices, distances) has to be two arrays of the same shape (n, k), not "
            f"{indices.shape} and {distances.shape}."
        )
    if len(indices) != n:
        raise ValueError(
            f"neighbors has {len(indices)} rows and X has {n}; give both for the same points, in "
            "the same order."
        )
    if indices.dtype.kind not in "iu":
        raise ValueError(
            f"The indices of the neighbours are {indices.dtype} and have to be integers; the order "
            "is neighbors=(indices, distances), the other way round from scikit-learn's "
            "kneighbors."
        )
    _check_numbers(distances.dtype)
    outside = (indices < 0) | (indices >= n)
    if outside.any():
        row = int(outside.any(axis=1).argmax())
        raise ValueError(
            f"Row {row} of neighbors has the index {indices[row][outside[row]][0]}; indices go "
            f"from 0 to {n - 1}. Where -1 stands for a neighbour not found, search more widely."
        )
    row_starts = np.arange(n + 1) * indices.shape[1]
    stored = (distances.astype(np.float64).ravel(), indices.ravel(), row_starts)
    return csr_array(stored, shape=(n, n), copy=True)


def _check_numbers(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iuf":
        raise ValueError(f"The distances of the neighbours are {dtype}; give real numbers.")


def _check_entries(graph: Any) -> None:
    if not np.isfinite(graph.data).all():
        raise ValueError(
            "The distances of the neighbours have NaN or infinite values; leave such neighbours "
            "out of a sparse graph, or search again."
        )
    if (graph.data < 0).any():
        raise ValueError(
            "Negative values in data: the distances of the neighbours have to be at least 0."
        )
    rows = _rows_of(graph)
    repeated = (np.diff(graph.indices) == 0) & (np.diff(rows) == 0)
    if repeated.any():
        where = int(repeated.argmax())
        raise ValueError(
            f"Row {rows[where]} of the given neighbours has {graph.indices[where]} more than once; "
            "give each neighbour once."
        )


def _check_distances(graph: Any) -> None:
    if graph.nnz and graph.data.min() == graph.data.max():
        raise ValueError(
            f"All distances of the neighbours are {graph.data[0]:g}, which says nothing of "
            "density; give distances, not connections (scikit-learn: mode='distance')."
        )
    n = graph.shape[0]
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _N_SAMPLED), replace=False))
    there, back = graph[rows], graph[:, rows].T.tocsr()
    difference = abs(there.multiply(_pattern(back)) - back.multiply(_pattern(there)))
    if difference.nnz and difference.max() > _ASYMMETRY * graph.data.max():
        raise ValueError(
            "The distances of the neighbours are not symmetric: some pairs have another distance "
            "there than back; give both the same, e.g. their mean."
        )


def _without_diagonal(graph: Any) -> Any:
    from scipy.sparse import csr_array

    rows = _rows_of(graph)
    kept = graph.indices != rows
    n_dropped = np.bincount(rows[~kept], minlength=graph.shape[0])
    row_starts = graph.indptr - np.concatenate([[0], np.cumsum(n_dropped)])
    stored = (graph.data[kept], graph.indices[kept], row_starts)
    return csr_array(stored, shape=graph.shape)


def _rows_of(graph: Any) -> IntArray:
    """Return the row of each stored entry."""
    return np.repeat(np.arange(graph.shape[0], dtype=np.int32), np.diff(graph.indptr))


def _pattern(graph: Any) -> Any:
    """Return a graph with a 1 for each stored entry, be it 0."""
    ones = graph.copy()
    ones.data[:] = 1.0
    return ones


@compiled()
def _keep_nearest(begin, end, row_starts, columns, stored, indices, distances):  # type: ignore[no-untyped-def]
    """Fill in the nearest of each row, from near to far.

    The columns of a row are in order, and a stable sort keeps them so where distances are equal.
    """
    k = indices.shape[1]
    for i in range(begin, end):
        first, last = row_starts[i], row_starts[i + 1]
        order = first + np.argsort(stored[first:last], kind="mergesort")[:k]
        indices[i] = columns[order]
        distances[i] = stored[order]
