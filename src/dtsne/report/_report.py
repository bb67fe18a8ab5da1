"""The report on a map: tables, and their conversion to other formats."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dtsne.labels._groups import names_array
from dtsne.quality import ClusterRadii, Quality
from dtsne.quality._inputs import check_choice
from dtsne.quality._summary import MEASURES
from dtsne.report._tables import GroupTable, PointTable, RatioTable, floats, radius_ratio
from dtsne.runtime._errors import DataError
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from dtsne.report._tables import ReportTable, TableName

_FORMAT, _FORMER_FORMAT = "dtsne report 3", "dtsne account 2"
# What the former format calls by other names.
_RENAMED = {
    "copy": "is_duplicate",
    "drawn": "map_over_data",
    "drawn_low": "map_over_data_low",
    "drawn_high": "map_over_data_high",
    "lowered": "clipped",
    "map_unit": "kernel_unit",
    "piece_data": "largest_component_data",
    "piece_map": "largest_component_map",
    "whole": "quality",
}


@dataclass(frozen=True, eq=False)
class Report:
    """How faithful a map is, point by point, group by group and as a whole; print it to read it.

    Attributes
    ----------
    points : PointTable
        A row for each point.
    groups : GroupTable or None
        A row for each label, if there are labels.
    ratios : RatioTable or None
        Spread ratios of pairs of groups, with intervals. ``ratios.sentences`` has them in words.
    quality : Quality
        The measures of :func:`dtsne.quality.evaluate`.
    perplexity : float or None
        The perplexity of the map, if known.
    kernel_unit : float or None
        One unit of the kernel of the map, in the unit of the data: the median σ, if σ is known.
        None for a t-SNE map (``density_scale=0``), which has no unit of the data.
    search_recall : float
        Share of the neighbours in the data that were found; nan for precomputed neighbours.

    See Also
    --------
    report_of : The report on any map.
    dtsne.DTSNE.report : The report on the map of a fitted model.
    """

    points: PointTable
    groups: GroupTable | None
    ratios: RatioTable | None
    quality: Quality
    perplexity: float | None
    kernel_unit: float | None
    search_recall: float

    @property
    def radius_unit(self) -> float | None:
        """The distance in the data that is one unit of the map, by the local radii.

        It is what a scale bar shows (see :func:`dtsne.plots.radius_unit`); None if σ is not known.
        """
        factor = radius_ratio(self.points.log_radius_data, self.points.log_radius_map)
        return None if self.kernel_unit is None or factor is None else self.kernel_unit * factor

    @property
    def reliability(self) -> tuple[str, ...]:
        """How reliable densities, spreads, neighbours and distances in the map are, in words."""
        from dtsne.report._reading import reliability_of

        return reliability_of(self.points, self.groups, self.quality)

    def __str__(self) -> str:
        from dtsne.report._document import document_of

        return document_of(self).text()

    def to_markdown(self) -> str:
        """Return the text that `print` shows, as Markdown."""
        from dtsne.report._document import document_of

        return document_of(self).markdown()

    def to_pandas(self, table: TableName = "points") -> pd.DataFrame:
        """Return a table, "points", "groups" or "ratios", as a pandas data frame."""
        pandas = optional("pandas", purpose="A data frame of pandas")
        frame: pd.DataFrame = pandas.DataFrame(self._table(table).columns())
        return frame

    def to_polars(self, table: TableName = "points") -> pl.DataFrame:
        """Return a table, "points", "groups" or "ratios", as a polars data frame."""
        columns = self._table(table).columns()
        lists = {name: values.tolist() for name, values in columns.items()}
        polars = optional("polars", purpose="A data frame of polars")
        # Not strict: labels of several kinds become text, as polars has no other column for them.
        frame: pl.DataFrame = polars.DataFrame(lists, strict=False)
        return frame

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values, lists and dictionaries, and in words; nan is None."""
        return {
            "format": _FORMAT,
            "reliability": list(self.reliability),
            "comparisons": [] if self.ratios is None else list(self.ratios.sentences),
            **{f.name: _plain(getattr(self, f.name)) for f in fields(self)},
        }

    def to_json(self) -> str:
        """Return everything as JSON; :meth:`from_json` reads it."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text of :meth:`to_json`, also in the former format "dtsne account 2"."""
        read = json.loads(text)
        found = read.get("format") if isinstance(read, dict) else None
        if found == _FORMER_FORMAT:
            read = json.loads(text, object_hook=_with_new_names)
        elif found != _FORMAT:
            raise DataError(f"not a dtsne report (expected format {_FORMAT!r})", argument="text")
        groups, ratios = read["groups"], read["ratios"]
        return cls(
            points=PointTable.from_columns(read["points"]),
            groups=None if groups is None else GroupTable.from_columns(groups),
            ratios=None if ratios is None else RatioTable.from_columns(ratios),
            quality=_quality_of(read["quality"]),
            perplexity=read["perplexity"],
            kernel_unit=read["kernel_unit"],
            search_recall=float(floats([read["search_recall"]])[0]),
        )

    def _table(self, name: TableName) -> ReportTable:
        check_choice("table", name, ("points", "groups", "ratios"))
        table: ReportTable | None = getattr(self, name)
        if table is None:
            reason = f"a report without labels has no table of {name}"
            raise DataError(reason, "pass labels to the report", argument="labels")
        return table


def _plain(value: object) -> object:
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


def _with_new_names(read: dict[str, object]) -> dict[str, object]:
    caveat = read.get("caveat")
    if isinstance(caveat, list):
        read["caveat"] = [str(text).replace("torn", "split") for text in caveat]
    return {_RENAMED.get(name, name): value for name, value in read.items()}


def _quality_of(read: dict[str, Any]) -> Quality:
    values: dict[str, Any] = dict.fromkeys((f.name for f in fields(Quality)), None)
    values |= dict.fromkeys(MEASURES, float("nan")) | read
    clusters = read.get("clusters")
    if clusters is not None:
        values["clusters"] = ClusterRadii(
            names_array(clusters["labels"]),
            np.array(clusters["sizes"], dtype=np.int64),
            floats(clusters["data"]),
            floats(clusters["map"]),
            clusters.get("reference"),
        )
    return Quality(**values)
