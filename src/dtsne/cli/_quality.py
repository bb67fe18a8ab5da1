"""``dtsne quality``: how faithful a map is, whoever made it."""

# Annotations are evaluated here, as Typer reads them.
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtsne.cli._options import Options, completing, separated, with_options
from dtsne.cli._parameters import FitOptions
from dtsne.cli._reading import InputOptions
from dtsne.cli._running import stops
from dtsne.cli._speech import Speech

if TYPE_CHECKING:
    from dtsne.cli._maps import MapFile

_OF_MAP, _OF_METHOD, _OUT = "The embedding", "The data as the method saw it", "What is written"
# As the paper has it.
_REACH = 100
MAP_FORMATS = ("csv", "tsv", "parquet", "feather", "npy", "npz", "h5ad")
EXAMPLE = "Example: dtsne quality cells.csv umap.csv --id cell --label type"


@dataclass(frozen=True)
class MapOptions(Options):
    """How EMBEDDING is read, where INPUT is read too."""

    map_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map-columns",
            metavar="NAMES",
            help="Columns of the coordinates, such as umap_1,umap_2; found by default.",
            rich_help_panel=_OF_MAP,
        ),
    ] = None
    map_id: Annotated[
        str | None,
        typer.Option(
            "--map-id",
            metavar="COLUMN",
            help="Column that names the points; by default one called id, cell, barcode or index.",
            rich_help_panel=_OF_MAP,
        ),
    ] = None
    map_key: Annotated[
        str | None,
        typer.Option(
            "--map-key",
            metavar="NAME",
            help="npz: the array; h5ad: the entry of obsm, such as X_umap.",
            rich_help_panel=_OF_MAP,
        ),
    ] = None
    map_format: Annotated[
        str | None,
        typer.Option(
            "--map-format",
            metavar="FORMAT",
            help=f"What the file is, if its suffix does not say: {', '.join(MAP_FORMATS)}.",
            autocompletion=completing(MAP_FORMATS),
            rich_help_panel=_OF_MAP,
        ),
    ] = None
    by_order: Annotated[
        bool,
        typer.Option(
            "--by-order",
            help="Match rows by their order, whatever the ids say.",
            rich_help_panel=_OF_MAP,
        ),
    ] = False

    def read(self, path: Path) -> "MapFile":
        """Read the map; errors name these options."""
        from dtsne.cli._flags import MAP_FLAGS, in_flags
        from dtsne.cli._maps import read_map
        from dtsne.tables import TableError

        try:
            return read_map(
                path,
                file_format=self.map_format,
                columns=separated(self.map_columns),
                id_column=self.map_id,
                key=self.map_key,
            )
        except TableError as error:
            raise TableError(in_flags(str(error), MAP_FLAGS)) from error


class DataOptions(FitOptions):
    """Which data the map is compared with, by some parameters of the method."""

    panel = _OF_METHOD
    names = ("metric", "n_pcs", "n_jobs")


@dataclass(frozen=True)
class JudgementOptions(Options):
    """How the map is judged, and where that goes."""

    perplexity: Annotated[
        float | None,
        typer.Option(
            "--perplexity",
            metavar="FLOAT",
            help="That of the map, if known: clusters too small for it are then found.",
            rich_help_panel=_OF_METHOD,
        ),
    ] = None
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            metavar="INT",
            min=1,
            help="Neighbour that radii reach to; by default the perplexity, or 100 without one.",
            rich_help_panel=_OUT,
        ),
    ] = None
    k_neighborhood: Annotated[
        int,
        typer.Option(
            "--k-neighborhood",
            metavar="INT",
            min=1,
            help="Number of neighbours that the map should keep.",
            rich_help_panel=_OUT,
        ),
    ] = 15
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print everything as JSON.", rich_help_panel=_OUT),
    ] = False
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write the account to a .md, .txt or .json, and print nothing.",
            rich_help_panel=_OUT,
        ),
    ] = None
    points: Annotated[
        Path | None,
        typer.Option(
            "--points",
            metavar="FILE",
            help="What is said of every point, as .csv, .tsv, .parquet, .feather or .npz.",
            rich_help_panel=_OUT,
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Radii in the map against those in the data: .png, .pdf or .svg.",
            rich_help_panel=_OUT,
        ),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="An interactive page of the map, which opens offline.",
            rich_help_panel=_OUT,
        ),
    ] = None

    @property
    def reach(self) -> int:
        """Neighbour that radii reach to."""
        return self.k or (_REACH if self.perplexity is None else max(1, round(self.perplexity)))


@stops
@with_options
def quality(
    source: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="The data, as for dtsne embed.", show_default=False),
    ],
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="EMBEDDING",
            help="A map of it: .csv, .tsv, .parquet, .feather, .npy, .npz or .h5ad.",
            show_default=False,
        ),
    ],
    *,
    reading: InputOptions,
    map_reading: MapOptions,
    data: DataOptions,
    judging: JudgementOptions,
    speech: Speech,
) -> None:
    """Judge a map of some data, by dtsne or by any other tool.

    Prints what can be read from the map and what cannot. Points are matched by their ids where both
    files have them, and else by their order. The data should be that which the map was made of: the
    same transforms, and --n-pcs none if it was not reduced first.
    """
    with speech.heard():
        from dtsne.cli._judge import judge

        judge(source, embedding, reading, map_reading, data, judging)
