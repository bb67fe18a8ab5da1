"""The method of this package, and the paper's own way of minimising the same objective."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dtsne
from dtsne.reproduce._results import digest_of_files

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray


@dataclass(frozen=True)
class Dtsne:
    """`dtsne.DTSNE` with some parameters."""

    title: str
    settings: dict[str, Any]
    n_rehearsed: int = 400

    def version(self) -> str:
        """Return the version, and the state of the code between versions."""
        return f"dtsne {dtsne.__version__} ({_digest_of_code()})"

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""
        return dtsne.DTSNE(random_state=seed, **self.settings).fit_transform(X)


@cache
def _digest_of_code() -> str:
    """Name the content of the modules that a fit consists of: those of the package itself."""
    return digest_of_files(sorted(Path(dtsne.__file__).parent.glob("_*.py")))


DTSNE = Dtsne("dtSNE", {"perplexity": 100})
PLAIN = Dtsne("dtSNE, plain", {"perplexity": 100, "calibration": False})
PAPER = Dtsne(
    "dtSNE, paper's descent",
    {"perplexity": 100, "calibration": False, "optimizer": "paper", "max_iter": 1000},
)
