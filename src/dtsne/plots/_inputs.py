"""Checks of what is to be drawn, so that every picture starts from clean arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.labels._format import is_missing, is_whole, shown_text
from dtsne.labels._groups import by_name
from dtsne.runtime._kinds import on_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray


def check_map(Y: ArrayLike, name: str = "Y") -> FloatArray:
    """Return a map as an array of shape (n, 2), or say why it cannot be drawn."""
    points = np.asarray(on_host(Y))
    if points.dtype.kind not in "biufO":
        raise TypeError(f"{name} holds {points.dtype}; convert it to real numbers.")
    points = points.astype(np.float64)
    if points.ndim == 1 or (points.ndim == 2 and points.shape[1] == 1):
        raise ValueError(
            f"{name} has one coordinate, and a map two; fit with n_components=2, "
            f"or draw it as a histogram: ax.hist(np.ravel({name}), bins=100)."
        )
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{name} has shape {points.shape}, and a flat map (n, 2); fit with n_components=2, "
            f"or choose two of the coordinates, such as {name}[:, :2]."
        )
    bad = int((~np.isfinite(points)).any(axis=1).sum())
    if bad:
        raise ValueError(
            f"{name} has {bad:,} of {len(points):,} rows with NaN or infinity; "
            f"leave them out, here and in the labels: np.isfinite({name}).all(axis=1)."
        )
    if len(points) == 0:
        raise ValueError(f"{name} has no rows; there is nothing to draw.")
    return points


def check_values(values: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one float for each point; whatever is missing is nan."""
    column = np.asarray(on_host(values))
    _check_length(column, n, name)
    if column.dtype.kind == "O":
        column = np.array([np.nan if is_missing(v) else v for v in column.tolist()])
    if column.dtype.kind not in "biuf":
        raise TypeError(f"{name} holds {column.dtype}, not numbers; give these as labels=.")
    return column.astype(np.float64)


def check_radii(values: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one radius for each point, none negative; whatever is missing is nan."""
    radii = check_values(values, n, name)
    if (radii < 0).any():
        raise ValueError(f"{name} has negative values; give radii, not their logarithms.")
    return radii


def check_unit(unit: float) -> float:
    """Return the length that one unit of the map has in the data."""
    if np.ndim(unit) or not np.isfinite(unit) or not unit > 0:
        raise ValueError(
            f"unit={unit!r} has to be one positive number, the distance in the data that is one "
            "unit of the map: dtsne.plots.radius_unit(log_radius_data, log_radius_map)."
        )
    return float(unit)


def check_names(
    names: Mapping[Any, str] | Sequence[str] | None, labels: Sequence[Any]
) -> tuple[str, ...]:
    """Return what is written for each label."""
    if names is None:
        return tuple(shown_text(str(int(x) if is_whole(x) else x)) for x in labels)
    if isinstance(names, Mapping):
        of_name = by_name(names)
        return tuple(shown_text(str(of_name.get(label, label))) for label in labels)
    try:
        return tuple(shown_text(str(names[label])) for label in labels)
    except (TypeError, IndexError) as error:
        raise ValueError(
            f"names is a list of {len(names)} and the labels are not indices into it; "
            "give a dict from label to name."
        ) from error


def _check_length(column: np.ndarray[Any, Any], n: int, name: str) -> None:
    if column.shape != (n,):
        raise ValueError(
            f"{name} has shape {column.shape} for {n:,} points; give one value for each point."
        )
