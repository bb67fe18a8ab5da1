"""The tables of an account: columns of equal length, under names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from dtsne.labels._groups import names_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dtsne.labels._groups import LabelArray as Labels
    from dtsne.runtime._typing import FloatArray, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]
TableName: TypeAlias = Literal["points", "groups", "ratios"]


def floats(values: Sequence[float | None]) -> FloatArray:
    """Turn plain values into numbers; None is nan."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


# By the type of the field, as an empty list does not say what it is of.
_FROM_LIST: dict[str, Callable[[Sequence[Any]], np.ndarray[Any, Any]]] = {
    "FloatArray": floats,
    "IntArray": partial(np.array, dtype=np.int64),
    "BoolArray": partial(np.array, dtype=np.bool_),
    "Labels": names_array,
}


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
        types = {field.name: str(field.type).removesuffix(" | None") for field in fields(cls)}
        return cls(**{name: _FROM_LIST[types[name]](v) for name, v in columns.items()})


@dataclass(frozen=True, eq=False)
class PointTable(AccountTable):
    """One row for each point, in the order of the data.

    Attributes
    ----------
    log_radius_data, log_radius_map : ndarray of float
        Natural logarithm of the distance to the k-th nearest neighbour, in each space its own. With
        σ, both in the unit of the map, which is the median σ; without, each less its median, so
        that 0 is a typical point. nan where the radius is 0 (or a millionth of a typical one, which
        is rounding), for a point with k copies.
    density_residual : ndarray of float
        ``log_radius_map - log_radius_data``, less its median: log 2 = .69 for a point drawn with
        twice the room it should have, −.69 for one with half of it. nan where a radius is, and
        where it reaches beyond the cluster (`k_too_large`).
    neighbor_recall : ndarray of float
        Share of its nearest neighbours in the map that are so in the data. Of neighbours equally
        far, any will do.
    copy : ndarray of bool
        Whether another point is the same, but for rounding.
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
        The scale that the method took for the point, in the unit of the data; None for t-SNE's map,
        whose kernel has one scale for all points.
    sigma_at_bound : ndarray of bool or None
        Whether σ is not one of the data, as copies and near-copies have none: it was raised to its
        lower bound, or is that of copies that the fit moved apart. None if only σ is known.
    perplexity_too_large : ndarray of bool or None
        Whether the point is in a cluster of too few points for the perplexity (fewer than 1.25
        times it), so that σ, and the room in the map, come from outside of the cluster. Found by
        the gap around the cluster; and by the number of points of the label, where most neighbours
        of its points are of that label too, so that it is one of a cluster.
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
    """One row for each label, in the order of a categorical column, or sorted.

    Attributes
    ----------
    label : ndarray
    n : ndarray of int
        Number of points.
    spread_data, spread_map : ndarray of float
        Root mean square distance of its points to their mean, √(Σ|x − mean|² / (n − 1)), each in
        the unit of its space; nan for a single point, for copies of one, and where the data has no
        coordinates. By n − 1, as groups of few points would look narrower than they are.
    drawn : ndarray of float
        Spread in the map over that in the data, 1 being typical: 1.1 is 10 % too wide.
    log_radius_data, log_radius_map : ndarray of float
        Median over its points of the columns of these names.
    density_residual : ndarray of float
        The same of that column: 0 if its points have the room that they should have.
    own_neighbors : ndarray of float
        Share of the `k_neighborhood` nearest neighbours of its points in the data (of n − 1, if
        that is less) that are of the group.
    piece_data, piece_map : ndarray of float
        Share of its points in its largest piece, points being in one piece if they are among the
        `k_neighborhood` nearest of one another, or linked by others of the group that are.
    share_unreliable : ndarray of float
    reliable : ndarray of bool
        Whether its width in the map means something.
    caveat : ndarray of str
        Why it does not: "torn" (one piece in the data, several in the map), "too small for the
        perplexity", "mostly unreliable"; "" if it does.
    below_perplexity : ndarray of bool or None
        Whether it has fewer than 1.25 × perplexity points. If it is no cluster, but lies among the
        points of others, there is nothing wrong with that.
    """

    label: Labels
    n: IntArray
    spread_data: FloatArray
    spread_map: FloatArray
    drawn: FloatArray
    log_radius_data: FloatArray
    log_radius_map: FloatArray
    density_residual: FloatArray
    own_neighbors: FloatArray
    piece_data: FloatArray
    piece_map: FloatArray
    share_unreliable: FloatArray
    reliable: BoolArray
    caveat: Labels
    below_perplexity: BoolArray | None = None


@dataclass(frozen=True, eq=False)
class RatioTable(AccountTable):
    """One row for each pair of groups that is compared.

    Attributes
    ----------
    group, reference : ndarray
        Labels. Up to six groups every pair is there once, the one of the larger spread in the data
        first (in the map, where the data has no coordinates); of more, each with the one of the
        most points among those whose width means something.
    data, map : ndarray of float
        Spread of the group over that of the reference.
    drawn : ndarray of float
        `map` over `data`: 1.1 if the map draws the group 10 % too wide beside the reference.
    data_low, data_high, map_low, map_high, drawn_low, drawn_high : ndarray of float
        95 % intervals by the bootstrap, over the choice of the points, which is the same in data
        and map; nan for groups of fewer than 5 different points, or in which so many are copies
        that 1 % of the resamples have no spread. They take the map as it is: they do not say what
        another fit would draw.
    reliable : ndarray of bool
        Whether the widths of both in the map mean something.
    caveat : ndarray of str
        Why they do not, in words; "" if they do.
    """

    group: Labels
    reference: Labels
    data: FloatArray
    data_low: FloatArray
    data_high: FloatArray
    map: FloatArray
    map_low: FloatArray
    map_high: FloatArray
    drawn: FloatArray
    drawn_low: FloatArray
    drawn_high: FloatArray
    reliable: BoolArray
    caveat: Labels

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
            return f"{said}. ({self.caveat[row]}: such widths mean nothing.)"
        # Only where it is more than the choice of the points would make it, to two digits.
        if self.drawn_low[row] >= 1.005 or self.drawn_high[row] < 0.995:
            drawn = self.drawn[row], self.drawn_low[row], self.drawn_high[row]
            said += f": {_with_interval(*drawn)} times what it should be"
        return f"{said}."


def _with_interval(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return three_digits(value)
    return f"{three_digits(value)} ({three_digits(low)}–{three_digits(high)})"


def three_digits(value: float) -> str:
    """Write a positive number with three digits, and none of them as a power of ten."""
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f}"
