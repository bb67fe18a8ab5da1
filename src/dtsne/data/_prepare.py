"""From what the user gives to points, or distances, that the method can work with."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.data._base import NEIGHBORS_PER_PERPLEXITY, Distances, Points, principal_components
from dtsne.data._metrics import METRICS, metric_points
from dtsne.data._precomputed import GivenNeighbors, graph_of
from dtsne.runtime._arrays import median, to_host
from dtsne.runtime._logging import warn
from dtsne.runtime._memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.data._base import Data
    from dtsne.runtime._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

# The radius that copies are given, as a share of a typical one.
_COPY_RADIUS = 0.005
# Columns that vary by less than this share of the largest value are constant but for rounding.
_ROUNDING = 1e-15


def prepare(X: Any, *, metric: str, n_pcs: int | None, neighbors: Any = None) -> Data:
    """Turn validated input into data of one of the kinds that the method works with."""
    from scipy.sparse import issparse

    if metric == "precomputed" and issparse(X):
        return _given_neighbors(X, X.shape[0])
    if neighbors is not None:
        # Its coordinates are found when asked for: the graph may yet turn out too small.
        points = partial(_points, X, metric=metric, n_pcs=n_pcs)
        return _given_neighbors(neighbors, X.shape[0], points)
    if metric == "precomputed":
        X, unit = _in_own_unit(X)
        return Distances(_check_distances(X), unit)
    if metric in METRICS:
        X, unit = _in_own_unit(_dense(X, "give the neighbours yourself (neighbors=…)"))
        return metric_points(X, metric, unit)
    return _points(X, metric=metric, n_pcs=n_pcs)


def with_copies_apart(
    data: Data, distances: Any, perplexity: float
) -> tuple[Data, IntArray] | None:
    """Spread groups of more copies than the perplexity a little, or return None if there are none.

    With the data come the rows that were moved, whose σ is then ours and not that of the data.

    Such copies have no σ. Worse, they are all equally near to each other, which a map can only draw
    on one spot; there each pair counts fully in Z, and takes its share from the repulsion of all
    other points. As a cluster that is tight, but has a shape, they are points like others.
    """
    n_near = int(np.ceil(perplexity))
    radii = to_host(distances[:, n_near - 1])
    rows = np.flatnonzero(radii == 0)
    if not len(rows):
        return None
    warn(
        f"{len(rows)} rows of X have at least as many copies as the perplexity ({perplexity:g}); "
        "they are drawn as tight clusters, as if they differed a little. Drop the copies "
        "(numpy.unique(X, axis=0)) or raise the perplexity to change that."
    )
    if len(rows) == len(data):
        typical = float(median(distances[:, -1]))
        if typical == 0:
            raise ValueError(
                f"Every row of X has more than {distances.shape[1]} copies, so that no scale can "
                "be found; drop the copies (numpy.unique(X, axis=0))."
            )
    else:
        typical = float(np.median(radii[radii > 0]))
    groups = data.groups(rows)
    sizes = np.bincount(groups)[groups]
    # A cloud of N points has about the radius of its width times √(perplexity / N).
    widths = _COPY_RADIUS * typical * np.sqrt(sizes / perplexity)
    offsets = np.zeros((len(data), 2))
    offsets[rows] = widths[:, np.newaxis] * np.random.default_rng(0).normal(size=(len(rows), 2))
    return data.apart(offsets), rows


def fitting_perplexity(perplexity: float, n: int) -> float:
    """Return the perplexity, lowered with a warning where n points cannot have it."""
    largest = max((n - 1) / NEIGHBORS_PER_PERPLEXITY, 1.5)  # 1.5: 4 points, the fewest we take
    if perplexity < largest:
        return perplexity
    warn(
        f"perplexity={perplexity:g} is too large for {n} points and was lowered to {largest:.4g}; "
        f"set a perplexity below (n - 1) / {NEIGHBORS_PER_PERPLEXITY} to choose it yourself."
    )
    return largest


def _points(X: Any, *, metric: str, n_pcs: int | None) -> Points:
    """Take the rows of X as points.

    Sparse input goes through a truncated SVD, which does not need it dense; the rest through
    principal components, if it has more than n_pcs columns. The cosine metric is the Euclidean
    distance between rows scaled to length 1, whose square is twice the cosine distance: the map is
    then one of the sphere, and "spread" means the same as elsewhere. Correlation is the same
    between rows less their mean.
    """
    X, unit = _in_own_unit(X)
    if metric == "correlation":
        X = _with_centred_rows(_dense(X, "use metric='cosine', which leaves zeros as they are"))
    if metric in ("cosine", "correlation"):
        X, unit = _with_unit_rows(X), 1.0
    points = _reduce(X, n_pcs)
    spread = np.ptp(points, axis=0)
    varies = spread > _ROUNDING * np.abs(points).max()
    if not varies.any():
        raise ValueError("All rows of X are equal, so there is nothing to map.")
    if not spread.all():
        n_constant = int((spread == 0).sum())
        _LOGGER.info("%d of %d columns are constant and say nothing", n_constant, len(spread))
    return Points(points - points.mean(axis=0), unit)


def _given_neighbors(
    neighbors: Any, n: int, points: Callable[[], Points] | None = None
) -> GivenNeighbors:
    graph = graph_of(neighbors, n)
    unit = _power_of_two_near(graph.data.max(initial=0.0))
    graph.data *= 1.0 / unit
    return GivenNeighbors(graph, unit, points)


def _in_own_unit(X: Any) -> tuple[Any, float]:
    """Return the data in a unit that makes its largest value 1 or so, and that unit."""
    from scipy.sparse import issparse

    if not issparse(X):
        # In one order of memory, since sums along another one would round differently.
        X = np.asarray(X, dtype=np.float64, order="C")
    unit = _power_of_two_near(abs(X).max())
    return X * (1.0 / unit), unit


def _power_of_two_near(value: float) -> float:
    """Return a unit to compute in, as squares of 1e-200 or 1e200 leave the range of floats.

    A power of two changes no digit.
    """
    return float(2.0 ** np.floor(np.log2(value))) if value > 0 else 1.0


def _reduce(X: Any, n_pcs: int | None) -> FloatArray:
    from scipy.sparse import issparse

    n, d = X.shape
    wanted = d if n_pcs is None else min(n_pcs, n - 1)
    if issparse(X) and wanted < d:
        from sklearn.decomposition import TruncatedSVD

        return np.asarray(TruncatedSVD(wanted, random_state=0).fit_transform(X), np.float64)
    points = _dense(X, "set n_pcs to reduce it by a truncated SVD")
    return principal_components(points, wanted) if wanted < d else points


def _dense(X: Any, remedy: str) -> FloatArray:
    from scipy.sparse import issparse

    if issparse(X):
        check_memory(8 * X.shape[0] * X.shape[1], "X as a dense array", remedy)
        X = X.toarray()
    return np.asarray(X, dtype=np.float64)


def _with_unit_rows(X: Any) -> Any:
    from sklearn.preprocessing import normalize
    from sklearn.utils.extmath import row_norms

    if not row_norms(X).all():
        raise ValueError(
            "X has rows of zeros, which have no direction; drop them or use metric='euclidean'."
        )
    return normalize(X)


def _with_centred_rows(X: FloatArray) -> FloatArray:
    if not np.ptp(X, axis=1).all():
        raise ValueError(
            "X has rows with the same value in all columns, which correlate with nothing; drop "
            "them or use metric='euclidean'."
        )
    centred: FloatArray = X - X.mean(axis=1, keepdims=True)
    return centred


def _check_distances(distances: FloatArray) -> FloatArray:
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix of distances, not one of shape "
            f"{distances.shape}; give the points themselves with metric='euclidean'."
        )
    if (distances < 0).any():
        raise ValueError("Negative values in data: precomputed distances have to be at least 0.")
    if np.diag(distances).any():
        raise ValueError("The precomputed distances have to be 0 on the diagonal.")
    if not distances.any():
        raise ValueError("All precomputed distances are 0, so there is nothing to map.")
    if not np.allclose(distances, distances.T, rtol=1e-6, atol=1e-8):  # the largest is about 1
        raise ValueError("The precomputed distances are not symmetric; use (D + D.T) / 2.")
    return distances
