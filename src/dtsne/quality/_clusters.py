"""Sizes of labelled groups: what a viewer of a map reads off first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._duplicates import SAME
from dtsne.quality._inputs import check_labels, documented, opened
from dtsne.runtime._document import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.labels._groups import Groups, Label, LabelArray, Labels
    from dtsne.quality._inputs import Options
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ClusterRadii:
    """Radii of labelled groups in data and map, relative to those of a reference group.

    Attributes
    ----------
    labels : ndarray
        The labels, in the order of a categorical column, or sorted.
    sizes : ndarray of int
        Number of points of each label.
    data, map : ndarray of float
        Radius of each label over that of the reference; nan where one of its radii is 0.
    reference : object
        The first label that has a radius in both spaces; None if no label has, and then all is nan.
    """

    labels: LabelArray
    sizes: IntArray
    data: FloatArray
    map: FloatArray
    reference: Label | None

    @property
    def error(self) -> FloatArray:
        """Radius in the map over radius in the data, minus 1: 0.1 is drawn 10 % too large."""
        return self.map / self.data - 1

    @property
    def largest_error(self) -> float:
        """The error farthest from 0, with its sign; nan if there is none."""
        known = self.error[np.isfinite(self.error)]
        return float(known[np.abs(known).argmax()]) if len(known) else float("nan")

    def __str__(self) -> str:
        columns = zip(self.labels, self.sizes, self.data, self.map, self.error, strict=True)
        rows = [
            (str(label), f"{size:,}", f"{data:.3f}", f"{map_:.3f}", f"{error:+.1%}")
            for label, size, data, map_, error in columns
        ]
        return Table(rows, header=("label", "points", "data", "map", "error")).text()


@documented
def cluster_radius_ratios(
    X: ArrayLike, Y: ArrayLike, labels: Labels, **options: Unpack[Options]
) -> ClusterRadii:
    """Compare the spread of labelled groups in the data with that in the map.

    The radius of a label is the root mean square distance of its points to their mean::

        R_c = √( Σ_{i ∈ c} ‖x_i − mean_c‖² / (n_c − 1) )

    in each space, over that of the first label (in the order of the labels). For the metrics of
    angles, they are radii of rows scaled to length 1.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Numbers or strings, none missing.

    Returns
    -------
    ClusterRadii
        A label of one point, or of duplicates of one (in the data to a millionth of the spread of
        all points), has no radius: it is nan, and never the reference.
    """
    with opened(X, Y, **options) as (spaces, _, _):
        return compare_radii(spaces.data, spaces.map, check_labels(labels, spaces.n))


def compare_radii(data: AnyArray, map_: AnyArray, groups: Groups) -> ClusterRadii:
    """Compare the radii of checked inputs."""
    data_radii = spreads(data, groups.members)
    map_radii = spreads(map_, groups.members, same=0.0)
    usable = np.flatnonzero(np.isfinite(data_radii) & np.isfinite(map_radii))
    if len(usable) == 0:
        unknown = np.full(len(groups.names), np.nan)
        return ClusterRadii(groups.names, groups.sizes, unknown, unknown, None)
    first = usable[0]
    return ClusterRadii(
        groups.names,
        groups.sizes,
        data_radii / data_radii[first],
        map_radii / map_radii[first],
        groups.names[first],
    )


def spreads(points: AnyArray, members: Sequence[IntArray], same: float = SAME) -> FloatArray:
    """Return the spread of each group of points; nan for a single point and duplicates of one.

    Duplicates lie within the share `same` of the spread of all points. For a map the share is 0: a
    method that draws a cluster on nearly one spot must be reported.
    """
    least = same * spread(points)
    found = np.array([spread(points[of_group]) for of_group in members])
    return np.where(found > least, found, np.nan)


def spread(points: AnyArray) -> float:
    """Root mean square distance of points to their mean, √(Σ|x − mean|²/(n − 1)); 0 for duplicates.

    By n − 1, as groups of few points would look narrower than they are.
    """
    # Compared rather than computed: the mean of duplicates is one only up to rounding.
    if (points == points[0]).all():
        return 0.0
    return math.sqrt(((points - points.mean(0)) ** 2).sum() / (len(points) - 1))
