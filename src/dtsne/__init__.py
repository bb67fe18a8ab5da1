"""Density-preserving t-SNE: maps in which the size of a cluster means its spread."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dtsne._version import __version__

if TYPE_CHECKING:
    from dtsne import account, datasets, page, plots, quality, report, scanpy, tables
    from dtsne._config import Config
    from dtsne._embed import embed
    from dtsne._embedding import Embedding
    from dtsne._estimator import DTSNE

__all__ = [
    "DTSNE",
    "Config",
    "Embedding",
    "__version__",
    "account",
    "datasets",
    "embed",
    "page",
    "plots",
    "quality",
    "report",
    "scanpy",
    "tables",
]

# Loaded at first use: scikit-learn and numba take longer to import than numpy itself.
_OBJECTS = {
    "DTSNE": "_estimator",
    "Config": "_config",
    "Embedding": "_embedding",
    "embed": "_embed",
}


def __getattr__(name: str) -> object:
    if name in _OBJECTS:
        return getattr(import_module(f"dtsne.{_OBJECTS[name]}"), name)
    if name in __all__:
        return import_module(f"dtsne.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
