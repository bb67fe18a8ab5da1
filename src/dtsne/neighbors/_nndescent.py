"""Nearest neighbours by any distance: all distances, or a descent in the graph of neighbours.

Neighbours of neighbours are likely neighbours: from a rough guess, a few rounds of looking there
find most of them (pynndescent). How many it finds is measured on a sample of points whose true
neighbours are known, and the search widened, by longer lists, until they are enough.
"""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from dtsne.neighbors._exact import nearest_in_matrix, share_found, sort_by_distance_then_index
from dtsne.runtime._logging import warn
from dtsne.runtime._threads import for_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray, IntArray

    # The distances from each of some rows to each of others; a slice of all stands for all.
    Between: TypeAlias = Callable[[IntArray, IntArray | slice], FloatArray]

Result = TypeVar("Result")

_LOGGER = logging.getLogger(__name__)

ALL = slice(None)
_VALUES_AT_ONCE = 5_000_000
_N_SAMPLED = 500
# Lists are this much longer at each attempt. Most data needs no second one; a Gaussian of 50
# dimensions does (25,000 points, Chebyshev distance, 300 neighbours: recall .980, then .993).
_WIDER, _N_ATTEMPTS = 1.5, 4


def require_pynndescent() -> Any:
    """Import pynndescent, or say how to get it."""
    try:
        import pynndescent
    except ImportError as error:
        raise ImportError(
            "Neighbours of this many points in this metric are searched for by pynndescent: "
            "pip install dtsne[metrics], or give the neighbours yourself (neighbors=…)."
        ) from error
    return pynndescent


def nearest_by(between: Between, rows: IntArray, n: int, k: int) -> tuple[IntArray, FloatArray]:
    """Find the k nearest others of some rows among n points; see `nearest_neighbors`."""

    def search(part: IntArray) -> tuple[IntArray, FloatArray]:
        return nearest_in_matrix(between(part, ALL), k, queries=part)

    return _joined(in_parts(search, rows, n))


def rank(
    between: Between, rows: IntArray, candidates: IntArray, k: int
) -> tuple[IntArray, FloatArray]:
    """Keep the k nearest candidates of each row; where there are too few, the rest is at infinity.

    Parameters
    ----------
    between : callable
    rows : ndarray of int
    candidates : ndarray of shape (n, number of candidates)
        Of every point; −1 for none. A row itself is left out.
    k : int
    """

    def search(part: IntArray) -> tuple[IntArray, FloatArray]:
        indices = candidates[part].astype(np.int32)
        distances = np.full(indices.shape, np.inf)
        others = (indices >= 0) & (indices != part[:, np.newaxis])
        for a, row in enumerate(part):
            distances[a, others[a]] = between(row[np.newaxis], indices[a, others[a]])[0]
        sort_by_distance_then_index(distances, indices)
        return indices[:, :k], distances[:, :k]

    return _joined(in_parts(search, rows, candidates.shape[1]))


def find_candidates(
    points: FloatArray, metric: str, between: Between, k: int, *, recall: float
) -> tuple[IntArray, float]:
    """Find lists of points with most of the k nearest of each.

    Returns
    -------
    candidates : ndarray of int, shape (n, more than k)
        −1 for none; the point itself may be among them.
    recall : float
        Share of the true neighbours found, measured on a sample of rows.
    """
    n = len(points)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _N_SAMPLED), replace=False))
    _, true = nearest_by(between, rows, n, k)
    _LOGGER.info("neighbours: by pynndescent, which first compiles for half a minute or so")
    for attempt in range(_N_ATTEMPTS):
        width = min(n - 1, int((k + 1) * _WIDER**attempt))
        candidates = _descend(points, metric, width)
        _, found = rank(between, rows, candidates, k)
        measured = share_found(true, found)
        _LOGGER.info("neighbours: lists of %d for %d, recall %.4f", width, k, measured)
        if measured >= recall:
            break
    else:
        warn(
            f"Only {measured:.1%} of the neighbours in metric={metric!r} were found, where "
            f"{recall:.0%} are wanted; give better ones (neighbors=…), or take fewer points."
        )
    return candidates, measured


def _descend(points: FloatArray, metric: str, width: int) -> IntArray:
    """Run pynndescent on one thread: on several, what it finds depends on their number."""
    with warnings.catch_warnings():
        # It warns where a row finds too few; such rows get an exact search.
        warnings.simplefilter("ignore")
        index = require_pynndescent().NNDescent(
            points, metric=metric, n_neighbors=width, random_state=0, n_jobs=1
        )
    found: IntArray = index.neighbor_graph[0]
    return found


def in_parts(function: Callable[[IntArray], Result], rows: IntArray, n_values: int) -> list[Result]:
    """Call a function for some rows at a time, on several threads; a row takes n_values."""
    n_at_once = max(1, _VALUES_AT_ONCE // n_values)
    parts = [rows[first : first + n_at_once] for first in range(0, len(rows), n_at_once)]
    results: dict[int, Result] = {}

    def work(begin: int, end: int) -> None:
        for part in range(begin, end):
            results[part] = function(parts[part])

    for_rows(work, len(parts), least=1)
    return [results[part] for part in range(len(parts))]


def _joined(found: list[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    indices, distances = zip(*found, strict=True)
    return np.concatenate(indices), np.concatenate(distances)
