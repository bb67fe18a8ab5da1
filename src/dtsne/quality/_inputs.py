"""Checks shared by the measures, so that each of them starts from clean arrays."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from dtsne.labels._groups import group_by
from dtsne.runtime._arrays import namespace_of
from dtsne.runtime._devices import device_for
from dtsne.runtime._kinds import is_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups
    from dtsne.runtime._typing import IntArray

Metric: TypeAlias = Literal["euclidean", "cosine", "correlation"]
RandomState: TypeAlias = int | np.random.Generator | None

_LOGGER = logging.getLogger(__name__)

# The fewest points for which every measure is defined (trustworthiness needs 1 ≤ k < n / 2).
MIN_ROWS = 4
DEFAULT_MAX_ROWS = 10_000
_LARGEST = 1e150
_MOST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Spaces:
    """The same points in the data and in the map, row by row.

    For the metrics of angles ``data`` holds rows of length 1, and distances are Euclidean as ever.
    It has no columns where nothing is known of it but neighbours.
    """

    data: Any  # of numpy; or both tensors of PyTorch, on the device to work on
    map: Any

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.data)

    @property
    def has_data(self) -> bool:
        """Whether the points have coordinates in the data."""
        return int(self.data.shape[1]) > 0


def check_spaces(
    X: ArrayLike, Y: ArrayLike, metric: Metric = "euclidean", device: Any = "cpu"
) -> Spaces:
    """Turn data and map into float64 arrays that fit each other, or say why they do not."""
    from dtsne.data._metrics import EUCLIDEAN_METRICS
    from dtsne.data._prepare import with_centred_rows, with_unit_rows

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
    if metric not in EUCLIDEAN_METRICS:
        raise ValueError(
            f"metric={metric!r} is not known; choose 'euclidean', 'cosine' or 'correlation'."
        )
    if metric == "correlation":
        data = with_centred_rows(data)
    return Spaces(data if metric == "euclidean" else with_unit_rows(data), map_)


def check_labels(labels: ArrayLike, n: int) -> Groups:
    """Sort the points by their labels, none of which may be missing."""
    groups = group_by(labels, n)
    if (groups.codes < 0).any():
        raise ValueError("labels has missing values; name them, or leave these points out.")
    return groups


def check_count(name: str, value: int, *, least: int, most: int, why: str) -> int:
    """Return an integer option that lies between its bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}={value!r} has to be an integer.")
    if not least <= value <= most:
        raise ValueError(f"{name}={value} {why}; choose it from {least} to {most}.")
    return int(value)


def check_random_state(random_state: RandomState) -> None:
    """Refuse what numpy's generators cannot be seeded with, before the work."""
    if isinstance(random_state, np.random.Generator) or random_state is None:
        return
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            f"random_state={random_state!r} has to be an integer, a numpy.random.Generator or None."
        )
    if random_state < 0:
        raise ValueError(f"random_state={random_state} has to be at least 0.")


def choose_rows(n: int, max_rows: int, random_state: RandomState) -> IntArray:
    """Choose the rows to measure around: all, or a seeded sample when there are too many."""
    max_rows = check_count("max_rows", max_rows, least=MIN_ROWS, most=_MOST, why="is too few")
    check_random_state(random_state)
    if n <= max_rows:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, max_rows, replace=False))


def lower_counts(
    asked: Mapping[str, int], n: int, most: int | None = None
) -> tuple[dict[str, int], str | None]:
    """Lower numbers of neighbours to what n points can have, or to the most known; and say so.

    The scores of ranks are defined below half of the points.
    """
    half = (n - 1) // 2
    largest = half if most is None else min(half, most)
    why = "is not a number of neighbours"
    checked = {
        name: check_count(name, value, least=1, most=_MOST, why=why)
        for name, value in asked.items()
    }
    used = {name: min(value, largest) for name, value in checked.items()}
    changes = [
        f"{name} {checked[name]} → {used[name]}" for name in asked if used[name] < asked[name]
    ]
    if not changes:
        return used, None
    reason = f"less than half of {n} points" if largest == half else "the neighbours that are given"
    lowered = f"{', '.join(changes)} ({reason})"
    _LOGGER.info("lowered: %s", lowered)
    return used, lowered


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
        from dtsne.runtime._device_torch import as_tensor

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
