"""The account of a map: tables, and ways to hand them on."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dtsne.labels._groups import names_array
from dtsne.quality import ClusterRadii, Quality
from dtsne.report._radius_unit import factor_of_radii
from dtsne.report._tables import GroupTable, PointTable, RatioTable, floats
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from dtsne.report._tables import AccountTable, TableName

_FORMAT = "dtsne account 2"


@dataclass(frozen=True, eq=False)
class Account:
    """How faithful a map is, point by point; print it for a page to read.

    Attributes
    ----------
    points : PointTable
        A row for each point.
    groups : GroupTable or None
        A row for each label, if there are labels.
    ratios : RatioTable or None
        Spreads of pairs of groups, with intervals: of all pairs of up to six groups, of each with
        the largest beyond. ``ratios.sentences`` has them in words.
    whole : Quality
        The measures of :func:`dtsne.quality.evaluate`.
    perplexity : float or None
        That of the map, if known.
    map_unit : float or None
        What one unit of the map is in the data: the median σ, if σ is known. None for t-SNE's map
        (``density_scale=0``), which has no unit of the data.
    search_recall : float
        Share of the neighbours in the data that were found; nan for neighbours that were given.
    """

    points: PointTable
    groups: GroupTable | None
    ratios: RatioTable | None
    whole: Quality
    perplexity: float | None
    map_unit: float | None
    search_recall: float

    @property
    def radius_unit(self) -> float | None:
        """The distance in the data that is one unit of the map, by the radii; if σ is known.

        It is what a scale bar should show (see :func:`dtsne.plots.radius_unit`).
        """
        factor = factor_of_radii(self.points.log_radius_data, self.points.log_radius_map)
        return None if self.map_unit is None or factor is None else self.map_unit * factor

    @property
    def readings(self) -> tuple[str, ...]:
        """What densities, widths, neighbours and distances in the map mean, in words."""
        from dtsne.report._reading import readings

        return readings(self.points, self.groups, self.whole)

    def __str__(self) -> str:
        from dtsne.report._document import document_of

        return document_of(self).text()

    def to_markdown(self) -> str:
        """Return the page that `print` shows, as Markdown."""
        from dtsne.report._document import document_of

        return document_of(self).markdown()

    def to_pandas(self, table: TableName = "points") -> Any:
        """Return a table, "points", "groups" or "ratios", as a pandas data frame."""
        pandas = optional("pandas", purpose="A data frame of pandas")
        return pandas.DataFrame(self._table(table).columns())

    def to_polars(self, table: TableName = "points") -> Any:
        """Return a table, "points", "groups" or "ratios", as a polars data frame."""
        columns = self._table(table).columns()
        lists = {name: values.tolist() for name, values in columns.items()}
        polars = optional("polars", purpose="A data frame of polars")
        # Not strict: labels of several kinds become text, as polars has no other column for them.
        return polars.DataFrame(lists, strict=False)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, lists and dictionaries, and in words; nan is None."""
        return {
            "format": _FORMAT,
            "readings": list(self.readings),
            "comparisons": [] if self.ratios is None else list(self.ratios.sentences),
            **{f.name: _plain(getattr(self, f.name)) for f in fields(self)},
        }

    def to_json(self) -> str:
        """Return everything as JSON; :meth:`from_json` reads it."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote."""
        read = json.loads(text)
        if not isinstance(read, dict) or read.get("format") != _FORMAT:
            raise ValueError(f"This is no account: there is no format {_FORMAT!r} in it.")
        groups, ratios = read["groups"], read["ratios"]
        return cls(
            points=PointTable.from_columns(read["points"]),
            groups=None if groups is None else GroupTable.from_columns(groups),
            ratios=None if ratios is None else RatioTable.from_columns(ratios),
            whole=_quality_of(read["whole"]),
            perplexity=read["perplexity"],
            map_unit=read["map_unit"],
            search_recall=_number(read["search_recall"]),
        )

    def _table(self, name: TableName) -> AccountTable:
        if name not in ("points", "groups", "ratios"):
            raise ValueError(f"table={name!r} is not known; choose 'points', 'groups' or 'ratios'.")
        table: AccountTable | None = getattr(self, name)
        if table is None:
            raise ValueError(f"There are no {name}, as no labels were given; pass labels=….")
        return table


def _plain(value: Any) -> Any:
    """Turn values of any kind here into those of JSON."""
    if is_dataclass(value):
        plain = {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
        # Columns that are not known are left out; so they are None again when read.
        return {name: part for name, part in plain.items() if part is not None}
    if isinstance(value, np.ndarray):
        return [_plain(part) for part in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value


def _quality_of(read: dict[str, Any]) -> Quality:
    values: dict[str, Any] = dict.fromkeys((f.name for f in fields(Quality)), None)
    values |= read
    clusters = values["clusters"]
    for f in fields(Quality):
        if f.type == "float":
            values[f.name] = _number(values[f.name])
    if clusters is not None:
        values["clusters"] = ClusterRadii(
            names_array(clusters["labels"]),
            np.array(clusters["sizes"], dtype=np.int64),
            floats(clusters["data"]),
            floats(clusters["map"]),
            clusters.get("reference"),
        )
    return Quality(**values)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
