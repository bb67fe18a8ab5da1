"""Packages that only some formats need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a package of an extra, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "dtsne[{extra}]"') from error


def arrow(module: str = "pyarrow") -> ModuleType:
    """Import pyarrow or a module of it, which reads csv, parquet and feather.

    One package for all three: strict where pandas fills in (a row that is too short is an error, an
    empty cell is not NaN before we count it), typed column by column, and without pandas' objects.
    pandas would need it for parquet and feather in any case.
    """
    return optional(module, extra="tables", purpose="reading or writing tables")
