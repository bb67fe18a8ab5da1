"""Checks of what users pass in, shared by all stations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._arrays import on_host
from dtsne.runtime._errors import DataError, DataTypeError, setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray


def check_embedding(
    Y: ArrayLike, argument: str = "Y", *, n_components: int | None = None
) -> FloatArray:
    """Return an embedding as an array of float64 on the host.

    Parameters
    ----------
    Y : array-like of shape (n, d)
        The embedding.
    argument : str, default "Y"
        What messages call it.
    n_components : int or None, default None
        The d that is needed; None for any.

    Returns
    -------
    ndarray of shape (n, d)

    Raises
    ------
    DataTypeError
        If the values are not real numbers.
    DataError
        If the shape is another one, a value is not finite, or there are no rows.
    """
    points = np.asarray(on_host(Y))
    if points.dtype.kind not in "biufO":
        reason = f"{argument} holds {points.dtype}"
        raise DataTypeError(reason, "convert it to real numbers", argument=argument)
    points = points.astype(np.float64)
    if points.ndim != 2 or n_components not in (None, points.shape[1]):
        raise _wrong_shape(points, argument, n_components)
    if points.size == 0:
        raise DataError(f"{argument} has no points", "pass at least one", argument=argument)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise DataError(
            f"{argument} has NaN or infinite values in {bad.size:,} of {len(points):,} rows (the "
            f"first is row {bad[0]})",
            "drop these points, here and in all that has one entry for each point",
            in_python=f"np.isfinite({argument}).all(axis=1)",
            argument=argument,
        )
    return points


def check_maps(maps: Mapping[str, ArrayLike], argument: str = "maps") -> dict[str, FloatArray]:
    """Return two-dimensional embeddings of the same points by name, each checked."""
    if not maps:
        raise DataError(f"{argument} is empty", "pass at least one map by name", argument=argument)
    checked = {
        str(name): check_embedding(Y, f"{argument}[{name!r}]", n_components=2)
        for name, Y in maps.items()
    }
    if len(checked) < len(maps):
        raise DataError(f"two {argument} have the same name", "rename one", argument=argument)
    sizes = {name: len(Y) for name, Y in checked.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(
            f"the {argument} have different numbers of points ({sizes})",
            "pass embeddings of the same points, in the same order",
            argument=argument,
        )
    return checked


def _wrong_shape(points: FloatArray, argument: str, d: int | None) -> DataError:
    reason = f"{argument} has shape {points.shape}, and an embedding has shape (n, {d or 'd'})"
    if d is None:
        return DataError(reason, "pass a table of points by coordinates", argument=argument)
    fix = f"fit with {setting('n_components', d)}, or "
    if points.ndim == 1 or points.shape[1:] == (1,):
        fix, code = f"{fix}draw a histogram", f"ax.hist(np.ravel({argument}), bins=100)"
    else:
        fix, code = f"{fix}choose {d} of the coordinates", f"{argument}[:, :{d}]"
    return DataError(reason, fix, in_python=code, argument=argument)
