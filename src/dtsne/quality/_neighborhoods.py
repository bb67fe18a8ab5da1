"""Neighbourhoods: who is near whom, whatever the distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.quality._inputs import (
    DEFAULT_MAX_ROWS,
    Metric,
    RandomState,
    check_count,
    check_spaces,
    choose_rows,
)
from dtsne.quality._loops import data_neighbors, ranks
from dtsne.quality._search import Neighborhoods, find_neighborhoods, map_neighbors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._typing import IntArray


def trustworthiness(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    k: int = 15,
    metric: Metric = "euclidean",
    max_rows: int = DEFAULT_MAX_ROWS,
    random_state: RandomState = 0,
    device: Any = "cpu",
) -> float:
    """Measure how far neighbours in the map are from being neighbours in the data.

    Venna and Kaski's trustworthiness, over the k nearest neighbours N_i of each point in the map
    and their rank by distance in the data (the nearest point has rank 1)::

        T = 1 − 2 / (n k (2n − 3k − 1)) · Σ_i Σ_{j ∈ N_i} max(0, rank_i(j) − k)

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
    k : int, default 15
        Number of neighbours, less than n / 2.
    metric, max_rows, random_state, device
        See :mod:`dtsne.quality`. For a sample of rows their number takes the place of the first n.

    Returns
    -------
    float
        1 if all neighbours in the map are neighbours in the data.
    """
    spaces = check_spaces(X, Y, metric, device)
    k = check_rank_count(k, spaces.n)
    rows = choose_rows(spaces.n, max_rows, random_state)
    neighbors, _ = map_neighbors(spaces.map, k, queries=rows)
    return score_ranks(spaces.data, rows, neighbors)


def continuity(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    k: int = 15,
    metric: Metric = "euclidean",
    max_rows: int = DEFAULT_MAX_ROWS,
    random_state: RandomState = 0,
    device: Any = "cpu",
) -> float:
    """Measure how far neighbours in the data are from being neighbours in the map.

    It is :func:`trustworthiness` with the data and the map changing places.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
    k : int, default 15
        Number of neighbours, less than n / 2.
    metric, max_rows, random_state, device
        See :mod:`dtsne.quality`.

    Returns
    -------
    float
        1 if all neighbours in the data are neighbours in the map.
    """
    spaces = check_spaces(X, Y, metric, device)
    k = check_rank_count(k, spaces.n)
    rows = choose_rows(spaces.n, max_rows, random_state)
    neighbors, _ = data_neighbors(spaces.data, k, queries=rows)
    return score_ranks(spaces.map, rows, neighbors)


def neighbor_recall(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    k: int = 15,
    metric: Metric = "euclidean",
    max_rows: int = DEFAULT_MAX_ROWS,
    random_state: RandomState = 0,
    device: Any = "cpu",
) -> float:
    """Return the share of the k nearest neighbours in the data that the map keeps.

    With N_i the k nearest neighbours of a point in the data and M_i those in the map::

        recall = mean_i |N_i ∩ M_i| / k

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
    k : int, default 15
        Number of neighbours, at most n − 1.
    metric, max_rows, random_state, device
        See :mod:`dtsne.quality`.

    Returns
    -------
    float
        From 0 to 1; a map at random has k / (n − 1).
    """
    spaces = check_spaces(X, Y, metric, device)
    why = f"does not suit {spaces.n} points"
    k = check_count("k", k, least=1, most=spaces.n - 1, why=why)
    return share_kept(find_neighborhoods(spaces, k, max_rows, random_state), spaces.n)


def score_ranks(points: Any, rows: IntArray, neighbors: IntArray) -> float:
    """Score by their ranks in one space the neighbours found in the other."""
    n = len(points)
    k = neighbors.shape[1]
    excess = int(np.maximum(ranks(points, rows, neighbors) - k, 0).sum())
    return float(1 - 2 * excess / (len(rows) * k * (2 * n - 3 * k - 1)))


def share_kept(found: Neighborhoods, n: int) -> float:
    """Return the share of data neighbours among the map neighbours, searched for already."""
    # Row and neighbour in one number, so that a single intersection serves all rows.
    offsets = np.arange(len(found.rows), dtype=np.int64)[:, None] * n
    kept = np.intersect1d(
        offsets + found.data_indices, offsets + found.map_indices, assume_unique=True
    )
    return kept.size / found.data_indices.size


def check_rank_count(k: int, n: int) -> int:
    """Return a number of neighbours for which the scores of ranks are defined."""
    why = f"is not from 1 to below half of the {n} points"
    return check_count("k", k, least=1, most=(n - 1) // 2, why=why)
