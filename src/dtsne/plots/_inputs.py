"""Checks of what is to be drawn, so that every picture starts from clean arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from dtsne.labels._format import is_missing, is_whole, shown_text
from dtsne.labels._groups import by_name
from dtsne.runtime._arrays import on_host
from dtsne.runtime._errors import DataError, DataTypeError, ParameterError, setting

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray

T = TypeVar("T")
# Something for each label: by label, of any kind, or in the order of the labels.
ByLabel: TypeAlias = Mapping[Any, T] | Sequence[T]


def check_values(values: ArrayLike, n: int, argument: str) -> FloatArray:
    """Return one float for each point, NaN for what is missing."""
    column = np.asarray(on_host(values))
    if column.shape != (n,):
        reason = f"{argument} has shape {column.shape} for {n:,} points"
        raise DataError(reason, "pass one value for each point", argument=argument)
    if column.dtype.kind == "O":
        column = np.array([np.nan if is_missing(v) else v for v in column.tolist()])
    if column.dtype.kind not in "biuf":
        reason = f"{argument} holds {column.dtype}, which is not numeric"
        raise DataTypeError(reason, f"pass groups as {setting('labels')}", argument=argument)
    return column.astype(np.float64)


def check_radii(values: ArrayLike, n: int, argument: str) -> FloatArray:
    """Return one radius for each point, not negative, NaN for what is missing."""
    radii = check_values(values, n, argument)
    if (radii < 0).any():
        fix = "pass radii, not their logarithms"
        raise DataError(f"{argument} has negative values", fix, argument=argument)
    return radii


def check_unit(unit: float) -> float:
    """Return the distance in the data that is one unit of the map."""
    if np.ndim(unit) or not np.isfinite(unit) or not unit > 0:
        raise ParameterError(
            "unit",
            unit,
            "one positive number, the distance in the data that is one unit of the map",
            in_python="dtsne.plots.radius_unit(log_radius_data, log_radius_map)",
        )
    return float(unit)


def check_names(names: ByLabel[str] | None, labels: Sequence[Any]) -> tuple[str, ...]:
    """Return what is written for each label."""
    if names is None:
        return tuple(shown_text(str(int(x) if is_whole(x) else x)) for x in labels)
    if isinstance(names, Mapping):
        of_name = by_name(names)
        return tuple(shown_text(str(of_name.get(label, label))) for label in labels)
    try:
        return tuple(shown_text(str(names[label])) for label in labels)
    except (TypeError, IndexError) as error:
        raise DataError(
            f"names is a list of {len(names)}, and the labels are not indices into it",
            "pass a dict from label to name",
            argument="names",
        ) from error
