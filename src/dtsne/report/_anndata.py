"""A map and its report as entries of AnnData: their names, and values that h5ad files hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne._embedding import Result
from dtsne._version import __version__
from dtsne.runtime._arrays import to_host

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dtsne._embedding import Embedding
    from dtsne.labels._groups import LabelArray
    from dtsne.report import Report
    from dtsne.report._tables import ReportTable
    from dtsne.runtime._typing import FloatArray

# Parameters that do not change the map, or cannot be kept in a file.
_NOT_KEPT = frozenset({"callback", "checkpoint", "n_jobs", "neighbors", "verbose"})
# Columns of the points in a report that go to obs; one of them under a shorter name.
_COLUMNS = ("log_radius_data", "log_radius_map", "density_residual", "unreliable")
_SHORT_NAMES = {"log_radius_data": "log_radius"}
# Columns of groups that are labels, which are categories here, and so text.
_LABELS = frozenset({"label", "group", "reference"})


@dataclass(frozen=True)
class Keys:
    """The names under which a map lies in AnnData, all made of one.

    Attributes
    ----------
    uns : str
    """

    uns: str = "dtsne"

    @property
    def obsm(self) -> str:
        """Name of the map."""
        return f"X_{self.uns}"

    def obs(self, column: str) -> str:
        """Return the name of a column of the report."""
        return f"{self.uns}_{_SHORT_NAMES.get(column, column)}"


@dataclass(frozen=True, eq=False)
class Entries:
    """What to add to AnnData, by name, as :func:`dtsne.tables.write_h5ad` takes it."""

    obsm: dict[str, FloatArray]
    obs: dict[str, LabelArray]
    uns: dict[str, dict[str, object]]


def entries_of(
    embedding: Embedding,
    report: Report | None,
    parameters: Mapping[str, object],
    *,
    source: Mapping[str, object] | None = None,
    keys: Keys | None = None,
) -> Entries:
    """Lay out a map and its report.

    Parameters
    ----------
    embedding : Embedding
        The map.
    report : Report or None
        Its report; None where there is none, so that no columns come with the map.
    parameters : mapping of str to object
        Parameters of the model.
    source : mapping of str to object, optional
        Where the data came from (``use_rep``, ``layer`` …), to stand among these parameters, or
        instead of them.
    keys : Keys, optional
        The names.
    """
    keys = Keys() if keys is None else keys
    record: dict[str, object] = {
        "params": _drop_missing({**_plain(parameters), **(source or {})}),
        "perplexity": float(embedding.perplexity),
        "kl_divergence": float(embedding.kl_divergence),
        "n_iter": int(embedding.n_iter),
        "converged": embedding.result is Result.CONVERGED,
        "search_recall": float(embedding.neighbor_recall),
        "version": __version__,
    }
    columns: dict[str, LabelArray] = {}
    if report is not None:
        record |= _reported(report)
        points = report.points.columns()
        columns = {keys.obs(column): points[column] for column in _COLUMNS}
    return Entries({keys.obsm: to_host(embedding.coordinates)}, columns, {keys.uns: record})


def is_record(entry: object) -> bool:
    """Say whether an entry of uns is the record of a map."""
    return isinstance(entry, Mapping) and {"params", "version", "n_iter"} <= set(entry)


def _reported(report: Report) -> dict[str, object]:
    record: dict[str, object] = {
        **_drop_missing({"kernel_unit": report.kernel_unit, "radius_unit": report.radius_unit}),
        "quality": _drop_missing(report.quality.as_dict()),
        "reliability": _text(report.reliability),
    }
    if report.groups is not None and report.ratios is not None:
        record["groups"] = _columns(report.groups)
        if len(report.ratios):
            sentences = _text(report.ratios.sentences)
            record["ratios"] = {**_columns(report.ratios), "sentence": sentences}
    return record


def _plain(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters that matter for the map, as a file can hold them."""

    def plain(value: object) -> object:
        if value is None or np.isscalar(value):
            return value
        # Of the state of a generator there is nothing to keep.
        return None if isinstance(value, np.random.RandomState) else "array"

    return {name: plain(value) for name, value in parameters.items() if name not in _NOT_KEPT}


def _drop_missing(values: Mapping[str, object]) -> dict[str, object]:
    """Drop entries that are None, which older versions of h5ad cannot hold."""
    return {name: value for name, value in values.items() if value is not None}


def _columns(table: ReportTable) -> dict[str, LabelArray]:
    """Return the columns; labels, and others that are not numbers, as text."""
    return {
        name: values if values.dtype.kind in "iufb" and name not in _LABELS else _text(values)
        for name, values in table.columns().items()
    }


def _text(values: Iterable[object]) -> LabelArray:
    return np.array([str(value) for value in values], dtype=np.str_)
