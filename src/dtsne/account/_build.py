"""From data and map to an account."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.account._account import Account
from dtsne.account._groups import compare_groups, group_by, tabulate_groups
from dtsne.account._islands import smallest_size
from dtsne.account._points import Found, Known, tabulate_points
from dtsne.account._sources import open_source
from dtsne.account._whole import measure_whole
from dtsne.quality._inputs import RandomState, check_count, shaped_labels
from dtsne.quality._search import map_neighbors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._typing import FloatArray
    from dtsne.account._sources import Source
    from dtsne.account._tables import BoolArray

_LOGGER = logging.getLogger(__name__)

# Rows that the measures of the whole are taken around. Trustworthiness compares each with all
# points; the values of a sample of this size are those of the whole to two digits or three.
_MAX_ROWS = 5_000


def account_of(
    X: ArrayLike | None,
    Y: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    k: int = 100,
    k_neighborhood: int = 15,
    sigma: ArrayLike | None = None,
    perplexity: float | None = None,
    copies: ArrayLike | None = None,
    max_rows: int = _MAX_ROWS,
    random_state: RandomState = 0,
    n_bootstrap: int = 1000,
    metric: str = "euclidean",
    neighbors: Any = None,
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
        Groups to compare: numbers or strings. Points whose label is missing (None, NaN) are in no
        group.
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
    copies : array-like of bool, shape (n,), optional
        Whether a point has an exact copy, if that is known; by default, whether its nearest
        neighbour is at the distance 0.
    max_rows : int, default 5,000
        With more rows, the measures of the whole are taken around a sample of that many; all else
        is of all points.
    random_state : int or Generator, default 0
        Seeds the samples and the bootstrap.
    n_bootstrap : int, default 1000
        Number of resamples for the intervals; 0 for none.
    metric : str, default "euclidean"
        Distance in the data, by the names of :class:`dtsne.DTSNE`. Spreads of groups are known for
        "euclidean", "cosine" and "correlation" only.
    neighbors : (indices, distances) or sparse matrix of shape (n, n), optional
        Neighbours found beforehand, as for :class:`dtsne.DTSNE`, which are then not searched for.

    Returns
    -------
    Account

    Notes
    -----
    Up to 20,000 points neighbours in the data are exact; beyond, 99 % of them are found.
    """
    return account_from(
        open_source(X, Y, metric, neighbors),
        labels=labels,
        k=k,
        k_neighborhood=k_neighborhood,
        sigma=sigma,
        perplexity=perplexity,
        copies=copies,
        max_rows=max_rows,
        random_state=random_state,
        n_bootstrap=n_bootstrap,
    )


def account_from(
    source: Source,
    *,
    labels: ArrayLike | None = None,
    k: int = 100,
    k_neighborhood: int = 15,
    sigma: ArrayLike | None = None,
    perplexity: float | None = None,
    copies: ArrayLike | None = None,
    max_rows: int = _MAX_ROWS,
    random_state: RandomState = 0,
    n_bootstrap: int = 1000,
) -> Account:
    """Do what :func:`account_of` does for data that is checked; parameters are described there."""
    from dtsne._threads import current_n_threads, limited_threads

    # Everything that can be refused is refused before the long work.
    groups = None if labels is None else group_by(shaped_labels(labels, source.n))
    known = Known(
        sigma=None if sigma is None else _check_sigma(sigma, source.n),
        perplexity=None if perplexity is None else _check_perplexity(perplexity, source.n),
        copies=None if copies is None else _check_copies(copies, source.n),
    )
    why = "is not a number of resamples"
    n_bootstrap = check_count("n_bootstrap", n_bootstrap, least=0, most=10**6, why=why)
    counts, lowered = _lower({"k": k, "k_neighborhood": k_neighborhood}, source)
    # One thread for BLAS, as elsewhere: the same seed then gives the same bits.
    with limited_threads(current_n_threads()):
        found = _search(source, known, counts)
        points = tabulate_points(found, known, source.spaces.map, groups)
        whole = measure_whole(source, found, points.label, max_rows, random_state, lowered)
        table, ratios = None, None
        if groups is not None:
            table = tabulate_groups(groups, points, found, source.data, source.map)
            seed = int(np.random.default_rng(random_state).integers(2**62))
            ratios = compare_groups(groups, table, source.data, source.map, n_bootstrap, seed)
    return Account(
        points,
        groups=table,
        ratios=ratios,
        whole=whole,
        perplexity=perplexity,
        search_recall=found.recall,
    )


def _search(source: Source, known: Known, counts: dict[str, int]) -> Found:
    """Find all neighbours that will be asked for, at once."""
    n_wanted = max(counts["k"] + 1, counts["k_neighborhood"])
    if known.perplexity is not None:
        n_wanted = max(n_wanted, smallest_size(known.perplexity))
    n_wanted = min(n_wanted, source.most)
    indices, distances, recall = source.search(n_wanted)
    map_indices, _ = map_neighbors(source.spaces.map, counts["k_neighborhood"])
    return Found(indices, distances, map_indices, recall, **counts)


def _lower(asked: dict[str, int], source: Source) -> tuple[dict[str, int], str | None]:
    """Lower numbers of neighbours to what there can be, and say so."""
    half = (source.n - 1) // 2
    why = "is not a number of neighbours"
    checked = {
        name: check_count(name, value, least=1, most=2**31 - 1, why=why)
        for name, value in asked.items()
    }
    used = {name: min(value, half, source.most) for name, value in checked.items()}
    changes = [
        f"{name} {checked[name]} → {used[name]}" for name in asked if used[name] < checked[name]
    ]
    if not changes:
        return used, None
    reason = (
        f"less than half of {source.n} points"
        if half <= source.most
        else "the neighbours that are given"
    )
    lowered = f"{', '.join(changes)} ({reason})"
    _LOGGER.info("lowered: %s", lowered)
    return used, lowered


def _check_sigma(sigma: ArrayLike, n: int) -> FloatArray:
    checked = np.asarray(sigma, dtype=np.float64)
    if checked.shape != (n,):
        raise ValueError(
            f"sigma has shape {checked.shape} for {n} points; give one for each, as sigma_ has."
        )
    if not (np.isfinite(checked).all() and (checked > 0).all()):
        raise ValueError("sigma has values that are not positive numbers; give sigma_ as it is.")
    return checked


def _check_perplexity(perplexity: float, n: int) -> float:
    if not 1 < perplexity < n:
        raise ValueError(f"perplexity={perplexity!r} has to be above 1 and below {n}, or None.")
    return float(perplexity)


def _check_copies(copies: ArrayLike, n: int) -> BoolArray:
    checked = np.asarray(copies)
    if checked.shape != (n,) or checked.dtype != np.bool_:
        raise ValueError(
            f"copies is {checked.dtype} of shape {checked.shape} for {n} points; give True or "
            "False for each."
        )
    return checked
