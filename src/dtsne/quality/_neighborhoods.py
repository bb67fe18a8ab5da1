"""Neighbourhoods of the same points in the data and in the map: who is near whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dtsne.data._duplicates import SAME, duplicate_tolerance
from dtsne.quality._inputs import check_integer, documented, opened
from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.quality._inputs import RowOptions, Spaces
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

# In more dimensions than this a tree visits most points, and comparing with all is faster.
_MAX_TREE_DIMENSIONS = 8
# Differences of coordinates that are held at once.
_MAX_DIFFERENCES = 2**23


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The nearest neighbours of some rows, in the data and in the map, from near to far.

    Arrays of neighbours have the shape (len(rows), k).
    """

    rows: IntArray
    data_indices: IntArray
    data_distances: FloatArray
    map_indices: IntArray
    map_distances: FloatArray

    def nearest(self, k: int) -> Neighborhoods:
        """Return the k nearest of the neighbours."""
        in_data = self.data_indices[:, :k], self.data_distances[:, :k]
        return Neighborhoods(
            self.rows, *in_data, self.map_indices[:, :k], self.map_distances[:, :k]
        )


@documented
def trustworthiness(
    X: ArrayLike, Y: ArrayLike, *, k: int = 15, **options: Unpack[RowOptions]
) -> float:
    """Measure how far neighbours in the map are from being neighbours in the data.

    Venna and Kaski's trustworthiness, over the k nearest neighbours N_i of each point in the map
    and their rank by distance in the data (the nearest point has rank 1)::

        T = 1 − 2 / (n k (2n − 3k − 1)) · Σ_i Σ_{j ∈ N_i} max(0, rank_i(j) − k)

    For a sample of rows their number takes the place of the first n.

    Parameters
    ----------
    k : int, default 15
        Number of neighbours, less than n / 2.

    Returns
    -------
    float
        1 if all neighbours in the map are neighbours in the data.
    """
    return _rank_score(X, Y, k, options, neighbors_in="map")


def continuity(X: ArrayLike, Y: ArrayLike, *, k: int = 15, **options: Unpack[RowOptions]) -> float:
    """Measure how far neighbours in the data are from being neighbours in the map.

    It is :func:`trustworthiness`, which has the same parameters, with data and map swapped: 1 if
    all neighbours in the data are neighbours in the map.
    """
    return _rank_score(X, Y, k, options, neighbors_in="data")


@documented
def neighbor_recall(
    X: ArrayLike, Y: ArrayLike, *, k: int = 15, **options: Unpack[RowOptions]
) -> float:
    """Return the share of the k nearest neighbours in the data that the map keeps.

    With N_i the k nearest neighbours of a point in the data and M_i those in the map::

        recall = mean_i |N_i ∩ M_i| / k

    Of points that are as far in the data as the k-th neighbour, such as duplicates, all are in N_i.

    Parameters
    ----------
    k : int, default 15
        Number of neighbours, at most n − 1.

    Returns
    -------
    float
        From 0 to 1; a map at random has k / (n − 1).
    """
    spaces, found = search_both(X, Y, k, **options)
    return float(shares_kept(spaces, found, k).mean())


def search_both(
    X: ArrayLike, Y: ArrayLike, k: int, **options: Unpack[RowOptions]
) -> tuple[Spaces, Neighborhoods]:
    """Check data and map, and find k neighbours in both."""
    with opened(X, Y, **options) as (spaces, rows, threads):
        k = check_integer("k", k, 1, spaces.n - 1)
        return spaces, find_neighborhoods(spaces, k, rows, threads)


def _rank_score(
    X: ArrayLike,
    Y: ArrayLike,
    k: int,
    options: RowOptions,
    *,
    neighbors_in: Literal["data", "map"],
) -> float:
    with opened(X, Y, **options) as (spaces, rows, threads):
        k = check_integer("k", k, 1, (spaces.n - 1) // 2)
        if neighbors_in == "map":
            neighbors, _ = map_neighbors(spaces.map, k, threads, queries=rows)
            return score_ranks(spaces.data, rows, neighbors, threads)
        neighbors, _ = data_neighbors(spaces.data, k, threads, queries=rows)
        return score_ranks(spaces.map, rows, neighbors, threads)


def find_neighborhoods(spaces: Spaces, k: int, rows: IntArray, threads: Threads) -> Neighborhoods:
    """Find the k nearest neighbours of some rows."""
    in_data = data_neighbors(spaces.data, k, threads, queries=rows)
    return Neighborhoods(rows, *in_data, *map_neighbors(spaces.map, k, threads, queries=rows))


def data_neighbors(
    points: AnyArray, k: int, threads: Threads, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of rows; see `dtsne.neighbors._exact`."""
    if isinstance(points, np.ndarray):
        from dtsne.neighbors._exact import nearest_neighbors

        return nearest_neighbors(points, k, queries=queries, threads=threads)
    from dtsne.quality import _quality_torch

    return _quality_torch.neighbors(points, k, queries)


def map_neighbors(
    Y: AnyArray, k: int, threads: Threads, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of rows of a map, as `data_neighbors` does, by a tree.

    Of points equally far from a row, those found are sorted by index, but which of them are found
    when not all can be is up to the tree.
    """
    if Y.shape[1] > _MAX_TREE_DIMENSIONS or not isinstance(Y, np.ndarray):
        return data_neighbors(Y, k, threads, queries=queries)
    from scipy.spatial import cKDTree

    rows = np.arange(len(Y)) if queries is None else queries
    distances, indices = cKDTree(Y).query(Y[rows], k=k + 1, workers=threads.number)
    order = np.lexsort((indices, distances))
    indices = np.take_along_axis(indices, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    dropped = indices == rows[:, None]
    # A row with more than k duplicates may not be found itself: any duplicate stands for it.
    dropped[~dropped.any(axis=1), -1] = True
    shape = (len(rows), k)
    return indices[~dropped].astype(np.int32).reshape(shape), distances[~dropped].reshape(shape)


def distances_between(points: AnyArray, rows: IntArray, others: IntArray) -> FloatArray:
    """Return the distances from rows[r] to each of others[r]."""
    found = np.empty(others.shape)
    step = max(1, _MAX_DIFFERENCES // max(1, others.shape[1] * points.shape[1]))
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        ends = points[others[part].astype(np.int64)]
        squared = (ends - points[rows[part].astype(np.int64)][:, None]) ** 2
        found[part] = to_host(squared.sum(-1))
    return np.sqrt(found)


def score_ranks(points: AnyArray, rows: IntArray, neighbors: IntArray, threads: Threads) -> float:
    """Score by their ranks in one space the neighbours found in the other."""
    from dtsne.quality._kernels import ranks

    n = len(points)
    k = neighbors.shape[1]
    excess = int(np.maximum(ranks(points, rows, neighbors, threads) - k, 0).sum())
    return float(1 - 2 * excess / (len(rows) * k * (2 * n - 3 * k - 1)))


def shares_kept(spaces: Spaces, found: Neighborhoods, k: int) -> FloatArray:
    """Return the share of k neighbours that the map keeps, for each row that was searched for.

    Counted are the neighbours in the map that are as near in the data as the k-th there: of points
    equally far, such as duplicates, any will do. By their distances, as lists end among them.
    """
    if not spaces.has_data:
        return _shares_listed(found, k)
    reach = distances_between(spaces.data, found.rows, found.data_indices[:, :k]).max(axis=1)
    to_kept = distances_between(spaces.data, found.rows, found.map_indices[:, :k])
    shares: FloatArray = (to_kept <= _limits(reach)).mean(axis=1)
    return shares


def _shares_listed(found: Neighborhoods, k: int) -> FloatArray:
    """Return the same where nothing is known but lists of neighbours, the longer the better."""
    # Row and neighbour in one number, so that a single intersection serves all rows.
    n = max(found.data_indices.max(), found.map_indices.max()) + 1
    near = found.data_distances <= _limits(found.data_distances[:, k - 1])
    rows, places = np.nonzero(near)
    in_data = rows * n + found.data_indices[rows, places]
    in_map = np.arange(len(found.rows))[:, np.newaxis] * n + found.map_indices[:, :k]
    both = np.intersect1d(in_data, in_map, assume_unique=True)
    return np.bincount(both // n, minlength=len(found.rows)) / k


def _limits(reach: FloatArray) -> FloatArray:
    """Return the distances that are no farther than some, but for rounding, as a column."""
    limits: FloatArray = (1 + SAME) * reach + duplicate_tolerance(reach)
    return limits[:, np.newaxis]
