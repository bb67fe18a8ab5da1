"""Correlations of distances and densities in data and map; nan where they are not defined."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from dtsne.quality._inputs import check_choice, check_integer, documented, opened
from dtsne.quality._neighborhoods import Neighborhoods, search_both
from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.quality._inputs import Options, RandomState, RowOptions, Spaces
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray

NeighborChoice: TypeAlias = Literal["own", "shared"]
Scale: TypeAlias = Literal["ratio", "log", "rank"]

# All pairs of 10,000 points, about a second's work.
DEFAULT_MAX_PAIRS = 50_000_000
# Values that vary by less than this share of their size vary by rounding alone.
_ROUNDING = 1e-13


@documented
def distance_correlation(
    X: ArrayLike, Y: ArrayLike, *, max_pairs: int = DEFAULT_MAX_PAIRS, **options: Unpack[Options]
) -> float:
    """Correlate the distances of all pairs of points in the data with those in the map.

    The paper's ρ, Pearson's correlation over all pairs i < j::

        ρ = corr(‖x_i − x_j‖, ‖y_i − y_j‖)

    Parameters
    ----------
    max_pairs : int, default 50,000,000
        With more pairs than this (10,000 points are within it), about as many are drawn at random:
        the points are put on a circle in random order and each is paired with those that follow
        it. So all have the same number of partners, at least two.

    Returns
    -------
    float
        1 if the map is the data up to scale; nan if all distances are the same.
    """
    with opened(X, Y, **options) as (spaces, _, threads):
        return correlate_distances(spaces, max_pairs, options.get("random_state", 0), threads)


@documented
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
    k : int, default 100
        Number of neighbours, at most n − 1.
    neighbors : {"own", "shared"}

    Returns
    -------
    float
        1 if the map is the data up to scale; nan if all distances are the same.
    """
    check_choice("neighbors", neighbors, ("own", "shared"))
    spaces, found = search_both(X, Y, k, **options)
    return correlate_neighbor_distances(spaces, found, neighbors)


@documented
def density_correlation(
    X: ArrayLike, Y: ArrayLike, *, k: int = 100, of: Scale = "ratio", **options: Unpack[RowOptions]
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
    k : int, default 100
        Number of neighbours, at most n − 1.
    of : {"ratio", "log", "rank"}

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
    return correlate_radii(search_both(X, Y, k, **options)[1], of)


def correlate_distances(
    spaces: Spaces, max_pairs: int, random_state: RandomState, threads: Threads
) -> float:
    """Correlate distances of checked inputs."""
    from dtsne.quality._kernels import pair_sums

    n = spaces.n
    data, map_ = spaces.data, spaces.map
    count = count_pairs(n, max_pairs)
    if count == n * (n - 1) // 2:
        n_offsets = n // 2  # Each pair is met once on the shorter way around the circle.
    else:
        n_offsets = count // n
        order = np.random.default_rng(random_state).permutation(n)
        data, map_ = data[order], map_[order]
    shift_x, shift_y = pair_sums(data, map_, 1, 0.0, 0.0, threads)[:, :2].mean(axis=0)
    sums = pair_sums(data, map_, n_offsets, shift_x, shift_y, threads).sum(axis=0)
    return pearson_of_sums(sums, count, shift_x, shift_y)


def count_pairs(n: int, max_pairs: int) -> int:
    """Count the pairs to take: all, or as many whole turns around the points as are allowed."""
    max_pairs = check_integer("max_pairs", max_pairs, 1)
    all_pairs = n * (n - 1) // 2
    return all_pairs if all_pairs <= max_pairs else n * max(1, max_pairs // n)


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


def correlate_radii(found: Neighborhoods, of: Scale) -> float:
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


def pearson(a: FloatArray, b: FloatArray) -> float:
    """Correlate two arrays of the same shape."""
    a, b = a.ravel(), b.ravel()
    mean_a, mean_b = float(a.mean()), float(b.mean())
    a, b = a - mean_a, b - mean_b
    sums = np.array([a.sum(), b.sum(), a @ a, b @ b, a @ b])
    return pearson_of_sums(sums, len(a), mean_a, mean_b)


def pearson_of_sums(sums: FloatArray, count: int, shift_a: float, shift_b: float) -> float:
    """Correlate a and b from the sums of α, β, α², β², αβ, where α = a − shift_a, β = b − shift_b.

    The shifts keep the digits of the variances; they must be near the means.
    """
    mean_a, mean_b, square_a, square_b, product = (float(value) / count for value in sums)
    variance_a = square_a - mean_a**2
    variance_b = square_b - mean_b**2
    if variance_a <= (_ROUNDING * (shift_a + mean_a)) ** 2:
        return float("nan")
    if variance_b <= (_ROUNDING * (shift_b + mean_b)) ** 2:
        return float("nan")
    correlation = (product - mean_a * mean_b) / (math.sqrt(variance_a) * math.sqrt(variance_b))
    return min(1.0, max(-1.0, correlation))


def is_constant(values: FloatArray) -> bool:
    """Say whether values differ by rounding alone."""
    return bool(np.ptp(values) <= _ROUNDING * np.abs(values).max())
