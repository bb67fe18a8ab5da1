"""Checks shared by the measures, so that each of them starts from clean arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dtsne._arrays import namespace_of
from dtsne._devices import device_for
from dtsne._kinds import is_tensor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._typing import IntArray

Metric: TypeAlias = Literal["euclidean", "cosine"]
RandomState: TypeAlias = int | np.random.Generator | None

# The fewest points for which every measure is defined (trustworthiness needs 1 ≤ k < n / 2).
MIN_ROWS = 4
DEFAULT_MAX_ROWS = 10_000
_LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Spaces:
    """The same points in the data and in the map, row by row.

    For the cosine metric ``data`` holds rows of length 1, and distances are Euclidean as ever.
    """

    data: Any  # of numpy; or both tensors of PyTorch, on the device to work on
    map: Any

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.data)


def check_spaces(
    X: ArrayLike, Y: ArrayLike, metric: Metric = "euclidean", device: Any = "cpu"
) -> Spaces:
    """Turn data and map into float64 arrays that fit each other, or say why they do not."""
    resolved = device_for(device, X=X, Y=Y)
    data = _check_points(X, "X", resolved)
    map_ = _check_points(Y, "Y", resolved)
    if len(data) != len(map_):
        raise ValueError(
            f"X has {len(data)} rows and Y has {len(map_)}; "
            "give both for the same points, in the same order."
        )
    if len(data) < MIN_ROWS:
        raise ValueError(f"{len(data)} points are too few to measure; give at least {MIN_ROWS}.")
    if metric == "cosine":
        data = _with_unit_rows(data)
    elif metric != "euclidean":
        raise ValueError(f"metric={metric!r} is not known; choose 'euclidean' or 'cosine'.")
    return Spaces(data, map_)


def check_labels(labels: ArrayLike, n: int) -> np.ndarray[Any, Any]:
    """Turn labels into an array of one value a point, none of them missing."""
    checked = shaped_labels(labels, n)
    if missing_labels(checked).any():
        raise ValueError("labels has missing values; name them, or leave these points out.")
    return checked


def shaped_labels(labels: ArrayLike, n: int) -> np.ndarray[Any, Any]:
    """Turn labels into an array of one value a point, of which some may be missing."""
    checked = np.asarray(labels)
    if checked.shape != (n,):
        raise ValueError(
            f"labels has shape {checked.shape} for {n} points; give one label for each point."
        )
    return checked


def missing_labels(labels: np.ndarray[Any, Any]) -> npt.NDArray[np.bool_]:
    """Say which labels are missing: None, and what does not equal itself (NaN, NaT, pandas.NA)."""
    values = labels.tolist()
    return np.array([label is None or (label == label) is not True for label in values], bool)


def check_count(name: str, value: int, *, least: int, most: int, why: str) -> int:
    """Return an integer option that lies between its bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}={value!r} has to be an integer.")
    if not least <= value <= most:
        raise ValueError(f"{name}={value} {why}; choose it from {least} to {most}.")
    return int(value)


def choose_rows(n: int, max_rows: int, random_state: RandomState) -> IntArray:
    """Choose the rows to measure around: all, or a seeded sample when there are too many."""
    if max_rows < MIN_ROWS:
        raise ValueError(f"max_rows={max_rows} is too few; choose at least {MIN_ROWS}.")
    if n <= max_rows:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, max_rows, replace=False))


def _check_points(values: ArrayLike, name: str, device: Any) -> Any:
    from scipy.sparse import issparse

    if issparse(values):
        raise TypeError(
            f"{name} is sparse; reduce it first, e.g. with sklearn.decomposition.TruncatedSVD(50)."
        )
    points = _as_numbers(values, name, device)
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(
            f"{name} has shape {tuple(points.shape)}; give two dimensions, points by coordinates "
            "(a single coordinate as values.reshape(-1, 1))."
        )
    if not namespace_of(points).isfinite(points).all():
        raise ValueError(f"{name} has NaN or infinite values; impute or drop these rows first.")
    if (abs(points) > _LARGEST).any():
        raise ValueError(
            f"{name} has values above {_LARGEST:g}, whose squares overflow; rescale it."
        )
    return points


def _as_numbers(values: ArrayLike, name: str, device: Any) -> Any:
    """Return an array, or a tensor on a device, in float64."""
    if device is not None and is_tensor(values):
        from dtsne.gpu._input import as_tensor

        raw = as_tensor(values).detach()
        is_real = not raw.is_complex()
    else:
        raw = np.asarray(values)
        is_real = raw.dtype.kind in "biufO"
    if not is_real:
        raise TypeError(f"{name} holds {raw.dtype}; convert it to real numbers.")
    if isinstance(raw, np.ndarray):
        # Writeable, though nothing is written: numba compiles anew for read-only arrays, which is
        # what pandas gives.
        raw = np.require(raw, np.float64, ["C", "W"])
    if device is None:
        return raw
    import torch

    return torch.as_tensor(raw, dtype=torch.float64, device=device)


def _with_unit_rows(points: Any) -> Any:
    lengths = namespace_of(points).linalg.norm(points, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(
            "X has rows of zeros, which have no direction; drop them or use metric='euclidean'."
        )
    return points / lengths
