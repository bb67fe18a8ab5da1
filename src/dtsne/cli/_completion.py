"""Completion of options and values in the shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from click.shell_completion import FishComplete, shell_complete

_PROGRAM, _VARIABLE = "dtsne", "_DTSNE_COMPLETE"
_FILES = {
    "bash": Path(".bashrc"),
    "zsh": Path(".zshrc"),
    "fish": Path(".config/fish/completions/dtsne.fish"),
}


def complete(program: click.Command) -> None:
    """Answer the shell and exit, if it asks for completions."""
    instruction = os.environ.get(_VARIABLE)
    if instruction:
        sys.exit(shell_complete(program, {}, _PROGRAM, _VARIABLE, instruction))


def install(context: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001
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
