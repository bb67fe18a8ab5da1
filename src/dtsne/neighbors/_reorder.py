"""An order of the points in which neighbours in the data lie close together in memory.

The attraction of a point reads the positions of all its neighbours. In the order of the input these
lie anywhere, and where the map is larger than the processor's cache each read goes to memory; in
this one the neighbours of a point are mostly those of the point before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._jit import compiled

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# Nearest neighbours to follow: few lead along threads, all of them make the front of the walk wide.
_N_FOLLOWED = 10


def breadth_first_order(indices: IntArray) -> IntArray:
    """Rows in the order in which a walk over the neighbour lists first meets them."""
    order = np.empty(len(indices), np.int32)
    _walk(indices, min(_N_FOLLOWED, indices.shape[1]), order)
    return order


def to_internal_order(
    indices: IntArray, distances: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return an order that is quick to work on, and the neighbour lists in it."""
    order = breadth_first_order(indices)
    return order, *reorder_lists(indices, distances, order)


def reorder_lists(
    indices: IntArray, distances: FloatArray, order: IntArray
) -> tuple[IntArray, FloatArray]:
    """Neighbour lists of the points taken in another order, and numbered by it."""
    return inverse_of(order)[indices[order]], distances[order]


def inverse_of(order: IntArray) -> IntArray:
    """Return where each row is in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    return places


@compiled()
def _walk(indices, n_followed, order):  # type: ignore[no-untyped-def]
    met = np.zeros(len(order), np.bool_)
    n_walked, n_met = 0, 0
    for first in range(len(order)):
        if met[first]:
            continue
        met[first] = True
        order[n_met] = first
        n_met += 1
        while n_walked < n_met:
            row = order[n_walked]
            n_walked += 1
            for e in range(n_followed):
                neighbor = indices[row, e]
                if not met[neighbor]:
                    met[neighbor] = True
                    order[n_met] = neighbor
                    n_met += 1
