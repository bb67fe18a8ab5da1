"""``dtsne info``: what a bug report should say of the machine and of what is installed."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dtsne._version import __version__
from dtsne.cli._errors import one_line
from dtsne.cli._options import Options, command, option
from dtsne.cli._verbosity import print_result

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIRED = (
    "numpy", "array-api-compat", "scipy", "scikit-learn", "numba", "joblib",
    "threadpoolctl", "tqdm", "click",
)  # fmt: skip
# What each extra is for, and its packages.
EXTRAS = {
    "plot": ("pictures", ("matplotlib",)),
    "tables": ("csv, tsv, parquet, feather", ("pyarrow",)),
    "anndata": ("h5ad", ("anndata", "h5py")),
    "fcs": ("fcs", ("flowio",)),
    "metrics": ("other distances, beyond 20,000 points", ("pynndescent",)),
    "gpu": ("--device cuda", ("torch",)),
    "data": ("downloads of data sets", ("flowio", "h5py", "pooch", "rdata")),
}
_CACHES = (".nbi", ".nbc")


@dataclass(frozen=True)
class InfoOptions(Options):
    """How the information is printed."""

    as_json: bool = option("as_json --json", "Print JSON.", default=False)


@command(shown=InfoOptions)
def info(shown: InfoOptions) -> None:
    """List what is installed, and what this machine has.

    Versions, the packages of the extras, threads, memory, GPU, and the folders of caches and data:
    what a bug report should contain.
    """
    found = collect()
    sections = (
        "\n".join(f"{name:15} {text}" for name, text in section.items())
        for section in found.values()
    )
    as_json = json.dumps(found, indent=2, ensure_ascii=False)
    print_result(as_json if shown.as_json else "\n\n".join(sections))


def collect() -> dict[str, dict[str, str]]:
    """Find out about everything, without importing what is only named."""
    python = f"{platform.python_version()} ({sys.executable})"
    finders = {
        "threads": _threads,
        "free memory": _memory,
        "gpu": _gpu,
        "numba cache": _numba_cache,
        "data sets": _data_folder,
    }
    return {
        "versions": {"dtsne": __version__, "Python": python, "system": platform.platform()},
        "packages": {name: _version(name) or "missing" for name in REQUIRED},
        "extras": {name: _extra(name) for name in EXTRAS},
        "machine": {name: _found(find) for name, find in finders.items()},
    }


def _extra(name: str) -> str:
    purpose, packages = EXTRAS[name]
    versions = {package: _version(package) for package in packages}
    parts = [", ".join(f"{package} {found}" for package, found in versions.items() if found)]
    if not all(versions.values()):
        parts.append(f'pip install "dtsne[{name}]"')
    return f"{purpose}: {' – '.join(filter(None, parts))}"


def _found(find: Callable[[], str]) -> str:
    """Return what was found, or why nothing was: that may be the problem."""
    try:
        return find()
    except Exception as error:
        return f"not known: {type(error).__name__}: {one_line(str(error))}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
    except Exception as error:  # what a half-removed package leaves behind
        return f"not known: {type(error).__name__}"


def _threads() -> str:
    from dtsne.runtime._threads import resolve_n_jobs

    return f"{resolve_n_jobs(None)} used, of {os.cpu_count()} cores"


def _memory() -> str:
    from dtsne.runtime._memory import available_memory

    free = available_memory()
    return "not known" if free is None else f"{free / 2**30:.1f} GiB"


def _gpu() -> str:
    if find_spec("torch") is None:
        return "not looked for, as torch is not installed"
    import torch

    if not torch.cuda.is_available():
        return f"none that torch {torch.__version__} can use"
    device = torch.cuda.get_device_properties(0)
    return f"{device.name}, {device.total_memory / 2**30:.0f} GiB (torch {torch.__version__})"


def _numba_cache() -> str:
    given = os.environ.get("NUMBA_CACHE_DIR")
    package = Path(__file__).parents[1]
    folder = Path(given) if given else package
    files = [path for path in folder.rglob("*") if path.suffix in _CACHES]
    if not files and not given and not os.access(package, os.W_OK):
        appdirs = import_module("numba.misc.appdirs").AppDirs(appname="numba", appauthor=False)
        return f"{appdirs.user_cache_dir} (as {package} cannot be written)"
    size = sum(path.stat().st_size for path in files)
    return f"{folder} ({len(files)} files, {size / 2**20:.1f} MiB)"


def _data_folder() -> str:
    given = os.environ.get("DTSNE_DATA")
    if given:
        there = "" if Path(given).is_dir() else ", which is not a folder"
        return f"{given} (DTSNE_DATA{there})"
    if find_spec("pooch") is None:
        return "DTSNE_DATA is not set; downloads need pooch"
    import pooch

    return f"{pooch.os_cache('dtsne')} (downloads; DTSNE_DATA is not set)"
