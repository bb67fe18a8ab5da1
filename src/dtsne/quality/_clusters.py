"""Sizes of labelled groups: what a viewer of a map reads off first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.quality._inputs import check_labels, check_spaces

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ClusterRadii:
    """Radii of labelled groups in data and map, relative to those of a group of reference.

    Attributes
    ----------
    labels : ndarray
        The labels, sorted.
    sizes : ndarray of int
        Number of points of each label.
    data, map : ndarray of float
        Radius of each label over that of the reference; nan where one of its radii is 0.
    reference : object
        The first label that has a radius in both spaces; None if no label has, and then all is nan.
    """

    labels: np.ndarray[Any, Any]
    sizes: IntArray
    data: FloatArray
    map: FloatArray
    reference: Any

    @property
    def error(self) -> FloatArray:
        """Radius in the map over that in the data, less 1: .1 is drawn 10 % too large."""
        return self.map / self.data - 1

    @property
    def largest_error(self) -> float:
        """The error that is farthest from 0, with its sign; nan if there is none."""
        known = self.error[np.isfinite(self.error)]
        return float(known[np.abs(known).argmax()]) if len(known) else float("nan")

    def __str__(self) -> str:
        width = max(5, *(len(str(label)) for label in self.labels))
        lines = [f"{'label':<{width}}  {'points':>8}  {'data':>8}  {'map':>8}  {'error':>8}"]
        lines += [
            f"{label!s:<{width}}  {size:>8,}  {data:>8.3f}  {map_:>8.3f}  {error:>+8.1%}"
            for label, size, data, map_, error in zip(
                self.labels, self.sizes, self.data, self.map, self.error, strict=True
            )
        ]
        return "\n".join(lines)


def cluster_radius_ratios(
    X: ArrayLike, Y: ArrayLike, labels: ArrayLike, *, device: Any = "cpu"
) -> ClusterRadii:
    """Compare the spread of labelled groups in the data with that in the map.

    The radius of a label is the root mean square distance of its points to their mean::

        R_c = √( mean_{i ∈ c} ‖x_i − mean_c‖² )

    in each space, over that of the first label (in sorted order).

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (n, 2 or 3)
    labels : array-like of shape (n,)
        Numbers or strings, none missing.
    device
        See :mod:`dtsne.quality`.

    Returns
    -------
    ClusterRadii
        A label of one point, or of copies of one, has no radius: it is nan, and is passed over as
        the reference.
    """
    spaces = check_spaces(X, Y, device=device)
    return compare_radii(spaces.data, spaces.map, check_labels(labels, spaces.n))


def compare_radii(data: Any, map_: Any, labels: np.ndarray[Any, Any]) -> ClusterRadii:
    """Compare the radii of checked inputs."""
    try:
        names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise ValueError(
            "labels mix kinds that have no order; convert them, e.g. with list(map(str, labels))."
        ) from error
    groups = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    data_radii = np.array([_radius(data[members]) for members in groups])
    map_radii = np.array([_radius(map_[members]) for members in groups])
    usable = np.flatnonzero(np.isfinite(data_radii) & np.isfinite(map_radii))
    if len(usable) == 0:
        unknown = np.full(len(names), np.nan)
        return ClusterRadii(names, sizes, unknown, unknown, None)
    first = usable[0]
    return ClusterRadii(
        names, sizes, data_radii / data_radii[first], map_radii / map_radii[first], names[first]
    )


def _radius(points: Any) -> float:
    # Compared rather than computed: the mean of copies is a copy only up to rounding.
    if (points == points[0]).all():
        return float("nan")
    centered = points - points.mean(axis=0)
    return math.sqrt((centered**2).sum(axis=1).mean())
