"""Compact cells of points around k-means centres, in float32.

Sums are of fixed parts of the points, so that the cells are the same for any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD

if TYPE_CHECKING:
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

# Cells need only be compact: more points or rounds than these gave the same recall for the same
# work.
_POINTS_PER_CENTRE, _N_ROUNDS = 32, 5
# Products of points and centres that are computed at once; they should stay in the cache.
_MAX_PRODUCTS = 2**19


def divide(
    points: FloatArray, n_cells: int, threads: Threads, max_cells_at_once: int
) -> tuple[FloatArray, IntArray]:
    """Divide points into cells: return their centres, and the cell of each point.

    Many cells are made by dividing into few first, then each of these. All at once would compare
    every point with every centre, of which there are more for more points; so it is compared with
    about the square root of their number, twice.
    """
    if n_cells <= max_cells_at_once:
        centres = _find_centres(points, n_cells, threads)
        return centres, _nearest_centres(points, centres, threads)
    n = len(points)
    coarse = _find_centres(points, int(np.sqrt(n_cells)), threads)
    of_coarse = _nearest_centres(points, coarse, threads)
    sizes = np.bincount(of_coarse, minlength=len(coarse))
    members = np.split(np.argsort(of_coarse, kind="stable"), np.cumsum(sizes)[:-1])
    n_parts = np.maximum(1, np.round(n_cells * sizes / n).astype(np.int64))
    first = np.concatenate([[0], np.cumsum(n_parts)])
    centres = np.repeat(coarse, n_parts, axis=0)
    of_row = np.empty(n, np.int64)

    def divide_further(begin: int, end: int) -> None:
        for cell in range(begin, end):
            rows = members[cell]
            if len(rows):
                parts = _find_centres(points[rows], int(n_parts[cell]), ONE_THREAD)
                centres[first[cell] : first[cell + 1]] = parts
                of_row[rows] = first[cell] + _nearest_centres(points[rows], parts, ONE_THREAD)

    threads.for_rows(divide_further, len(members), min_rows=1)
    return centres, of_row


def _find_centres(points: FloatArray, n_centres: int, threads: Threads) -> FloatArray:
    """Move random points to the means of those nearest to them, a few times."""
    rng = np.random.default_rng(0)
    n_sampled = min(len(points), _POINTS_PER_CENTRE * n_centres)
    sample = points[np.sort(rng.choice(len(points), n_sampled, replace=False))]
    centres = sample[np.sort(rng.choice(n_sampled, min(n_sampled, n_centres), replace=False))]
    for _ in range(_N_ROUNDS):
        _move_to_means(sample, _nearest_centres(sample, centres, threads), centres)
    return centres


def _nearest_centres(points: FloatArray, centres: FloatArray, threads: Threads) -> IntArray:
    """Return the centre nearest to each point: that of the largest a·b − |b|²/2."""
    n, d = points.shape
    wider = np.empty((d + 1, len(centres)), np.float32)
    wider[:-1] = centres.T
    wider[-1] = -0.5 * np.einsum("ij,ij->i", centres, centres)
    nearest = np.empty(n, np.int64)
    step = max(1, _MAX_PRODUCTS // len(centres))

    def assign(begin: int, end: int) -> None:
        for first in range(step * begin, min(step * end, n), step):
            some = slice(first, first + step)
            own = np.ones((len(points[some]), d + 1), np.float32)
            own[:, :-1] = points[some]
            nearest[some] = (own @ wider).argmax(axis=1)

    threads.for_rows(assign, -(-n // step), min_rows=1)
    return nearest


@compiled()
def _move_to_means(points, nearest, centres):  # type: ignore[no-untyped-def]
    """Put each centre at the mean of its points; one without any stays where it is."""
    sums = np.zeros(centres.shape)
    counts = np.zeros(len(centres))
    for i in range(len(points)):
        counts[nearest[i]] += 1.0
        for f in range(points.shape[1]):
            sums[nearest[i], f] += points[i, f]
    for c in range(len(centres)):
        if counts[c] > 0.0:
            for f in range(points.shape[1]):
                centres[c, f] = sums[c, f] / counts[c]
