"""Labelled groups: the spread of each, and of one over another, in data and map."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from dtsne.quality._clusters import spreads
from dtsne.report._bootstrap import distinct, interval, resampled_spreads
from dtsne.report._islands import smallest_size
from dtsne.report._tables import GroupTable, RatioTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtsne.labels._groups import Groups, LabelArray
    from dtsne.report._points import NeighborTables
    from dtsne.report._sources import Source
    from dtsne.report._tables import PointTable
    from dtsne.runtime._typing import BoolArray, FloatArray, IntArray

# Up to so many groups every pair is compared, beyond each with the largest.
_MAX_FOR_ALL_PAIRS = 6
# Resamples of fewer distinct points are too often duplicates of one.
_MIN_TO_RESAMPLE = 5
# Share of the unreliable points of a group from which on the group is unreliable.
_MOSTLY = 0.5
# Share of the points in the largest component: from the first on a group has one component but for
# a few points. If the share in the map is less than the second times the share in the data, the
# group is split. Groups of fewer points come apart by a few points.
_ONE_COMPONENT, _SPLIT, _MIN_TO_SPLIT = 0.9, 0.9, 10


def shares_of_own(found: NeighborTables, groups: Groups) -> FloatArray:
    """Share of the nearest neighbours of a group's points that are in the group.

    Of the `k_neighborhood` nearest, or of as many as there are others of the group.
    """
    near = found.indices[:, : found.k_neighborhood]
    is_own = groups.codes[near] == groups.codes[:, np.newaxis]
    shares = np.zeros(len(groups.members))
    for g, members in enumerate(groups.members):
        n_wanted = min(near.shape[1], len(members) - 1)
        if n_wanted:
            shares[g] = is_own[members, :n_wanted].mean()
    return shares


def tabulate_groups(
    groups: Groups,
    own: FloatArray,
    points: PointTable,
    found: NeighborTables,
    source: Source,
    perplexity: float | None,
) -> GroupTable:
    """Measure each group."""
    members, sizes = groups.members, groups.sizes
    unknown = np.full(len(members), np.nan)
    in_data = unknown if source.coordinates is None else spreads(source.coordinates, members)
    in_map = spreads(source.map, members, same=0.0)
    component_data = _largest_components(found.indices[:, : found.k_neighborhood], groups)
    component_map = _largest_components(found.map_indices, groups)
    caveats = _caveats(groups, points, _is_split(sizes, component_data, component_map))
    return GroupTable(
        label=groups.names,
        n=sizes,
        spread_data=in_data,
        spread_map=in_map,
        map_over_data=_relative_to_typical(in_map / in_data),
        log_radius_data=_medians(points.log_radius_data, members),
        log_radius_map=_medians(points.log_radius_map, members),
        density_residual=_medians(points.density_residual, members),
        own_neighbors=own,
        largest_component_data=component_data,
        largest_component_map=component_map,
        share_unreliable=_shares(points.unreliable, members),
        reliable=caveats == "",
        caveat=caveats,
        below_perplexity=None if perplexity is None else sizes < smallest_size(perplexity),
    )


def compare_groups(
    groups: Groups, table: GroupTable, source: Source, n_bootstrap: int, seed: int
) -> RatioTable:
    """Compare the spreads of pairs of groups, with intervals."""
    widths = np.stack([table.spread_data, table.spread_map])
    decisive = widths[1 if source.coordinates is None else 0]
    known = np.flatnonzero(np.isfinite(decisive) & np.isfinite(table.spread_map))
    pairs = _pairs(known, decisive, table)
    one, other = np.array(pairs, int).reshape(-1, 2).T
    ratios = widths[:, one] / widths[:, other]
    resample = _resampler(groups, source, n_bootstrap, seed)
    ends = np.full((len(pairs), 3, 2), np.nan)  # of data, map, and map over data
    for p, (a, b) in enumerate(pairs):
        of_pair = resample(a) / resample(b)
        ends[p] = interval(np.vstack([of_pair, of_pair[1] / of_pair[0]]))
    low, high = ends.transpose(2, 1, 0)
    return RatioTable(
        group=table.label[one],
        reference=table.label[other],
        data=ratios[0],
        data_low=low[0],
        data_high=high[0],
        map=ratios[1],
        map_low=low[1],
        map_high=high[1],
        map_over_data=ratios[1] / ratios[0],
        map_over_data_low=low[2],
        map_over_data_high=high[2],
        reliable=table.reliable[one] & table.reliable[other],
        caveat=np.array([_caveat_of_pair(table, a, b) for a, b in pairs], np.str_),
    )


def _resampler(
    groups: Groups, source: Source, n_bootstrap: int, seed: int
) -> Callable[[int], FloatArray]:
    """Return what resamples the spreads of a group, in data and map: (2, n_bootstrap)."""
    spaces = [space for space in (source.coordinates, source.map) if space is not None]

    # The reference of all pairs stays, and so do all groups that are compared with each other.
    @lru_cache(_MAX_FOR_ALL_PAIRS)
    def resample(g: int) -> FloatArray:
        of_group = [points[groups.members[g]] for points in spaces]
        found = np.full((2, n_bootstrap), np.nan)
        if all(distinct(points, _MIN_TO_RESAMPLE) for points in of_group):
            # A seed of its own, so that what is drawn does not depend on the other groups.
            rng = np.random.default_rng([seed, _number_of(groups.names[g])])
            found[2 - len(spaces) :] = resampled_spreads(of_group, n_bootstrap, rng)
        return found

    return resample


def _number_of(label: object) -> int:
    """Return a hash of the label that is the same in every process, unlike Python's."""
    return int.from_bytes(blake2b(str(label).encode(), digest_size=8).digest(), "little")


def _pairs(known: IntArray, widths: FloatArray, table: GroupTable) -> list[tuple[int, int]]:
    if len(known) <= _MAX_FOR_ALL_PAIRS:
        both = combinations(known.tolist(), 2)
        return [(a, b) if widths[a] >= widths[b] else (b, a) for a, b in both]
    reliable = known[table.reliable[known]]
    candidates = reliable if len(reliable) else known
    reference = int(candidates[table.n[candidates].argmax()])
    return [(g, reference) for g in known.tolist() if g != reference]


def _is_split(sizes: IntArray, in_data: FloatArray, in_map: FloatArray) -> BoolArray:
    split: BoolArray = (in_data >= _ONE_COMPONENT) & (in_map < _SPLIT * in_data)
    return split & (sizes >= _MIN_TO_SPLIT)


def _caveats(groups: Groups, points: PointTable, is_split: BoolArray) -> LabelArray:
    """Return why the spread of a group in the map has no meaning; empty where it has one."""
    members = groups.members
    too_large = points.perplexity_too_large
    small = np.zeros(len(members)) if too_large is None else _shares(too_large, members)
    reasons = {
        "split": is_split,
        "too small for the perplexity": small >= _MOSTLY,
        "mostly unreliable": _shares(points.unreliable, members) >= _MOSTLY,
    }
    return np.select(list(reasons.values()), list(reasons), default="")


def _caveat_of_pair(table: GroupTable, a: int, b: int) -> str:
    caveats = [f"{table.label[g]} is {table.caveat[g]}" for g in (a, b) if table.caveat[g]]
    return " and ".join(caveats)


def _largest_components(neighbors: IntArray, groups: Groups) -> FloatArray:
    """Share of the points of each group in its largest connected component.

    Points of a group are connected if one is among the neighbours of the other.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(neighbors)
    linked = groups.codes[neighbors] == groups.codes[:, np.newaxis]
    row_starts = np.concatenate([[0], np.cumsum(linked.sum(axis=1))])
    links = csr_array((np.ones(linked.sum(), np.int8), neighbors[linked], row_starts), shape=(n, n))
    components = connected_components(links, directed=False)[1]
    sizes = np.bincount(components)[components]
    largest = np.array([sizes[members].max() for members in groups.members])
    shares: FloatArray = largest / groups.sizes
    return shares


def _relative_to_typical(ratios: FloatArray) -> FloatArray:
    known = ratios[np.isfinite(ratios)]
    relative: FloatArray = ratios / (np.median(known) if len(known) else np.nan)
    return relative


def _shares(flag: BoolArray, members: Sequence[IntArray]) -> FloatArray:
    return np.array([flag[m].mean() for m in members])


def _medians(values: FloatArray, members: Sequence[IntArray]) -> FloatArray:
    finite = ((v := values[m])[np.isfinite(v)] for m in members)
    return np.array([np.median(v) if len(v) else np.nan for v in finite])
