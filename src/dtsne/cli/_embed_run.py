"""The work of ``dtsne embed``."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from click.exceptions import Exit

from dtsne._config import PARAMETERS
from dtsne._embed import embed
from dtsne._embedding import FitInterrupted
from dtsne.cli import _outputs
from dtsne.cli._errors import user_errors
from dtsne.cli._outputs import STDOUT
from dtsne.cli._pages import page_of
from dtsne.cli._signals import stop_code
from dtsne.cli._verbosity import print_result
from dtsne.io._files import WRITTEN, suffixes_of
from dtsne.labels._format import printable, renamed
from dtsne.report import report_of_embedding
from dtsne.report._anndata import Keys, entries_of
from dtsne.runtime._devices import device_for
from dtsne.runtime._errors import DataError
from dtsne.tables import write_h5ad, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dtsne._embedding import Embedding
    from dtsne.cli._embed import FitOptions, Products
    from dtsne.cli._reading import InputOptions
    from dtsne.io._table import Field
    from dtsne.labels._groups import Groups
    from dtsne.report import Report
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Job:
    """What is mapped, and how."""

    source: Path
    products: Products
    reading: InputOptions
    fit: FitOptions
    table: Table
    groups: Groups | None

    @property
    def fields(self) -> dict[str, Field]:
        """The columns of the input that are not mapped; numbers of groups with gaps, as groups."""
        labels, name = self.table.labels, self.reading.label
        if name is None or labels is None or self.groups is None or labels.dtype.kind != "f":
            return self.table.fields
        return {**self.table.fields, name: self.groups.labels}

    @property
    def title(self) -> str:
        """The title of picture and page."""
        return printable(self.products.title or self.source.name)

    def report(self, found: Embedding) -> Report:
        """Compare a map with the data."""
        _LOGGER.info("comparing the map of %s and the data", found.name)
        k, n_jobs = self.products.k, self.fit.config.n_jobs
        return report_of_embedding(found, self.groups, k=k, n_jobs=n_jobs)


def make_map(source: Path, products: Products, reading: InputOptions, fit: FitOptions) -> None:
    """Read, fit and write; whatever can be rejected is rejected before the fit."""
    _check_outputs(source, products, reading, fit)
    device_for(fit.config.device)  # raises an error if this machine does not have it
    table = reading.read(source)
    job = Job(source, products, reading, fit, table, reading.groups(table, source))
    found, code = _fit(job)
    maps = {found.name: found}
    with _note_written_output(job, "the map, without the report"):
        if products.compare_tsne and not code:
            tsne, code = _fit_tsne(job)
            maps |= {} if tsne is None else {tsne.name: tsne}
        report = None if products.skip_report else job.report(found)
        if products.output is not None:
            if report is not None:
                _write_map(job, found, report)
            _outputs.log_written(products.output)
    with _note_written_output(job, "the map"):
        _write_others(job, maps, report)
    if code:
        raise Exit(code)


def _check_outputs(
    source: Path, products: Products, reading: InputOptions, fit: FitOptions
) -> None:
    output, is_anndata = products.output, reading.is_anndata(source)
    if _is_h5ad(output) and not is_anndata:
        raise DataError(
            f"-o {output} would be a copy of the .h5ad that was read, and {source} is not one",
            "write a .csv or .parquet",
        )
    if _is_h5ad(output) and output == source and not products.overwrite:
        raise DataError(f"-o {output} is the input file", "name another, or add --overwrite")
    _outputs.check_outputs(
        {
            "-o": output,
            "--plot": products.plot,
            "--html": products.html,
            "--report": products.report,
            "--checkpoint": fit.checkpoint,
        },
        source,
        suffixes_of((*WRITTEN, "h5ad") if is_anndata else WRITTEN),
        overwrite_source=_is_h5ad(output) and products.overwrite,
    )


def _is_h5ad(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() == ".h5ad"


@contextmanager
def _note_written_output(job: Job, what: str) -> Iterator[None]:
    """Add to whatever goes wrong after the fit which output exists all the same."""
    try:
        yield
    except BaseException as error:
        if job.products.output is not None:
            error.add_note(f"{job.products.output} has {what}.")
        raise


def _fit(job: Job) -> tuple[Embedding, int]:
    """Fit the map and write it at once, as much may happen later; return it and the exit code."""
    output, checkpoint = job.products.output, job.fit.checkpoint
    code = 0
    try:
        with user_errors():
            found = embed(job.table.X, job.fit.config, checkpoint=checkpoint)
    except FitInterrupted as stop:
        found, code = stop.embedding, stop_code(stop)
    except KeyboardInterrupt as stop:
        _LOGGER.warning("stopped before there was a map; nothing was written.")
        raise Exit(stop_code(stop)) from None
    if output is not None:
        _write_map(job, found, None)
        if not (job.products.skip_report or code):
            _LOGGER.info("%s has the map; the report follows", output)
    if code:
        best = "the best map so far"
        kept = f"{best} is used" if output is None else f"{output} has {best}"
        if checkpoint is not None:
            kept += f"; the same command resumes from {checkpoint}"
        _LOGGER.warning("stopped at iteration %d: %s.", found.n_iter, kept)
    return found, code


def _fit_tsne(job: Job) -> tuple[Embedding | None, int]:
    """Fit t-SNE, to compare with, None if that was stopped; return it and the exit code."""
    _LOGGER.info("fitting t-SNE, to compare")
    try:
        with user_errors():
            return embed(job.table.X, replace(job.fit.config, density_scale=0.0)), 0
    except KeyboardInterrupt as stop:
        _LOGGER.warning("stopped; the map of t-SNE is left out.")
        return None, stop_code(stop)


def _write_others(job: Job, maps: dict[str, Embedding], report: Report | None) -> None:
    """Write the other files; the first map is the one that was asked for."""
    products, (found, *others) = job.products, maps.values()
    if products.report is not None and products.report != STDOUT and report is not None:
        _outputs.write_report(products.report, report, found.coordinates, job.table.ids)
    if products.plot is not None:
        with user_errors():
            drawn = _draw(job, maps, report)
        _outputs.write_picture(products.plot, drawn)
    if products.html is not None and report is not None:
        reports = {found.name: report, **{other.name: job.report(other) for other in others}}
        shown = {name: map_.coordinates for name, map_ in maps.items()}
        html = page_of(shown, reports, job.table, job.reading.label, job.title)
        _outputs.write_text(products.html, html)
    if products.report == STDOUT:  # last, as the reader of a pipe may be gone
        print_result(str(report))


def _draw(job: Job, maps: dict[str, Embedding], report: Report | None) -> Axes | Figure:
    from dtsne.cli import _pictures

    found, *others = maps.values()
    radii = None if report is None else _pictures.Radii.from_report(report)
    if not others:
        return _pictures.draw_map(found.coordinates, job.groups, radii, title=job.title)
    shown = {map_.name: map_.coordinates for map_ in (*others, found)}
    units = {} if radii is None or radii.unit is None else {found.name: radii.unit}
    return _pictures.draw_maps(shown, job.groups, radii, units, job.title)


def _write_map(job: Job, found: Embedding, report: Report | None) -> None:
    output = job.products.output
    assert output is not None
    columns: dict[str, Field] = {} if found.is_tsne else {"sigma": found.sigma}
    if report is not None:
        columns = {name: c for name, c in report.points.columns().items() if name != "label"}
    if _is_h5ad(output):
        _write_anndata(job, output, found, columns, report)
    else:
        # Names that the map itself may have; "dtsne" is its name in an .npz.
        axes = (f"dtsne_{i + 1}" for i in range(found.coordinates.shape[1]))
        carried = renamed(job.fields, {"id", "dtsne", *axes, *columns})
        fields = {**carried, **columns}
        write_table(output, found.coordinates, ids=job.table.ids, fields=fields)


def _write_anndata(
    job: Job, output: Path, found: Embedding, columns: dict[str, Field], report: Report | None
) -> None:
    """Write the map into a copy of the input, under the names of :mod:`dtsne.scanpy`."""
    source, keys, config = job.reading.transform_parameters, Keys(), job.fit.config
    parameters = {name: getattr(config, name) for name in PARAMETERS if hasattr(config, name)}
    entries = entries_of(found, report, parameters, source=source, keys=keys)
    write_h5ad(
        output,
        job.source,
        obsm=entries.obsm,
        obs={keys.obs(name): values for name, values in columns.items()},
        uns=entries.uns,
        overwrite_source=job.products.overwrite,
    )
