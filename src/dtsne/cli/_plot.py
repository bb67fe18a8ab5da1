"""``dtsne plot``: a picture, or a page, of a map from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dtsne.cli._options import FILE, Argument, Options, command, option
from dtsne.cli._reading import MapOptions
from dtsne.cli._verbosity import Verbosity
from dtsne.io._files import MAPS, in_words
from dtsne.labels._format import printable

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.plots._scatter import MapOptions as PictureOptions

PICTURES, PAGES = (".png", ".pdf", ".svg"), (".html", ".htm")
SIZE, DPI = 6.0, 150.0  # inches, and dots per inch
KINDS = ("map", "radius", "residual", "radius-plot")
_SIZES, _DPIS = (1.0, 100.0), (10.0, 2400.0)
# Dots to a side; a square of them takes a gigabyte and a half.
_MAX_DOTS = 20_000


@dataclass(frozen=True)
class Drawing(Options):
    """What is drawn, and how; None where an option is not given."""

    panel = "Output"

    output: Path = option(
        "--output -o",
        "The picture (.png, .pdf, .svg), or an interactive page (.html).",
        type=FILE,
        required=True,
    )
    kind: str = option(
        "--kind",
        "The map; the map coloured by the radius of each point in the data, or by the error of its "
        "radius in the map; or radii in the map against radii in the data. All but the first need "
        "the columns that dtsne embed or dtsne quality --points writes.",
        default=KINDS[0],
        type=click.Choice(KINDS),
        metavar="|".join(KINDS),
    )
    by: str | None = option(
        "--by",
        "Column to colour by, groups or a quantity; by default the first column of groups, or the "
        "radius where there is none.",
        metavar="COLUMN",
    )
    title: str | None = option("--title", "Title; by default the name of EMBEDDING.")
    size: float | None = option(
        "--size", f"Width in inches of the map.  [default: {SIZE:g}]", type=float
    )
    dpi: float | None = option("--dpi", f"Dots per inch.  [default: {DPI:g}]", type=float)
    legend: bool | None = option(
        "--legend/--no-legend", "List the groups; by default if the map does not name them."
    )
    names: bool | None = option(
        "--names/--no-names", "Write the names of groups onto the map, as by default."
    )

    def __post_init__(self) -> None:
        for flag, value, (least, most) in (
            ("--size", self.size, _SIZES),
            ("--dpi", self.dpi, _DPIS),
        ):
            if value is not None and not least <= value <= most:
                raise click.UsageError(f"{flag} {value:g} must be from {least:g} to {most:g}")
        size, dpi = self.size or SIZE, self.dpi or DPI
        if size * dpi > _MAX_DOTS:
            raise click.UsageError(
                f"--size {size:g} at --dpi {dpi:g} is {size * dpi:,.0f} dots wide, and at most "
                f"{_MAX_DOTS:,} are possible; lower one of them"
            )
        if self.is_page:
            self._reject("HTML output", "kind", "size", "dpi", "legend", "names")
        elif self.kind in ("radius", "residual"):
            self._reject(f"--kind {self.kind}", "by")
        elif self.kind == "radius-plot":
            self._reject("--kind radius-plot", "legend", "names")

    def _reject(self, what: str, *ignored: str) -> None:
        """Reject options that would be ignored."""
        flags = [f"--{name}" for name in ignored if getattr(self, name) not in (None, KINDS[0])]
        if flags:
            verb = "does" if len(flags) == 1 else "do"
            raise click.UsageError(f"{', '.join(flags)} {verb} not apply to {what}")

    @property
    def is_page(self) -> bool:
        """Whether an interactive page is written."""
        return self.output.suffix.lower() in PAGES

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.size or SIZE, self.size or SIZE)

    def heading(self, embedding: Path) -> str:
        """Return the title of a map from a file."""
        return printable(self.title or embedding.name)

    def style(self, embedding: Path) -> PictureOptions:
        """Return the options that all pictures of maps have."""
        return {
            "title": self.heading(embedding),
            "figsize": self.figsize,
            "annotate": self.names is not False,
            "legend": "auto" if self.legend is None else self.legend,
        }


@command(
    Argument("embedding", "EMBEDDING", f"A map by dtsne embed or another tool: {in_words(MAPS)}."),
    epilog="Example: dtsne plot map.csv -o residual.png --kind residual",
    drawing=Drawing,
    reading=MapOptions,
    verbosity=Verbosity,
)
def plot(embedding: Path, drawing: Drawing, reading: MapOptions, verbosity: Verbosity) -> None:
    """Draw a map from a file."""
    with verbosity.configured_logging():
        from dtsne.cli._plot_run import draw

        draw(embedding, reading, drawing)
