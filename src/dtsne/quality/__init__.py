"""Measures of how well a map keeps distances, densities and neighbourhoods.

Every measure is a function of the data ``X``, of shape (n, d), and of its map ``Y``, of shape
(n, 2) or (n, 3), row by row the same points; :func:`evaluate` takes all measures at once. Both may
be any array-like (numpy, pandas, polars); sparse data must be reduced first. No measure depends on
the position, the orientation or the scale of the map. A measure that is not defined, such as a
correlation with a constant, is nan.

Options shared by the measures:

``metric`` : {"euclidean", "cosine", "correlation"}, default "euclidean"
    Distance in the data. "cosine" is the Euclidean distance between rows scaled to length 1,
    "correlation" the same after subtracting the mean of each row, as for :class:`dtsne.DTSNE`. The
    map is always Euclidean.
``max_rows`` : int, default 10,000
    With more rows than this, neighbourhoods are taken around a random sample of this many rows.
    Neighbours are still searched for, and ranked, among all rows.
``random_state`` : int or Generator, default 0
    Seeds the samples. Small data is not sampled.
``device`` : {"cpu", "cuda", "auto"} or torch.device, default "cpu"
    Where to compute, as for :class:`dtsne.DTSNE`; X and Y may be tensors on that device. A device
    compares distances in float32, which changes the measures by at most about 1e-4. Around more
    than 200,000 rows, 99.9 % of the neighbours are found.
``n_jobs`` : int or None, default None
    Number of threads; None or -1 for all. It never changes the result.

A row is not its own neighbour, but its duplicates are.
"""

from dtsne.quality._clusters import ClusterRadii, cluster_radius_ratios
from dtsne.quality._correlations import (
    density_correlation,
    distance_correlation,
    neighbor_distance_correlation,
)
from dtsne.quality._neighborhoods import continuity, neighbor_recall, trustworthiness
from dtsne.quality._summary import Quality, evaluate

__all__ = [
    "ClusterRadii",
    "Quality",
    "cluster_radius_ratios",
    "continuity",
    "density_correlation",
    "distance_correlation",
    "evaluate",
    "neighbor_distance_correlation",
    "neighbor_recall",
    "trustworthiness",
]
