"""Completion of options and values in the shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class, shell_complete

_PROGRAM, _VARIABLE = "dtsne", "_DTSNE_COMPLETE"
_FISH = Path(".config/fish/completions/dtsne.fish")
_STARTUP_FILES = {"bash": Path(".bashrc"), "zsh": Path(".zshrc"), "fish": _FISH}


def complete(program: click.Command) -> None:
    """Answer the shell and exit, if it asks for completions."""
    instruction = os.environ.get(_VARIABLE)
    if instruction:
        sys.exit(shell_complete(program, {}, _PROGRAM, _VARIABLE, instruction))


def show(context: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001
    """Print the script of the shell."""
    if asked:
        click.echo(_script(context))
        context.exit()


def install(context: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001
    """Have the shell load its script when it starts."""
    if not asked:
        return
    shell = _shell()
    path = Path.home() / _STARTUP_FILES[shell]
    if shell == "fish":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(context))
    else:
        line = f'eval "$({_VARIABLE}={shell}_source {_PROGRAM})"\n'
        if not path.exists() or line not in path.read_text():
            with path.open("a") as file:
                file.write(f"\n{line}")
    click.echo(f"completion is set up in {path}; it works in new shells")
    context.exit()


def _shell() -> str:
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _STARTUP_FILES:
        raise click.UsageError(
            f"completion is available for {', '.join(_STARTUP_FILES)}; the shell in SHELL is "
            f"{shell or 'not set'}"
        )
    return shell


def _script(context: click.Context) -> str:
    found = get_completion_class(_shell())
    assert found is not None
    return found(context.command, {}, _PROGRAM, _VARIABLE).source()
