"""The tables of an account: columns of equal length, under names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dtsne._typing import FloatArray, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Labels: TypeAlias = np.ndarray[Any, Any]
TableName: TypeAlias = Literal["points", "groups", "ratios"]


@dataclass(frozen=True, eq=False)
class AccountTable:
    """Columns of equal length; one that is not known is None."""

    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the known columns by name, in order."""
        known = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: values for name, values in known if values is not None}

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]]) -> Self:
        """Build the table from lists, in which None stands for nan."""
        return cls(**{name: array_of(values) for name, values in columns.items()})


@dataclass(frozen=True, eq=False)
class PointTable(AccountTable):
    """One row for each point, in the order of the data.

    Attributes
    ----------
    log_radius_data, log_radius_map : ndarray of float
        Natural logarithm of the distance to the k-th nearest neighbour, in each space its own. With
        σ, both in the unit of the map, which is the median σ; without, each less its median, so
        that 0 is a typical point. nan where the radius is 0, for a point with k copies.
    density_residual : ndarray of float
        ``log_radius_map - log_radius_data``, less its median: log 2 = .69 for a point drawn with
        twice the room it should have, −.69 for one with half of it. nan where a radius is, and
        where it reaches beyond the cluster (`k_too_large`).
    neighbor_recall : ndarray of float
        Share of its nearest neighbours in the data that are so in the map. Of neighbours equally
        far, any will do.
    copy : ndarray of bool
        Whether another point is exactly the same.
    k_too_large : ndarray of bool
        Whether the point is in a cluster of at most k points, so that its radius is the distance to
        another cluster, and says nothing of density. It is no fault of the map; choose a smaller k.
    cluster_size : ndarray of int
        The number of points of the cluster that is too small, for k or for the perplexity; 0 for
        points in none.
    unreliable : ndarray of bool
        Whether the room around the point in the map should not be read as density: its radius is 0,
        `sigma_at_bound`, `perplexity_too_large`, or the map has lost its neighbours (a recall of at
        most .1) and its room is wrong by more than a factor of 2.
    sigma : ndarray of float or None
        The scale that the method took for the point, in the unit of the data.
    sigma_at_bound : ndarray of bool or None
        Whether σ was raised to its lower bound, as copies or near-copies have none.
    perplexity_too_large : ndarray of bool or None
        Whether the point is in a cluster of too few points for the perplexity (fewer than 1.25
        times it), so that σ, and the room in the map, come from outside of the cluster. Found by
        the gap around the cluster, and by the number of points of the label.
    label : ndarray or None
        None for a point that has none.
    """

    log_radius_data: FloatArray
    log_radius_map: FloatArray
    density_residual: FloatArray
    neighbor_recall: FloatArray
    copy: BoolArray
    k_too_large: BoolArray
    cluster_size: IntArray
    unreliable: BoolArray
    sigma: FloatArray | None = None
    sigma_at_bound: BoolArray | None = None
    perplexity_too_large: BoolArray | None = None
    label: Labels | None = None


@dataclass(frozen=True, eq=False)
class GroupTable(AccountTable):
    """One row for each label, sorted.

    Attributes
    ----------
    label : ndarray
    n : ndarray of int
        Number of points.
    spread_data, spread_map : ndarray of float
        Root mean square distance of its points to their mean, √(Σ|x − mean|² / (n − 1)), each in
        the unit of its space; nan for a single point, for copies of one, and where the data has no
        coordinates. By n − 1, as groups of few points would look narrower than they are.
    log_radius_data, log_radius_map : ndarray of float
        Median over its points of the columns of these names.
    density_residual : ndarray of float
        The same of that column: 0 if its points have the room that they should have.
    piece_data, piece_map : ndarray of float
        Share of its points in its largest piece, points being in one piece if they are among the
        `k_neighborhood` nearest of one another, or linked by others of the group that are.
    share_unreliable : ndarray of float
    """

    label: Labels
    n: IntArray
    spread_data: FloatArray
    spread_map: FloatArray
    log_radius_data: FloatArray
    log_radius_map: FloatArray
    density_residual: FloatArray
    piece_data: FloatArray
    piece_map: FloatArray
    share_unreliable: FloatArray

    @property
    def drawn(self) -> FloatArray:
        """Spread in the map over that in the data, 1 being typical: 1.1 is 10 % too wide."""
        ratios = self.spread_map / self.spread_data
        known = ratios[np.isfinite(ratios)]
        typical = np.median(known) if len(known) else np.nan
        scaled: FloatArray = ratios / typical
        return scaled


@dataclass(frozen=True, eq=False)
class RatioTable(AccountTable):
    """One row for each pair of groups that is compared.

    Attributes
    ----------
    group, reference : ndarray
        Labels. Up to six groups every pair is there once, the one of the larger spread in the data
        first (in the map, where the data has no coordinates); of more, each with the one of the
        most points.
    data, map : ndarray of float
        Spread of the group over that of the reference.
    data_low, data_high, map_low, map_high : ndarray of float
        95 % intervals by the bootstrap, over the choice of the points; nan for groups of fewer than
        5 points. Those of the map take the map as it is: they do not say what another fit would
        draw.
    """

    group: Labels
    reference: Labels
    data: FloatArray
    data_low: FloatArray
    data_high: FloatArray
    map: FloatArray
    map_low: FloatArray
    map_high: FloatArray

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every row in words."""
        rows = zip(*self.columns().values(), strict=True)
        return tuple(_sentence(*row) for row in rows)


def _sentence(
    group: Any,
    reference: Any,
    data: float,
    data_low: float,
    data_high: float,
    map_: float,
    map_low: float,
    map_high: float,
) -> str:
    in_map = _with_interval(map_, map_low, map_high)
    if np.isnan(data):
        return f"{group} is {in_map} times as wide as {reference} in the map."
    in_data = _with_interval(data, data_low, data_high)
    return f"{group} is {in_data} times as wide as {reference} in the data, {in_map} in the map."


def _with_interval(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return three_digits(value)
    return f"{three_digits(value)} ({three_digits(low)}–{three_digits(high)})"


def three_digits(value: float) -> str:
    """Write a positive number with three digits, and none of them as a power of ten."""
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f}"


def array_of(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Turn plain values of one kind, or None for nan, into an array; of texts None is None."""
    if None in values and any(isinstance(value, str) for value in values):
        return np.array(values, object)
    return np.array([np.nan if value is None else value for value in values])
