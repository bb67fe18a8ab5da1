"""Clusters of too few points, for the perplexity or for a radius, found without labels.

Within a cluster of dimension δ the logarithms of the sorted distances d_1 ≤ d_2 ≤ … from a point
grow by about 1/(δk) from one neighbour to the next, whatever the density, and 1/δ is the mean of
log(d_k / d_j) over the neighbours j ≤ k. A step ::

    g_k = k · log(d_{k+1} / d_k) / mean_{j ≤ k} log(d_k / d_j)

is thus of size 1 or so inside a cluster; at its end, where the next neighbour is in another one, it
is far larger. A point that sees such an end before its neighbours are as many as the perplexity
needs has a σ that reaches into the next cluster; one that sees it before the k-th has a radius that
is the width of the gap.

A step may also be large by chance, or since distances take few values. So the points before it,
from the view of all of them together, must make an island: they are connected to no others, and
most of them see an end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# σ of points in a Gaussian cluster of m points is larger than a bigger one of the same density
# would give them by 11 % at a perplexity of m/2, by 44 % at 0.8 m and nearly five times at m.
_POINTS_PER_PERPLEXITY = 1.25
# Fewer points than this are outliers rather than a cluster.
_MIN_POINTS = 10
# The largest g_k of 125 neighbours is below 12 for about 99 % of the points of the paper's Gaussian
# and uniform clusters and of the digits, and the rest do not agree (docs/account.md); at the end of
# their cluster of 100 points it is above 100, at those of rare cell types not far above 12.
_MIN_STEP = 12.0
# The same step over k: the end of a large cluster must be seen without statistics.
_MIN_JUMP = 0.3
# 1/δ of more dimensions than any cluster has: distances of whole numbers may be all the same.
_MIN_SPREAD = 0.01
# Share of the points of an island that see its end; those that face another cluster may not.
_MIN_AGREEMENT = 0.5
_MAX_ROWS = 4096


def smallest_size(perplexity: float) -> int:
    """Return the fewest points that a cluster should have for a perplexity."""
    return int(np.ceil(_POINTS_PER_PERPLEXITY * perplexity))


def island_sizes(
    indices: IntArray, distances: FloatArray, smallest: int, rounding: float = 0.0
) -> IntArray:
    """Count the points of the island that each is in; 0 where it is in none that is too small.

    Parameters
    ----------
    indices, distances : ndarray of shape (n, k)
        The neighbours of each point, from near to far; more than `smallest` are not used.
    smallest : int
        The fewest points that are not too few.
    rounding : float, default 0
        The distance up to which points are duplicates.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(indices)
    n_used = min(smallest, indices.shape[1])
    ends = np.concatenate(
        [
            _ends(distances[begin : begin + _MAX_ROWS, :n_used], rounding)
            for begin in range(0, n, _MAX_ROWS)
        ]
    )
    if not ends.any():
        return np.zeros(n, np.int64)
    before = np.arange(n_used) < ends[:, np.newaxis]
    row_starts = np.concatenate([[0], np.cumsum(ends)])
    columns = indices[:, :n_used][before]
    links = csr_array((np.ones(len(columns), np.int8), columns, row_starts), shape=(n, n))
    n_islands, islands = connected_components(links, directed=False)
    sizes = np.bincount(islands, minlength=n_islands)
    agreeing = np.bincount(islands, weights=ends > 0, minlength=n_islands)
    too_small = (sizes < smallest) & (agreeing >= _MIN_AGREEMENT * sizes)
    found: IntArray = np.where(too_small, sizes, 0)[islands]
    return found


def _ends(distances: FloatArray, rounding: float = 0.0) -> IntArray:
    """Count the neighbours before the clearest step of each row; 0 where none is clear."""
    n_found = distances.shape[1]
    if n_found < _MIN_POINTS:
        return np.zeros(len(distances), np.int64)
    # Duplicates lie as near as the nearest other point: a step from 0 would be endless.
    nearest = np.where(distances > rounding, distances, np.inf).min(axis=1, keepdims=True)
    logs = np.log(np.maximum(distances, np.where(np.isfinite(nearest), nearest, 1.0)))
    ranks = np.arange(1, n_found)
    spreads = logs[:, :-1] - np.cumsum(logs[:, :-1], axis=1) / ranks
    steps = np.diff(logs, axis=1) / np.maximum(spreads, _MIN_SPREAD)
    clear = (steps >= _MIN_JUMP) & (ranks * steps >= _MIN_STEP) & (ranks >= _MIN_POINTS - 1)
    best = np.where(clear, ranks * steps, 0.0).argmax(axis=1)
    found: IntArray = np.where(clear.any(axis=1), ranks[best], 0)
    return found
