"""How many of the true neighbours a search finds, on a sample of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

# The same distance, summed in another order.
_ROUNDING = 1e-12


class TrueNeighbors(NamedTuple):
    """The neighbours that an exact search finds of a sample of rows, from near to far."""

    rows: IntArray
    indices: IntArray
    distances: FloatArray

    def share_found(self, distances: FloatArray) -> float:
        """Return the share of them among neighbours found, from the distances to these."""
        return share_found(self.distances, distances)


def share_found(true: AnyArray, found: AnyArray) -> float:
    """Share of the true neighbours among those found, from the distances of both, sorted.

    By distance: of neighbours equally far, as those of whole numbers are, any will do.
    """
    limits = to_host(true)[:, -1:] * (1 + _ROUNDING)
    return float((to_host(found) <= limits).mean())
