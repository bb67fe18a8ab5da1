"""Files that a command writes, atomically; what cannot be written is rejected before the work."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dtsne.cli._plot import DPI, PAGES, PICTURES
from dtsne.io._anndata import anndata_io
from dtsne.io._arrow import arrow
from dtsne.io._files import WITH_COLUMNS, WRITTEN, suffixes_of
from dtsne.plots._axes import new_figure
from dtsne.runtime._atomic import atomic_write
from dtsne.tables import check_output, write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dtsne.io._table import Field, TextArray
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray

_LOGGER = logging.getLogger(__name__)

STDOUT = Path("-")
# Suffixes of the files that options name; those of tables are given by the command.
_SUFFIXES = {
    "--plot": PICTURES,
    "--html": PAGES,
    "--report": (".md", ".txt", ".json", *suffixes_of(WITH_COLUMNS)),
}
_ANY_SUFFIX = ("EMBEDDING", "--checkpoint")
# What raises an error where the package that writes a file is missing.
_PACKAGES: dict[str, Callable[[], object]] = {
    **dict.fromkeys(PICTURES, lambda: new_figure((1, 1))),
    **dict.fromkeys(suffixes_of(["parquet", "feather"]), arrow),
    ".h5ad": anndata_io,
}


def check_outputs(
    files: Mapping[str, Path | None],
    source: Path,
    table_suffixes: Sequence[str] = tuple(suffixes_of(WRITTEN)),
    *,
    overwrite_source: bool = False,
) -> None:
    """Raise what writing files, given by their options, would raise; EMBEDDING is only read."""
    options: dict[str, str] = {}
    for option, path in files.items():
        if path is None or path == STDOUT:
            continue
        other = options.setdefault(os.path.realpath(path), option)
        if other != option:
            raise click.UsageError(f"{other} and {option} both name {path}; name two files")
        if option != "EMBEDDING":
            check_output(path, source, overwrite_source=overwrite_source)
        if option not in _ANY_SUFFIX:
            _check_suffix(option, path, _SUFFIXES.get(option, table_suffixes))


def _check_suffix(option: str, path: Path, suffixes: Sequence[str]) -> None:
    if not path.name.lower().endswith(tuple(suffixes)):
        raise click.UsageError(f"{option} {path}: the suffix must be one of {', '.join(suffixes)}")
    if path.suffix.lower() in _PACKAGES:
        _PACKAGES[path.suffix.lower()]()


def write_report(path: Path, report: Report, Y: FloatArray, ids: TextArray | None) -> None:
    """Write a report in the format of the suffix."""
    texts: dict[str, Callable[[], str]] = {
        ".md": report.to_markdown,
        ".json": report.to_json,
        ".txt": lambda: f"{report}\n",
    }
    if path.suffix.lower() in texts:
        write_text(path, texts[path.suffix.lower()]())
    else:
        write_points(path, Y, ids, report.points.columns())


def write_points(
    path: Path,
    Y: FloatArray,
    ids: Sequence[str] | TextArray | None,
    columns: Mapping[str, Field],
    *,
    name: str = "dtsne",
) -> None:
    """Write a map and further columns as a table."""
    write_table(path, Y, ids=ids, fields=columns, name=name)
    log_written(path)


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    log_written(path)


def write_picture(path: Path, drawn: Axes | Figure, dpi: float = DPI) -> None:
    """Write a figure, or the figure of some axes."""
    from matplotlib.figure import Figure

    figure = drawn if isinstance(drawn, Figure) else drawn.figure
    assert isinstance(figure, Figure)
    with atomic_write(path) as part:
        figure.savefig(part, format=path.suffix.lower().removeprefix("."), dpi=dpi)
    log_written(path)


def log_written(path: Path) -> None:
    """Log that a file was written."""
    _LOGGER.info("wrote %s", path)
