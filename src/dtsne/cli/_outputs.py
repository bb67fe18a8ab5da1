"""Files that a command writes, whole or not at all; what cannot be is refused before the work."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dtsne.cli._usage import UsageError
from dtsne.plots._axes import new_figure
from dtsne.tables import TableError, check_output, write_table
from dtsne.tables._anndata import anndata_io
from dtsne.tables._files import format_of
from dtsne.tables._optional import arrow
from dtsne.tables._whole import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dtsne._typing import FloatArray
    from dtsne.account import Account
    from dtsne.tables._table import Field, TextArray

_LOGGER = logging.getLogger(__name__)

STDOUT = Path("-")
PICTURES = (".png", ".pdf", ".svg")
PAGES = (".html", ".htm")
_TEXTS = (".md", ".txt", ".json")
_TABLES = frozenset({"csv", "tsv", "parquet", "feather", "npy", "npz"})
# What imports the package that a format is written with, or says how to get it.
_WRITTEN_BY: dict[str, Callable[[], object]] = {
    "parquet": arrow,
    "feather": arrow,
    "h5ad": anndata_io,
}
_DOTS_PER_INCH = 150


def check_different(paths: Mapping[str, Path | None]) -> None:
    """Refuse that one file is to hold two things."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None or path == STDOUT:
            continue
        other = seen.setdefault(path.absolute(), option)
        if other != option:
            raise UsageError(f"{other} and {option} both name {path}; name two files.")


def check_table(path: Path | None, source: Path | None) -> None:
    """Raise what writing a table would raise."""
    if path is not None:
        check_output(path, source)
        require(format_of(path, None, _TABLES))


def check_picture(path: Path | None, source: Path | None, *, option: str = "--plot") -> None:
    """Raise what drawing a picture would raise."""
    if path is not None:
        _check_suffix(path, PICTURES, option)
        check_output(path, source)
        new_figure((1, 1))  # its absence is an error before the work


def check_page(path: Path | None, source: Path | None) -> None:
    """Raise what writing a page would raise."""
    if path is not None:
        _check_suffix(path, PAGES, "--html")
        check_output(path, source)


def check_report(path: Path | None, source: Path | None) -> None:
    """Raise what writing an account would raise."""
    if path is None or path == STDOUT:
        return
    if path.suffix.lower() in _TEXTS:
        check_output(path, source)
        return
    try:
        check_table(path, source)
    except TableError as error:
        raise typer.BadParameter(
            f"{path}: an account is written to .md, .txt or .json, and its table of points to "
            ".csv, .tsv, .parquet, .feather or .npz.",
            param_hint="--report",
        ) from error


def require(file_format: str) -> None:
    """Raise an ImportError if what writes a format is missing."""
    if file_format in _WRITTEN_BY:
        _WRITTEN_BY[file_format]()


def write_report(path: Path, account: Account, Y: FloatArray, ids: TextArray | None) -> None:
    """Write an account in the format of the suffix, or to standard output."""
    if path == STDOUT:
        typer.echo(str(account))
        return
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
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    wrote(path)


def write_picture(path: Path, drawn: Any, dots_per_inch: float = _DOTS_PER_INCH) -> None:
    """Write a figure, or the figure of some axes."""
    figure = getattr(drawn, "figure", drawn)
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix.lower().removeprefix("."), dpi=dots_per_inch)
    wrote(path)


def wrote(path: Path) -> None:
    """Say that a file was written."""
    _LOGGER.info("wrote %s", path)


def _check_suffix(path: Path, known: Sequence[str], option: str) -> None:
    if path.suffix.lower() not in known:
        raise typer.BadParameter(
            f"{path}: the suffix has to be one of {', '.join(known)}.", param_hint=option
        )
