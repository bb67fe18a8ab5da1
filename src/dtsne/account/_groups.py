"""Labelled groups: how wide each is, and how much wider than another, in data and map."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtsne.account._bootstrap import interval, resampled_spreads, spread
from dtsne.account._tables import GroupTable, RatioTable
from dtsne.quality._inputs import missing_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtsne._typing import FloatArray, IntArray
    from dtsne.account._points import Found
    from dtsne.account._tables import Labels, PointTable

# Up to so many groups every pair is compared, beyond each with the largest.
_MOST_FOR_ALL_PAIRS = 6
# Resamples of fewer points are too often copies of one.
_FEWEST_TO_RESAMPLE = 5


class Groups(NamedTuple):
    """The points of each label."""

    names: Labels
    codes: IntArray  # the label of each point, as a place in names; -1 for one that has none
    members: Sequence[IntArray]

    @property
    def sizes(self) -> IntArray:
        """Number of points of each label."""
        return np.array([len(members) for members in self.members], int)

    @property
    def labels(self) -> Labels:
        """The label of each point, None for one that has none."""
        if (self.codes >= 0).all():
            return self.names[self.codes]
        labels = np.full(len(self.codes), None, object)
        labels[self.codes >= 0] = self.names[self.codes[self.codes >= 0]]
        return labels


def group_by(labels: Labels) -> Groups:
    """Sort the points by their labels; those without one are in no group."""
    rows = np.flatnonzero(~missing_labels(labels))
    if not len(rows):
        raise ValueError("labels has missing values only; leave it out.")
    try:
        # As plain values again, in case an array of objects held the missing ones.
        given = np.array(labels[rows].tolist()) if len(rows) < len(labels) else labels
        names, of_row, sizes = np.unique(given, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise ValueError(
            "labels mix kinds that have no order; convert them, e.g. with list(map(str, labels))."
        ) from error
    codes = np.full(len(labels), -1)
    codes[rows] = of_row.reshape(-1)
    by_label = rows[np.argsort(codes[rows], kind="stable")]
    return Groups(names, codes, np.split(by_label, np.cumsum(sizes)[:-1]))


def tabulate_groups(
    groups: Groups, points: PointTable, found: Found, data: FloatArray | None, map_: FloatArray
) -> GroupTable:
    """Measure each group; the data is None where it has no coordinates."""
    members = groups.members
    unknown = np.full(len(members), np.nan)
    return GroupTable(
        label=groups.names,
        n=groups.sizes,
        spread_data=unknown if data is None else np.array([spread(data[m]) for m in members]),
        spread_map=np.array([spread(map_[m]) for m in members]),
        log_radius_data=_medians(points.log_radius_data, members),
        log_radius_map=_medians(points.log_radius_map, members),
        density_residual=_medians(points.density_residual, members),
        piece_data=_largest_pieces(found.indices[:, : found.k_neighborhood], groups),
        piece_map=_largest_pieces(found.map_indices, groups),
        share_unreliable=np.array([points.unreliable[m].mean() for m in members]),
    )


def compare_groups(
    groups: Groups,
    table: GroupTable,
    data: FloatArray | None,
    map_: FloatArray,
    n_bootstrap: int,
    seed: int,
) -> RatioTable:
    """Compare the spreads of pairs of groups, with intervals."""
    spreads = np.stack([table.spread_data, table.spread_map])
    decisive = spreads[1 if data is None else 0]
    known = np.flatnonzero(np.isfinite(decisive) & np.isfinite(table.spread_map))
    pairs = _pairs(known, decisive, table.n)
    one, other = np.array(pairs, int).reshape(-1, 2).T
    ratios = spreads[:, one] / spreads[:, other]
    resample = _resampler(groups, data, map_, n_bootstrap, seed)
    intervals = np.full((2, 2, len(pairs)), np.nan)  # space, end, pair
    for p, (a, b) in enumerate(pairs):
        if n_bootstrap and min(table.n[a], table.n[b]) >= _FEWEST_TO_RESAMPLE:
            intervals[:, :, p] = interval(resample(a) / resample(b))
    return RatioTable(
        group=table.label[one],
        reference=table.label[other],
        data=ratios[0],
        data_low=intervals[0, 0],
        data_high=intervals[0, 1],
        map=ratios[1],
        map_low=intervals[1, 0],
        map_high=intervals[1, 1],
    )


def _resampler(
    groups: Groups, data: FloatArray | None, map_: FloatArray, n_bootstrap: int, seed: int
) -> Callable[[int], FloatArray]:
    """Return what resamples the spreads of a group, in data and map: (2, n_bootstrap)."""
    spaces = [map_] if data is None else [data, map_]

    # The reference of all pairs stays, and so do all groups that are compared with each other.
    @lru_cache(_MOST_FOR_ALL_PAIRS)
    def resample(g: int) -> FloatArray:
        of_group = [points[groups.members[g]] for points in spaces]
        # A seed of its own, so that what is drawn does not depend on the other groups.
        found = resampled_spreads(of_group, n_bootstrap, np.random.default_rng([seed, g]))
        unknown = np.full((2 - len(found), n_bootstrap), np.nan)
        return np.vstack([unknown, found])

    return resample


def _pairs(known: IntArray, spreads: FloatArray, sizes: IntArray) -> list[tuple[int, int]]:
    if len(known) <= _MOST_FOR_ALL_PAIRS:
        both = combinations(known.tolist(), 2)
        return [(a, b) if spreads[a] >= spreads[b] else (b, a) for a, b in both]
    reference = int(known[sizes[known].argmax()])
    return [(g, reference) for g in known.tolist() if g != reference]


def _largest_pieces(neighbors: IntArray, groups: Groups) -> FloatArray:
    """Share of the points of each group in its largest piece.

    Points of a group are in the same piece if one is among the neighbours of the other.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(neighbors)
    linked = groups.codes[neighbors] == groups.codes[:, np.newaxis]
    row_starts = np.concatenate([[0], np.cumsum(linked.sum(axis=1))])
    links = csr_array((np.ones(linked.sum(), np.int8), neighbors[linked], row_starts), shape=(n, n))
    pieces = connected_components(links, directed=False)[1]
    sizes = np.bincount(pieces)[pieces]
    largest = np.array([sizes[members].max() for members in groups.members])
    shares: FloatArray = largest / groups.sizes
    return shares


def _medians(values: FloatArray, members: Sequence[IntArray]) -> FloatArray:
    finite = ((v := values[m])[np.isfinite(v)] for m in members)
    return np.array([np.median(v) if len(v) else np.nan for v in finite])
