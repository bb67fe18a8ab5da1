"""``dtsne plot``: a picture, or a page, of a map from a file."""

# Annotations are evaluated here, as Typer reads them.
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dtsne.cli._drawn import DPI, PAGES, SIZE
from dtsne.cli._map_options import MapOptions
from dtsne.cli._options import completing, with_options
from dtsne.cli._usage import UsageError
from dtsne.cli._verbosity import Verbosity, printable
from dtsne.io._files import MAPS, in_words

KINDS = ("map", "radius", "residual", "radius-plot")
_SIZES, _DPIS = (1.0, 100.0), (10.0, 2400.0)
# Dots to a side; a square of them takes a gigabyte and a half.
_MOST_DOTS = 20_000
EXAMPLE = "Example: dtsne plot map.csv -o residual.png --kind residual"


def _known_kind(text: str) -> str:
    if text not in KINDS:
        raise typer.BadParameter(f"{text!r} is not known; choose {', '.join(KINDS)}.")
    return text


@dataclass(frozen=True)
class Drawing:
    """What is drawn, and how; None stands for what was not said."""

    kind: str
    by: str | None
    title: str
    size: float | None
    dpi: float | None
    legend: bool | None
    names: bool | None

    def check(self, output: Path) -> None:
        """Refuse what cannot be drawn, and what would be left aside in silence."""
        for flag, value, (least, most) in (
            ("--size", self.size, _SIZES),
            ("--dpi", self.dpi, _DPIS),
        ):
            if value is not None and not least <= value <= most:
                raise UsageError(f"{flag} {value:g} has to be from {least:g} to {most:g}.")
        dots = (self.size or SIZE) * (self.dpi or DPI)
        if dots > _MOST_DOTS:
            raise UsageError(
                f"--size {self.size or SIZE:g} at --dpi {self.dpi or DPI:g} is {dots:,.0f} dots "
                f"wide, and a picture is {_MOST_DOTS:,} at most; lower one of them."
            )
        if output.suffix.lower() in PAGES:
            self._refuse("a page", "kind", "size", "dpi", "legend", "names")
        elif self.kind in ("radius", "residual"):
            self._refuse(f"--kind {self.kind}", "by")
        elif self.kind == "radius-plot":
            self._refuse("--kind radius-plot", "legend", "names")

    def _refuse(self, what: str, *useless: str) -> None:
        given = [name for name in useless if getattr(self, name) not in (None, KINDS[0])]
        if given:
            flags = ", ".join(f"--{name}" for name in given)
            raise UsageError(f"{what} has no use for {flags}; leave that out.")

    @property
    def options(self) -> dict[str, Any]:
        """Those of all pictures of maps."""
        return {
            "title": self.title,
            "figsize": self.figsize,
            "annotate": self.names is not False,
            "legend": "auto" if self.legend is None else self.legend,
        }

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.size or SIZE, self.size or SIZE)


@with_options
def plot(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="EMBEDDING",
            help=f"A map by dtsne embed, or by another tool: {in_words(MAPS)}.",
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
        float | None,
        typer.Option(
            "--size", metavar="FLOAT", help=f"Width in inches of the map.  [default: {SIZE:g}]"
        ),
    ] = None,
    dpi: Annotated[
        float | None,
        typer.Option("--dpi", metavar="FLOAT", help=f"Dots per inch.  [default: {DPI:g}]"),
    ] = None,
    legend: Annotated[
        bool | None,
        typer.Option(
            "--legend/--no-legend",
            help="List the groups; by default if the map does not name them.",
        ),
    ] = None,
    names: Annotated[
        bool | None,
        typer.Option(
            "--names/--no-names", help="Write the names of groups onto the map, as by default."
        ),
    ] = None,
    reading: MapOptions,
    verbosity: Verbosity,
) -> None:
    """Draw a map from a file."""
    with verbosity.configured_logging(embedding):
        drawing = Drawing(kind, by, printable(title or embedding.name), size, dpi, legend, names)
        drawing.check(output)
        reading.check()
        from dtsne.cli._plot_run import draw

        draw(embedding, output, reading, drawing)
