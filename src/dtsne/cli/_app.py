"""The commands, put together."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import FishComplete, shell_complete

from dtsne._version import __version__
from dtsne.cli._demo import demo
from dtsne.cli._embed import embed
from dtsne.cli._errors import FAILED, exit_code
from dtsne.cli._info import info
from dtsne.cli._plot import plot
from dtsne.cli._quality import quality

if TYPE_CHECKING:
    from collections.abc import Sequence


_PROGRAM, _VARIABLE = "dtsne", "_DTSNE_COMPLETE"
_FILES = {
    "bash": Path(".bashrc"),
    "zsh": Path(".zshrc"),
    "fish": Path(".config/fish/completions/dtsne.fish"),
}


class Program(click.Group):
    """The commands; errors are one line, and exit codes those of :func:`exit_code`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in the order in which they are used."""
        return list(self.commands)

    def main(self, args: Sequence[str] | None = None, *_: object, **__: object) -> NoReturn:
        """Run a command and exit."""
        instruction = os.environ.get(_VARIABLE)
        if instruction:  # the shell asks for completions
            sys.exit(shell_complete(self, {}, _PROGRAM, _VARIABLE, instruction))
        arguments = list(sys.argv[1:] if args is None else args)
        code = exit_code(lambda: self._run(arguments), arguments)
        sys.exit(code if _flushed_stdout() else code or FAILED)

    def _run(self, arguments: Sequence[str]) -> None:
        with self.make_context(_PROGRAM, list(arguments)) as context:
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


def _install_completion(context: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001
    """Have the shell load its completions when it starts."""
    if not asked:
        return
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _FILES:
        found = f"the shell in SHELL is {shell or 'not set'}"
        raise click.UsageError(f"completion is available for {', '.join(_FILES)}; {found}")
    path = Path.home() / _FILES[shell]
    if shell == "fish":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FishComplete(context.command, {}, _PROGRAM, _VARIABLE).source())
    else:
        line = f'eval "$({_VARIABLE}={shell}_source {_PROGRAM})"\n'
        if not path.exists() or line not in path.read_text():
            with path.open("a") as file:
                file.write(f"\n{line}")
    click.echo(f"completion is set up in {path}; it works in new shells")
    context.exit()


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
    callback=_install_completion,
    help="Set up completion for the current shell (bash, zsh or fish).",
)
@click.pass_context
def app(context: click.Context) -> None:
    """Print help where no command is given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
