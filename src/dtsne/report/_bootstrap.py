"""The uncertainty of a spread: resampling the points of a group.

The spread of a resample comes from sums alone, Σw, Σw·x and Σw·|x|² for the number w of times that
each point is in it; those of all resamples are one product of matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._duplicates import SAME
from dtsne.quality._clusters import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.runtime._typing import FloatArray, IntArray

# More points than this are joined at random into this many units, which are resampled as one: the
# intervals are as wide, and are found in a time that no longer grows.
_MAX_UNITS = 2000
# Share of the resamples that may have no spread.
_MAX_WITHOUT = 0.01
# Counts, for all units in some resamples, that are held at once.
_MAX_COUNTS = 2**21


def distinct(points: FloatArray, n: int) -> bool:
    """Whether there are at least n points that are not duplicates of each other."""
    rest = points
    least = SAME * spread(points)
    for _ in range(n):
        if not len(rest):
            return False
        # Those that are not where the first is.
        rest = rest[np.abs(rest - rest[0]).max(axis=1) > least]
    return True


def resampled_spreads(
    spaces: Sequence[FloatArray], n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Spreads of resamples of the same points in several spaces, of shape (spaces, resamples).

    Parameters
    ----------
    spaces : sequence of ndarray of shape (n, d)
        The same points, row by row; at least two.
    n_resamples : int
    rng : Generator

    Returns
    -------
    ndarray
        Scaled so that their mean square is the square of :func:`spread`; nan where a resample
        consists of duplicates of one point.
    """
    order = _order_from_mean(spaces[0])
    n = len(order)
    n_units = min(n, _MAX_UNITS)
    if n_units < n:
        order = rng.permutation(order)
    starts = np.arange(n_units) * n // n_units
    units = [_sums_by_unit(points[order], starts) for points in spaces]
    at_once = max(1, _MAX_COUNTS // n_units)
    found = np.empty((len(spaces), n_resamples))
    # A resample of N units is narrower, on average, by 1 − 1/N in its square.
    unbiased = n_units / (n_units - 1) * n / (n - 1)
    for begin in range(0, n_resamples, at_once):
        part = slice(begin, min(begin + at_once, n_resamples))
        times = _times_drawn(part.stop - part.start, n_units, rng)
        for s, sums in enumerate(units):
            usual = float(sums[:, -1].sum() / n)
            found[s, part] = np.sqrt(unbiased * _mean_squares(times @ sums, usual))
    return found


def interval(values: FloatArray, level: float = 0.95) -> FloatArray:
    """Percentile intervals of resampled values, (…, resamples) → (…, 2).

    nan where more than a few of the resamples have none: the ends would leave out the worst.
    """
    ends = np.full((*values.shape[:-1], 2), np.nan)
    known = np.isfinite(values)
    for place in np.ndindex(values.shape[:-1]):
        if values.size and known[place].mean() >= 1 - _MAX_WITHOUT:
            within = [(1 - level) / 2, (1 + level) / 2]
            ends[place] = np.quantile(values[place][known[place]], within)
    return ends


def _order_from_mean(points: FloatArray) -> IntArray:
    """Order points from their mean outwards, so that a seed draws the same ones in any input order.

    The distances are rounded, as their last digits depend on the input order.
    """
    squared = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    largest = squared.max()
    return np.argsort(np.round(squared / largest, 9) if largest > 0 else squared, kind="stable")


def _sums_by_unit(points: FloatArray, starts: IntArray) -> FloatArray:
    """Sum 1, x and |x|² over each unit, x being measured from the mean of all."""
    centred = points - points.mean(axis=0)
    squared = (centred**2).sum(axis=1, keepdims=True)
    summands = np.hstack([np.ones_like(squared), centred, squared])
    sums: FloatArray = np.add.reduceat(summands, starts, axis=0)
    return sums


def _times_drawn(n_resamples: int, n_units: int, rng: np.random.Generator) -> FloatArray:
    drawn = rng.integers(n_units, size=(n_resamples, n_units))
    drawn += n_units * np.arange(n_resamples)[:, np.newaxis]
    times = np.bincount(drawn.ravel(), minlength=drawn.size)
    return times.reshape(n_resamples, n_units).astype(np.float64)


def _mean_squares(sums: FloatArray, usual: float) -> FloatArray:
    counts, means, squares = sums[:, 0], sums[:, 1:-1], sums[:, -1]
    mean_squares = squares / counts - (means**2).sum(axis=1) / counts**2
    # A resample of one point over and over has none, but for rounding.
    spread_out: FloatArray = np.where(mean_squares > SAME**2 * usual, mean_squares, np.nan)
    return spread_out
