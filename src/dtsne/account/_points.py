"""Every point: the room it has in the data and in the map, its neighbours, and what to mistrust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._arrays import to_host
from dtsne.account._islands import island_sizes, smallest_size
from dtsne.account._tables import PointTable
from dtsne.quality._search import map_neighbors

if TYPE_CHECKING:
    from dtsne._typing import FloatArray, IntArray
    from dtsne.account._groups import Groups
    from dtsne.account._tables import BoolArray

# At most one of 15 neighbours.
LOW_RECALL = 0.1
# Twice or half of the room.
LARGE_RESIDUAL = float(np.log(2.0))
# More axes than the search by cells has.
_MOST_AXES = 3
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Found:
    """The neighbours of all points, from near to far.

    Attributes
    ----------
    indices, distances : ndarray of shape (n, at least k and k_neighborhood)
        Those in the data.
    map_indices : ndarray of shape (n, k_neighborhood)
        Those in the map.
    recall : float
        Share of the true neighbours that were found; nan if not known.
    k, k_neighborhood : int
        Number of neighbours that a radius reaches to, and of those that should be kept.
    """

    indices: IntArray
    distances: FloatArray
    map_indices: IntArray
    recall: float
    k: int
    k_neighborhood: int


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of how the map was made."""

    sigma: FloatArray | None
    perplexity: float | None
    copies: BoolArray | None


def tabulate_points(found: Found, known: Known, map_: Any, groups: Groups | None) -> PointTable:
    """Measure every point."""
    in_data = _log(found.distances[:, found.k - 1])
    in_map = _log(_radii(map_, found.k))
    if known.sigma is None:
        in_data, in_map = _centred(in_data), _centred(in_map)
    else:
        in_data = in_data - np.log(np.median(known.sigma))
    recall = kept_shares(found)
    small_for_k = island_sizes(found.indices, found.distances, found.k + 1)
    small = _small_for_perplexity(found, known.perplexity, groups)
    # Where the radius reaches beyond the cluster it is the width of a gap, and no density.
    residual = _centred(np.where(small_for_k > 0, np.nan, in_map - in_data))
    at_bound = None if known.sigma is None else _is_at_bound(known.sigma)
    too_large = None if small is None else small > 0
    lost = (recall <= LOW_RECALL) & (np.abs(residual) > LARGE_RESIDUAL)
    unreliable = lost | np.isnan(in_data) | np.isnan(in_map)
    for flag in (at_bound, too_large):
        unreliable = unreliable if flag is None else unreliable | flag
    return PointTable(
        log_radius_data=in_data,
        log_radius_map=in_map,
        density_residual=residual,
        neighbor_recall=recall,
        copy=found.distances[:, 0] == 0 if known.copies is None else known.copies,
        k_too_large=small_for_k > 0,
        cluster_size=small_for_k
        if small is None
        else np.where(small_for_k > 0, small_for_k, small),
        unreliable=unreliable,
        sigma=known.sigma,
        sigma_at_bound=at_bound,
        perplexity_too_large=too_large,
        label=None if groups is None else groups.labels,
    )


def kept_shares(found: Found) -> FloatArray:
    """Return the share of each point's neighbours in the data that are so in the map.

    Where several are as far as the last of them, as for copies, any of those will do.
    """
    n, k = len(found.indices), found.k_neighborhood
    rows, places = np.nonzero(found.distances <= found.distances[:, k - 1 : k])
    # Row and neighbour in one number, so that a single intersection serves all rows.
    in_data = rows * n + found.indices[rows, places]
    in_map = np.arange(n)[:, np.newaxis] * n + found.map_indices
    kept = np.intersect1d(in_data, in_map, assume_unique=True)
    return np.bincount(kept // n, minlength=n) / k


def _radii(map_: Any, k: int) -> FloatArray:
    if map_.shape[1] > _MOST_AXES:
        return map_neighbors(map_, k)[1][:, -1]
    find: Any
    if isinstance(map_, np.ndarray):
        from dtsne._map_radii import neighbor_radii as find
    else:
        from dtsne.gpu._map_radii import neighbor_radii as find

    radii: FloatArray = to_host(find(map_, [k])[0])
    return radii


def _small_for_perplexity(
    found: Found, perplexity: float | None, groups: Groups | None
) -> IntArray | None:
    """Size of the cluster that is too small for the perplexity, 0 for points in no such one."""
    if perplexity is None:
        return None
    smallest = smallest_size(perplexity)
    islands = island_sizes(found.indices, found.distances, smallest)
    if groups is None:
        return islands
    of_label = groups.sizes[groups.codes]
    is_small = (groups.codes >= 0) & (of_label < smallest)
    return np.where(is_small, of_label, islands)


def _is_at_bound(sigma: FloatArray) -> BoolArray:
    from dtsne._affinities import floor_sigmas

    bound = floor_sigmas(np.zeros(1), float(np.median(sigma)))
    at_bound: BoolArray = sigma <= bound * (1 + _ROUNDING)
    return at_bound


def _log(radii: FloatArray) -> FloatArray:
    return np.log(np.where(radii > 0, radii, np.nan))


def _centred(values: FloatArray) -> FloatArray:
    known = values[np.isfinite(values)]
    centred: FloatArray = values - np.median(known) if len(known) else values
    return centred
