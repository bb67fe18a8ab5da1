"""Distances between all points, near and far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.quality._correlation import pearson_of_sums
from dtsne.quality._inputs import Metric, RandomState, Spaces, check_spaces
from dtsne.quality._loops import pair_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# All pairs of 10,000 points, about a second's work.
DEFAULT_MAX_PAIRS = 50_000_000


def distance_correlation(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    metric: Metric = "euclidean",
    max_pairs: int = DEFAULT_MAX_PAIRS,
    random_state: RandomState = 0,
    device: Any = "cpu",
) -> float:
    """Correlate the distances of all pairs of points in the data with those in the map.

    The paper's ρ, Pearson's correlation over all pairs i < j::

        ρ = corr(‖x_i − x_j‖, ‖y_i − y_j‖)

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
    max_pairs : int, default 50,000,000
        With more pairs than this (10,000 points are within it), about as many are drawn at random:
        the points are put on a circle in random order and each is paired with those that follow
        it. So all have the same number of partners, at least two.
    metric, random_state, device
        See :mod:`dtsne.quality`.

    Returns
    -------
    float
        1 if the map is the data up to scale; nan if all distances are the same.
    """
    return correlate_distances(check_spaces(X, Y, metric, device), max_pairs, random_state)


def correlate_distances(spaces: Spaces, max_pairs: int, random_state: RandomState) -> float:
    """Correlate distances of checked inputs."""
    n = spaces.n
    data, map_ = spaces.data, spaces.map
    count = count_pairs(n, max_pairs)
    if count == n * (n - 1) // 2:
        n_offsets = n // 2  # Each pair is met once on the shorter way around the circle.
    else:
        n_offsets = count // n
        order = np.random.default_rng(random_state).permutation(n)
        data, map_ = data[order], map_[order]
    shift_x, shift_y = pair_sums(data, map_, 1, 0.0, 0.0)[:, :2].mean(axis=0)
    sums = pair_sums(data, map_, n_offsets, shift_x, shift_y).sum(axis=0)
    return pearson_of_sums(sums, count, shift_x, shift_y)


def count_pairs(n: int, max_pairs: int) -> int:
    """Count the pairs to take: all, or as many whole turns around the points as are allowed."""
    if max_pairs < 1:
        raise ValueError(f"max_pairs={max_pairs} is too few; choose at least 1.")
    all_pairs = n * (n - 1) // 2
    return all_pairs if all_pairs <= max_pairs else n * max(1, max_pairs // n)
