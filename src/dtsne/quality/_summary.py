"""All measures of a map at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isnan
from typing import TYPE_CHECKING

from dtsne.quality._clusters import ClusterRadii, compare_radii
from dtsne.quality._correlations import (
    DEFAULT_MAX_PAIRS,
    correlate_distances,
    correlate_neighbor_distances,
    correlate_radii,
    count_pairs,
)
from dtsne.quality._inputs import check_labels, clip_neighbors, documented, opened
from dtsne.quality._neighborhoods import find_neighborhoods, score_ranks, shares_kept
from dtsne.runtime._document import Table

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Labels
    from dtsne.quality._inputs import RandomState, RowOptions, Spaces
    from dtsne.quality._neighborhoods import Neighborhoods
    from dtsne.runtime._threads import Threads

# What each measure compares.
MEASURES = {
    "distance_correlation": "ρ: distances of all pairs",
    "neighbor_distance_correlation": "ρ_knn: sorted distances to the {k} nearest",
    "shared_neighbor_distance_correlation": "the same, to the neighbours in the data",
    "density_ratio_correlation": "ρ_r: ratios of radii to the {k}-th neighbour",
    "density_log_correlation": "log r: logarithms of these radii",
    "density_rank_correlation": "ranks of these radii (Spearman)",
    "trustworthiness": "{k_neighborhood} neighbours in the map are near in the data",
    "continuity": "{k_neighborhood} neighbours in the data are near in the map",
    "neighbor_recall": "share of the {k_neighborhood} nearest neighbours kept",
}


@dataclass(frozen=True, eq=False)
class Quality:
    """The measures of a map; every one is 1 for a perfect map.

    Attributes
    ----------
    distance_correlation : float
    neighbor_distance_correlation, shared_neighbor_distance_correlation : float
        ρ_knn with ``neighbors="own"`` and ``"shared"``.
    density_ratio_correlation, density_log_correlation, density_rank_correlation : float
        Density correlation of "ratio", "log" and "rank".
    trustworthiness, continuity, neighbor_recall : float
    clusters : ClusterRadii or None
        Radii of the labelled groups, if labels were given.
    n : int
        Number of points.
    k, k_neighborhood : int
        Number of neighbours used for distances and densities, and for the last three measures.
    clipped : str or None
        Which numbers of neighbours were clipped, as there are too few points for them.
    sampled : str or None
        What was measured on a sample only.
    """

    distance_correlation: float
    neighbor_distance_correlation: float
    shared_neighbor_distance_correlation: float
    density_ratio_correlation: float
    density_log_correlation: float
    density_rank_correlation: float
    trustworthiness: float
    continuity: float
    neighbor_recall: float
    clusters: ClusterRadii | None
    n: int
    k: int
    k_neighborhood: int
    clipped: str | None
    sampled: str | None

    def as_dict(self) -> dict[str, float | int | str | None]:
        """Return the fields as plain values, ``clusters`` as its largest error."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "clusters"}
        if self.clusters is not None:
            values["largest_cluster_error"] = self.clusters.largest_error
        return values

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the name, the value and the meaning of each measure that is defined."""
        numbers = {"k": self.k, "k_neighborhood": self.k_neighborhood}
        found = ((name, getattr(self, name), text) for name, text in MEASURES.items())
        rows = [
            (name, f"{value:.3f}", text.format(**numbers))
            for name, value, text in found
            if not isnan(value)
        ]
        if self.clusters is not None:
            error = f"{self.clusters.largest_error:+.1%}"
            rows.append(("largest_cluster_error", error, "of the relative radius of a label"))
        return rows

    def __str__(self) -> str:
        table = Table([("points", f"{self.n:,}", ""), *self.rows()])
        notes = [f"clipped: {self.clipped}"] if self.clipped else []
        notes += [f"sampled: {self.sampled}"] if self.sampled else []
        return "\n".join([table.text(), *notes])


@documented
def evaluate(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    labels: Labels | None = None,
    k: int = 100,
    k_neighborhood: int = 15,
    max_pairs: int = DEFAULT_MAX_PAIRS,
    **options: Unpack[RowOptions],
) -> Quality:
    """Take all measures of a map, searching for neighbours once.

    Parameters
    ----------
    labels : array-like of shape (n,), optional
        Groups whose radii are compared. With the cosine metric those in the data are radii of
        rows scaled to length 1.
    k : int, default 100
        Number of neighbours for the correlations of distances and densities.
    k_neighborhood : int, default 15
        Number of neighbours for trustworthiness, continuity and recall. Both are clipped to
        (n − 1) // 2, which `Quality.clipped` states.
    max_pairs : int, default 50,000,000
        See :func:`distance_correlation`.

    Returns
    -------
    Quality
        Print it for a table; each value is that of the function of the measure, called with the
        same options.
    """
    with opened(X, Y, **options) as (spaces, rows, threads):
        groups = None if labels is None else check_labels(labels, spaces.n)
        counts, clipped = clip_neighbors({"k": k, "k_neighborhood": k_neighborhood}, spaces.n)
        return measure(
            spaces,
            find_neighborhoods(spaces, max(counts.values()), rows, threads),
            groups,
            **counts,
            max_pairs=max_pairs,
            random_state=options.get("random_state", 0),
            clipped=clipped,
            threads=threads,
        )


def measure(
    spaces: Spaces,
    found: Neighborhoods,
    groups: Groups | None,
    *,
    k: int,
    k_neighborhood: int,
    max_pairs: int = DEFAULT_MAX_PAIRS,
    random_state: RandomState,
    clipped: str | None,
    threads: Threads,
) -> Quality:
    """Take all measures, from neighbours that are known already.

    Measures that need coordinates of the data are nan where it has none.
    """
    n, known, unknown = spaces.n, spaces.has_data, float("nan")
    wide, narrow = found.nearest(k), found.nearest(k_neighborhood)
    return Quality(
        distance_correlation=(
            correlate_distances(spaces, max_pairs, random_state, threads) if known else unknown
        ),
        neighbor_distance_correlation=correlate_neighbor_distances(spaces, wide, "own"),
        shared_neighbor_distance_correlation=correlate_neighbor_distances(spaces, wide, "shared"),
        density_ratio_correlation=correlate_radii(wide, "ratio"),
        density_log_correlation=correlate_radii(wide, "log"),
        density_rank_correlation=correlate_radii(wide, "rank"),
        trustworthiness=(
            score_ranks(spaces.data, narrow.rows, narrow.map_indices, threads) if known else unknown
        ),
        continuity=score_ranks(spaces.map, narrow.rows, narrow.data_indices, threads),
        neighbor_recall=float(shares_kept(spaces, found, k_neighborhood).mean()),
        clusters=(
            compare_radii(spaces.data, spaces.map, groups) if known and groups is not None else None
        ),
        n=n,
        k=k,
        k_neighborhood=k_neighborhood,
        clipped=clipped,
        sampled=_describe_sampled(n, len(found.rows), count_pairs(n, max_pairs)),
    )


def _describe_sampled(n: int, n_rows: int, n_pairs: int) -> str | None:
    parts = []
    if n_rows < n:
        parts.append(f"neighbourhoods of {n_rows:,} of {n:,} rows")
    all_pairs = n * (n - 1) // 2
    if n_pairs < all_pairs:
        parts.append(f"{n_pairs:,} of {all_pairs:,} pairs")
    return "; ".join(parts) or None
