"""``dtsne info``: what a report of a problem should say of the machine and what is installed."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtsne._version import __version__
from dtsne.cli._errors import one_line
from dtsne.cli._options import Options, command, option
from dtsne.cli._verbosity import print_result

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIRED = (
    "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "joblib", "threadpoolctl", "tqdm",
    "click",
)  # fmt: skip
# What each extra is for, and its packages.
EXTRAS = {
    "plot": ("pictures", ("matplotlib",)),
    "tables": ("csv, tsv, parquet, feather", ("pyarrow",)),
    "anndata": ("h5ad", ("anndata", "h5py")),
    "fcs": ("fcs", ("flowio",)),
    "metrics": ("other distances, beyond 20,000 points", ("pynndescent",)),
    "gpu": ("device='cuda'", ("torch",)),
    "data": ("downloads of data sets", ("flowio", "h5py", "pooch", "rdata")),
}
_CACHES = (".nbi", ".nbc")


@dataclass(frozen=True)
class InfoOptions(Options):
    """How the information is printed."""

    as_json: bool = option("as_json", "--json", default=False, help="Print JSON.")


@command(shown=InfoOptions)
def info(shown: InfoOptions) -> None:
    """List what is installed, and what this machine has.

    Versions, the packages of the extras, threads, memory, GPU, and the folders of caches and data:
    what a bug report should contain.
    """
    found = collect()
    as_json = json.dumps(found, indent=2, ensure_ascii=False) if shown.as_json else None
    print_result(as_json or as_text(found))


def collect() -> dict[str, Any]:
    """Find out about everything, without importing what is only named."""
    return {
        "dtsne": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "packages": {name: _version(name) for name in REQUIRED},
        "extras": {
            extra: {
                "purpose": purpose,
                "packages": {name: _version(name) for name in packages},
                "install": None if all(map(_version, packages)) else _line(extra),
            }
            for extra, (purpose, packages) in EXTRAS.items()
        },
        "threads": _found(_threads),
        "free memory": _found(_memory),
        "gpu": _found(_gpu),
        "numba cache": _found(_numba_cache),
        "data": _found(_data_folder),
    }


def as_text(found: dict[str, Any]) -> str:
    """Write it for a reader."""
    lines = [f"dtsne {found['dtsne']}", f"Python {found['python']}", found["system"], ""]
    lines += [f"{name:15} {version or 'missing'}" for name, version in found["packages"].items()]
    lines += ["", "extras"]
    for name, extra in found["extras"].items():
        have = ", ".join(f"{p} {v}" for p, v in extra["packages"].items() if v)
        said = " – ".join(filter(None, (have, extra["install"])))
        lines.append(f"  {name:10} {extra['purpose']}: {said}")
    lines.append("")
    lines += [
        f"{name:15} {found[name]}" for name in ("threads", "free memory", "gpu", "numba cache")
    ]
    lines.append(f"{'data sets':15} {found['data']}")
    return "\n".join(lines)


def _found(find: Callable[[], str]) -> str:
    """Return what there is to say, or why it cannot be found out: that may be the problem."""
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


def _line(extra: str) -> str:
    return f'pip install "dtsne[{extra}]"'


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
        return f"{_user_cache()} (as {package} cannot be written)"
    size = sum(path.stat().st_size for path in files)
    return f"{folder} ({len(files)} files, {size / 2**20:.1f} MiB)"


def _user_cache() -> str:
    """Return where numba keeps what it compiles for those who may not write to a package."""
    appdirs: Any = import_module("numba.misc.appdirs")
    return str(appdirs.AppDirs(appname="numba", appauthor=False).user_cache_dir)


def _data_folder() -> str:
    given = os.environ.get("DTSNE_DATA")
    if given:
        there = "" if Path(given).is_dir() else ", which is no folder"
        return f"{given} (DTSNE_DATA{there})"
    if find_spec("pooch") is None:
        return "DTSNE_DATA is not set; downloads need pooch"
    import pooch

    return f"{pooch.os_cache('dtsne')} (downloads; DTSNE_DATA is not set)"
