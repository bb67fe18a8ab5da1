"""INPUT: how it is read, and what is done to its numbers first."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtsne.cli._options import Options, completing, separated
from dtsne.cli._usage import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)

_PANEL = "The input"
FORMATS = ("csv", "tsv", "parquet", "feather", "npy", "npz", "h5ad", "fcs", "mtx")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


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
            help=f"What the file is, if its suffix does not say: {', '.join(FORMATS)}.",
            autocompletion=completing(FORMATS),
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
            help="csv, tsv: whether the first line holds names; seen in the file by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            metavar="CHARACTER",
            help="csv, tsv: what divides the cells, such as ';' or tab.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            "--decimal",
            metavar="CHARACTER",
            help="csv, tsv: the decimal point, such as ','.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.log1p and self.arcsinh is not None:
            raise UsageError("--log1p and --arcsinh exclude each other; give one of them.")

    def read(self, path: Path) -> Table:
        """Read the file, its numbers transformed as asked."""
        from dtsne.tables import read_table

        table = read_table(
            path,
            format=self.input_format,
            id_column=self.id_column,
            label_column=self.label,
            columns=separated(self.columns),
            exclude=separated(self.exclude),
            key=self.key,
            layer=self.layer,
            use_rep=self.use_rep,
            transpose=self.transpose,
            header=self.header,
            delimiter=_DELIMITERS.get(self.delimiter or "", self.delimiter),
            decimal=self.decimal,
        )
        _LOGGER.info(table.source)
        return replace(table, X=self._transformed(table.X))

    def is_anndata(self, path: Path) -> bool:
        """Whether the input is an AnnData file."""
        return (self.input_format or path.suffix.lower().removeprefix(".")) == "h5ad"

    def said(self) -> dict[str, Any]:
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
