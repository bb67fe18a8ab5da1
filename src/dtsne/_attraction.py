"""The attractive half of the objective: what neighbours in the data do to each other in the map.

With S = s_i + s_j the kernel is 1/w_ij = 1 + γ_ij d_ij² = (S² + 4 d_ij²) / S², so that

* the force on point i is Σ_j p_ij γ_ij w_ij (y_i − y_j) = Σ_j 4 p_ij (y_i − y_j) / (S² + 4 d_ij²),
* its share of the cost is Σ_j p_ij log(1/w_ij).

Coordinates come axis by axis, as an array of shape (3, n) whose unused axes are 0: one kernel then
serves maps of one, two and three dimensions, at the speed of a two-dimensional one, as the division
takes most of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne._affinities import DenseAffinities
from dtsne._compile import compiled, prange

if TYPE_CHECKING:
    from dtsne._affinities import Affinities
    from dtsne._typing import FloatArray

# The bits of √½ as an integer: subtracting them splits a float64 into 2^e · m with √½ ≤ m < √2.
_BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
_LOG_2 = float(np.log(2.0))


def attractive_forces(
    affinities: Affinities, coordinates: FloatArray, scales: FloatArray
) -> FloatArray:
    """Σ_j p_ij γ_ij w_ij (y_i − y_j) for every point, of shape (3, n)."""
    forces = np.empty_like(coordinates)
    if isinstance(affinities, DenseAffinities):
        _dense_forces(affinities.values, coordinates, scales, forces)
    else:
        _sparse_forces(
            affinities.row_starts, affinities.columns, affinities.values,
            coordinates, scales, forces,
        )  # fmt: skip
    return forces


def attractive_cost(affinities: Affinities, coordinates: FloatArray, scales: FloatArray) -> float:
    """Σ_ij p_ij log(1/w_ij)."""
    costs = np.empty_like(scales)
    if isinstance(affinities, DenseAffinities):
        _dense_costs(affinities.values, coordinates, scales, costs)
    else:
        _sparse_costs(
            affinities.row_starts, affinities.columns, affinities.values,
            coordinates, scales, costs,
        )  # fmt: skip
    return float(costs.sum())


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


@compiled(parallel=True)
def _dense_forces(values, y, s, forces):  # type: ignore[no-untyped-def]
    n = len(s)
    for i in prange(n):
        p = values[i]
        f0, f1, f2 = 0.0, 0.0, 0.0
        for j in range(n):
            d0, d1, d2 = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            scale = s[i] + s[j]
            pull = 4.0 * p[j] / (scale * scale + 4.0 * (d0 * d0 + d1 * d1 + d2 * d2))
            f0 += pull * d0
            f1 += pull * d1
            f2 += pull * d2
        forces[0, i], forces[1, i], forces[2, i] = f0, f1, f2


@compiled(parallel=True)
def _dense_costs(values, y, s, costs):  # type: ignore[no-untyped-def]
    n = len(s)
    for i in prange(n):
        p = values[i]
        cost = 0.0
        for j in range(n):
            d0, d1, d2 = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            scale = s[i] + s[j]
            cost += p[j] * _log(1.0 + 4.0 * (d0 * d0 + d1 * d1 + d2 * d2) / (scale * scale))
        costs[i] = cost


@compiled(parallel=True)
def _sparse_forces(row_starts, columns, values, y, s, forces):  # type: ignore[no-untyped-def]
    for i in prange(len(s)):
        f0, f1, f2 = 0.0, 0.0, 0.0
        for e in range(row_starts[i], row_starts[i + 1]):
            j = columns[e]
            d0, d1, d2 = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            scale = s[i] + s[j]
            pull = 4.0 * values[e] / (scale * scale + 4.0 * (d0 * d0 + d1 * d1 + d2 * d2))
            f0 += pull * d0
            f1 += pull * d1
            f2 += pull * d2
        forces[0, i], forces[1, i], forces[2, i] = f0, f1, f2


@compiled(parallel=True)
def _sparse_costs(row_starts, columns, values, y, s, costs):  # type: ignore[no-untyped-def]
    for i in prange(len(s)):
        cost = 0.0
        for e in range(row_starts[i], row_starts[i + 1]):
            j = columns[e]
            d0, d1, d2 = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            scale = s[i] + s[j]
            cost += values[e] * _log(1.0 + 4.0 * (d0 * d0 + d1 * d1 + d2 * d2) / (scale * scale))
        costs[i] = cost
