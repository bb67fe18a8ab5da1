"""Precomputed neighbours: a graph whose stored entries are distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dtsne._config import NEIGHBORS_PER_PERPLEXITY
from dtsne.data._base import Data, sample_rows
from dtsne.data._distances import scale_to_distances
from dtsne.runtime._errors import DataError, DataTypeError, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from dtsne.data._points import Points
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

_N_SAMPLED_PAIRS = 5000
# The two distances of a pair may differ by this share of the largest: those of libraries that
# compute |a|² + |b|² − 2ab in float32 do.
_MAX_ASYMMETRY = 0.01


@dataclass(frozen=True)
class PrecomputedNeighbors(Data):
    """A graph of neighbours, and perhaps coordinates; see :class:`dtsne.data._base.Data`.

    Attributes
    ----------
    graph : csr_array of shape (n, n)
        From `graph_of`.
    points : callable or None
        Computes the coordinates, when they are asked for.
    points_have_metric : bool
        Whether the distances are those of the coordinates; else they are for the initialisation.
    """

    graph: csr_array
    points: Callable[[], Points] | None = None
    points_have_metric: bool = True
    has_all_distances: ClassVar[bool] = False

    def __len__(self) -> int:
        return int(self.graph.shape[0])

    @property
    def n_dimensions(self) -> int:
        """Numbers for each point, of which an index is half a one."""
        return int(1.5 * self.graph.nnz / len(self))

    @property
    def max_neighbors(self) -> int:
        """The fewest neighbours that any point has."""
        return int(np.diff(self.graph.indptr).min())

    def euclidean_coordinates(self) -> FloatArray | None:
        """See :class:`Data`."""
        if self.points is None or not self.points_have_metric:
            return None
        return self.points().euclidean_coordinates()

    def squared_distances(self, _threads: Threads, /) -> FloatArray:
        """Raise an error: only those of neighbours are known."""
        raise TypeError("only the distances to neighbours are known")

    def with_offsets(self, offsets: FloatArray) -> PrecomputedNeighbors:
        """See :class:`Data`."""
        graph = self.graph.copy()
        squared = ((offsets[_rows_of(graph)] - offsets[graph.indices]) ** 2).sum(axis=1)
        graph.data = np.sqrt(graph.data**2 + squared)
        return replace(self, graph=graph)

    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """See :class:`Data`.

        A row need not list all its duplicates, but those that it lists have theirs.
        """
        from scipy.sparse.csgraph import connected_components

        duplicates = self.graph.astype(np.float32)
        duplicates.data[:] = self.graph.data == 0
        duplicates.eliminate_zeros()
        labels: IntArray = connected_components(duplicates, directed=False)[1]
        return labels[rows]

    def principal_axes(self, n_axes: int, threads: Threads, /) -> FloatArray | None:
        """Principal components of the coordinates, at the scale of the precomputed distances."""
        if self.points is None:
            return None
        points = self.points()
        stored = np.random.default_rng(0).integers(self.graph.nnz, size=_N_SAMPLED_PAIRS)
        rows = np.searchsorted(self.graph.indptr, stored, side="right") - 1
        columns, distances = self.graph.indices[stored], self.graph.data[stored]
        scale = scale_to_distances(points.coordinates, rows, columns, distances)
        return scale * points.principal_axes(n_axes, threads)


def graph_of(neighbors: object, n: int) -> csr_array:
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
        raise DataTypeError(
            f"neighbors is of type {type(neighbors).__name__}; it must be a pair of arrays "
            "(indices, distances) of shape (n, k), or a scipy sparse matrix of distances",
            f"for a dense matrix of all distances use {setting('metric', 'precomputed')}",
            argument="neighbors",
        )
    graph.sort_indices()
    _check_entries(graph)
    graph = _without_diagonal(graph)
    _check_distances(graph)
    return graph


def check_degrees(graph: csr_array, k: int) -> None:
    """Reject a graph with fewer than k neighbours in some row."""
    degrees = np.diff(graph.indptr)
    row = int(degrees.argmin())
    fewest = int(degrees[row])
    if fewest >= k:
        return
    # Rounded down, as the number of neighbours needed is rounded up.
    largest = math.floor(100 * fewest / NEIGHBORS_PER_PERPLEXITY) / 100
    lower = f", or set {setting('perplexity')} to at most {largest:g}" if largest > 1 else ""
    raise DataError(
        f"row {row} of the precomputed graph has {fewest} neighbours other than itself, and {k} "
        f"are needed, {NEIGHBORS_PER_PERPLEXITY} for each unit of perplexity",
        f"compute the graph with at least {k} neighbours{lower}",
        argument="neighbors",
    )


def _from_matrix(matrix: csr_array, n: int) -> csr_array:
    from scipy.sparse import csr_array

    if matrix.shape != (n, n):
        raise _error(
            f"the neighbour graph has shape {matrix.shape}; it must be ({n}, {n}), a row and a "
            "column for each point, in the order of X"
        )
    _check_numbers(matrix.dtype.kind, str(matrix.dtype))
    graph = csr_array(matrix, dtype=np.float64, copy=True)
    if matrix.format == "coo" and graph.nnz < matrix.nnz:  # scipy would add them up
        raise _error(
            f"the neighbour graph has {matrix.nnz - graph.nnz} pairs more than once",
            "give each row and column once",
        )
    return graph


def _from_pair(indices: IntArray, distances: FloatArray, n: int) -> csr_array:
    from scipy.sparse import csr_array

    if indices.ndim != 2 or indices.shape != distances.shape:
        raise _error(
            f"neighbors has arrays of shapes {indices.shape} and {distances.shape}; they must have "
            "the same shape (n, k)"
        )
    if len(indices) != n:
        raise _error(
            f"neighbors has {len(indices)} rows and X has {n}",
            "give both for the same points, in the same order",
        )
    if indices.dtype.kind not in "iu":
        raise _error(
            f"the indices of the neighbours are {indices.dtype}; they must be integers",
            "pass neighbors=(indices, distances), the other way round from scikit-learn's "
            "kneighbors",
        )
    _check_numbers(distances.dtype.kind, str(distances.dtype))
    outside = (indices < 0) | (indices >= n)
    if outside.any():
        row = int(outside.any(axis=1).argmax())
        raise _error(
            f"row {row} of neighbors has the index {indices[row][outside[row]][0]}; indices must "
            f"be from 0 to {n - 1}",
            "where -1 stands for a neighbour not found, search more widely",
        )
    row_starts = np.arange(n + 1) * indices.shape[1]
    stored = (distances.astype(np.float64).ravel(), indices.ravel(), row_starts)
    return csr_array(stored, shape=(n, n), copy=True)


def _check_numbers(kind: str, name: str) -> None:
    if kind not in "iuf":
        raise _error(f"the distances of the neighbours are {name}; they must be real numbers")


def _check_entries(graph: csr_array) -> None:
    if not np.isfinite(graph.data).all():
        raise _error(
            "the distances of the neighbours have NaN or infinite values",
            "leave such neighbours out of a sparse graph, or search again",
        )
    if (graph.data < 0).any():
        raise _error("Negative values in data: the distances of the neighbours must be at least 0")
    rows = _rows_of(graph)
    repeated = (np.diff(graph.indices) == 0) & (np.diff(rows) == 0)
    if repeated.any():
        where = int(repeated.argmax())
        raise _error(
            f"row {rows[where]} of the neighbours has {graph.indices[where]} more than once",
            "give each neighbour once",
        )


def _check_distances(graph: csr_array) -> None:
    if graph.nnz and graph.data.min() == graph.data.max():
        raise DataError(
            f"all distances of the neighbours are {graph.data[0]:g}, so that density is unknown",
            "give distances, not connectivities",
            in_python="scikit-learn: mode='distance'",
            argument="neighbors",
        )
    rows = sample_rows(graph.shape[0])
    there, back = graph[rows], graph[:, rows].T.tocsr()
    difference = abs(there.multiply(_pattern(back)) - back.multiply(_pattern(there)))
    if difference.nnz and difference.max() > _MAX_ASYMMETRY * graph.data.max():
        raise _error(
            "the distances of the neighbours are not symmetric: d(i, j) ≠ d(j, i) for some pairs",
            "give both the same, for example their mean",
        )


def _error(reason: str, fix: str = "") -> DataError:
    return DataError(reason, fix, argument="neighbors")


def _without_diagonal(graph: csr_array) -> csr_array:
    from scipy.sparse import csr_array

    rows = _rows_of(graph)
    kept = graph.indices != rows
    n_dropped = np.bincount(rows[~kept], minlength=graph.shape[0])
    row_starts = graph.indptr - np.concatenate([[0], np.cumsum(n_dropped)])
    stored = (graph.data[kept], graph.indices[kept], row_starts)
    return csr_array(stored, shape=graph.shape)


def _rows_of(graph: csr_array) -> IntArray:
    """Return the row of each stored entry."""
    return np.repeat(np.arange(graph.shape[0], dtype=np.int32), np.diff(graph.indptr))


def _pattern(graph: csr_array) -> csr_array:
    """Return a graph with a 1 for each stored entry, be it 0."""
    ones = graph.copy()
    ones.data[:] = 1.0
    return ones
