"""The work of ``dtsne quality``."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from dtsne._config import EUCLIDEAN_METRICS
from dtsne._embed import check_data
from dtsne.cli import _outputs
from dtsne.cli._errors import user_errors
from dtsne.cli._maps import MEASURED, matched
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

    from dtsne._config import Config
    from dtsne.cli._maps import MapFile
    from dtsne.cli._quality import DataOptions, ReportOptions
    from dtsne.cli._reading import InputOptions, SecondMapOptions
    from dtsne.labels._groups import Groups
    from dtsne.report import Report
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
        raise DataError(f"{embedding} is not a map of 2 dimensions", "remove --html")
    report = _compared(table, found, groups, data.config, asked)
    if table.ids is None:
        table = replace(table, ids=found.ids)
    _write_files(report, table, found, groups, embedding, reading.label, asked)
    # Last, as the reader of a pipe may be gone.
    if asked.as_json:
        print_result(report.to_json())
    elif asked.report in (None, STDOUT):
        print_result(str(report))


def _compared(
    table: Table, found: MapFile, groups: Groups | None, config: Config, asked: ReportOptions
) -> Report:
    n, n_pcs = len(found.Y), config.n_pcs
    if asked.perplexity is not None and asked.perplexity >= n:
        raise DataError(
            f"--perplexity {asked.perplexity:g} must be smaller than the number of points ({n:,})",
            "give the perplexity with which the map was made, or remove the option",
        )
    with user_errors():
        data = prepare(check_data(table.X, config.metric), metric=config.metric, n_pcs=n_pcs)
    can_reduce = config.metric in EUCLIDEAN_METRICS
    if can_reduce and n_pcs is not None and min(n - 1, table.X.shape[1]) > n_pcs:
        _LOGGER.info(
            "compared with %d principal components, as dtsne maps them (--n-pcs none: with the "
            "data as it is)",
            n_pcs,
        )
    options = _build.ReportOptions(groups, asked.radius_k, asked.k_neighborhood)
    metadata = MapMetadata.checked(n, found.sigma, asked.perplexity)
    metadata = replace(metadata, at_floor=found.sigma_at_bound)
    with open_threads(config.n_jobs) as threads:
        return _build.make_report(
            source_of(data, found.Y.astype(float)), options, metadata, threads
        )


def _write_files(
    report: Report,
    table: Table,
    found: MapFile,
    groups: Groups | None,
    embedding: Path,
    label: str | None,
    asked: ReportOptions,
) -> None:
    Y, ids, title = found.Y, table.ids, printable(embedding.name)
    if asked.report is not None and asked.report != STDOUT:
        _outputs.write_report(asked.report, report, Y, ids)
    if asked.points is not None:
        # Not under our name, as it may be the map of another tool.
        _outputs.write_points(asked.points, Y, ids, report.points.columns(), name=MEASURED)
    if asked.plot is not None:
        from dtsne.cli._pictures import Radii

        with user_errors():
            drawn = Radii.from_report(report).draw(groups, title=title)
        _outputs.write_picture(asked.plot, drawn)
    if asked.html is not None:
        name = printable(embedding.stem)
        _outputs.write_text(asked.html, page_of({name: Y}, {name: report}, table, label, title))
