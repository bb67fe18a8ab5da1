"""Checks shared by the measures, so that each of them starts from clean arrays."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, TypeVar

import numpy as np
from array_api_compat import array_namespace

from dtsne._config import EUCLIDEAN_METRICS
from dtsne.labels._groups import group_by
from dtsne.runtime._arrays import is_tensor
from dtsne.runtime._devices import device_for
from dtsne.runtime._errors import DataError, DataTypeError
from dtsne.runtime._parameters import Parameter
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import torch
    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Labels
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, Device, IntArray, MatrixLike

Metric: TypeAlias = Literal["euclidean", "cosine", "correlation"]
RandomState: TypeAlias = int | np.random.Generator | None

_LOGGER = logging.getLogger(__name__)

# The fewest points for which every measure is defined (trustworthiness needs 1 ≤ k < n / 2).
MIN_ROWS = 4
DEFAULT_MAX_ROWS = 10_000
# Squares of larger values overflow.
_MAX_VALUE = 1e150


F = TypeVar("F", bound="Callable[..., object]")
_SHARED_FIRST = """
X, Y : array-like of shape (n, d) and (n, 2 or 3)
    The data, and its map."""
_SHARED_LAST = """
**options
    `metric`, `random_state`, `device`, `n_jobs` and, where neighbourhoods are measured, `max_rows`;
    see :mod:`dtsne.quality`."""


def documented(measure: F) -> F:
    """Add to the docstring of a measure the parameters that all of them share."""
    rule, end = "Parameters\n----------", "\n\nReturns\n"
    doc = cleandoc(measure.__doc__ or "").replace(rule, rule + _SHARED_FIRST, 1)
    measure.__doc__ = doc.replace(end, _SHARED_LAST + end, 1)
    return measure


class Options(TypedDict, total=False):
    """The options of a measure of all points; see :mod:`dtsne.quality`."""

    metric: Metric
    random_state: RandomState
    device: Device
    n_jobs: int | None


class RowOptions(Options, total=False):
    """The options of a measure that may be taken around a sample of rows."""

    max_rows: int


@dataclass(frozen=True, eq=False)
class Spaces:
    """The same points in the data and in the map, row by row.

    Attributes
    ----------
    data, map : array of shape (n, d)
        Both of numpy, or both tensors of PyTorch on the device to work on. For the metrics of
        angles the rows of the data have length 1, so that distances are Euclidean. The data has no
        columns where only neighbours are known.
    """

    data: AnyArray
    map: AnyArray

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.data)

    @property
    def has_data(self) -> bool:
        """Whether the points have coordinates in the data."""
        return int(self.data.shape[1]) > 0


@contextmanager
def opened(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    metric: Metric = "euclidean",
    max_rows: int = DEFAULT_MAX_ROWS,
    random_state: RandomState = 0,
    device: Device = "cpu",
    n_jobs: int | None = None,
) -> Iterator[tuple[Spaces, IntArray, Threads]]:
    """Check what a measure is given, choose the rows to measure around, and start threads."""
    spaces = check_spaces(X, Y, metric, device)
    rows = choose_rows(spaces.n, max_rows, random_state)
    with open_threads(n_jobs) as threads:
        yield spaces, rows, threads


def check_spaces(
    X: MatrixLike, Y: ArrayLike, metric: str = "euclidean", device: Device = "cpu"
) -> Spaces:
    """Return data and map as float64 arrays, or raise an error if they do not fit each other."""
    resolved = device_for(device, X=X, Y=Y)
    data = _check_points(X, "X", resolved)
    map_ = _check_points(Y, "Y", resolved)
    check_same_rows(len(data), len(map_))
    if len(data) < MIN_ROWS:
        raise DataError(f"{len(data)} points are too few to measure", f"pass at least {MIN_ROWS}")
    check_choice("metric", metric, EUCLIDEAN_METRICS)
    if metric != "euclidean":
        from dtsne.data._prepare import with_centred_rows, with_unit_rows

        data = with_unit_rows(with_centred_rows(data) if metric == "correlation" else data)
    return Spaces(data, map_)


def check_same_rows(n_data: int, n_map: int) -> None:
    """Raise an error unless data and map have as many rows."""
    if n_data != n_map:
        reason = f"X has {n_data} rows and Y has {n_map}"
        raise DataError(reason, "pass both for the same points, in the same order", argument="Y")


def check_labels(labels: Labels, n: int) -> Groups:
    """Group the points by their labels, none of which may be missing."""
    groups = group_by(labels, n)
    if groups.missing.any():
        fix = "replace them by a label, or drop these points"
        raise DataError("labels has missing values", fix, argument="labels")
    return groups


def check_integer(name: str, value: int, minimum: int, maximum: int | None = None) -> int:
    """Return an integer option that lies between its bounds."""
    Parameter(name, "int", None, "", kind=int, minimum=minimum, maximum=maximum).check(value)
    return int(value)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise an error unless an option is one of its choices."""
    Parameter(name, "str", None, "", choices=choices).check(value)


def check_random_state(random_state: RandomState) -> None:
    """Reject what numpy's generators cannot be seeded with, before the work."""
    if not isinstance(random_state, np.random.Generator) and random_state is not None:
        others = "a numpy.random.Generator or None"
        seed = Parameter("random_state", "int", 0, "", kind=int, minimum=0, others=others)
        seed.check(random_state)


def choose_rows(n: int, max_rows: int, random_state: RandomState) -> IntArray:
    """Choose the rows to measure around: all, or a seeded sample when there are too many."""
    max_rows = check_integer("max_rows", max_rows, MIN_ROWS)
    check_random_state(random_state)
    if n <= max_rows:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, max_rows, replace=False))


def clip_neighbors(
    wanted: Mapping[str, int], n: int, n_known: int | None = None
) -> tuple[dict[str, int], str | None]:
    """Clip numbers of neighbours to what n points can have, or to those known, and say so.

    The scores of ranks are defined below half of the points.
    """
    half = (n - 1) // 2
    largest = half if n_known is None else min(half, n_known)
    used = {name: min(check_integer(name, k, 1), largest) for name, k in wanted.items()}
    changes = [f"{name} {wanted[name]} → {k}" for name, k in used.items() if k < wanted[name]]
    if not changes:
        return used, None
    reason = f"less than half of {n} points" if largest == half else "the precomputed neighbours"
    clipped = f"{', '.join(changes)} ({reason})"
    _LOGGER.info("clipped: %s", clipped)
    return used, clipped


def _check_points(values: MatrixLike, name: str, device: torch.device | None) -> AnyArray:
    from scipy.sparse import issparse

    if issparse(values):
        code = "sklearn.decomposition.TruncatedSVD(50)"
        raise DataTypeError(f"{name} is sparse", "reduce it first", in_python=code, argument=name)
    points = _as_numbers(values, name, device)
    if points.ndim != 2 or points.shape[1] == 0:
        raise DataError(
            f"{name} has shape {tuple(points.shape)}",
            "pass two dimensions, points by coordinates",
            in_python=f"a single coordinate as {name}.reshape(-1, 1)",
            argument=name,
        )
    xp = array_namespace(points)
    if not xp.isfinite(points).all():
        reason = f"{name} has NaN or infinite values"
        raise DataError(reason, "impute or drop these rows", argument=name)
    if (xp.abs(points) > _MAX_VALUE).any():
        reason = f"{name} has values above {_MAX_VALUE:g}, whose squares overflow"
        raise DataError(reason, "rescale it", argument=name)
    return points


def _as_numbers(values: MatrixLike, name: str, device: torch.device | None) -> AnyArray:
    """Return an array, or a tensor on a device, in float64."""
    if device is not None and is_tensor(values):
        from dtsne.data._points_torch import as_tensor

        tensor = as_tensor(values).detach()
        raw: AnyArray = tensor
        is_real = not tensor.is_complex()
    else:
        raw = np.asarray(values)
        is_real = raw.dtype.kind in "biufO"
    if not is_real:
        reason = f"{name} has values of type {raw.dtype}"
        raise DataTypeError(reason, "convert them to real numbers", argument=name)
    if isinstance(raw, np.ndarray):
        # Writeable, though nothing is written: numba compiles anew for read-only arrays, which is
        # what pandas gives.
        raw = np.require(raw, np.float64, ["C", "W"])
    if device is not None:
        import torch

        raw = torch.as_tensor(raw, dtype=torch.float64, device=device)
    return raw
