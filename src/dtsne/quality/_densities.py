"""Densities: how far away the nearest neighbours are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from dtsne.quality._correlation import is_constant, pearson, pearson_of_sums
from dtsne.quality._inputs import check_choice, check_integer, opened
from dtsne.quality._search import Neighborhoods, find_neighborhoods
from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.quality._inputs import RowOptions, Spaces
    from dtsne.runtime._typing import FloatArray

NeighborChoice: TypeAlias = Literal["own", "shared"]
RadiusComparison: TypeAlias = Literal["ratio", "log", "rank"]


def neighbor_distance_correlation(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    k: int = 100,
    neighbors: NeighborChoice = "own",
    **options: Unpack[RowOptions],
) -> float:
    """Correlate the distances to the k nearest neighbours in the data with those in the map.

    The paper's ρ_knn, Pearson's correlation pooled over all points i and ranks m = 1, …, k::

        "own"      corr(‖x_i − x_a‖, ‖y_i − y_b‖)   a, b: the m-th neighbour in X, the m-th in Y
        "shared"   corr(‖x_i − x_a‖, ‖y_i − y_a‖)   a: the m-th neighbour in X

    "own" compares local scales and gives the figures of the paper; "shared" follows each pair and
    so also asks the map for the right neighbours.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
        The data, and its map.
    k : int, default 100
        Number of neighbours, at most n − 1.
    neighbors : {"own", "shared"}
    **options
        `metric`, `max_rows`, `random_state`, `device` and `n_jobs`; see :mod:`dtsne.quality`.

    Returns
    -------
    float
        1 if the map is the data up to scale; nan if all distances are the same.
    """
    check_choice("neighbors", neighbors, ("own", "shared"))
    with opened(X, Y, **options) as (spaces, rows, threads):
        k = check_integer("k", k, 1, spaces.n - 1)
        found = find_neighborhoods(spaces, k, rows, threads)
        return correlate_neighbor_distances(spaces, found, neighbors)


def density_correlation(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    k: int = 100,
    of: RadiusComparison = "ratio",
    **options: Unpack[RowOptions],
) -> float:
    """Correlate local radii in the data with those in the map.

    The radius r_i of a point is the distance to its k-th nearest neighbour, in each space its own;
    density is its inverse. With r in the data and s in the map::

        "ratio"   corr(r_i / r_j, s_i / s_j)   over all ordered pairs i ≠ j; the paper's ρ_r
        "log"     corr(log r_i, log s_i)       the measure of densMAP
        "rank"    Spearman's corr(r_i, s_i)

    The ratios have heavy tails, so that few points may decide "ratio"; compare with the others.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
        The data, and its map.
    k : int, default 100
        Number of neighbours, at most n − 1.
    of : {"ratio", "log", "rank"}
    **options
        `metric`, `max_rows`, `random_state`, `device` and `n_jobs`; see :mod:`dtsne.quality`. Pairs
        are those of the rows that are measured.

    Returns
    -------
    float
        nan if all radii are the same, in the data or in the map.

    Notes
    -----
    A point with k duplicates has the radius 0. For "ratio" and "log", which are not defined there,
    it is clipped to the smallest positive radius.
    """
    check_choice("of", of, ("ratio", "log", "rank"))
    with opened(X, Y, **options) as (spaces, rows, threads):
        k = check_integer("k", k, 1, spaces.n - 1)
        return correlate_radii(find_neighborhoods(spaces, k, rows, threads), of)


def correlate_neighbor_distances(
    spaces: Spaces, found: Neighborhoods, neighbors: NeighborChoice
) -> float:
    """Correlate the distances of neighbourhoods already searched for."""
    if neighbors == "own":
        return pearson(found.data_distances, found.map_distances)
    squared = np.zeros(found.data_indices.shape)
    # One coordinate at a time: the differences of all pairs never stand in memory together.
    for coordinate in to_host(spaces.map).T:
        squared += (coordinate[found.rows, None] - coordinate[found.data_indices]) ** 2
    return pearson(found.data_distances, np.sqrt(squared))


def correlate_radii(found: Neighborhoods, of: RadiusComparison) -> float:
    """Correlate the radii of neighbourhoods already searched for."""
    r = found.data_distances[:, -1]
    s = found.map_distances[:, -1]
    # Tested here, as rounding is relative to r and not to its logarithm or rank.
    if is_constant(r) or is_constant(s):
        return float("nan")
    if of == "rank":
        from scipy.stats import rankdata

        return pearson(rankdata(r), rankdata(s))
    r, s = _without_zeros(r), _without_zeros(s)
    return pearson(np.log(r), np.log(s)) if of == "log" else _correlate_ratios(r, s)


def _correlate_ratios(r: FloatArray, s: FloatArray) -> float:
    """Correlate r_i / r_j with s_i / s_j over the n (n − 1) ordered pairs i ≠ j, in O(n).

    Write r_i / r_j − 1 = e_i + f_j r_i with e = r − 1 and f = 1/r − 1, and likewise
    s_i / s_j − 1 = g_i + h_j s_i. Both vanish for i = j, so that sums over i ≠ j are sums over all
    i and j, and these fall apart into sums over single points::

        Σ_ij (e_i + f_j r_i)                = n Σe + Σf Σr
        Σ_ij (e_i + f_j r_i)(g_i + h_j s_i) = n Σeg + Σh Σes + Σf Σgr + Σfh Σrs

    Subtracting the 1 keeps the digits where all radii are nearly the same, and scaling the radii
    (their ratios do not change) makes e and f small then.
    """
    n = len(r)
    r, s = (radii / np.exp(np.log(radii).mean()) for radii in (r, s))
    sums = np.array(
        [
            n * (r - 1).sum() + (1 / r - 1).sum() * r.sum(),
            n * (s - 1).sum() + (1 / s - 1).sum() * s.sum(),
            _sum_ratio_products(r, r),
            _sum_ratio_products(s, s),
            _sum_ratio_products(r, s),
        ]
    )
    return pearson_of_sums(sums, n * (n - 1), 1.0, 1.0)


def _sum_ratio_products(r: FloatArray, s: FloatArray) -> float:
    """Sum (r_i / r_j − 1)(s_i / s_j − 1) over all i and j, as above."""
    e, f, g, h = r - 1, 1 / r - 1, s - 1, 1 / s - 1
    return float(len(r) * (e @ g) + h.sum() * (e @ s) + f.sum() * (g @ r) + (f @ h) * (r @ s))


def _without_zeros(radii: FloatArray) -> FloatArray:
    clipped: FloatArray = np.maximum(radii, radii[radii > 0].min())
    return clipped
