"""Nearest neighbours of many points by any distance: a descent in the graph of neighbours.

Neighbours of neighbours are likely neighbours: from a rough guess, a few rounds of looking there
find most of them (pynndescent). How many it finds is measured on a sample of points whose true
neighbours are known, and the search widened, by longer lists, until they are enough.
"""

from __future__ import annotations

import logging
import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._base import sample_rows
from dtsne.data._distances import joined
from dtsne.neighbors._base import Neighbors, check_number
from dtsne.neighbors._exact import PairwiseIndex
from dtsne.neighbors._recall import TrueNeighbors
from dtsne.runtime._errors import MissingPackageError, UserNotice, setting
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from dtsne.data._metrics import MetricPoints
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

# Lists are this much longer at each attempt. Most data needs no second one; a Gaussian of 50
# dimensions does (25,000 points, Chebyshev distance, 300 neighbours: recall .980, then .993).
_WIDER, _MAX_ATTEMPTS = 1.5, 4


class NNDescentIndex(PairwiseIndex):
    """Finds most neighbours by pynndescent, and their distances exactly; of new points, all."""

    def __init__(
        self,
        data: MetricPoints,
        threads: Threads,
        *,
        recall: float,
        max_attempts: int = _MAX_ATTEMPTS,
    ) -> None:
        _require_pynndescent()
        super().__init__(data, threads)
        self._points, self._max_attempts = data, max_attempts
        self._wanted, self._recall = recall, math.nan

    @property
    def recall(self) -> float:
        """See :class:`NeighborIndex`."""
        return self._recall

    def neighbors(self, k: int) -> Neighbors:
        """See :class:`NeighborIndex`."""
        points, rows = self._points, np.arange(len(self._points))
        check_number(k, points.max_neighbors)
        candidates, self._recall = self._find_candidates(k)
        indices, distances = _rank(points, rows, candidates, k, self._threads)
        # Left over are those with too few candidates, and duplicates, that have any k of their
        # group.
        left = np.isinf(distances[:, -1])
        if points.offsets is not None:
            left |= points.offsets.any(axis=1)
        if left.any():
            indices[left], distances[left] = points.nearest(rows[left], k, self._threads)
        return Neighbors(indices, distances, self._recall)

    def _find_candidates(self, k: int) -> tuple[IntArray, float]:
        """Find lists of points with most of the k nearest of each, −1 for none, and the share."""
        # Duplicates where they were, as pynndescent knows no offsets.
        points = replace(self._points, offsets=None)
        n, rows = len(points), sample_rows(len(points))
        true = TrueNeighbors(rows, *points.nearest(rows, k, self._threads))
        _LOGGER.info("neighbours: by pynndescent, which first compiles for half a minute or so")
        single = points.in_single_precision()
        for attempt in range(self._max_attempts):
            width = min(n - 1, int((k + 1) * _WIDER**attempt))
            candidates = _descend(single, points.metric, width)
            _, found = _rank(points, rows, candidates, k, self._threads)
            recall = true.share_found(found)
            _LOGGER.info("neighbours: lists of %d for %d, recall %.4f", width, k, recall)
            if recall >= self._wanted:
                break
        else:
            warn(
                UserNotice(
                    f"only {recall:.1%} of the neighbours in {setting('metric', points.metric)} "
                    f"were found, where {self._wanted:.0%} are wanted",
                    f"precompute better ones ({setting('neighbors')}), or take fewer points",
                )
            )
        return candidates, recall


def _rank(
    points: MetricPoints, rows: IntArray, candidates: IntArray, k: int, threads: Threads
) -> tuple[IntArray, FloatArray]:
    """Keep the k nearest candidates of each row; where there are too few, the rest is at infinity.

    The candidates of every point are a row of them, −1 for none. A point itself is left out.
    """

    def search(part: IntArray) -> tuple[IntArray, FloatArray]:
        indices = candidates[part].astype(np.int32)
        distances = np.full(indices.shape, np.inf)
        others = (indices >= 0) & (indices != part[:, np.newaxis])
        for a, row in enumerate(part):
            distances[a, others[a]] = points.between(row[np.newaxis], indices[a, others[a]])[0]
        order = np.lexsort((indices, distances), axis=-1)[:, :k]
        return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)

    return joined(points.by_blocks(search, rows, candidates.shape[1], threads))


def _descend(points: FloatArray, metric: str, width: int) -> IntArray:
    """Run pynndescent on one thread: on several, what it finds depends on their number."""
    from pynndescent import NNDescent

    with warnings.catch_warnings():
        # It warns where a row finds too few; such rows get an exact search.
        warnings.simplefilter("ignore")
        index = NNDescent(points, metric=metric, n_neighbors=width, random_state=0, n_jobs=1)
    found: IntArray = index.neighbor_graph[0]
    return found


def _require_pynndescent() -> None:
    """Raise an error before the work where pynndescent is missing."""
    try:
        import pynndescent  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "neighbours of this many points in this metric are searched for by pynndescent, which "
            "is not installed",
            f"pip install dtsne[metrics], or precompute the neighbours ({setting('neighbors')})",
            package="pynndescent",
        ) from error
