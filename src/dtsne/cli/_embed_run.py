"""The work of ``dtsne embed``."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from click.exceptions import Exit

from dtsne import DTSNE
from dtsne.cli import _outputs
from dtsne.cli._errors import user_errors
from dtsne.cli._outputs import STDOUT
from dtsne.cli._pages import page_of
from dtsne.cli._signals import stop_code
from dtsne.cli._verbosity import print_result
from dtsne.io._files import WRITTEN, suffixes_of
from dtsne.labels._format import printable, renamed
from dtsne.report._anndata import Keys, entries_of
from dtsne.runtime._devices import device_for
from dtsne.runtime._errors import DataError
from dtsne.tables import write_h5ad, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dtsne.cli._embed import Products
    from dtsne.cli._reading import InputOptions
    from dtsne.io._table import Field
    from dtsne.labels._groups import Groups
    from dtsne.report import Report
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)

_TSNE = "t-SNE"


@dataclass(frozen=True, eq=False)
class Job:
    """What is mapped, and how."""

    source: Path
    products: Products
    reading: InputOptions
    table: Table
    groups: Groups | None
    model: DTSNE
    tsne: DTSNE | None = None  # fitted, to compare

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


def make_map(source: Path, products: Products, reading: InputOptions, model: DTSNE) -> None:
    """Read, fit and write; whatever can be rejected is rejected before the fit."""
    _check_outputs(source, products, reading, model)
    device_for(model.device)  # raises an error if this machine does not have it
    table = reading.read(source)
    groups = reading.groups(table, source)
    job = Job(source, products, reading, table, groups, model)
    code = _fit(job)
    with _note_written_output(job, "the map, without the report"):
        if products.compare_tsne and not code:
            tsne, code = _fit_tsne(job)
            job = replace(job, tsne=tsne)
        report = None
        if not products.skip_report:
            _LOGGER.info("comparing map and data")
            report = _report(job, model)
        if products.output is not None:
            if report is not None:
                _write_map(job, report)
            _outputs.log_written(products.output)
    with _note_written_output(job, "the map"):
        _write_others(job, report)
    if code:
        raise Exit(code)


def _check_outputs(source: Path, products: Products, reading: InputOptions, model: DTSNE) -> None:
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
            "--checkpoint": None if model.checkpoint is None else Path(model.checkpoint),
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


def _fit(job: Job) -> int:
    """Fit the map and write it at once, as much may happen later; return the exit code."""
    model, output = job.model, job.products.output
    code = 0
    try:
        with user_errors():
            model.fit(job.table.X)
    except KeyboardInterrupt as stop:
        code = stop_code(stop)
        if not hasattr(model, "embedding_"):
            _LOGGER.warning("stopped before there was a map; nothing was written.")
            raise Exit(code) from None
    if output is not None:
        _write_map(job, None)
        if not (job.products.skip_report or code):
            _LOGGER.info("%s has the map; the report follows", output)
    if code:
        best = "the best map so far"
        kept = f"{best} is used" if output is None else f"{output} has {best}"
        if model.checkpoint is not None:
            kept += f"; the same command resumes from {model.checkpoint}"
        _LOGGER.warning("stopped at iteration %d: %s.", model.n_iter_, kept)
    return code


def _fit_tsne(job: Job) -> tuple[DTSNE | None, int]:
    """Fit t-SNE, to compare with, None if that was stopped; return it and the exit code."""
    parameters = {**job.model.get_params(), "density_scale": 0.0, "checkpoint": None}
    _LOGGER.info("fitting t-SNE, to compare")
    try:
        with user_errors():
            return DTSNE(**parameters).fit(job.table.X), 0
    except KeyboardInterrupt as stop:
        _LOGGER.warning("stopped; the map of t-SNE is left out.")
        return None, stop_code(stop)


def _report(job: Job, model: DTSNE) -> Report:
    return model.report(labels=job.groups, k=job.products.k)


def _write_others(job: Job, report: Report | None) -> None:
    """Write the other files."""
    products, Y = job.products, job.model.embedding_
    if products.report is not None and products.report != STDOUT and report is not None:
        _outputs.write_report(products.report, report, Y, job.table.ids)
    if products.plot is not None:
        with user_errors():
            drawn = _draw(job, report)
        _outputs.write_picture(products.plot, drawn)
    if products.html is not None and report is not None:
        name = _map_name(job.model)
        maps, reports = {name: Y}, {name: report}
        if job.tsne is not None:
            maps[_TSNE], reports[_TSNE] = job.tsne.embedding_, _report(job, job.tsne)
        html = page_of(maps, reports, job.table, job.reading.label, job.title)
        _outputs.write_text(products.html, html)
    if products.report == STDOUT:  # last, as the reader of a pipe may be gone
        print_result(str(report))


def _map_name(model: DTSNE) -> str:
    return _TSNE if model.density_scale == 0 else "dtSNE"


def _draw(job: Job, report: Report | None) -> Axes | Figure:
    from dtsne.cli import _pictures

    Y, name = job.model.embedding_, _map_name(job.model)
    radii = None if report is None else _pictures.Radii.from_report(report)
    if job.tsne is None:
        return _pictures.draw_map(Y, job.groups, radii, title=job.title)
    maps = {_TSNE: job.tsne.embedding_, name: Y}
    units = {} if radii is None or radii.unit is None else {name: radii.unit}
    return _pictures.draw_maps(maps, job.groups, radii, units, job.title)


def _write_map(job: Job, report: Report | None) -> None:
    output, model = job.products.output, job.model
    assert output is not None
    columns: dict[str, Field] = {} if model.density_scale == 0 else {"sigma": model.sigma_}
    if report is not None:
        columns = {name: c for name, c in report.points.columns().items() if name != "label"}
    if _is_h5ad(output):
        _write_anndata(job, output, columns, report)
    else:
        # Names that the map itself may have; "dtsne" is its name in an .npz.
        axes = (f"dtsne_{i + 1}" for i in range(model.n_components))
        carried = renamed(job.fields, {"id", "dtsne", *axes, *columns})
        write_table(output, model.embedding_, ids=job.table.ids, fields={**carried, **columns})


def _write_anndata(
    job: Job, output: Path, columns: dict[str, Field], report: Report | None
) -> None:
    """Write the map into a copy of the input, under the names of :mod:`dtsne.scanpy`."""
    model, source, keys = job.model, job.reading.transform_parameters, Keys()
    entries = entries_of(model._embedding, report, model.get_params(), source=source, keys=keys)
    write_h5ad(
        output,
        job.source,
        obsm=entries.obsm,
        obs={keys.obs(name): values for name, values in columns.items()},
        uns=entries.uns,
        overwrite_source=job.products.overwrite,
    )
