"""Where a map and its report go in AnnData: the names, and values that an h5ad file can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtsne._estimator import DTSNE
    from dtsne.report import Report
    from dtsne.report._tables import ReportTable

# What does not change the map, or cannot be kept in a file.
_NOT_KEPT = frozenset({"callback", "checkpoint", "n_jobs", "neighbors", "verbose"})
# Columns of obs, and the columns of the report that they come from.
OBS_COLUMNS = {
    "log_radius": "log_radius_data",
    "log_radius_map": "log_radius_map",
    "density_residual": "density_residual",
    "unreliable": "unreliable",
}

# Columns of groups that are labels, which are categories here, and so text.
_LABELS = frozenset({"label", "group", "reference"})


@dataclass(frozen=True, eq=False)
class Entries:
    """What to add to AnnData, by the names under which it goes there.

    They are also the arguments of :func:`dtsne.tables.write_h5ad`.
    """

    obsm: dict[str, Any]
    obs: dict[str, Any]
    uns: dict[str, Any]


def in_obs(column: str, key: str = "dtsne") -> str:
    """Return what a column of the report is called in obs."""
    short = {long: short for short, long in OBS_COLUMNS.items()}
    return f"{key}_{short.get(column, column)}"


def entries_of(
    model: DTSNE,
    report: Report,
    *,
    key: str = "dtsne",
    params: Mapping[str, Any] | None = None,
) -> Entries:
    """Lay out a fitted model and its report.

    Parameters
    ----------
    model : DTSNE
        A fitted one.
    report : Report
        The result of ``model.report()``.
    key : str, default="dtsne"
        What the names are made of.
    params : mapping of str to str or number, optional
        Where the data came from (``use_rep``, ``layer``, ``n_pcs``, ``groupby`` …), to stand among
        the parameters of the model, or instead of them.

    Returns
    -------
    Entries
        ``obsm["X_<key>"]``, the columns of ``obs`` called ``<key>_…``, and ``uns["<key>"]``.
    """
    points = report.points.columns()
    return Entries(
        obsm={f"X_{key}": model.embedding_},
        obs={in_obs(column, key): points[column] for column in OBS_COLUMNS.values()},
        uns={key: _record(model, report, params or {})},
    )


def is_ours(entry: Any) -> bool:
    """Say whether an entry of uns is one that this tool left."""
    return hasattr(entry, "keys") and {"params", "version", "n_iter"} <= set(entry.keys())


def _record(model: DTSNE, report: Report, params: Mapping[str, Any]) -> dict[str, Any]:
    of_fit = {
        "perplexity": float(model.perplexity_),
        "kl_divergence": float(model.kl_divergence_),
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
        "search_recall": float(model.neighbor_recall_),
        "kernel_unit": report.kernel_unit,
        "radius_unit": report.radius_unit,
        "version": __version__,
    }
    record: dict[str, Any] = {
        "params": known({**params_of(model), **params}),
        **known(of_fit),
        "quality": known(report.quality.as_dict()),
        "reliability": _text(report.reliability),
    }
    if report.groups is not None and report.ratios is not None:
        record["groups"] = _columns(report.groups)
        if len(report.ratios):
            record["ratios"] = {
                **_columns(report.ratios),
                "sentence": _text(report.ratios.sentences),
            }
    return record


def params_of(model: DTSNE) -> dict[str, Any]:
    """Return the parameters that matter for the map, as a file can hold them."""
    return {
        name: value if np.isscalar(value) else _kind(value)
        for name, value in model.get_params().items()
        if name not in _NOT_KEPT
    }


def _kind(value: Any) -> str | None:
    """Say "array" of an array; of the state of a generator there is nothing to say."""
    return None if value is None or isinstance(value, np.random.RandomState) else "array"


def known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None, which older versions of h5ad cannot hold."""
    return {name: value for name, value in values.items() if value is not None}


def _columns(table: ReportTable) -> dict[str, Any]:
    """Return the columns, labels and those that are no numbers as text."""
    return {
        name: values if values.dtype.kind in "iufb" and name not in _LABELS else _text(values)
        for name, values in table.columns().items()
    }


def _text(values: Any) -> Any:
    return np.array([str(value) for value in values], dtype=np.str_)
