"""The loops over points, where the points are: arrays of numpy on the CPU, tensors on their device.

The formulas of the measures are elsewhere, and are the same for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.runtime._arrays import to_host
from dtsne.runtime._threads import current_threads

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray


# Differences of coordinates that are held at once.
_HELD_AT_ONCE = 2**23


def distances_between(points: Any, rows: IntArray, others: IntArray) -> FloatArray:
    """Return the distances from rows[r] to each of others[r]."""
    found = np.empty(others.shape)
    step = max(1, _HELD_AT_ONCE // max(1, others.shape[1] * points.shape[1]))
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        ends = points[others[part].astype(np.int64)]
        squared = (ends - points[rows[part].astype(np.int64)][:, None]) ** 2
        found[part] = to_host(squared.sum(axis=2))
    return np.sqrt(found)


def data_neighbors(
    points: Any, k: int, *, queries: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of rows; see `dtsne.neighbors._exact`."""
    if isinstance(points, np.ndarray):
        from dtsne.neighbors._exact import nearest_neighbors

        return nearest_neighbors(points, k, queries=queries, threads=current_threads())
    from dtsne.quality import _quality_torch as _quality

    return _quality.neighbors(points, k, queries)


def ranks(points: Any, rows: IntArray, neighbors: IntArray) -> IntArray:
    """Rank neighbors[r] among all points from rows[r]; see :func:`dtsne.quality._kernels.ranks`."""
    if isinstance(points, np.ndarray):
        from dtsne.quality import _kernels

        columns = np.ascontiguousarray(points.T)
        return _kernels.ranks(columns, rows.astype(np.int64), neighbors.astype(np.int64))
    from dtsne.quality import _quality_torch as _quality

    return _quality.ranks(points, rows, neighbors)


def pair_sums(X: Any, Y: Any, n_offsets: int, shift_x: float, shift_y: float) -> FloatArray:
    """Sum over the pairs of each point; see :func:`dtsne.quality._kernels.pair_sums`."""
    if isinstance(X, np.ndarray):
        from dtsne.quality import _kernels

        return _kernels.pair_sums(X, Y, n_offsets, shift_x, shift_y)
    from dtsne.quality import _quality_torch as _quality

    return _quality.pair_sums(X, Y, n_offsets, shift_x, shift_y)
