"""The work of ``dtsne embed``."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from dtsne import DTSNE, __version__
from dtsne.cli import _outputs
from dtsne.cli._labels import as_groups, for_account
from dtsne.cli._pages import page_of
from dtsne.cli._running import STOPPED
from dtsne.scanpy._layout import entries_of
from dtsne.tables import TableError, check_output, write_h5ad

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne._typing import FloatArray
    from dtsne.account import Account
    from dtsne.cli._embed import Products
    from dtsne.cli._reading import InputOptions
    from dtsne.tables import Table
    from dtsne.tables._table import Field, TextArray

_LOGGER = logging.getLogger(__name__)

_DTSNE, _TSNE = "dtSNE", "t-SNE"
# Columns of the account that are called otherwise in the obs of an AnnData.
_IN_OBS = {"log_radius_data": "log_radius"}


@dataclass(frozen=True, eq=False)
class Job:
    """What is mapped, and how."""

    source: Path
    products: Products
    reading: InputOptions
    table: Table
    groups: TextArray | None
    model: DTSNE
    others: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What stands above picture and page."""
        return self.products.title or self.source.name


def make_map(source: Path, products: Products, reading: InputOptions, model: DTSNE) -> None:
    """Read, fit and write; what can be refused is refused before the fit."""
    _check_outputs(source, products, reading)
    table = reading.read(source)
    groups = as_groups(table.labels, reading.label, source)
    job = Job(source, products, reading, table, groups, model)
    stopped = _fit(job)
    if products.compare_tsne and not stopped:
        stopped = _fit_tsne(job)
    account = None
    if products.account:
        _LOGGER.info("comparing map and data")
        # As far as the method looks, unless asked otherwise.
        k = products.k or max(1, round(model.perplexity_))
        account = model.report(labels=for_account(groups), k=k)
    _write(job, account)
    if stopped:
        raise typer.Exit(STOPPED)


def _check_outputs(source: Path, products: Products, reading: InputOptions) -> None:
    output = products.output
    named = {
        "-o": output,
        "--plot": products.plot,
        "--html": products.html,
        "--report": products.report,
    }
    _outputs.check_different(named)
    if output is not None and output.suffix.lower() == ".h5ad":
        if not reading.is_anndata(source):
            raise TableError(
                f"{output}: an .h5ad is written as a copy of the one that was read, and {source} "
                "is none; name a .csv or .parquet."
            )
        _check_anndata(output, source, products)
    else:
        _outputs.check_table(output, source)
    _outputs.check_picture(products.plot, source)
    _outputs.check_page(products.html, source)
    _outputs.check_report(products.report, source)


def _check_anndata(output: Path, source: Path, products: Products) -> None:
    try:
        check_output(output, source, overwrite_source=products.overwrite)
    except FileExistsError as error:
        raise FileExistsError(
            f"{output} is the file to read; name another, or add --overwrite to have the map in it."
        ) from error
    _outputs.require("h5ad")


def _fit(job: Job) -> bool:
    """Fit the map; return whether it was stopped, and then keep what there is at once."""
    model = job.model
    try:
        model.fit(job.table.X)
    except KeyboardInterrupt:
        if not hasattr(model, "embedding_"):
            _LOGGER.warning("stopped before there was a map; nothing was written.")
            raise typer.Exit(STOPPED) from None
    else:
        return False
    what = "the best map so far is used"
    if job.products.output is not None:
        _write_map(job, None)
        what = f"{job.products.output} has the best map so far"
    more = "" if model.checkpoint is None else f"; the same command goes on from {model.checkpoint}"
    _LOGGER.warning("stopped at iteration %d: %s%s.", model.n_iter_, what, more)
    return True


def _fit_tsne(job: Job) -> bool:
    """Fit t-SNE's map; return whether it was stopped, and then leave it out."""
    parameters = {**job.model.get_params(), "density_scale": 0.0, "checkpoint": None}
    _LOGGER.info("t-SNE's map, to compare")
    try:
        job.others[_TSNE] = DTSNE(**parameters).fit_transform(job.table.X)
    except KeyboardInterrupt:
        _LOGGER.warning("stopped: t-SNE's map is left out.")
        return True
    return False


def _write(job: Job, account: Account | None) -> None:
    """Write what was asked for, the map first."""
    products, Y = job.products, job.model.embedding_
    if products.output is not None:
        _write_map(job, account)
    if products.report is not None and account is not None:
        _outputs.write_report(products.report, account, Y, job.table.ids)
    if products.plot is not None:
        _outputs.write_picture(products.plot, _drawn(job, account))
    if products.html is not None and account is not None:
        maps = {_DTSNE: Y, **job.others}
        groups = (job.reading.label, job.groups)
        html = page_of(maps, account, job.table, groups, job.title)
        _outputs.write_text(products.html, html)


def _drawn(job: Job, account: Account | None) -> Any:
    from dtsne.cli import _pictures

    Y = job.model.embedding_
    radii = None if account is None else _pictures.Radii.of(account)
    if not job.others:
        return _pictures.draw_map(Y, job.groups, radii, title=job.title)
    maps = {**job.others, _DTSNE: Y}
    units = {} if radii is None or radii.unit is None else {_DTSNE: radii.unit}
    return _pictures.draw_maps(maps, job.groups, radii, units=units, title=job.title)


def _write_map(job: Job, account: Account | None) -> None:
    output, model = job.products.output, job.model
    assert output is not None
    columns = _known_of_points(model, account)
    if output.suffix.lower() == ".h5ad":
        _write_anndata(job, output, columns, account)
    else:
        taken = {"id", *columns, *(f"dtsne_{i + 1}" for i in range(model.n_components))}
        carried = {
            f"{name} (given)" if name in taken else name: values
            for name, values in job.table.fields.items()
        }
        _outputs.write_points(output, model.embedding_, job.table.ids, {**carried, **columns})


def _known_of_points(model: DTSNE, account: Account | None) -> dict[str, Field]:
    if account is None:
        return {"sigma": model.sigma_}
    return {name: c for name, c in account.points.columns().items() if name != "label"}


def _write_anndata(
    job: Job, output: Path, columns: dict[str, Field], account: Account | None
) -> None:
    """Write the map into a copy of the input, under the names of :mod:`dtsne.scanpy`."""
    model = job.model
    record: dict[str, Any] = {"dtsne": {"version": __version__, "n_iter": int(model.n_iter_)}}
    if account is not None:
        record = entries_of(model, account, params=job.reading.said()).uns
    write_h5ad(
        output,
        job.source,
        obsm={"X_dtsne": model.embedding_},
        obs={f"dtsne_{_IN_OBS.get(name, name)}": values for name, values in columns.items()},
        uns=record,
        overwrite_source=job.products.overwrite,
    )
    _outputs.wrote(output)
