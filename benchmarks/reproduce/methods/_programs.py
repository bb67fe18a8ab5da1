"""Calling programs outside of this process's Python."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from reproduce._digest import digest_of_file
from reproduce.methods._method import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence


def named_by(variable: str) -> Path | None:
    """Return the program that an environment variable names, None where it is not set."""
    named = os.environ.get(variable)
    if not named:
        return None
    path = Path(named).expanduser()
    if not os.access(path, os.X_OK):
        raise Missing(f"{variable} names {named}, which is not a program that can be run")
    return path.absolute()


def required(variable: str, remedy: str) -> Path:
    """Return the program that an environment variable names, which has to be set."""
    program = named_by(variable)
    if program is None:
        raise Missing(f"{variable} is not set; {remedy}")
    return program


def described(program: Path) -> str:
    """Name a program and its content."""
    return f"{program.name} {digest_of_file(program)}"


def call(command: Sequence[str | Path], folder: Path) -> str:
    """Run a program in a folder, and return what it prints; what it complains of is the error."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(f"{Path(command[0]).name} ended with {done.returncode}: {said[-1]}")
    return done.stdout
