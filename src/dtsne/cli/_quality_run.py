"""The work of ``dtsne quality``."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from dtsne._embed import check_data
from dtsne.cli import _outputs
from dtsne.cli._errors import user_errors
from dtsne.cli._maps import JUDGED
from dtsne.cli._matching import matched
from dtsne.cli._outputs import STDOUT
from dtsne.cli._pages import page_of
from dtsne.cli._verbosity import print_result
from dtsne.data._prepare import prepare
from dtsne.io._files import WITH_COLUMNS, suffixes_of
from dtsne.labels._format import printable
from dtsne.report import _build
from dtsne.report._points import MapMetadata
from dtsne.report._sources import source_of
from dtsne.runtime._errors import DataError
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne import DTSNE
    from dtsne.cli._quality import DataOptions, ReportOptions
    from dtsne.cli._reading import InputOptions, SecondMapOptions
    from dtsne.io._table import TextArray
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)


def measure(
    source: Path,
    embedding: Path,
    reading: InputOptions,
    map_reading: SecondMapOptions,
    data: DataOptions,
    asked: ReportOptions,
) -> None:
    """Read both files, compare them and write the results."""
    model = data.model(verbose=0)
    files = {
        "EMBEDDING": embedding,
        "--points": asked.points,
        "--plot": asked.plot,
        "--html": asked.html,
        "--report": asked.report,
    }
    _outputs.check_outputs(files, source, suffixes_of(WITH_COLUMNS))
    table = reading.read(source)
    groups = reading.groups(table, source)
    found = map_reading.read(embedding, likely_id=reading.file.id_column)
    table, found = matched(table, found, (source, embedding), by_order=map_reading.by_order)
    if asked.html is not None and found.Y.shape[1] != 2:
        raise DataError(
            f"{embedding} is not a map of 2 dimensions, which --html needs", "remove it"
        )
    if asked.perplexity is not None and asked.perplexity >= len(found.Y):
        raise DataError(
            f"--perplexity {asked.perplexity:g} must be smaller than the number of points "
            f"({len(found.Y):,})",
            "give the perplexity with which the map was made, or remove the option",
        )
    with open_threads(model.n_jobs) as threads:
        with user_errors():
            prepared = prepare(
                check_data(table.X, model.metric),
                metric=model.metric,
                n_pcs=model.n_pcs,
                neighbors=model.neighbors,
            )
        _log_reduction(table, model)
        metadata = MapMetadata.checked(len(found.Y), found.sigma, asked.perplexity)
        report = _build.make_report(
            source_of(prepared, found.Y.astype(float)),
            _build.ReportOptions(groups, asked.radius_k, asked.k_neighborhood),
            replace(metadata, at_floor=found.sigma_at_bound),
            threads,
        )
    ids = table.ids if table.ids is not None else found.ids
    _write_tables(report, found.Y, ids, asked)
    if asked.plot is not None:
        from dtsne import plots
        from dtsne.cli._pictures import Radii

        radii, title = Radii.from_report(report), printable(embedding.name)
        with user_errors():
            drawn = plots.radius_plot(
                radii.data, radii.map, labels=groups, unit=radii.unit, title=title
            )
        _outputs.write_picture(asked.plot, drawn)
    if asked.html is not None:
        name, named = printable(embedding.stem), replace(table, ids=ids)
        html = page_of(
            {name: found.Y},
            {name: report},
            named,
            reading.label,
            printable(embedding.name),
        )
        _outputs.write_text(asked.html, html)
    # Last, as the reader of a pipe may be gone.
    if asked.as_json:
        print_result(report.to_json())
    elif asked.report in (None, STDOUT):
        print_result(str(report))


def _log_reduction(table: Table, model: DTSNE) -> None:
    n, d = table.X.shape
    reduced = model.metric in ("euclidean", "cosine", "correlation")
    if reduced and model.n_pcs is not None and min(n - 1, d) > model.n_pcs:
        _LOGGER.info(
            "compared with %d principal components, as dtsne maps them (--n-pcs none: with the "
            "data as it is)",
            model.n_pcs,
        )


def _write_tables(
    report: Report, Y: FloatArray, ids: TextArray | None, asked: ReportOptions
) -> None:
    if asked.report is not None and asked.report != STDOUT:
        _outputs.write_report(asked.report, report, Y, ids)
    if asked.points is not None:
        # Not under our name, as it may be the map of another tool.
        _outputs.write_points(asked.points, Y, ids, report.points.columns(), name=JUDGED)
