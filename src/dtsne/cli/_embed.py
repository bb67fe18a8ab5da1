"""``dtsne embed``: from a file of data to a map, a picture, a page and an account."""

# Annotations are evaluated here, as Typer reads them.
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from dtsne.cli._help import PlainCommand
from dtsne.cli._options import Options, with_options
from dtsne.cli._parameters import FitOptions
from dtsne.cli._reading import InputOptions
from dtsne.cli._signals import stoppable
from dtsne.cli._usage import UsageError
from dtsne.cli._verbosity import Verbosity
from dtsne.io._files import READ, WRITTEN, in_words

_PANEL = "What is written"
EXAMPLE = "Example: dtsne embed cells.csv --id cell --label type -o map.csv --plot map.png --report"


@dataclass(frozen=True)
class Products(Options):
    """What is to come of a fit."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help=f"The map: {in_words(WRITTEN)}, text compressed if .gz follows; .h5ad for a copy "
            "of an .h5ad with the map in it.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="A picture of the map: .png, .pdf or .svg.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="An interactive page of the map, which opens offline.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="[FILE]",
            help="What to believe of the map: printed, or written to a .md, .txt or .json; its "
            "table of points to a .csv, .parquet …",
            rich_help_panel=_PANEL,
        ),
    ] = None
    compare_tsne: Annotated[
        bool,
        typer.Option(
            "--compare-tsne",
            help="Fit t-SNE's map too, for the picture (side by side) and the page (a slider).",
            rich_help_panel=_PANEL,
        ),
    ] = False
    title: Annotated[
        str | None,
        typer.Option(
            "--title",
            metavar="TEXT",
            help="What stands above picture and page; the name of INPUT by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    account: Annotated[
        bool,
        typer.Option(
            "--account/--no-account",
            help="Without it the output has the map and sigma alone, which is faster.",
            rich_help_panel=_PANEL,
        ),
    ] = True
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            metavar="INT",
            min=1,
            help="Neighbour that the radii of the account reach to; the perplexity by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Let an .h5ad be both INPUT and output.",
            rich_help_panel=_PANEL,
        ),
    ] = False

    def check(self, n_components: int, density_scale: float) -> None:
        """Refuse what makes no sense together."""
        shown = [self.plot, self.html, self.report]
        if self.output is None and not any(shown):
            raise UsageError(
                "there is nothing to write; name a file for the map (-o map.csv), or ask for "
                "--plot, --html or --report."
            )
        if not self.account and (self.html or self.report):
            raise UsageError("--html and --report need the account; drop --no-account.")
        if not self.account and self.k is not None:
            raise UsageError("--k is of the account; leave it out, or drop --no-account.")
        if n_components != 2 and (self.plot or self.html):
            raise UsageError(
                f"--plot and --html show maps of 2 dimensions, not {n_components}; leave them out, "
                "or set --n-components 2."
            )
        if self.compare_tsne and not (self.plot or self.html):
            raise UsageError("--compare-tsne is shown by --plot and --html; add one.")
        if self.compare_tsne and density_scale == 0:
            raise UsageError(
                "--density-scale 0 is t-SNE's map already; leave it out, or --compare-tsne."
            )


class ReportingCommand(PlainCommand):
    """A command whose ``--report`` may stand without a value, and then means standard output."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Add the value where it is left out."""
        given = with_value(args, "--report", "-")
        taken = next((b for a, b in pairwise(given) if a == "--report" and b != "-"), None)
        try:
            return super().parse_args(ctx, given)
        except UsageError as error:
            missing = getattr(getattr(error, "param", None), "name", None)
            if missing != "source" or taken is None:
                raise
            raise UsageError(
                f"INPUT is missing; --report took {taken} for the file to write. Name INPUT "
                "first, or write --report -.",
                ctx,
            ) from error


def with_value(args: list[str], option: str, value: str) -> list[str]:
    """Return arguments in which an option has a value, also where another option follows it."""
    complete: list[str] = []
    for i, argument in enumerate(args):
        complete.append(argument)
        after = args[i + 1] if i + 1 < len(args) else "--"
        if argument == option and after.startswith("-") and after != "-":
            complete.append(value)
    return complete


@with_options
def embed(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help=f"Data: {in_words(READ)}; text may be compressed (.gz).",
            show_default=False,
        ),
    ],
    *,
    products: Products,
    reading: InputOptions,
    fit: FitOptions,
    verbosity: Verbosity,
) -> None:
    """Map the rows of a file, each of them a point.

    The output has a row for each row of INPUT, in their order: its id, the map (dtsne_1, dtsne_2),
    what INPUT says of it beside the numbers, and what to believe of it, such as the radius in the
    data (log_radius_data), how wrong its room in the map is (density_residual) and its sigma.

    Ctrl-C writes the best map so far.
    """
    with verbosity.configured_logging(source, fit.values["checkpoint"]), stoppable():
        reading.check()
        model = fit.model(verbose=verbosity.level)
        products.check(model.n_components, model.density_scale)
        from dtsne.cli._embed_run import make_map

        make_map(source, products, reading, model)
