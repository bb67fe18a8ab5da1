"""Maps beside one another: the same points, turned so that they lie alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._kinds import on_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray


def check_maps(maps: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
    """Turn maps into float64 arrays of one shape (n, 2), or say why they are none."""
    if not maps:
        raise ValueError("there is no map; give at least one, such as {'dtSNE': Y}.")
    checked = {str(name): _check_map(str(name), map_) for name, map_ in maps.items()}
    if len(checked) < len(maps):
        raise ValueError("two maps have the same name; give each a name of its own.")
    sizes = {name: len(map_) for name, map_ in checked.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"the maps have different numbers of points ({sizes}); "
            "give all for the same points, in the same order."
        )
    return checked


def _check_map(name: str, map_: ArrayLike) -> FloatArray:
    checked = np.asarray(on_host(map_), dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] != 2:
        raise ValueError(
            f"map {name!r} has shape {checked.shape}; a page shows two dimensions, so give an "
            "array of shape (n, 2), such as Y[:, :2]."
        )
    if not len(checked):
        raise ValueError(f"map {name!r} has no points; give at least one.")
    bad = np.flatnonzero(~np.isfinite(checked).all(axis=1))
    if bad.size:
        raise ValueError(
            f"map {name!r} has {bad.size} points with NaN or infinite coordinates (the first is "
            f"row {bad[0]}); leave these points out of the maps, the columns and the ids."
        )
    return checked


def aligned(maps: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Centre all maps, and turn and mirror each onto the first; their scales stay as they are."""
    centred = {name: map_ - map_.mean(axis=0) for name, map_ in maps.items()}
    first = next(iter(centred.values()))
    return {
        name: map_ if map_ is first else map_ @ _rotation(map_, first)
        for name, map_ in centred.items()
    }


def _rotation(map_: FloatArray, onto: FloatArray) -> FloatArray:
    """Find the orthogonal matrix that brings a centred map closest to another (Procrustes)."""
    left, _, right = np.linalg.svd(map_.T @ onto)
    rotation: FloatArray = left @ right
    return rotation
