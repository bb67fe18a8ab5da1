"""``dtsne quality``: how faithful a map is, whoever made it."""

# Annotations are evaluated here, as Typer reads them.
import math
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated

import typer

from dtsne.cli._map_options import MapOptions
from dtsne.cli._options import Options, with_options
from dtsne.cli._parameters import FitOptions
from dtsne.cli._reading import InputOptions
from dtsne.cli._usage import UsageError
from dtsne.cli._verbosity import Verbosity
from dtsne.io._files import MAPS, WITH_COLUMNS, in_words

_OF_MAP, _OF_METHOD, _OUT = "The embedding", "The data as the method saw it", "What is written"
# As the paper has it.
_REACH = 100
EXAMPLE = "Example: dtsne quality cells.csv umap.csv --id cell --label type"


@dataclass(frozen=True)
class MatchedMapOptions(MapOptions):
    """How EMBEDDING is read where INPUT is read too, and how the two are matched."""

    prefix = "map-"
    panel = _OF_MAP

    by_order: bool = False

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """See :class:`Options`."""
        option = typer.Option(
            "--by-order",
            help="Match rows by their order, whatever the ids say.",
            rich_help_panel=_OF_MAP,
        )
        by_order = Parameter(
            "by_order", Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, option]
        )
        return [*super().parameters(), by_order]


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
            help=f"What is said of every point, as {in_words(WITH_COLUMNS)}.",
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

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.perplexity is not None and not 1 < self.perplexity < math.inf:
            raise UsageError(f"--perplexity {self.perplexity:g} has to be a number above 1.")

    @property
    def reach(self) -> int:
        """Neighbour that radii reach to."""
        return self.k or (_REACH if self.perplexity is None else max(1, round(self.perplexity)))


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
            help=f"A map of it: {in_words(MAPS)}.",
            show_default=False,
        ),
    ],
    *,
    reading: InputOptions,
    map_reading: MatchedMapOptions,
    data: DataOptions,
    judging: JudgementOptions,
    verbosity: Verbosity,
) -> None:
    """Judge a map of some data, by dtsne or by any other tool.

    Prints what can be read from the map and what cannot. Points are matched by their ids where both
    files have them, also where only one of them was told which column that is, and else by their
    order. The data should be that which the map was made of: the
    same transforms, and --n-pcs none if it was not reduced first.
    """
    with verbosity.configured_logging(source, embedding):
        from dtsne.cli._quality_run import judge

        judge(source, embedding, reading, map_reading, data, judging)
