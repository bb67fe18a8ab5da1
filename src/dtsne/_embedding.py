"""What a fit keeps for its report, beside what an estimator shows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from dtsne.runtime._arrays import copy_of, to_host

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dtsne.data._base import Data
    from dtsne.runtime._typing import FloatArray, IntArray

# Neighbours for each unit of perplexity that a report looks at, to find clusters too small for it;
# and for small perplexities, those that a map should keep.
_LISTED_PER_PERPLEXITY, _FEWEST_LISTED = 1.25, 16
# An index (int32) and a distance (float64) each; so many bytes are those of 44,000 points at a
# perplexity of 100, and little beside what their fit takes. Of a million, a model would hold more
# than a gigabyte for a report that nobody may ask for.
_BYTES_LISTED = 4 + 8
_MOST_BYTES = 2**26
# Too large for a file, or only there to save time; a model that is loaded is given the data again.
_NOT_PICKLED = ("data", "lists")


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest neighbours of all points, from near to far, where they were found."""

    indices: Any
    distances: Any
    recall: float

    def nearest(self, k: int) -> tuple[IntArray, FloatArray, float] | None:
        """Return what a search for k neighbours found, on the host; None if fewer were kept."""
        if k > self.indices.shape[1]:
            return None
        distances: FloatArray = to_host(self.distances[:, :k]).astype(float)
        return to_host(self.indices[:, :k]), distances, self.recall


@dataclass(frozen=True, eq=False)
class Kept:
    """What a fit keeps for its report.

    Attributes
    ----------
    data : Data or None
        As the method saw it, copies where they were; not in a file.
    lists : Lists or None
        Neighbours that were searched for, in the unit of `data`; not in a file.
    prepared_with : dict
        What the data was prepared with, whatever the parameters are set to by now.
    fingerprint : ndarray
        See :mod:`dtsne.runtime._digest`.
    at_bound : ndarray of bool, shape (n,)
        Whether σ is not one of the data: raised, or that of copies that were moved apart.
    """

    data: Data | None
    lists: Lists | None
    prepared_with: dict[str, Any]
    fingerprint: FloatArray
    at_bound: npt.NDArray[np.bool_]

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what need not be in a file with the model."""
        return {**self.__dict__, **dict.fromkeys(_NOT_PICKLED)}


def kept_lists(
    data: Data, indices: Any, distances: Any, recall: float, perplexity: float
) -> Lists | None:
    """Keep the beginnings of lists, unless they are large, or were given and not searched for."""
    n, n_found = indices.shape
    n_kept = min(n_found, _n_reported(perplexity))
    if not data.has_all_distances or _BYTES_LISTED * n * n_kept > _MOST_BYTES:
        return None
    # In memory of their own, as a view would keep the whole lists.
    return Lists(copy_of(indices[:, :n_kept]), copy_of(distances[:, :n_kept]), recall)


def most_bytes_kept(n: int, perplexity: float) -> int:
    """Return what the lists of n points may take; more points never have less."""
    return min(_BYTES_LISTED * n * _n_reported(perplexity), _MOST_BYTES)


def _n_reported(perplexity: float) -> int:
    return max(_FEWEST_LISTED, ceil(_LISTED_PER_PERPLEXITY * perplexity))
