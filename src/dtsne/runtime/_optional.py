"""Packages that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dtsne.runtime._errors import MissingPackageError

if TYPE_CHECKING:
    from types import ModuleType


def optional(module: str, *, purpose: str, extra: str | None = None) -> ModuleType:
    """Import a package, which may be of an extra, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        source = package if extra is None else f'"dtsne[{extra}]"'
        raise MissingPackageError(
            f"{purpose} needs {package}", f"pip install {source}", package=package
        ) from error
