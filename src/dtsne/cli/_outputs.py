"""Files that a command writes, atomically; what cannot be written is rejected before the work."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dtsne.cli._plot import DPI, PAGES, PICTURES
from dtsne.io._anndata import anndata_io
from dtsne.io._arrow import arrow
from dtsne.io._files import WITH_COLUMNS, WRITTEN, format_of, in_words, suffixes_of
from dtsne.plots._axes import new_figure
from dtsne.runtime._atomic import atomic_write
from dtsne.tables import TableError, check_output, write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dtsne.io._table import Field, TextArray
    from dtsne.report import Report
    from dtsne.runtime._typing import FloatArray

_LOGGER = logging.getLogger(__name__)

STDOUT = Path("-")
_TEXTS = (".md", ".txt", ".json")
# Imports the package that writes a format, or raises how to install it.
_WRITTEN_BY: dict[str, Callable[[], object]] = {
    "parquet": arrow,
    "feather": arrow,
    "h5ad": anndata_io,
}


def check_different(paths: Mapping[str, Path | None]) -> None:
    """Reject one file under two options."""
    seen: dict[str, str] = {}
    for option, path in paths.items():
        if path is None or path == STDOUT:
            continue
        other = seen.setdefault(os.path.realpath(path), option)
        if other != option:
            raise click.UsageError(f"{other} and {option} both name {path}; name two files")


def check_table(
    path: Path | None, source: Path, *, option: str, formats: Sequence[str] = WRITTEN
) -> None:
    """Raise what writing a table would raise."""
    if path is None:
        return
    check_output(path, source)
    try:
        file_format = format_of(path, None, formats)
    except TableError:
        raise _unknown_suffix(path, suffixes_of(formats), option) from None
    require(file_format)


def check_picture(path: Path | None, source: Path | None) -> None:
    """Raise what drawing a picture would raise."""
    if path is not None:
        check_suffix(path, PICTURES, "--plot")
        check_output(path, source)
        new_figure((1, 1))  # raises an error where matplotlib is missing


def check_page(path: Path | None, source: Path | None) -> None:
    """Raise what writing a page would raise."""
    if path is not None:
        check_suffix(path, PAGES, "--html")
        check_output(path, source)


def check_report(path: Path | None, source: Path) -> None:
    """Raise what writing a report would raise."""
    if path is None or path == STDOUT:
        return
    if path.suffix.lower() in _TEXTS:
        check_output(path, source)
        return
    try:
        check_table(path, source, option="--report", formats=WITH_COLUMNS)
    except click.UsageError as error:
        raise click.UsageError(
            f"--report {path}: a report is written to .md, .txt or .json, and its table of points "
            f"to {in_words(WITH_COLUMNS)}"
        ) from error


def check_checkpoint(path: Path | None, source: Path) -> None:
    """Raise what writing a checkpoint would raise."""
    if path is not None:
        check_output(path, source)


def require(file_format: str) -> None:
    """Raise an error if the package that writes a format is missing."""
    if file_format in _WRITTEN_BY:
        _WRITTEN_BY[file_format]()


def write_report(path: Path, account: Report, Y: FloatArray, ids: TextArray | None) -> None:
    """Write a report in the format of the suffix."""
    texts: dict[str, Callable[[], str]] = {
        ".md": account.to_markdown,
        ".json": account.to_json,
        ".txt": lambda: f"{account}\n",
    }
    if path.suffix.lower() in texts:
        write_text(path, texts[path.suffix.lower()]())
    else:
        write_points(path, Y, ids, account.points.columns())


def write_points(
    path: Path,
    Y: FloatArray,
    ids: TextArray | None,
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


def write_picture(path: Path, drawn: Any, dots_per_inch: float = DPI) -> None:
    """Write a figure, or the figure of some axes."""
    figure = getattr(drawn, "figure", drawn)
    with atomic_write(path) as part:
        figure.savefig(part, format=path.suffix.lower().removeprefix("."), dpi=dots_per_inch)
    log_written(path)


def log_written(path: Path) -> None:
    """Log that a file was written."""
    _LOGGER.info("wrote %s", path)


def check_suffix(path: Path, known: Sequence[str], option: str) -> None:
    """Reject a file name without a known suffix."""
    if path.suffix.lower() not in known:
        raise _unknown_suffix(path, known, option)


def _unknown_suffix(path: Path, known: Sequence[str], option: str) -> click.UsageError:
    return click.UsageError(f"{option} {path}: the suffix must be one of {', '.join(known)}")
