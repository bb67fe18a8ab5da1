"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from dtsne._version import __version__
from dtsne.cli import _embed, _plot, _quality
from dtsne.cli._demo import demo
from dtsne.cli._embed import ReportingCommand
from dtsne.cli._help import PlainCommand
from dtsne.cli._info import info
from dtsne.cli._signals import OneLineGroup

app = typer.Typer(
    name="dtsne",
    cls=OneLineGroup,
    help="Density-preserving t-SNE: maps in which the size of a cluster means its spread.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(cls=ReportingCommand, epilog=_embed.EXAMPLE)(_embed.embed)
app.command(cls=PlainCommand, epilog=_quality.EXAMPLE)(_quality.quality)
app.command(cls=PlainCommand, epilog=_plot.EXAMPLE)(_plot.plot)
app.command(cls=PlainCommand)(demo)
app.command(cls=PlainCommand)(info)


def _show_version(asked: bool) -> None:  # noqa: FBT001
    if asked:
        typer.echo(f"dtsne {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _dtsne(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say which version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
