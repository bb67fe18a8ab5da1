"""``dtsne plot``: a picture, or a page, of a map from a file."""

# Annotations are evaluated here, as Typer reads them.
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtsne.cli._options import Options, completing, separated, with_options
from dtsne.cli._quality import MAP_FORMATS
from dtsne.cli._running import stops
from dtsne.cli._speech import Speech

if TYPE_CHECKING:
    from dtsne.cli._maps import MapFile

KINDS = ("map", "radius", "residual", "radius-plot")
EXAMPLE = "Example: dtsne plot map.csv -o residual.png --kind residual"


def _known_kind(text: str) -> str:
    if text not in KINDS:
        raise typer.BadParameter(f"{text!r} is not known; choose {', '.join(KINDS)}.")
    return text


@dataclass(frozen=True)
class MapFileOptions(Options):
    """How EMBEDDING is read."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Columns of the coordinates, such as umap_1,umap_2; found by default.",
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column that names the points."),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="NAME",
            help="npz: the array; h5ad: the entry of obsm, such as X_umap.",
        ),
    ] = None
    map_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"What the file is, if its suffix does not say: {', '.join(MAP_FORMATS)}.",
            autocompletion=completing(MAP_FORMATS),
        ),
    ] = None

    def read(self, path: Path) -> "MapFile":
        """Read the map."""
        from dtsne.cli._maps import read_map

        return read_map(
            path,
            file_format=self.map_format,
            columns=separated(self.columns),
            id_column=self.id_column,
            key=self.key,
        )


@stops
@with_options
def plot(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="EMBEDDING",
            help="A map by dtsne embed, or by another tool: .csv, .tsv, .parquet, .feather, .npy, "
            ".npz or .h5ad.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The picture (.png, .pdf, .svg), or an interactive page (.html).",
            show_default=False,
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="|".join(KINDS),
            parser=_known_kind,
            autocompletion=completing(KINDS),
            help="The map; the map by the radius of each point in the data, or by how wrong its "
            "room is; or radii in the map against those in the data. All but the first need what "
            "dtsne embed or dtsne quality --points writes.",
        ),
    ] = "map",
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Column to colour by, groups or a quantity; by default the first of groups, "
            "else the radius, else none.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="The name of EMBEDDING by default."),
    ] = None,
    size: Annotated[
        float, typer.Option("--size", metavar="FLOAT", min=1.0, help="Width in inches.")
    ] = 6.0,
    dpi: Annotated[
        float, typer.Option("--dpi", metavar="FLOAT", min=10.0, help="Dots per inch of a .png.")
    ] = 150.0,
    legend: Annotated[
        bool | None,
        typer.Option(
            "--legend/--no-legend",
            help="List the groups; by default if the map does not name them.",
        ),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names/--no-names", help="Write the names of groups onto the map.")
    ] = True,
    reading: MapFileOptions,
    speech: Speech,
) -> None:
    """Draw a map from a file.

    dtsne plot map.csv -o residual.png --kind residual
    """
    with speech.heard():
        from dtsne.cli._draw import Drawing, draw

        drawing = Drawing(kind, by, title or embedding.name, size, dpi, legend, names)
        draw(embedding, output, reading, drawing)
