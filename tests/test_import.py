"""Importing the package is fast because it loads almost nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest
from import_support import loaded_after

HEAVY = (
    "numba",
    "sklearn",
    "scipy",
    "matplotlib",
    "pandas",
    "pooch",
    "pynndescent",
    "torch",
    "tqdm",
    "umap",
)


@pytest.mark.integration
@pytest.mark.parametrize(
    "statement",
    [
        "import dtsne",
        "import dtsne.datasets",
        "import dtsne.quality",
        "import dtsne.account",
        "import dtsne.page",
        "import dtsne.plots",
        "import dtsne.scanpy",
        "import dtsne.tables",
        "import dtsne.cli",
    ],
)
def test_import_loads_nothing_heavy(statement):
    loaded = loaded_after(statement)
    assert "dtsne" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.integration
def test_estimator_does_not_load_manifold():
    script = "import sys; from dtsne import DTSNE; print('sklearn.manifold' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_public_names():
    import dtsne

    for name in set(dtsne.__all__) - {"__version__"}:
        found = getattr(dtsne, name)
        if isinstance(found, ModuleType):
            assert found is import_module(f"dtsne.{name}")
        else:
            assert found.__name__ == name
            assert found.__module__.startswith("dtsne._")
    assert dtsne.__version__ == import_module("dtsne._version").__version__
    assert {"DTSNE", "account", "datasets", "page", "plots", "quality", "scanpy", "tables"} < set(
        dtsne.__all__
    )
    assert set(dir(dtsne)) == set(dtsne.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dtsne.nothing  # noqa: B018
