"""Distances between all points, near and far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.quality._correlation import pearson_of_sums
from dtsne.quality._inputs import check_integer, opened

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.quality._inputs import Options, RandomState, Spaces
    from dtsne.runtime._threads import Threads

# All pairs of 10,000 points, about a second's work.
DEFAULT_MAX_PAIRS = 50_000_000


def distance_correlation(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    max_pairs: int = DEFAULT_MAX_PAIRS,
    **options: Unpack[Options],
) -> float:
    """Correlate the distances of all pairs of points in the data with those in the map.

    The paper's ρ, Pearson's correlation over all pairs i < j::

        ρ = corr(‖x_i − x_j‖, ‖y_i − y_j‖)

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
        The data, and its map.
    max_pairs : int, default 50,000,000
        With more pairs than this (10,000 points are within it), about as many are drawn at random:
        the points are put on a circle in random order and each is paired with those that follow
        it. So all have the same number of partners, at least two.
    **options
        `metric`, `random_state`, `device` and `n_jobs`; see :mod:`dtsne.quality`.

    Returns
    -------
    float
        1 if the map is the data up to scale; nan if all distances are the same.
    """
    with opened(X, Y, **options) as (spaces, _, threads):
        return correlate_distances(spaces, max_pairs, options.get("random_state", 0), threads)


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
