"""Files that a command writes, whole or not at all; what cannot be is refused before the work."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dtsne.cli._drawn import DPI, PAGES, PICTURES
from dtsne.cli._usage import UsageError
from dtsne.io._anndata import anndata_io
from dtsne.io._arrow import arrow
from dtsne.io._files import WITH_COLUMNS, WRITTEN, format_of, in_words, suffixes_of
from dtsne.plots._axes import new_figure
from dtsne.runtime._atomic import atomic_write
from dtsne.tables import TableError, check_output, write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dtsne.io._table import Field, TextArray
    from dtsne.report import Account
    from dtsne.runtime._typing import FloatArray

_LOGGER = logging.getLogger(__name__)

STDOUT = Path("-")
_TEXTS = (".md", ".txt", ".json")
# What imports the package that a format is written with, or says how to get it.
_WRITTEN_BY: dict[str, Callable[[], object]] = {
    "parquet": arrow,
    "feather": arrow,
    "h5ad": anndata_io,
}


def check_different(paths: Mapping[str, Path | None]) -> None:
    """Refuse that one file is to hold two things."""
    seen: dict[str, str] = {}
    for option, path in paths.items():
        if path is None or path == STDOUT:
            continue
        other = seen.setdefault(os.path.realpath(path), option)
        if other != option:
            raise UsageError(f"{other} and {option} both name {path}; name two files.")


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
        new_figure((1, 1))  # its absence is an error before the work


def check_page(path: Path | None, source: Path | None) -> None:
    """Raise what writing a page would raise."""
    if path is not None:
        check_suffix(path, PAGES, "--html")
        check_output(path, source)


def check_report(path: Path | None, source: Path) -> None:
    """Raise what writing an account would raise."""
    if path is None or path == STDOUT:
        return
    if path.suffix.lower() in _TEXTS:
        check_output(path, source)
        return
    try:
        check_table(path, source, option="--report", formats=WITH_COLUMNS)
    except typer.BadParameter as error:
        raise typer.BadParameter(
            f"{path}: an account is written to .md, .txt or .json, and its table of points to "
            f"{in_words(WITH_COLUMNS)}.",
            param_hint="--report",
        ) from error


def check_checkpoint(path: Path | None, source: Path) -> None:
    """Raise what keeping the fit in a file would raise."""
    if path is not None:
        check_output(path, source)


def require(file_format: str) -> None:
    """Raise an ImportError if what writes a format is missing."""
    if file_format in _WRITTEN_BY:
        _WRITTEN_BY[file_format]()


def write_report(path: Path, account: Account, Y: FloatArray, ids: TextArray | None) -> None:
    """Write an account in the format of the suffix."""
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
    """Write a map and columns beside it as a table."""
    write_table(path, Y, ids=ids, fields=columns, name=name)
    wrote(path)


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    wrote(path)


def write_picture(path: Path, drawn: Any, dots_per_inch: float = DPI) -> None:
    """Write a figure, or the figure of some axes."""
    figure = getattr(drawn, "figure", drawn)
    with atomic_write(path) as part:
        figure.savefig(part, format=path.suffix.lower().removeprefix("."), dpi=dots_per_inch)
    wrote(path)


def wrote(path: Path) -> None:
    """Say that a file was written."""
    _LOGGER.info("wrote %s", path)


def check_suffix(path: Path, known: Sequence[str], option: str) -> None:
    """Refuse a file whose name does not say what it is to be."""
    if path.suffix.lower() not in known:
        raise _unknown_suffix(path, known, option)


def _unknown_suffix(path: Path, known: Sequence[str], option: str) -> typer.BadParameter:
    return typer.BadParameter(
        f"{path}: the suffix has to be one of {', '.join(known)}.", param_hint=option
    )
