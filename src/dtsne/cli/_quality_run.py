"""The work of ``dtsne quality``."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from dtsne._backend import CpuBackend
from dtsne.cli import _outputs
from dtsne.cli._errors import user_errors
from dtsne.cli._maps import JUDGED
from dtsne.cli._matching import matched
from dtsne.cli._outputs import STDOUT
from dtsne.cli._pages import page_of
from dtsne.cli._verbosity import print_result, printable
from dtsne.io._files import WITH_COLUMNS
from dtsne.report._build import Asked, account_from
from dtsne.report._points import Known
from dtsne.report._sources import source_of
from dtsne.runtime._threads import limited_threads, resolve_n_jobs
from dtsne.tables import TableError

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne import DTSNE
    from dtsne.cli._quality import DataOptions, JudgementOptions, MatchedMapOptions
    from dtsne.cli._reading import InputOptions
    from dtsne.io._table import TextArray
    from dtsne.report import Account
    from dtsne.runtime._typing import FloatArray
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)


def judge(
    source: Path,
    embedding: Path,
    reading: InputOptions,
    map_reading: MatchedMapOptions,
    data: DataOptions,
    judging: JudgementOptions,
) -> None:
    """Read both, compare them, and write what is asked for."""
    model = data.model()
    reading.check()
    map_reading.check()
    judging.check()
    _check_outputs(source, embedding, judging)
    table = reading.read(source)
    groups = reading.groups(table, source)
    found = map_reading.read(embedding, likely_id=reading.id_column)
    table, found = matched(table, found, (source, embedding), by_order=map_reading.by_order)
    if judging.html is not None and found.Y.shape[1] != 2:
        raise TableError(f"{embedding}: a page shows maps of 2 dimensions; leave out --html.")
    if judging.perplexity is not None and judging.perplexity >= len(found.Y):
        raise TableError(
            f"{embedding} has {len(found.Y):,} points, which no map of --perplexity "
            f"{judging.perplexity:g} has; give the perplexity that it was made with, or leave it "
            "out."
        )
    with limited_threads(resolve_n_jobs(model.n_jobs)):
        with user_errors():
            prepared = CpuBackend().prepare(model._check_data(table.X), **model._preparation())
        _say_what_is_compared(table, model)
        known = Known.checked(len(found.Y), found.sigma, judging.perplexity)
        account = account_from(
            source_of(prepared, found.Y.astype(float)),
            Asked(groups, judging.reach, judging.k_neighborhood),
            replace(known, at_bound=found.sigma_at_bound),
        )
    ids = table.ids if table.ids is not None else found.ids
    _write_tables(account, found.Y, ids, judging)
    if judging.plot is not None:
        from dtsne.cli import _pictures

        radii = _pictures.Radii.of(account)
        with user_errors():
            drawn = _pictures.draw_radius_plot(radii, groups, title=printable(embedding.name))
        _outputs.write_picture(judging.plot, drawn)
    if judging.html is not None:
        name, named = printable(embedding.stem), replace(table, ids=ids)
        html = page_of(
            {name: found.Y},
            {name: account},
            named,
            reading.label,
            printable(embedding.name),
        )
        _outputs.write_text(judging.html, html)
    # Last, as nobody may be there to read it.
    if judging.as_json:
        print_result(account.to_json())
    elif judging.report in (None, STDOUT):
        print_result(str(account))


def _check_outputs(source: Path, embedding: Path, judging: JudgementOptions) -> None:
    _outputs.check_different(
        {
            "EMBEDDING": embedding,
            "--points": judging.points,
            "--plot": judging.plot,
            "--html": judging.html,
            "--report": judging.report,
        }
    )
    _outputs.check_table(judging.points, source, option="--points", formats=WITH_COLUMNS)
    _outputs.check_picture(judging.plot, source)
    _outputs.check_page(judging.html, source)
    _outputs.check_report(judging.report, source)


def _say_what_is_compared(table: Table, model: DTSNE) -> None:
    n, d = table.X.shape
    reduced = model.metric in ("euclidean", "cosine", "correlation")
    if reduced and model.n_pcs is not None and min(n - 1, d) > model.n_pcs:
        _LOGGER.info(
            "compared with %d principal components, as dtsne maps them (--n-pcs none: with the "
            "data as it is)",
            model.n_pcs,
        )


def _write_tables(
    account: Account, Y: FloatArray, ids: TextArray | None, judging: JudgementOptions
) -> None:
    if judging.report is not None and judging.report != STDOUT:
        _outputs.write_report(judging.report, account, Y, ids)
    if judging.points is not None:
        # By another name than ours, as it may be the map of another tool.
        _outputs.write_points(judging.points, Y, ids, account.points.columns(), name=JUDGED)
