"""The repulsive half of the objective, by a sum over all pairs: O(n²) time, O(n) memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD, Threads

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray


def exact_repulsion(
    coordinates: FloatArray, scales: FloatArray, threads: Threads = ONE_THREAD
) -> tuple[FloatArray, float]:
    """Push every point away from all others.

    Parameters
    ----------
    coordinates : ndarray of shape (3, n)
        See :mod:`dtsne.forces._attraction`.
    scales : ndarray of shape (n,)
    threads : Threads

    Returns
    -------
    forces : ndarray of shape (3, n)
        Σ_j γ_ij w_ij² (y_i − y_j), which divided by Z is Σ_j q_ij γ_ij w_ij (y_i − y_j).
    normaliser : float
        Z = Σ_{i≠j} w_ij.
    """
    forces, sums = repulsion_of_rows(np.arange(len(scales)), coordinates, scales, threads)
    return forces, float(sums.sum())


def repulsion_of_rows(
    rows: IntArray, coordinates: FloatArray, scales: FloatArray, threads: Threads = ONE_THREAD
) -> tuple[FloatArray, FloatArray]:
    """Force on some of the points, of shape (3, len(rows)), and their shares Σ_j w_ij of Z."""
    forces = np.empty((3, len(rows)))
    sums = np.empty(len(rows))
    threads.for_rows(
        _sum_over_pairs, len(rows), rows, coordinates, scales, forces, sums, min_rows=16
    )
    return forces, sums


@compiled()
def _sum_over_pairs(begin, end, rows, y, s, forces, sums):  # type: ignore[no-untyped-def]
    n = len(s)
    for row in range(begin, end):
        i = rows[row]
        f0, f1, f2, total = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            d0, d1, d2 = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            scale = s[i] + s[j]
            squared_scale = scale * scale
            inverse = 1.0 / (squared_scale + 4.0 * (d0 * d0 + d1 * d1 + d2 * d2))
            w = squared_scale * inverse
            push = 4.0 * w * inverse
            total += w
            f0 += push * d0
            f1 += push * d1
            f2 += push * d2
        forces[0, row], forces[1, row], forces[2, row] = f0, f1, f2
        # The point itself was summed along, with w = 1 and no force: cheaper than to leave it out.
        sums[row] = total - 1.0
