"""``dtsne embed``: from a data file to a map, a picture, a page and a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import click

from dtsne._config import PARAMETERS, Config
from dtsne.cli._errors import COMMAND_LINE, usage_errors
from dtsne.cli._options import (
    FILE,
    POSITIVE,
    Argument,
    Command,
    Options,
    command,
    option,
    options_from,
)
from dtsne.cli._reading import InputOptions
from dtsne.cli._signals import sigterm_as_interrupt
from dtsne.cli._verbosity import Verbosity
from dtsne.io._files import READ, WRITTEN, in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtsne.cli._options import Option

_EXAMPLE = (
    "Example: dtsne embed cells.csv --id cell --label type -o map.csv --plot map.png --report"
)


@dataclass(frozen=True)
class Products(Options):
    """The files that a fit is to give."""

    panel = "Output"

    output: Path | None = option(
        "--output -o",
        f"The map: {in_words(WRITTEN)}, text also with .gz; .h5ad for a copy of an .h5ad with the "
        "map in it.",
        type=FILE,
    )
    plot: Path | None = option("--plot", "A picture of the map: .png, .pdf or .svg.", type=FILE)
    html: Path | None = option("--html", "An interactive page; opens offline.", type=FILE)
    report: Path | None = option(
        "--report",
        "How reliable the map is: printed, or written to a .md, .txt or .json; its table of points "
        "to a .csv, .parquet …",
        type=FILE,
        metavar="[FILE]",
        is_flag=False,
        flag_value="-",
    )
    compare_tsne: bool = option(
        "--compare-tsne",
        "Fit t-SNE, too, for the picture (side by side) and the page (a slider).",
        default=False,
    )
    title: str | None = option("--title", "Title of picture and page; by default INPUT.")
    skip_report: bool = option(
        "skip_report --no-report",
        "Write the map and sigma alone, without measures of reliability: faster.",
        default=False,
    )
    k: int | None = option(
        "--k",
        "Neighbour to which the radii of the report reach; by default the perplexity.",
        type=POSITIVE,
    )
    overwrite: bool = option("--overwrite", "Let an .h5ad be both INPUT and output.", default=False)

    def __post_init__(self) -> None:
        if self.output is None and not (self.plot or self.html or self.report):
            raise click.UsageError(
                "there is nothing to write; add -o map.csv, --plot, --html or --report"
            )
        if self.skip_report and (self.html or self.report):
            raise click.UsageError("--html and --report need the measures; remove --no-report")
        if self.skip_report and self.k is not None:
            raise click.UsageError("--k is for the measures; remove --k or --no-report")
        if self.compare_tsne and not (self.plot or self.html):
            raise click.UsageError("--compare-tsne is shown by --plot and --html; add one of them")

    def check(self, config: Config) -> None:
        """Reject what a map with these parameters cannot give."""
        if config.n_components != 2 and (self.plot or self.html):
            raise click.UsageError(
                f"--plot and --html need a map of 2 dimensions, not {config.n_components}; remove "
                "them, or set --n-components 2"
            )
        if self.compare_tsne and config.density_scale == 0:
            raise click.UsageError(
                "--density-scale 0 is t-SNE already; remove it, or remove --compare-tsne"
            )


@dataclass(frozen=True)
class FitOptions(Options):
    """The parameters of a fit; subclasses have some of them."""

    names: ClassVar[tuple[str, ...]] = tuple(PARAMETERS)

    config: Config
    checkpoint: Path | None = None

    @classmethod
    def options(cls) -> list[Option]:
        """See :class:`Options`."""
        return options_from(PARAMETERS[name] for name in cls.names)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """See :class:`Options`."""
        fields = {name: value for name, value in values.items() if name != "checkpoint"}
        checkpoint = values.get("checkpoint")
        with usage_errors(COMMAND_LINE):
            return cls(Config(**fields), None if checkpoint is None else Path(checkpoint))

    def with_verbosity(self, level: int) -> Self:
        """Return the same with progress to show."""
        return replace(self, config=replace(self.config, verbose=level))


class EmbedCommand(Command):
    """A command whose ``--report`` may stand without a file, and may take INPUT for it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name the file that was taken, where INPUT is missing."""
        taken = next((b for a, b in pairwise(args) if a == "--report" and b[0] != "-"), None)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if taken is None:
                raise
            message = f"INPUT is missing; --report took {taken} as the file to write. Put INPUT "
            raise click.UsageError(f"{message}first, or write --report -", ctx) from error


@command(
    Argument("source", "INPUT", f"Data: {in_words(READ)}; text may be compressed (.gz)."),
    cls=EmbedCommand,
    epilog=_EXAMPLE,
    products=Products,
    reading=InputOptions,
    fit=FitOptions,
    verbosity=Verbosity,
)
def embed(
    source: Path, products: Products, reading: InputOptions, fit: FitOptions, verbosity: Verbosity
) -> None:
    """Map the rows of a file, each of them a point.

    The output has a row for each row of INPUT, in the same order: its ID, the map (dtsne_1,
    dtsne_2), the columns of INPUT that are not mapped, and how reliable the point is: its radius in
    the data (log_radius_data), the error of its radius in the map (density_residual), its sigma and
    others.

    Ctrl-C writes the best map so far.
    """
    products.check(fit.config)
    with verbosity.configured_logging(), sigterm_as_interrupt():
        from dtsne.cli._embed_run import make_map

        make_map(source, products, reading, fit.with_verbosity(verbosity.level))
