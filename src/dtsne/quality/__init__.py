"""How well a map keeps distances, densities and neighbourhoods.

Every measure is a function of the data ``X``, of shape (n, d), and of its map ``Y``, of shape
(n, 2) or (n, 3), row by row the same points; :func:`evaluate` takes them all at once. They may be
any array-like (numpy, pandas, polars); sparse data has to be reduced first. None of the measures
depends on the position, the orientation or the scale of the map. A measure that is not defined,
such as a correlation with a constant, is nan.

Options shared by the measures:

``metric`` : {"euclidean", "cosine", "correlation"}
    Distance in the data, "cosine" being the Euclidean one between rows scaled to length 1, and
    "correlation" the same between rows less their mean, as for :class:`dtsne.DTSNE`. The map is
    always Euclidean.
``max_rows`` : int, default 10,000
    With more rows than this, neighbourhoods are taken around that many rows, drawn at random
    without replacement. They are still searched for, and ranked, among all rows.
``random_state`` : int or Generator, default 0
    Seeds what is drawn at random, which is nothing as long as the data is small enough.
``device`` : {"cpu", "cuda", "auto"} or torch.device, default "cpu"
    Where to compute, as for :class:`dtsne.DTSNE`; X and Y may be tensors that are there. On a
    device, which of two points is nearer is decided in float32: the measures change by 1e-4 or so
    at most. Where neighbourhoods are taken around more than 200,000 rows, 99.9 % of the neighbours
    are found.

A row is not its own neighbour, but its copies are.
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
