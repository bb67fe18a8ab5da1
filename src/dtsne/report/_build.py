"""From data and map to an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.labels._groups import group_by
from dtsne.quality._inputs import (
    RandomState,
    check_integer,
    check_random_state,
    choose_rows,
    clip_neighbors,
)
from dtsne.quality._search import Neighborhoods, map_neighbors
from dtsne.quality._summary import measure
from dtsne.report._groups import compare_groups, shares_of_own, tabulate_groups
from dtsne.report._islands import smallest_size
from dtsne.report._points import Found, Known, tabulate_points
from dtsne.report._report import Account
from dtsne.report._sources import open_source
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups
    from dtsne.report._sources import Source
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

# Rows that the measures of the whole are taken around, half of what `evaluate` takes: an account
# looks at all points besides. Trustworthiness compares each with all points; the values of a sample
# of this size are those of the whole to two digits or three.
_MAX_ROWS = 5_000
# Ends of a 95 % interval from fewer resamples would be the outermost two or three.
MIN_RESAMPLES, MAX_RESAMPLES = 100, 10**6


@dataclass(frozen=True, eq=False)
class Asked:
    """What an account is to say; :func:`account_of` describes it."""

    labels: ArrayLike | Groups | None = None
    k: int = 100
    k_neighborhood: int = 15
    max_rows: int = _MAX_ROWS
    random_state: RandomState = 0
    n_bootstrap: int = 1000

    def __post_init__(self) -> None:
        check_random_state(self.random_state)
        if self.n_bootstrap != 0:
            check_integer("n_bootstrap", self.n_bootstrap, MIN_RESAMPLES, MAX_RESAMPLES)


def account_of(
    X: ArrayLike | None,
    Y: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    k: int = 100,
    k_neighborhood: int = 15,
    sigma: ArrayLike | None = None,
    perplexity: float | None = None,
    metric: str = "euclidean",
    neighbors: Any = None,
    max_rows: int = _MAX_ROWS,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
    device: Any = "cpu",
    n_jobs: int | None = None,
) -> Account:
    """Say how faithful a map is: each point, each labelled group, and the whole.

    Parameters
    ----------
    X : array-like of shape (n, d) or None
        The data that the map was made of. Where the method reduced it first, as
        :class:`dtsne.DTSNE` does to 50 principal components, the reduced data says how well the
        map did its part. None if the distances to `neighbors` are all that is known; then nothing
        is said of distances between far points, or of the spread of groups in the data.
    Y : array-like of shape (n, 2 or 3)
        Its map, by any method, row by row the same points.
    labels : array-like of shape (n,), optional
        Groups to compare: numbers, texts, or a categorical column, whose order is kept. Points
        whose label is missing (None, NaN) are in no group.
    k : int, default 100
        The radius of a point is the distance to its k-th nearest neighbour.
    k_neighborhood : int, default 15
        Number of neighbours that the map should keep. Both are lowered to (n − 1) // 2, and to the
        number of `neighbors` given, where they are larger; the account says so.
    sigma : array-like of shape (n,), optional
        ``sigma_`` of the fitted :class:`dtsne.DTSNE`: the map's unit of length is then known.
    perplexity : float, optional
        The perplexity of the map, ``perplexity_`` of a fitted :class:`dtsne.DTSNE`. Without it
        nothing is said of clusters that are too small for it.
    metric : str, default "euclidean"
        Distance in the data, by the names of :class:`dtsne.DTSNE`. Spreads of groups are known for
        "euclidean", "cosine" and "correlation" only.
    neighbors : (indices, distances) or sparse matrix of shape (n, n), optional
        Neighbours found beforehand, as for :class:`dtsne.DTSNE`, which are then not searched for.
    max_rows : int, default 5,000
        With more rows, the measures of the whole are taken around a sample of that many; all else
        is of all points.
    n_bootstrap : int, default 1000
        Number of resamples for the intervals, at least 100; 0 for none.
    random_state : int or Generator, default 0
        Seeds the samples and the bootstrap.
    device : {"cpu", "cuda", "auto"} or torch.device, default "cpu"
        Where to compute, as for :mod:`dtsne.quality`.
    n_jobs : int or None, default None
        Number of threads; None or -1 for all. It never changes the result.

    Returns
    -------
    Account

    Notes
    -----
    Up to 20,000 points neighbours in the data are exact; beyond, 99 % of them are found.
    """
    asked = Asked(labels, k, k_neighborhood, max_rows, random_state, n_bootstrap)
    source = open_source(X, Y, metric, neighbors, device)
    known = Known.checked(source.n, sigma, perplexity)
    with open_threads(n_jobs) as threads:
        return account_from(source, asked, known, threads)


def account_from(source: Source, asked: Asked, known: Known, threads: Threads) -> Account:
    """Do what :func:`account_of` does for data that is checked."""
    from dtsne.runtime._threads import limited_threads

    # Everything that can be refused is refused before the long work.
    groups = None if asked.labels is None else group_by(asked.labels, source.n)
    rows = choose_rows(source.n, asked.max_rows, asked.random_state)
    numbers = {"k": asked.k, "k_neighborhood": asked.k_neighborhood}
    counts, clipped = clip_neighbors(numbers, source.n, source.most)
    table = ratios = None
    with limited_threads(threads.number):  # for what does not take threads yet
        found = _search(source, known, counts, threads)
        own = None if groups is None else shares_of_own(found, groups)
        points = tabulate_points(found, known, source.spaces, groups, own, threads)
        whole = measure(
            source.spaces,
            _around(rows, found, source, threads),
            groups,
            **counts,
            random_state=asked.random_state,
            clipped=clipped,
            threads=threads,
        )
        if groups is not None and own is not None:
            table = tabulate_groups(groups, own, points, found, source, known.perplexity)
            seed = int(np.random.default_rng(asked.random_state).integers(2**62))
            ratios = compare_groups(groups, table, source, asked.n_bootstrap, seed)
    return Account(
        points,
        groups=table,
        ratios=ratios,
        whole=whole,
        perplexity=known.perplexity,
        map_unit=known.unit,
        search_recall=found.recall,
    )


def _search(source: Source, known: Known, counts: dict[str, int], threads: Threads) -> Found:
    """Find all neighbours that will be asked for, at once."""
    n_wanted = max(counts["k"] + 1, counts["k_neighborhood"])
    if known.perplexity is not None:
        n_wanted = max(n_wanted, smallest_size(known.perplexity))
    n_wanted = min(n_wanted, source.most)
    indices, distances, recall = source.search(n_wanted)
    map_indices, _ = map_neighbors(source.spaces.map, counts["k_neighborhood"], threads)
    return Found(indices, distances, map_indices, recall, **counts)


def _around(rows: IntArray, found: Found, source: Source, threads: Threads) -> Neighborhoods:
    """Return the neighbourhoods of some rows, as the measures of quality take them."""
    in_data: tuple[IntArray, FloatArray] = found.indices[rows], found.distances[rows]
    n_found = max(found.k, found.k_neighborhood)
    in_map = map_neighbors(source.spaces.map, n_found, threads, queries=rows)
    return Neighborhoods(rows, *in_data, *in_map)
