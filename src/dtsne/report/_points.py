"""Every point: its local radius in data and map, its neighbours, and whether it is reliable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from dtsne.data._duplicates import duplicate_tolerance
from dtsne.quality._neighborhoods import Neighborhoods, map_neighbors, shares_kept
from dtsne.report._islands import island_sizes, smallest_size
from dtsne.report._tables import PointTable
from dtsne.runtime._arrays import to_host
from dtsne.runtime._errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups
    from dtsne.quality._inputs import Spaces
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, BoolArray, FloatArray, IntArray

# At most one of 15 neighbours.
LOW_RECALL = 0.1
# Twice or half the local radius.
LARGE_RESIDUAL = float(np.log(2.0))
# Of the neighbours of the points of a label: with more of its own, the label is that of a cluster.
_MOSTLY_OWN = 0.5
# Axes of the search by cells.
_MAX_AXES = 3


@dataclass(frozen=True, eq=False)
class NeighborTables:
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
        Number of neighbours within the local radius, and of those that the map should keep.
    """

    indices: IntArray
    distances: FloatArray
    map_indices: IntArray
    recall: float
    k: int
    k_neighborhood: int

    @cached_property
    def rounding(self) -> float:
        """The distance up to which points are duplicates."""
        return duplicate_tolerance(self.distances[:, self.k - 1])


@dataclass(frozen=True, eq=False)
class MapMetadata:
    """What is known about how the map was made.

    Attributes
    ----------
    sigma : ndarray of shape (n,) or None
    kernel_unit : float or None
        One unit of the kernel, in the unit of the data; known if sigma is.
    at_floor : ndarray of bool, shape (n,) or None
        Whether sigma was not estimated from the data.
    perplexity : float or None
    """

    sigma: FloatArray | None = None
    kernel_unit: float | None = None
    at_floor: BoolArray | None = None
    perplexity: float | None = None

    @classmethod
    def checked(cls, n: int, sigma: ArrayLike | None, perplexity: float | None) -> Self:
        """Check what a user passes about a map of n points."""
        if perplexity is not None and not 1 < perplexity < n:
            allowed = f"a number above 1 and below the number of points ({n}), or None"
            raise ParameterError("perplexity", perplexity, allowed)
        perplexity = None if perplexity is None else float(perplexity)
        if sigma is None:
            return cls(perplexity=perplexity)
        scales = np.asarray(sigma, dtype=np.float64)
        if scales.shape != (n,):
            raise DataError(
                f"sigma has shape {scales.shape} for {n} points",
                "pass one value for each point",
                in_python="sigma_ of the fitted model",
                argument="sigma",
            )
        if not (np.isfinite(scales).all() and (scales > 0).all()):
            reason = "sigma has values that are not positive numbers"
            raise DataError(reason, "pass sigma_ of the fitted model", argument="sigma")
        return cls(scales, float(np.median(scales)), None, perplexity)


def tabulate_points(
    found: NeighborTables,
    metadata: MapMetadata,
    spaces: Spaces,
    groups: Groups | None,
    own: FloatArray | None,
    threads: Threads,
) -> PointTable:
    """Measure every point; `own` is the share of neighbours of each group that are its own."""
    in_data = _log(found.distances[:, found.k - 1], found.rounding)
    in_map = _log(_radii(spaces.map, found.k, threads), 0.0)
    if metadata.kernel_unit is None:
        in_data, in_map = _centred(in_data), _centred(in_map)
    else:
        in_data = in_data - np.log(metadata.kernel_unit)
    small_for_k = _islands(found, found.k + 1)
    small = _small_for_perplexity(found, metadata.perplexity, groups, own)
    # A radius that reaches beyond the cluster is the width of a gap and no density.
    residual = _centred(np.where(small_for_k > 0, np.nan, in_map - in_data))
    recall = shares_kept(spaces, _all_rows(found), found.k_neighborhood)
    too_large = None if small is None else small > 0
    unreliable = (recall <= LOW_RECALL) & (np.abs(residual) > LARGE_RESIDUAL)
    for flag in (np.isnan(in_data), np.isnan(in_map), metadata.at_floor, too_large):
        unreliable = unreliable if flag is None else unreliable | flag
    size = small_for_k if small is None else np.where(small_for_k > 0, small_for_k, small)
    return PointTable(
        log_radius_data=in_data,
        log_radius_map=in_map,
        density_residual=residual,
        neighbor_recall=recall,
        is_duplicate=found.distances[:, 0] <= found.rounding,
        k_too_large=small_for_k > 0,
        cluster_size=size,
        unreliable=unreliable,
        sigma=metadata.sigma,
        sigma_at_bound=metadata.at_floor,
        perplexity_too_large=too_large,
        label=None if groups is None else groups.labels,
    )


def _all_rows(found: NeighborTables) -> Neighborhoods:
    """Return the neighbourhoods of all points; distances in the map are not known, nor needed."""
    rows, unknown = np.arange(len(found.indices)), np.empty((len(found.indices), 0))
    return Neighborhoods(rows, found.indices, found.distances, found.map_indices, unknown)


def _radii(map_: AnyArray, k: int, threads: Threads) -> FloatArray:
    if map_.shape[1] > _MAX_AXES:
        return map_neighbors(map_, k, threads)[1][:, -1]
    from dtsne.optimize._radii import neighbor_radii

    return to_host(neighbor_radii(map_, [k], threads)[0])


def _small_for_perplexity(
    found: NeighborTables, perplexity: float | None, groups: Groups | None, own: FloatArray | None
) -> IntArray | None:
    """Size of the cluster that is too small for the perplexity, 0 for points in no such one.

    A label is taken for a cluster if most neighbours of its points have the same label: donors,
    batches and conditions lie in clusters of other sizes.
    """
    if perplexity is None:
        return None
    smallest = smallest_size(perplexity)
    islands = _islands(found, smallest)
    if groups is None or own is None:
        return islands
    is_small = (groups.sizes < smallest) & (own > _MOSTLY_OWN)
    of_label = np.append(np.where(is_small, groups.sizes, 0), 0)[groups.codes]
    return np.where(of_label > 0, of_label, islands)


def _islands(found: NeighborTables, smallest: int) -> IntArray:
    return island_sizes(found.indices, found.distances, smallest, found.rounding)


def _log(radii: FloatArray, rounding: float) -> FloatArray:
    return np.log(np.where(radii > rounding, radii, np.nan))


def _centred(values: FloatArray) -> FloatArray:
    known = values[np.isfinite(values)]
    centred: FloatArray = values - np.median(known) if len(known) else values
    return centred
