"""P over the pairs of neighbours, on the CPU; :mod:`dtsne.affinity._base` defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.affinity._base import SparseAffinities
from dtsne.affinity._sigmas import put_affinities
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD

if TYPE_CHECKING:
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray


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
    affinities = SparseAffinities(*graph)
    put_affinities(affinities, sigmas, threads)
    return affinities


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
