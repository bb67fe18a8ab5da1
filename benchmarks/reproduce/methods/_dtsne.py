"""The method of this package, and the paper's own way of minimising the same objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dtsne import Config, __version__, embed
from reproduce._digest import digest_of_code

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

# The module whose code, with all that it imports, makes a map.
FIT = "dtsne._embed"


@dataclass(frozen=True)
class Dtsne:
    """`dtsne.embed` with some parameters."""

    title: str
    settings: dict[str, Any]
    n_rehearsed: int = 400

    def version(self) -> str:
        """Return the version, and the state of the code between versions."""
        return f"dtsne {__version__} ({digest_of_code(FIT)})"

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""
        return embed(X, Config(random_state=seed, **self.settings)).coordinates


DTSNE = Dtsne("dtSNE", {"perplexity": 100})
PLAIN = Dtsne("dtSNE, plain", {"perplexity": 100, "calibration": False})
PAPER = Dtsne(
    "dtSNE, paper's descent",
    {"perplexity": 100, "calibration": False, "optimizer": "paper", "max_iter": 1000},
)
