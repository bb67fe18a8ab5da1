"""Density-preserving t-SNE: maps in which the size of a cluster means its spread."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dtsne._version import __version__

if TYPE_CHECKING:
    from dtsne import account, datasets, page, plots, quality, scanpy, tables
    from dtsne._estimator import DTSNE

__all__ = [
    "DTSNE",
    "__version__",
    "account",
    "datasets",
    "page",
    "plots",
    "quality",
    "scanpy",
    "tables",
]

# Loaded at first use: scikit-learn and numba take longer to import than numpy itself.
_SUBPACKAGES = ("account", "datasets", "page", "plots", "quality", "scanpy", "tables")
_MODULES = {"DTSNE": "dtsne._estimator"} | {name: f"dtsne.{name}" for name in _SUBPACKAGES}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_MODULES[name])
    return getattr(module, name, module)


def __dir__() -> list[str]:
    return sorted(__all__)
