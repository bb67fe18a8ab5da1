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
from dtsne.runtime._threads import for_rows

if TYPE_CHECKING:
    from dtsne.affinity._base import Affinities
    from dtsne.runtime._typing import FloatArray

# Beyond this many of the smallest scale, a map leaves float32 too few digits for its differences.
_WIDEST_SINGLE = 1e5
# The bits of √½ as an integer: subtracting them splits a float64 into 2^e · m with √½ ≤ m < √2.
_BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
_LOG_2 = float(np.log(2.0))


def attractive_forces(
    affinities: Affinities, coordinates: FloatArray, scales: FloatArray
) -> FloatArray:
    """Σ_j p_ij γ_ij w_ij (y_i − y_j) for every point, from coordinates of shape (3, n)."""
    points = _four_numbers(coordinates, scales, affinities)
    n = len(scales)
    forces = np.empty(coordinates.shape, points.dtype)
    if isinstance(affinities, DenseAffinities):
        for_rows(_dense_forces, n, affinities.values, points, forces)
    else:
        for_rows(
            _sparse_forces, n, affinities.row_starts, affinities.columns, affinities.values,
            np.ascontiguousarray(points.T), forces,
        )  # fmt: skip
    return 2.0 * forces.astype(np.float64)


def attractive_cost(affinities: Affinities, coordinates: FloatArray, scales: FloatArray) -> float:
    """Σ_ij p_ij log(1/w_ij)."""
    points = _four_numbers(coordinates, scales, affinities)
    n = len(scales)
    costs = np.empty(n)
    if isinstance(affinities, DenseAffinities):
        for_rows(_dense_costs, n, affinities.values, points, costs)
    else:
        for_rows(
            _sparse_costs, n, affinities.row_starts, affinities.columns, affinities.values,
            np.ascontiguousarray(points.T), costs,
        )  # fmt: skip
    return float(costs.sum())


def _four_numbers(
    coordinates: FloatArray, scales: FloatArray, affinities: Affinities
) -> FloatArray:
    """(2y, s) of every point, of shape (4, n)."""
    centred = coordinates - coordinates.mean(axis=1, keepdims=True)
    dtype = affinities.values.dtype
    too_wide = np.abs(centred).max() > _WIDEST_SINGLE * scales.min()
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


@compiled()
def _dense_forces(begin, end, values, points, forces):  # type: ignore[no-untyped-def]
    q0, q1, q2, q3 = points[0], points[1], points[2], points[3]
    for i in range(begin, end):
        p = values[i]
        zero = q0.dtype.type(0)
        f0, f1, f2 = zero, zero, zero
        for j in range(len(q0)):
            d0, d1, d2, d3 = q0[i] - q0[j], q1[i] - q1[j], q2[i] - q2[j], q3[i] + q3[j]
            pull = p[j] / (d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3)
            f0 += pull * d0
            f1 += pull * d1
            f2 += pull * d2
        forces[0, i], forces[1, i], forces[2, i] = f0, f1, f2


@compiled()
def _dense_costs(begin, end, values, points, costs):  # type: ignore[no-untyped-def]
    q0, q1, q2, q3 = points[0], points[1], points[2], points[3]
    for i in range(begin, end):
        p = values[i]
        cost = 0.0
        for j in range(len(q0)):
            d0, d1, d2, d3 = q0[i] - q0[j], q1[i] - q1[j], q2[i] - q2[j], q3[i] + q3[j]
            d3 *= d3
            cost += p[j] * _log((d0 * d0 + d1 * d1 + d2 * d2 + d3) / d3)
        costs[i] = cost


@compiled()
def _sparse_forces(begin, end, row_starts, columns, values, points, forces):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        q0, q1, q2, q3 = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
        neighbors = columns[row_starts[i] : row_starts[i + 1]]
        p = values[row_starts[i] : row_starts[i + 1]]
        zero = points.dtype.type(0)
        f0, f1, f2 = zero, zero, zero
        for e in range(len(p)):
            j = neighbors[e]
            d0, d1, d2 = q0 - points[j, 0], q1 - points[j, 1], q2 - points[j, 2]
            d3 = q3 + points[j, 3]
            pull = p[e] / (d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3)
            f0 += pull * d0
            f1 += pull * d1
            f2 += pull * d2
        forces[0, i], forces[1, i], forces[2, i] = f0, f1, f2


@compiled()
def _sparse_costs(begin, end, row_starts, columns, values, points, costs):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        q0, q1, q2, q3 = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
        neighbors = columns[row_starts[i] : row_starts[i + 1]]
        p = values[row_starts[i] : row_starts[i + 1]]
        cost = 0.0
        for e in range(len(p)):
            j = neighbors[e]
            d0, d1, d2 = q0 - points[j, 0], q1 - points[j, 1], q2 - points[j, 2]
            d3 = q3 + points[j, 3]
            d3 *= d3
            cost += p[e] * _log((d0 * d0 + d1 * d1 + d2 * d2 + d3) / d3)
        costs[i] = cost
