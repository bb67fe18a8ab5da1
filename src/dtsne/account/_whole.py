"""The measures of the whole map, from neighbours that are known already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.quality._clusters import compare_radii
from dtsne.quality._densities import correlate_neighbor_distances, correlate_radii
from dtsne.quality._distances import DEFAULT_MAX_PAIRS, correlate_distances, count_pairs
from dtsne.quality._inputs import RandomState, choose_rows, missing_labels
from dtsne.quality._neighborhoods import score_ranks, share_kept
from dtsne.quality._search import Neighborhoods, map_neighbors
from dtsne.quality._summary import Quality, _describe_sampled

if TYPE_CHECKING:
    from dtsne.account._points import Found
    from dtsne.account._sources import Source
    from dtsne.account._tables import Labels
    from dtsne.quality import ClusterRadii
    from dtsne.quality._inputs import Spaces


def measure_whole(
    source: Source,
    found: Found,
    labels: Labels | None,
    max_rows: int,
    random_state: RandomState,
    lowered: str | None,
) -> Quality:
    """Take the measures of :func:`dtsne.quality.evaluate`.

    What needs coordinates of the data is nan where it has none.
    """
    n, spaces = source.n, source.spaces
    rows = choose_rows(n, max_rows, random_state)
    n_found = max(found.k, found.k_neighborhood)
    in_data = found.indices[rows, :n_found], found.distances[rows, :n_found]
    both = Neighborhoods(rows, *in_data, *map_neighbors(spaces.map, n_found, queries=rows))
    wide, narrow = both.nearest(found.k), both.nearest(found.k_neighborhood)
    known = source.data is not None
    unknown = float("nan")
    return Quality(
        distance_correlation=(
            correlate_distances(spaces, DEFAULT_MAX_PAIRS, random_state) if known else unknown
        ),
        neighbor_distance_correlation=correlate_neighbor_distances(spaces, wide, "own"),
        shared_neighbor_distance_correlation=correlate_neighbor_distances(spaces, wide, "shared"),
        density_ratio_correlation=correlate_radii(wide, "ratio"),
        density_log_correlation=correlate_radii(wide, "log"),
        density_rank_correlation=correlate_radii(wide, "rank"),
        trustworthiness=(score_ranks(spaces.data, rows, narrow.map_indices) if known else unknown),
        continuity=score_ranks(spaces.map, rows, narrow.data_indices),
        neighbor_recall=share_kept(narrow, n),
        clusters=_clusters(spaces, labels) if known and labels is not None else None,
        n=n,
        k=found.k,
        k_neighborhood=found.k_neighborhood,
        lowered=lowered,
        sampled=_describe_sampled(n, len(rows), count_pairs(n, DEFAULT_MAX_PAIRS)),
    )


def _clusters(spaces: Spaces, labels: Labels) -> ClusterRadii:
    """Compare the radii of labels; points without one do not count."""
    rows = np.flatnonzero(~missing_labels(labels))
    given = labels if len(rows) == len(labels) else np.array(labels[rows].tolist())
    return compare_radii(spaces.data[rows], spaces.map[rows], given)
