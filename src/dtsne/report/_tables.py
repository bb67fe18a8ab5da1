"""The tables of a report: columns of equal length, under names."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np

from dtsne.labels._groups import names_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dtsne.labels._groups import Label, LabelArray
    from dtsne.runtime._typing import BoolArray, FloatArray, HostArray, IntArray

TableName: TypeAlias = Literal["points", "groups", "ratios"]


def floats(values: Sequence[float | None]) -> FloatArray:
    """Turn plain values into numbers; None is nan."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


# How the values of a column become an array, as an empty list does not show their kind; others are
# floats.
_INTEGERS = {"from_list": partial(np.array, dtype=np.int64)}
_FLAGS = {"from_list": partial(np.array, dtype=np.bool_)}
_LABELS = {"from_list": names_array}


@dataclass(frozen=True, eq=False)
class ReportTable:
    """Columns of equal length; a column that is not known is None."""

    def columns(self) -> dict[str, HostArray]:
        """Return the known columns by name, in order."""
        known = ((column.name, getattr(self, column.name)) for column in fields(self))
        return {name: values for name, values in known if values is not None}

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Label | None]]) -> Self:
        """Build the table from lists, in which None stands for nan."""
        known = (column for column in fields(cls) if column.name in columns)
        return cls(**{c.name: c.metadata.get("from_list", floats)(columns[c.name]) for c in known})


@dataclass(frozen=True, eq=False)
class PointTable(ReportTable):
    """One row for each point, in the order of the data.

    Attributes
    ----------
    log_radius_data, log_radius_map : ndarray of float
        Natural logarithm of the local radius, the distance to the k-th nearest neighbour, each
        space with its own neighbours. With σ, both are in the unit of the map, the median σ;
        without, each minus its median, so that 0 is a typical point. nan where the radius is 0, or
        a millionth of a typical one, which is rounding: at points with k duplicates.
    density_residual : ndarray of float
        ``log_radius_map - log_radius_data`` minus its median. +0.69 (log 2) means that the point
        has twice the local radius it should have; −0.69, half. nan where a radius is nan, and where
        it reaches beyond the cluster (`k_too_large`).
    neighbor_recall : ndarray of float
        Share of the nearest neighbours in the data that are also nearest in the map. Ties count as
        kept whichever of them is found.
    is_duplicate : ndarray of bool
        Whether another point is the same, up to rounding.
    k_too_large : ndarray of bool
        Whether the point is in a cluster of at most k points. Its radius is then the distance to
        another cluster and no density. This is not an error of the map; choose a smaller k.
    cluster_size : ndarray of int
        Number of points of the cluster that is too small, for k or for the perplexity; 0 for
        points in no such cluster.
    unreliable : ndarray of bool
        Whether the local radius in the map should not be read as density: the radius is 0,
        `sigma_at_bound`, `perplexity_too_large`, or the map has lost the neighbours (a recall of at
        most 0.1) and the radius is wrong by more than a factor of 2.
    sigma : ndarray of float or None
        The scale of the point in the data; None for a t-SNE map, whose kernel has one scale.
    sigma_at_bound : ndarray of bool or None
        Whether σ was not estimated from the data: a duplicate that was spread out, or clipped to
        the floor. None if only σ is known.
    perplexity_too_large : ndarray of bool or None
        Whether the point is in a cluster of fewer than 1.25 × perplexity points. σ and the local
        radius in the map then come from outside the cluster. Found by the gap around the cluster,
        and by the number of points of a label if most neighbours of its points have that label.
    label : ndarray or None
        None for a point without a label.
    """

    log_radius_data: FloatArray
    log_radius_map: FloatArray
    density_residual: FloatArray
    neighbor_recall: FloatArray
    is_duplicate: BoolArray = field(metadata=_FLAGS)
    k_too_large: BoolArray = field(metadata=_FLAGS)
    cluster_size: IntArray = field(metadata=_INTEGERS)
    unreliable: BoolArray = field(metadata=_FLAGS)
    sigma: FloatArray | None = None
    sigma_at_bound: BoolArray | None = field(default=None, metadata=_FLAGS)
    perplexity_too_large: BoolArray | None = field(default=None, metadata=_FLAGS)
    label: LabelArray | None = field(default=None, metadata=_LABELS)


@dataclass(frozen=True, eq=False)
class GroupTable(ReportTable):
    """One row for each label, in the order of a categorical column, or sorted.

    Attributes
    ----------
    label : ndarray
    n : ndarray of int
        Number of points.
    spread_data, spread_map : ndarray of float
        RMS radius, √(Σ|x − mean|² / (n − 1)), each in the unit of its space; nan for a single
        point, for duplicates of one, and where the data has no coordinates. By n − 1, as groups of
        few points would look narrower than they are.
    map_over_data : ndarray of float
        Map/data ratio of the spread, relative to a typical group: 1.1 is 10 % too wide in the map.
    log_radius_data, log_radius_map, density_residual : ndarray of float
        Median over the points of the group of the columns of these names.
    own_neighbors : ndarray of float
        Share of the `k_neighborhood` nearest neighbours of its points in the data (of n − 1, if
        that is less) that are in the group.
    largest_component_data, largest_component_map : ndarray of float
        Share of its points in its largest connected component. Points are connected if one is among
        the `k_neighborhood` nearest of the other.
    share_unreliable : ndarray of float
        Share of its points that are unreliable.
    reliable : ndarray of bool
        Whether its spread in the map has a meaning.
    caveat : ndarray of str
        Why it has none: "split" (one component in the data, several in the map), "too small for the
        perplexity", "mostly unreliable"; empty if it has.
    below_perplexity : ndarray of bool or None
        Whether it has fewer than 1.25 × perplexity points. For a label that is not a cluster, such
        as a donor or batch, this is not an artefact.
    """

    label: LabelArray = field(metadata=_LABELS)
    n: IntArray = field(metadata=_INTEGERS)
    spread_data: FloatArray
    spread_map: FloatArray
    map_over_data: FloatArray
    log_radius_data: FloatArray
    log_radius_map: FloatArray
    density_residual: FloatArray
    own_neighbors: FloatArray
    largest_component_data: FloatArray
    largest_component_map: FloatArray
    share_unreliable: FloatArray
    reliable: BoolArray = field(metadata=_FLAGS)
    caveat: LabelArray = field(metadata=_LABELS)
    below_perplexity: BoolArray | None = field(default=None, metadata=_FLAGS)


@dataclass(frozen=True, eq=False)
class RatioTable(ReportTable):
    """One row for each pair of groups that is compared.

    Attributes
    ----------
    group, reference : ndarray
        Labels. Of up to six groups every pair is listed once, the group with the larger spread in
        the data first (in the map, where the data has no coordinates). Of more groups, each is
        compared with the largest group that is reliable.
    data, map : ndarray of float
        Spread of the group over the spread of the reference.
    map_over_data : ndarray of float
        `map` over `data`: 1.1 if the map draws the group 10 % too wide, relative to the reference.
    data_low, data_high, map_low, map_high, map_over_data_low, map_over_data_high : ndarray of float
        95 % bootstrap intervals over the choice of the points, which is the same in data and map.
        nan for groups of fewer than 5 distinct points, or with so many duplicates that 1 % of the
        resamples have no spread. They do not include the variation between fits.
    reliable : ndarray of bool
        Whether the spreads of both in the map have a meaning.
    caveat : ndarray of str
        Why they have none; empty if they have.
    """

    group: LabelArray = field(metadata=_LABELS)
    reference: LabelArray = field(metadata=_LABELS)
    data: FloatArray
    data_low: FloatArray
    data_high: FloatArray
    map: FloatArray
    map_low: FloatArray
    map_high: FloatArray
    map_over_data: FloatArray
    map_over_data_low: FloatArray
    map_over_data_high: FloatArray
    reliable: BoolArray = field(metadata=_FLAGS)
    caveat: LabelArray = field(metadata=_LABELS)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every row in words."""
        return tuple(map(self._sentence, range(len(self))))

    def _sentence(self, row: int) -> str:
        group, reference = self.group[row], self.reference[row]
        in_map = _with_interval(self.map[row], self.map_low[row], self.map_high[row])
        if np.isnan(self.data[row]):
            said = f"{group} is {in_map} times as wide as {reference} in the map"
        else:
            in_data = _with_interval(self.data[row], self.data_low[row], self.data_high[row])
            said = f"{group} is {in_data} times as wide as {reference} in the data"
            said += f", {in_map} in the map"
        if self.caveat[row]:
            return f"{said}. ({self.caveat[row]}: such spreads have no meaning.)"
        low, high = self.map_over_data_low[row], self.map_over_data_high[row]
        # Only where it is more than the choice of the points would make it, to two digits.
        if low >= 1.005 or high < 0.995:
            ratio = _with_interval(self.map_over_data[row], low, high)
            said += f": {ratio} times the ratio in the data"
        return f"{said}."


def _with_interval(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return three_digits(value)
    return f"{three_digits(value)} ({three_digits(low)}–{three_digits(high)})"


def three_digits(value: float) -> str:
    """Write a positive number with three digits, and none of them as a power of ten."""
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f}"


def radius_ratio(log_radius_data: FloatArray, log_radius_map: FloatArray) -> float | None:
    """Return the median of local radius in the data over that in the map; None if none is known."""
    factors = log_radius_data - log_radius_map
    known = factors[np.isfinite(factors)]
    return float(np.exp(np.median(known))) if len(known) else None
