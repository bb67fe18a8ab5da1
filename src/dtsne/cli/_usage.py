"""The error for a command that is called wrongly."""

from __future__ import annotations

from typing import Any

import typer

# Typer has no name of its own for it: it is click's, or that of its copy of click.
UsageError: Any = typer.BadParameter.__mro__[1]
