"""``dtsne quality``: how faithful a map is, whichever tool made it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dtsne.cli._embed import FitOptions
from dtsne.cli._options import FILE, POSITIVE, Argument, Options, command, option
from dtsne.cli._reading import InputOptions, SecondMapOptions
from dtsne.cli._verbosity import Verbosity
from dtsne.io._files import MAPS, WITH_COLUMNS, in_words

if TYPE_CHECKING:
    from pathlib import Path

# As in the paper.
_RADIUS_K = 100


class DataOptions(FitOptions):
    """The data with which the map is compared, by some parameters of the method."""

    names = ("metric", "n_pcs", "n_jobs")


@dataclass(frozen=True)
class ReportOptions(Options):
    """What is measured, and where the result is written."""

    panel = "Output"

    perplexity: float | None = option(
        "--perplexity",
        "Perplexity of the map, if known: clusters too small for it are then found.",
        type=float,
        panel="Embedding",
    )
    k: int | None = option(
        "--k",
        "Neighbour to which radii reach; by default the perplexity, or 100 without one.",
        type=POSITIVE,
    )
    k_neighborhood: int = option(
        "--k-neighborhood", "Number of neighbours that the map should keep.", 15, type=POSITIVE
    )
    as_json: bool = option("as_json --json", "Print the report as JSON.", default=False)
    report: Path | None = option(
        "--report", "Write the report to a .md, .txt or .json, and print nothing.", type=FILE
    )
    points: Path | None = option(
        "--points", f"The measures of every point, as {in_words(WITH_COLUMNS)}.", type=FILE
    )
    plot: Path | None = option(
        "--plot", "Radii in the map against radii in the data: .png, .pdf or .svg.", type=FILE
    )
    html: Path | None = option("--html", "An interactive page; opens offline.", type=FILE)

    def __post_init__(self) -> None:
        if self.perplexity is not None and not 1 < self.perplexity < math.inf:
            raise click.UsageError(f"--perplexity {self.perplexity:g} must be a number above 1")

    @property
    def radius_k(self) -> int:
        """The neighbour to which radii reach."""
        return self.k or (_RADIUS_K if self.perplexity is None else max(1, round(self.perplexity)))


@command(
    Argument("source", "INPUT", "The data, as for dtsne embed."),
    Argument("embedding", "EMBEDDING", f"A map of the data: {in_words(MAPS)}."),
    epilog="Example: dtsne quality cells.csv umap.csv --id cell --label type",
    reading=InputOptions,
    map_reading=SecondMapOptions,
    data=DataOptions,
    asked=ReportOptions,
    verbosity=Verbosity,
)
def quality(
    source: Path,
    embedding: Path,
    reading: InputOptions,
    map_reading: SecondMapOptions,
    data: DataOptions,
    asked: ReportOptions,
    verbosity: Verbosity,
) -> None:
    """Measure how reliable a map is, by dtsne or by any other tool.

    Points are matched by their IDs where both files have them, even if only one of the columns is
    named, and otherwise by their order. The data should be those that the map was made of: with the
    same transforms, and with --n-pcs none if they were not reduced first.
    """
    with verbosity.configured_logging():
        from dtsne.cli._quality_run import measure

        measure(source, embedding, reading, map_reading, data, asked)
