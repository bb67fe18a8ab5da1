"""Packages that only downloads need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def optional(module: str) -> ModuleType:
    """Import a package of the ``data`` extra, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f'downloading this data set needs {module}: pip install "dtsne[data]"'
        ) from error
