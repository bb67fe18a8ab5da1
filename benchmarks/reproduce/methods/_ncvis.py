"""NCVis (Artemenkov and Panov 2020).

Its source package builds only beside a numpy that is older than that of everything else here, so it
lives in an environment of its own, whose Python `NCVIS_PYTHON` names; ``make reproduce`` makes one.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduce.methods._method import Missing
from reproduce.methods._programs import call, required

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

_VARIABLE = "NCVIS_PYTHON"
# One thread: with more of them its maps differ from run to run.
_EMBED = """
import sys, numpy, ncvis
data, result, seed = sys.argv[1:]
method = ncvis.NCVis(d=2, n_threads=1, random_seed=int(seed))
numpy.save(result, method.fit_transform(numpy.load(data)))
"""
_VERSION = "from importlib.metadata import version; print(version('ncvis'))"


@dataclass(frozen=True)
class NcVis:
    """The authors' implementation, called in its own environment."""

    title: str = "NCVis"
    settings: dict[str, Any] = field(default_factory=dict)
    n_rehearsed: int = 400

    def version(self) -> str:
        """Ask the other environment for its version."""
        try:
            return f"ncvis {call([self._python(), '-c', _VERSION], Path.cwd()).strip()}"
        except RuntimeError as error:
            raise Missing(f"{_VARIABLE} names a Python without ncvis ({error})") from error

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.save(folder / "data.npy", np.ascontiguousarray(X, np.float32))
            call([self._python(), "-c", _EMBED, "data.npy", "map.npy", str(seed)], folder)
            embedding: FloatArray = np.load(folder / "map.npy", allow_pickle=False)
        return embedding

    @staticmethod
    def _python() -> Path:
        remedy = "`make reproduce` installs ncvis into an environment of its own and sets it"
        return required(_VARIABLE, remedy)


NCVIS = NcVis()
