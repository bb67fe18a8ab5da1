"""The commands, put together."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from dtsne._version import __version__
from dtsne.cli import _completion
from dtsne.cli._demo import demo
from dtsne.cli._embed import embed
from dtsne.cli._errors import FAILED, exit_code
from dtsne.cli._info import info
from dtsne.cli._plot import plot
from dtsne.cli._quality import quality

if TYPE_CHECKING:
    from collections.abc import Sequence


class Program(click.Group):
    """The commands; errors are one line, and exit codes those of :func:`exit_code`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in the order in which they are used."""
        return list(self.commands)

    def main(self, args: Sequence[str] | None = None, *_: object, **__: object) -> NoReturn:
        """Run a command and exit."""
        _completion.complete(self)
        arguments = list(sys.argv[1:] if args is None else args)
        code = exit_code(lambda: self._run(arguments), arguments)
        sys.exit(code if _flushed_stdout() else code or FAILED)

    def _run(self, arguments: Sequence[str]) -> None:
        with self.make_context("dtsne", list(arguments)) as context:
            self.invoke(context)


def _flushed_stdout() -> bool:
    """Return whether standard output took everything; what it did not take is dropped."""
    try:
        if sys.stdout is not None:  # None where it was closed from the start
            sys.stdout.flush()
    except OSError:
        # Python would try once more at its end, and complain.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return False
    return True


@click.group(
    cls=Program,
    name="dtsne",
    help="Density-preserving t-SNE: maps in which the size of a cluster means its spread.",
    commands={command.name: command for command in (embed, quality, plot, demo, info)},
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)
@click.version_option(__version__, prog_name="dtsne", message="%(prog)s %(version)s")
@click.option(
    "--install-completion",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_completion.install,
    help="Set up completion for the current shell (bash, zsh or fish).",
)
@click.pass_context
def app(context: click.Context) -> None:
    """Print help where no command is given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
