"""INPUT: how it is read, and what is done to its numbers first."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtsne.cli._flags import INPUT_FLAGS
from dtsne.cli._options import Options, completing, separated
from dtsne.cli._text_options import TEXT_HELP, check_format, check_text
from dtsne.cli._usage import UsageError
from dtsne.io._files import READ
from dtsne.io._options import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.labels._groups import Groups
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)

_PANEL = "The input"
_PCA = "X_pca"


@dataclass(frozen=True)
class InputOptions(Options):
    """The parameters of `read_table`, and transforms."""

    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="Column of groups, to colour and to compare by; of an h5ad, one of obs.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column that names the rows, where the file has no place of its own for names.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Columns to map, names or patterns such as 'PC_*', separated by commas; all that "
            "hold numbers by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="NAMES",
            help="Columns not to map, in the same way; they are carried along.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    log1p: Annotated[
        bool,
        typer.Option("--log1p", help="Map log(1 + x), for counts.", rich_help_panel=_PANEL),
    ] = False
    arcsinh: Annotated[
        float | None,
        typer.Option(
            "--arcsinh",
            metavar="COFACTOR",
            help="Map arcsinh(x / COFACTOR): 5 for mass cytometry, 150 for fluorescence.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    input_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"What the file is, if its suffix does not say: {', '.join(READ)}.",
            autocompletion=completing(READ),
            rich_help_panel=_PANEL,
        ),
    ] = None
    layer: Annotated[
        str | None,
        typer.Option(
            "--layer", metavar="NAME", help="h5ad: a layer, instead of X.", rich_help_panel=_PANEL
        ),
    ] = None
    use_rep: Annotated[
        str | None,
        typer.Option(
            "--use-rep",
            metavar="NAME",
            help="h5ad: an entry of obsm such as X_pca, instead of X.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="NAME",
            help="npz: the array to read; X, or the only one, by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    transpose: Annotated[
        bool | None,
        typer.Option(
            "--transpose/--no-transpose",
            help="mtx: whether the points are its columns; seen by the files beside it by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help=TEXT_HELP["header"],
            rich_help_panel=_PANEL,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            metavar="CHARACTER",
            help=TEXT_HELP["delimiter"],
            rich_help_panel=_PANEL,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            "--decimal",
            metavar="CHARACTER",
            help=TEXT_HELP["decimal"],
            rich_help_panel=_PANEL,
        ),
    ] = None

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.log1p and self.arcsinh is not None:
            raise UsageError("--log1p and --arcsinh exclude each other; give one of them.")
        if self.arcsinh is not None and not 0 < self.arcsinh < math.inf:
            raise UsageError(f"--arcsinh {self.arcsinh:g} has to be a number above 0, such as 5.")
        if self.id_column is not None and self.id_column == self.label:
            raise UsageError(
                f"--id and --label both name {self.label!r}; an id names one row, and a label a "
                "group of them: leave one out."
            )
        check_format(self.input_format, READ, "--format")
        check_text(self.delimiter, self.decimal, INPUT_FLAGS)

    def options(self) -> ReadOptions:
        """Return the options of the reader."""
        return ReadOptions(
            format=self.input_format,
            id_column=self.id_column,
            label_column=self.label,
            columns=separated(self.columns),
            exclude=separated(self.exclude) or (),
            key=self.key,
            layer=self.layer,
            use_rep=self.use_rep,
            transpose=self.transpose,
            header=self.header,
            delimiter=self.delimiter,
            decimal=self.decimal,
        )

    def read(self, path: Path) -> Table:
        """Read the file, its numbers transformed as asked."""
        from dtsne.cli._errors import user_errors
        from dtsne.cli._numbers import check_rows
        from dtsne.tables import read_table

        with user_errors(path):
            table = read_table(path, self.options())
            _LOGGER.info(table.source)
            self._hint(path)
            table = replace(table, X=self._transformed(table.X))
            check_rows(table, path)
            return table

    def groups(self, table: Table, path: Path) -> Groups | None:
        """Return the labels of what was read, if they are of groups."""
        from dtsne.cli._labels import as_groups

        categories = None if self.label is None else table.categories.get(self.label)
        return as_groups(table.labels, self.label, path, categories=categories)

    def is_anndata(self, path: Path) -> bool:
        """Whether the input is an AnnData file."""
        return (self.input_format or path.suffix.lower().removeprefix(".")) == "h5ad"

    def _hint(self, path: Path) -> None:
        """Say that X was taken where principal components lie beside it."""
        if self.layer is not None or self.use_rep is not None or not self.is_anndata(path):
            return
        from dtsne.io._anndata import opened

        with opened(path) as file:
            if _PCA in file.get("obsm", ()):
                _LOGGER.info(
                    "X was taken, and %s is there too: --use-rep %s --n-pcs none", _PCA, _PCA
                )

    def transform_parameters(self) -> dict[str, Any]:
        """Return what of it changes the numbers, for the record."""
        chosen = {
            "layer": self.layer,
            "use_rep": self.use_rep,
            "log1p": self.log1p or None,
            "arcsinh": self.arcsinh,
        }
        return {name: value for name, value in chosen.items() if value is not None}

    def _transformed(self, X: Any) -> Any:
        from dtsne import tables

        if self.log1p:
            return tables.log1p(X)
        return X if self.arcsinh is None else tables.arcsinh(X, self.arcsinh)
