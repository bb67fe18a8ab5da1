"""From squared distances to σ, and from σ to P, on the CPU; see :mod:`dtsne.affinity._base`.

One file, as both are made of exponentials, and a kernel calls none of another file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.affinity._base import DenseAffinities, SparseAffinities
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD

if TYPE_CHECKING:
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

# Entropies agree to this many nats: σ is then right to about one part in a million.
ENTROPY_TOLERANCE = 1e-7
MAX_SEARCH_STEPS = 100
_LOG_2 = float(np.log(2.0))
# Below it the exponential leaves the normal floats; e^−700 is as good as 0 here.
_MIN_EXPONENT = -700.0


def find_sigmas(
    squared: FloatArray,
    perplexity: float,
    *,
    skip_diagonal: bool = False,
    threads: Threads = ONE_THREAD,
) -> FloatArray:
    """Find each row's σ by a bracketed Newton search on log(1/2σ²).

    Parameters
    ----------
    squared : array of shape (n, k)
        Squared distances from each point to its neighbours, in any order.
    perplexity : float
        Less than k.
    skip_diagonal : bool
        Set for a square matrix of distances, in which each point meets itself.
    threads : Threads

    Returns
    -------
    float64 array of shape (n,)
        0 where a point has at least as many duplicates as the perplexity: no σ gives it then.
    """
    sigmas = np.empty(len(squared))
    threads.for_rows(
        _search_sigmas, len(sigmas), squared, np.log(perplexity), skip_diagonal, sigmas
    )
    return sigmas


def dense_affinities(
    squared: FloatArray,
    sigmas: FloatArray,
    dtype: type = np.float32,
    *,
    threads: Threads = ONE_THREAD,
) -> DenseAffinities[FloatArray]:
    """Affinities of all pairs, from the n × n squared distances."""
    n = len(sigmas)
    values: FloatArray = np.empty((n, n), dtype)
    shifts, norms = np.empty(n), np.empty(n)
    threads.for_rows(_normalise_dense, n, squared, sigmas, shifts, norms)
    threads.for_rows(_fill_dense, n, squared, sigmas, shifts, norms, values)
    return DenseAffinities(values)


def sparse_affinities(
    indices: IntArray,
    squared: FloatArray,
    sigmas: FloatArray,
    dtype: type = np.float32,
    *,
    threads: Threads = ONE_THREAD,
) -> SparseAffinities[FloatArray]:
    """Affinities of the pairs of which one is among the other's k nearest.

    A pair counts in both rows even if only one of the two has the other as a neighbour: a point in
    a dense place is not aware of an outlier that is, through σ_ij, strongly tied to it.

    Parameters
    ----------
    indices : int32 array of shape (n, k)
        Neighbours of each point, each once and without the point itself.
    squared : array of shape (n, k)
        Squared distances to them, in the unit of the sigmas.
    sigmas : array of shape (n,)
    dtype
        Of P.
    threads : Threads
    """
    graph = symmetric_graph(indices, squared.astype(dtype, copy=False), threads)
    n = len(sigmas)
    shifts, norms = np.empty(n), np.empty(n)
    threads.for_rows(_normalise_sparse, n, *graph, sigmas, shifts, norms)
    threads.for_rows(_squares_to_affinities, n, *graph, sigmas, shifts, norms)
    return SparseAffinities(*graph)


def symmetric_graph(
    indices: IntArray, squared_distances: FloatArray, threads: Threads = ONE_THREAD
) -> tuple[IntArray, IntArray, FloatArray]:
    """Union of the neighbour lists and their transpose, as CSR with sorted columns.

    A transpose has its rows sorted, so that two of them sort the lists: quicker than sorting each.
    """
    n, k = indices.shape
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(indices.ravel(), minlength=n), out=starts[1:])
    by_rank = np.arange(0, n * k + 1, k)
    sources, squared_from = _transpose(by_rank, indices.ravel(), squared_distances.ravel(), starts)
    own, squared_to = _transpose(starts, sources, squared_from, by_rank)
    row_starts = np.zeros(n + 1, np.int64)
    threads.for_rows(_count_union, n, own, by_rank, sources, starts, row_starts[1:])
    np.cumsum(row_starts, out=row_starts)
    columns = np.empty(row_starts[-1], np.int32)
    squared = np.empty(row_starts[-1], squared_distances.dtype)
    threads.for_rows(
        _fill_union, n, own, squared_to, by_rank, sources, squared_from, starts, row_starts,
        columns, squared,
    )  # fmt: skip
    return row_starts, columns, squared


@compiled(inline="always")
def _exp(x):  # type: ignore[no-untyped-def]
    """Exponential of x ≤ 0 to 1e-12 by plain arithmetic, which a loop can do in vector registers.

    The library's exp is a call for each element, and takes longer. Here e^x = 2^n e^r with
    |r| ≤ ½ log 2, and e^r is its series.
    """
    clipped = max(x, _MIN_EXPONENT)
    # Towards 0, which from half below is to the nearest; 32 bits convert in vector registers.
    n = np.int32(clipped * (1.0 / _LOG_2) - 0.5)
    r = clipped - n * _LOG_2
    series = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r / 39916800)))
    series = 1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * series)))
    power = np.int64((np.int64(n) + 1023) << 52).view(np.float64)
    return power * (1.0 + r * (1.0 + r * (0.5 + r * series)))


@compiled()
def _search_sigmas(begin, end, squared_distances, wanted_entropy, skip_diagonal, sigmas):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        row = squared_distances[i]
        if skip_diagonal:
            row = np.concatenate((row[:i], row[i + 1 :]))
        nearest = row.min()
        excess = row.mean() - nearest
        n_nearest = (row == nearest).sum()
        if np.log(n_nearest) >= wanted_entropy or excess == 0.0:
            # The entropy of the nearest alone is already too large for any σ. Only duplicates
            # at 0 make it so in practice; equidistant points (a simplex) get the scale of their
            # distance.
            sigmas[i] = np.sqrt(nearest)
        else:
            sigmas[i] = _search_sigma(row, nearest, excess, wanted_entropy)


@compiled(inline="always")
def _search_sigma(row, nearest, excess, wanted_entropy):  # type: ignore[no-untyped-def]
    """Newton's method on the entropy as a function of log(1/2σ²), kept within a bracket."""
    lowest, highest = -np.inf, np.inf
    log_precision = -np.log(excess)
    for _ in range(MAX_SEARCH_STEPS):
        precision = np.exp(log_precision)
        total, first, second = 0.0, 0.0, 0.0
        for j in range(len(row)):
            gap = row[j] - nearest
            weight = _exp(-precision * gap)
            total += weight
            first += weight * gap
            second += weight * gap * gap
        mean = first / total
        surplus = np.log(total) + precision * mean - wanted_entropy
        if abs(surplus) < ENTROPY_TOLERANCE:
            break
        if surplus > 0:
            lowest = log_precision
        else:
            highest = log_precision
        slope = precision * precision * (second / total - mean * mean)
        log_precision += surplus / slope if slope > 0 else np.inf
        if not lowest < log_precision < highest:
            if highest == np.inf:
                log_precision = lowest + 1.0
            elif lowest == -np.inf:
                log_precision = highest - 1.0
            else:
                log_precision = 0.5 * (lowest + highest)
    return np.sqrt(0.5 / np.exp(log_precision))


@compiled(inline="always")
def _exponent(squared_distance, sigma_i, sigma_j):  # type: ignore[no-untyped-def]
    """‖x_i − x_j‖² / (2 σ_ij²)."""
    return 2.0 * squared_distance / ((sigma_i + sigma_j) * (sigma_i + sigma_j))


@compiled()
def _normalise_dense(begin, end, squared_distances, sigmas, shifts, norms):  # type: ignore[no-untyped-def]
    """Row minima of the exponents and the sums after that shift.

    Without the shift the whole row of an outlier would underflow to 0.
    """
    n = len(sigmas)
    for i in range(begin, end):
        shift = np.inf
        for j in range(n):
            if j != i:
                shift = min(shift, _exponent(squared_distances[i, j], sigmas[i], sigmas[j]))
        total = 0.0
        for j in range(n):
            if j != i:
                total += _exp(shift - _exponent(squared_distances[i, j], sigmas[i], sigmas[j]))
        shifts[i] = shift
        norms[i] = total


@compiled()
def _fill_dense(begin, end, squared_distances, sigmas, shifts, norms, values):  # type: ignore[no-untyped-def]
    n = len(sigmas)
    for i in range(begin, end):
        for j in range(n):
            exponent = _exponent(squared_distances[i, j], sigmas[i], sigmas[j])
            values[i, j] = (
                _exp(shifts[i] - exponent) / norms[i] + _exp(shifts[j] - exponent) / norms[j]
            ) / (2 * n)
        values[i, i] = 0.0


@compiled()
def _normalise_sparse(begin, end, row_starts, columns, squared, sigmas, shifts, norms):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        shift = np.inf
        for e in range(row_starts[i], row_starts[i + 1]):
            shift = min(shift, _exponent(squared[e], sigmas[i], sigmas[columns[e]]))
        total = 0.0
        for e in range(row_starts[i], row_starts[i + 1]):
            total += _exp(shift - _exponent(squared[e], sigmas[i], sigmas[columns[e]]))
        shifts[i] = shift
        norms[i] = total


@compiled()
def _squares_to_affinities(begin, end, row_starts, columns, values, sigmas, shifts, norms):  # type: ignore[no-untyped-def]
    """Put p_ij in the place of the squared distances."""
    n = len(sigmas)
    for i in range(begin, end):
        for e in range(row_starts[i], row_starts[i + 1]):
            j = columns[e]
            exponent = _exponent(values[e], sigmas[i], sigmas[j])
            values[e] = (
                _exp(shifts[i] - exponent) / norms[i] + _exp(shifts[j] - exponent) / norms[j]
            ) / (2 * n)


@compiled()
def _transpose(row_starts, columns, squared, new_starts):  # type: ignore[no-untyped-def]
    new_columns, new_squared = np.empty_like(columns), np.empty_like(squared)
    ends = new_starts[:-1].copy()
    for i in range(len(row_starts) - 1):
        for e in range(row_starts[i], row_starts[i + 1]):
            place = ends[columns[e]]
            new_columns[place], new_squared[place] = i, squared[e]
            ends[columns[e]] = place + 1
    return new_columns, new_squared


@compiled()
def _count_union(begin, end, own, own_starts, sources, starts, counts):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        e, e_end = own_starts[i], own_starts[i + 1]
        count = e_end - e
        for f in range(starts[i], starts[i + 1]):
            while e < e_end and own[e] < sources[f]:
                e += 1
            count += e == e_end or own[e] != sources[f]
        counts[i] = count


@compiled()
def _fill_union(  # type: ignore[no-untyped-def]
    begin, end, own, squared_to, own_starts, sources, squared_from, starts, row_starts, columns,
    squared,
):  # fmt: skip
    """Merge each point's own neighbours with those that have it as a neighbour; both are sorted."""
    for i in range(begin, end):
        e, f = own_starts[i], starts[i]
        for place in range(row_starts[i], row_starts[i + 1]):
            if f == starts[i + 1] or (e < own_starts[i + 1] and own[e] <= sources[f]):
                columns[place], squared[place] = own[e], squared_to[e]
                if f < starts[i + 1] and own[e] == sources[f]:
                    # Their mean, as precomputed distances need not be quite the same both ways.
                    squared[place] = (squared_to[e] + squared_from[f]) / 2
                    f += 1
                e += 1
            else:
                columns[place], squared[place] = sources[f], squared_from[f]
                f += 1
