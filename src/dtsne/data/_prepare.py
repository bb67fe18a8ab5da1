"""From validated input to data of one of the kinds that the method works with."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from array_api_compat import array_namespace

from dtsne._config import EUCLIDEAN_METRICS
from dtsne.data._base import all_rows_equal
from dtsne.data._distances import Distances
from dtsne.data._metrics import METRICS, metric_points
from dtsne.data._points import Points, principal_components
from dtsne.data._precomputed import PrecomputedNeighbors, graph_of
from dtsne.runtime._arrays import to_host
from dtsne.runtime._errors import DataError, setting
from dtsne.runtime._memory import check_memory

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_array

    from dtsne.data._base import Data
    from dtsne.runtime._typing import AnyArray, FloatArray

    Matrix: TypeAlias = csr_array  # or an array, or a tensor: scipy has no types

_LOGGER = logging.getLogger(__name__)

# Columns that vary by less than this share of the largest value are constant but for rounding.
_ROUNDING = 1e-15


def prepare(
    X: Matrix,
    *,
    metric: str,
    n_pcs: int | None,
    neighbors: object = None,
    device: torch.device | None = None,
) -> Data:
    """Turn validated input into data, on the device that the map is made on; None for numpy."""
    from scipy.sparse import issparse

    if device is not None:
        from dtsne.data._points_torch import DevicePoints, HostData, reduced, to_device

        if neighbors is None and metric in EUCLIDEAN_METRICS and not issparse(X):
            rows, unit = _as_rows(to_device(X, device), metric)
            return DevicePoints(reduced(rows, n_pcs), unit=unit)
    on_host = X if issparse(X) or isinstance(X, np.ndarray) else to_host(X)
    data = _prepare_on_host(on_host, metric=metric, n_pcs=n_pcs, neighbors=neighbors)
    return data if device is None else HostData(data, device, unit=data.unit)


def with_centred_rows(X: AnyArray) -> AnyArray:
    """Subtract the mean of each row: the cosine distance is then that of correlation."""
    xp = array_namespace(X)
    # Before the means are subtracted, which leave rounding of a constant row.
    if not (xp.max(X, axis=1) > xp.min(X, axis=1)).all():
        raise DataError(
            "X has rows with the same value in all columns, which correlate with nothing",
            f"drop them or use {setting('metric', 'euclidean')}",
        )
    centred: AnyArray = X - xp.mean(X, axis=1, keepdims=True)
    return centred


def with_unit_rows(X: AnyArray) -> AnyArray:
    """Scale rows to length 1: squared Euclidean distances are then twice the cosine distances."""
    from scipy.sparse import issparse
    from sklearn.preprocessing import normalize
    from sklearn.utils.extmath import row_norms

    on_host = issparse(X) or isinstance(X, np.ndarray)
    lengths = row_norms(X) if on_host else array_namespace(X).linalg.vector_norm(X, axis=1)
    if not lengths.all():
        raise DataError(
            "X has rows of zeros, which have no direction",
            f"drop them or use {setting('metric', 'euclidean')}",
        )
    scaled: AnyArray = normalize(X) if issparse(X) else X / lengths[:, np.newaxis]
    return scaled


def _prepare_on_host(X: Matrix, *, metric: str, n_pcs: int | None, neighbors: object) -> Data:
    from scipy.sparse import issparse

    if metric == "precomputed" and issparse(X):
        return _precomputed(X, X.shape[0])
    if neighbors is not None:
        # Its coordinates are found when asked for: the graph may yet turn out too small.
        points = partial(_points, X, metric=metric, n_pcs=n_pcs)
        data = _precomputed(neighbors, X.shape[0])
        return PrecomputedNeighbors(data.graph, points, metric not in METRICS, unit=data.unit)
    if metric == "precomputed":
        X, unit = _in_own_unit(X)
        return Distances(_check_distances(X), unit=unit)
    if metric in METRICS:
        if issparse(X):
            X = _dense(X, f"precompute the neighbours ({setting('neighbors')})")
        X, unit = _in_own_unit(X)
        return metric_points(X, metric, unit)
    return _points(X, metric=metric, n_pcs=n_pcs)


def _precomputed(neighbors: object, n: int) -> PrecomputedNeighbors:
    graph = graph_of(neighbors, n)
    unit = _power_of_two_near(graph.data.max(initial=0.0))
    graph.data *= 1.0 / unit
    return PrecomputedNeighbors(graph, unit=unit)


def _points(X: Matrix, *, metric: str, n_pcs: int | None) -> Points:
    rows, unit = _as_rows(X, metric)
    points = _reduced(rows, n_pcs)
    return Points(points - points.mean(axis=0), unit=unit)


def _as_rows(X: Matrix, metric: str) -> tuple[Matrix, float]:
    """Return rows between which the distance is Euclidean, and their unit.

    The cosine metric is the Euclidean distance between rows scaled to length 1: the map is then one
    of the sphere, and "spread" means the same as elsewhere. Correlation is the same between rows
    less their mean.
    """
    from scipy.sparse import issparse

    X, unit = _in_own_unit(X)
    if metric == "correlation":
        if issparse(X):
            X = _dense(X, f"use {setting('metric', 'cosine')}, which leaves zeros as they are")
        X = with_centred_rows(X)
    if metric in ("cosine", "correlation"):
        X, unit = with_unit_rows(X), 1.0
    _check_columns(X)
    return X, unit


def _check_columns(X: Matrix) -> None:
    """Reject data without differences."""
    low, high = _extents(X)
    spread = high - low
    if not (spread > _ROUNDING * max(float(high.max()), -float(low.min()))).any():
        raise all_rows_equal()
    if not spread.all():
        n_constant = int((spread == 0).sum())
        _LOGGER.info("%d of %d columns are constant", n_constant, len(spread))


def _extents(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of each column, also of a sparse matrix."""
    from scipy.sparse import issparse

    if issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    xp = array_namespace(X)
    return xp.min(X, axis=0), xp.max(X, axis=0)


def _in_own_unit(X: Matrix) -> tuple[Matrix, float]:
    """Return the data in a unit that makes its largest value 1 or so, and that unit."""
    if isinstance(X, np.ndarray):
        # In one order of memory, since sums along another one would round differently.
        X = np.asarray(X, dtype=np.float64, order="C")
    low, high = _extents(X)
    unit = _power_of_two_near(max(float(high.max()), -float(low.min())))
    return X * (1.0 / unit), unit


def _power_of_two_near(value: float) -> float:
    """Return a unit to compute in; see :class:`dtsne.data._base.Data`."""
    return float(2.0 ** np.floor(np.log2(value))) if value > 0 else 1.0


def _reduced(X: Matrix, n_pcs: int | None) -> FloatArray:
    """Reduce points with more columns than n_pcs: sparse ones by a truncated SVD, as they are."""
    from scipy.sparse import issparse

    n, d = X.shape
    wanted = d if n_pcs is None else min(n_pcs, n - 1)
    if issparse(X) and wanted < d:
        from sklearn.decomposition import TruncatedSVD

        return np.asarray(TruncatedSVD(wanted, random_state=0).fit_transform(X), np.float64)
    if issparse(X):
        X = _dense(X, f"set {setting('n_pcs')} to reduce it by a truncated SVD")
    return principal_components(X, wanted) if wanted < d else X


def _dense(X: Matrix, advice: str) -> Matrix:
    check_memory(8 * X.shape[0] * X.shape[1], "X as a dense array", advice)
    return X.toarray()


def _check_distances(distances: FloatArray) -> FloatArray:
    if distances.shape[0] != distances.shape[1]:
        raise DataError(
            f"X has shape {distances.shape}; {setting('metric', 'precomputed')} takes a square "
            "matrix of distances",
            f"give the points themselves with {setting('metric', 'euclidean')}",
        )
    if (distances < 0).any():
        raise DataError("Negative values in data: precomputed distances must be at least 0")
    if np.diag(distances).any():
        raise DataError("precomputed distances must be 0 on the diagonal")
    if not distances.any():
        raise DataError("all precomputed distances are 0, so there is nothing to map")
    if not np.allclose(distances, distances.T, rtol=1e-6, atol=1e-8):  # the largest is about 1
        raise DataError("the precomputed distances are not symmetric", "use (D + D.T) / 2")
    return distances
