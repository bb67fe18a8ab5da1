"""Packages that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def optional(module: str, *, purpose: str, extra: str | None = None) -> ModuleType:
    """Import a package, which may be of an extra, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        source = package if extra is None else f'"dtsne[{extra}]"'
        raise ImportError(f"{purpose} needs {package}: pip install {source}") from error
