"""The attractive half of the objective: what neighbours in the data do to each other in the map.

With S = s_i + s_j the kernel is 1/w_ij = 1 + γ_ij d_ij² = (S² + 4 d_ij²) / S², so that

* the force on point i is Σ_j p_ij γ_ij w_ij (y_i − y_j) = Σ_j 4 p_ij (y_i − y_j) / (S² + 4 d_ij²),
* its share of the cost is Σ_j p_ij log(1/w_ij).

The kernels take each point as four numbers (2y, s): with D = (2y_i − 2y_j, s_i + s_j), the divisor
is just |D|². Unused axes are 0, so that one kernel serves maps of one, two and three dimensions.
Sparse P is read at the speed of the memory (docs/benchmarks/profile.md): a neighbour's four numbers
lie side by side, and everything is in P's own precision. Dense P is read as fast in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.affinity._base import DenseAffinities
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD, Threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.affinity._base import Affinities
    from dtsne.runtime._typing import FloatArray, IntArray

# Beyond this many of the smallest scale, a map leaves float32 too few digits for its differences.
_MAX_SINGLE_EXTENT = 1e5
# The bits of √½ as an integer: subtracting them splits a float64 into 2^e · m with √½ ≤ m < √2.
_BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
_LOG_2 = float(np.log(2.0))


def attraction(
    affinities: Affinities,
    coordinates: FloatArray,
    scales: FloatArray,
    threads: Threads = ONE_THREAD,
    *,
    with_cost: bool = False,
) -> tuple[FloatArray, float | None]:
    """Attractive force on every point, and the attractive part of KL(P‖Q) if asked for.

    Parameters
    ----------
    affinities : DenseAffinities or SparseAffinities
    coordinates : ndarray of shape (3, n)
        Unused axes are 0.
    scales : ndarray of shape (n,)
    threads : Threads
    with_cost : bool

    Returns
    -------
    forces : ndarray of shape (3, n)
        Σ_j p_ij γ_ij w_ij (y_i − y_j).
    cost : float or None
        Σ_ij p_ij log(1/w_ij).
    """
    points = _four_numbers(coordinates, scales, affinities)
    n = len(scales)
    if isinstance(affinities, DenseAffinities):
        sum_pairs: Callable[..., None] = _sum_dense
        pairs: tuple[FloatArray | IntArray, ...] = (affinities.values, points)
    else:
        sum_pairs = _sum_sparse
        pairs = (
            affinities.row_starts, affinities.columns, affinities.values,
            np.ascontiguousarray(points.T),
        )  # fmt: skip
    forces, costs = np.empty(coordinates.shape, points.dtype), np.empty(n)
    threads.for_rows(sum_pairs, n, *pairs, forces, None)
    if with_cost:
        threads.for_rows(sum_pairs, n, *pairs, None, costs)
    return 2.0 * forces.astype(np.float64), float(costs.sum()) if with_cost else None


def _four_numbers(
    coordinates: FloatArray, scales: FloatArray, affinities: Affinities
) -> FloatArray:
    """(2y, s) of every point, of shape (4, n)."""
    centred = coordinates - coordinates.mean(axis=1, keepdims=True)
    dtype = affinities.values.dtype
    too_wide = np.abs(centred).max() > _MAX_SINGLE_EXTENT * scales.min()
    if too_wide or isinstance(affinities, DenseAffinities):
        dtype = np.dtype(np.float64)
    points: FloatArray = np.vstack([2.0 * centred, scales]).astype(dtype)
    return points


@compiled(inline="always")
def _log(x):  # type: ignore[no-untyped-def]
    """Natural logarithm to 1e-12 by plain arithmetic, which a loop can do in vector registers.

    The library's log is a call for each element and would take 80 % of the time of the cost. Here
    x = 2^e m, and log m = 2 artanh((m − 1)/(m + 1)) by its series.
    """
    bits = np.float64(x).view(np.int64)
    exponent = (bits - _BITS_OF_ROOT_HALF) >> 52
    mantissa = np.int64(bits - (exponent << 52)).view(np.float64)
    t = (mantissa - 1.0) / (mantissa + 1.0)
    t2 = t * t
    series = 1 / 3 + t2 * (1 / 5 + t2 * (1 / 7 + t2 * (1 / 9 + t2 * (1 / 11 + t2 / 13))))
    return exponent * _LOG_2 + 2.0 * t * (1.0 + t2 * series)


# Numba compiles a kernel for each kind of argument: what is None is not computed.
@compiled()
def _sum_dense(begin, end, values, points, forces, costs):  # type: ignore[no-untyped-def]
    q0, q1, q2, q3 = points[0], points[1], points[2], points[3]
    for i in range(begin, end):
        p = values[i]
        zero = q0.dtype.type(0)
        f0, f1, f2, cost = zero, zero, zero, 0.0
        for j in range(len(q0)):
            d0, d1, d2, d3 = q0[i] - q0[j], q1[i] - q1[j], q2[i] - q2[j], q3[i] + q3[j]
            d3 *= d3
            divisor = d0 * d0 + d1 * d1 + d2 * d2 + d3
            if forces is not None:
                pull = p[j] / divisor
                f0, f1, f2 = f0 + pull * d0, f1 + pull * d1, f2 + pull * d2
            if costs is not None:
                cost += p[j] * _log(divisor / d3)
        if forces is not None:
            forces[0, i], forces[1, i], forces[2, i] = f0, f1, f2
        if costs is not None:
            costs[i] = cost


@compiled()
def _sum_sparse(begin, end, row_starts, columns, values, points, forces, costs):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        q0, q1, q2, q3 = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
        neighbors = columns[row_starts[i] : row_starts[i + 1]]
        p = values[row_starts[i] : row_starts[i + 1]]
        zero = points.dtype.type(0)
        f0, f1, f2, cost = zero, zero, zero, 0.0
        for e in range(len(p)):
            j = neighbors[e]
            d0, d1, d2 = q0 - points[j, 0], q1 - points[j, 1], q2 - points[j, 2]
            d3 = q3 + points[j, 3]
            d3 *= d3
            divisor = d0 * d0 + d1 * d1 + d2 * d2 + d3
            if forces is not None:
                pull = p[e] / divisor
                f0, f1, f2 = f0 + pull * d0, f1 + pull * d1, f2 + pull * d2
            if costs is not None:
                cost += p[e] * _log(divisor / d3)
        if forces is not None:
            forces[0, i], forces[1, i], forces[2, i] = f0, f1, f2
        if costs is not None:
            costs[i] = cost
