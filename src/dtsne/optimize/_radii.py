"""Radii of neighbourhoods in the map: the distance of each point to its k-th nearest other.

A general tree would do, but slowly, at every round of calibration. The map has few dimensions, and
its points can be sorted into cells: sums of the counts over boxes of cells then tell how large a
box around a point must be to hold its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.forces.fft._cells import BORDER, sort_into_cells
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD, Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.runtime._typing import Array, FloatArray

_POINTS_PER_CELL = 1.0
# A map of which most points lie in few of the cells is better left to a tree.
_MAX_CROWDING = 500.0


def neighbor_radii(embedding: Array, ks: Sequence[int], threads: Threads = ONE_THREAD) -> Array:
    """Distance of each point to its k-th nearest other.

    Parameters
    ----------
    embedding : ndarray or Tensor of shape (n, axes)
    ks : sequence of int
        Ascending, and less than n.
    threads : Threads
        For an ndarray.

    Returns
    -------
    ndarray or Tensor of shape (len(ks), n)
    """
    if isinstance(embedding, np.ndarray):
        return _radii_by_cells(embedding, ks, threads)
    from dtsne.optimize._radii_torch import neighbor_radii as radii_on_device

    return radii_on_device(embedding, ks)


def _radii_by_cells(embedding: FloatArray, ks: Sequence[int], threads: Threads) -> FloatArray:
    n, n_axes = embedding.shape
    origin = embedding.min(axis=0)
    extent = embedding.max(axis=0) - origin
    if not extent.all():
        return _radii_by_tree(embedding, ks, threads)
    log_volume = float(np.log(extent).sum()) + np.log(_POINTS_PER_CELL / n)
    width = float(np.exp(log_volume / n_axes))
    if (extent > width * n).any():  # so flat that there would be many cells without points
        return _radii_by_tree(embedding, ks, threads)
    cells = sort_into_cells(embedding.T, origin, width)
    in_cell = np.diff(cells.starts)
    if (in_cell.astype(float) ** 2).sum() > _MAX_CROWDING * n or in_cell.max() > n / 2:
        return _radii_by_tree(embedding, ks, threads)
    points = np.zeros((3, n))
    points[:n_axes] = ((embedding - origin) / width).T[:, cells.order]
    counts = np.ones(3, np.int64)
    counts[:n_axes] = cells.counts
    up_to = np.zeros(counts[::-1] + 1, np.int64)
    up_to[1:, 1:, 1:] = in_cell.reshape(counts[::-1])
    for axis in range(3):
        np.cumsum(up_to, axis=axis, out=up_to)
    found = np.empty((len(ks), n))
    threads.for_rows(
        _search, n, points, n_axes, BORDER, cells.starts, up_to, np.array(ks, np.int64), found
    )
    radii = np.empty_like(found)
    radii[:, cells.order] = width * found
    return radii


def _radii_by_tree(embedding: FloatArray, ks: Sequence[int], threads: Threads) -> FloatArray:
    from scipy.spatial import cKDTree

    # The nearest is the point itself, at 0: ks count from the next one on.
    beyond_itself = [k + 1 for k in ks]
    radii, _ = cKDTree(embedding).query(embedding, k=beyond_itself, workers=threads.number)
    return np.ascontiguousarray(radii.T)


@compiled()
def _search(begin, end, points, n_axes, border, starts, up_to, ks, radii):  # type: ignore[no-untyped-def]
    """Find radii in units of the cells' width."""
    largest = ks[-1]
    for i in range(begin, end):
        reach = 0
        low, high = _box(points, i, n_axes, border, reach, up_to)
        while _count(low, high, up_to) <= largest:
            reach += 1
            low, high = _box(points, i, n_axes, border, reach, up_to)
        # A box that holds so many still has corners nearer than neighbours outside: one step more,
        # and then as far as the radius found in it, if that is not within the box.
        reach += 1
        while True:
            low, high = _box(points, i, n_axes, border, reach, up_to)
            squared = _squared_distances(points, i, low, high, starts, up_to)
            radius = np.sqrt(_smallest(squared, largest + 1))
            if radius <= reach:
                break
            reach = int(np.ceil(radius))
        radii[-1, i] = radius
        for a in range(len(ks) - 1):
            radii[a, i] = np.sqrt(_smallest(squared, ks[a] + 1))


@compiled(inline="always")
def _smallest(values, rank):  # type: ignore[no-untyped-def]
    """Return the value of some rank, from 1, by halving the range that it lies in."""
    low, high = -1.0, values.max()
    count = len(values)
    while count != rank:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break  # the rest are equal
        within = 0
        for j in range(len(values)):
            within += values[j] <= middle
        if within < rank:
            low = middle
        else:
            high, count = middle, within
    largest = low
    for j in range(len(values)):
        if values[j] <= high:
            largest = max(largest, values[j])
    return largest


@compiled()
def _box(points, i, n_axes, border, reach, up_to):  # type: ignore[no-untyped-def]
    """First and last cells, exclusive, of a box with so many cells on each side of the point's."""
    low, high = np.zeros(3, np.int64), np.ones(3, np.int64)
    for axis in range(n_axes):
        cell = int(points[axis, i]) + border
        low[axis] = max(cell - reach, 0)
        high[axis] = min(cell + reach + 1, up_to.shape[2 - axis] - 1)
    return low, high


@compiled()
def _count(low, high, up_to):  # type: ignore[no-untyped-def]
    total = 0
    for corner in range(8):
        at0 = low[0] if corner & 1 else high[0]
        at1 = low[1] if corner & 2 else high[1]
        at2 = low[2] if corner & 4 else high[2]
        odd = (corner & 1) + (corner >> 1 & 1) + (corner >> 2)
        total += up_to[at2, at1, at0] if odd % 2 == 0 else -up_to[at2, at1, at0]
    return total


@compiled(inline="always")
def _squared_distances(points, i, low, high, starts, up_to):  # type: ignore[no-untyped-def]
    """Squared distances to the points in a box, one of them the point itself."""
    squared = np.empty(_count(low, high, up_to))
    n1, n0 = up_to.shape[1] - 1, up_to.shape[2] - 1
    end = 0
    for c2 in range(low[2], high[2]):
        for c1 in range(low[1], high[1]):
            row = (c2 * n1 + c1) * n0
            first, last = starts[row + low[0]], starts[row + high[0]]
            for j in range(first, last):
                d0 = points[0, i] - points[0, j]
                d1 = points[1, i] - points[1, j]
                d2 = points[2, i] - points[2, j]
                squared[end + j - first] = d0 * d0 + d1 * d1 + d2 * d2
            end += last - first
    return squared
