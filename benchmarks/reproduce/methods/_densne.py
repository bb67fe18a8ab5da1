"""den-SNE (Narayan et al. 2021): the authors' program, which the variable `DENSNE` names."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduce.methods._programs import call, described, required

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

_VARIABLE = "DENSNE"
# Points, dimensions, θ, perplexity, dimensions of the map, iterations, share of them with
# densities, weight of densities, whether to return densities, whether a start follows. The data is
# next.
_HEADER = "<iiddiiddbb"
_RESULT = "<iib"  # points, dimensions, whether densities follow the map


@dataclass(frozen=True)
class DenSne:
    """The program reads ``data.dat`` and writes ``result.dat``; its authors' defaults.

    It has a seed of its own and takes no other.
    """

    title: str = "den-SNE"
    settings: dict[str, Any] = field(
        default_factory=lambda: {
            "perplexity": 50.0,
            "theta": 0.5,
            "max_iter": 1000,
            "dens_frac": 0.3,
            "dens_lambda": 0.1,
        }
    )
    n_rehearsed: int = 400

    def version(self) -> str:
        """Return which program would run."""
        return f"the authors' ({described(self._program())})"

    def embed(self, X: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002 - it takes none
        """Map points to two dimensions."""
        given = self.settings
        header = struct.pack(
            _HEADER, *X.shape, given["theta"], given["perplexity"], 2, given["max_iter"],
            given["dens_frac"], given["dens_lambda"], 0, 0,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            data = np.ascontiguousarray(X, "<f8").tobytes()
            (folder / "data.dat").write_bytes(header + data)
            said = call([self._program()], folder)
            result = folder / "result.dat"
            if not result.exists():
                raise RuntimeError(f"den-SNE left no result: {said.strip()[-200:]}")
            raw = result.read_bytes()
        n, n_axes, _ = struct.unpack_from(_RESULT, raw)
        found = np.frombuffer(raw, "<f8", n * n_axes, offset=struct.calcsize(_RESULT))
        return found.reshape(n, n_axes).copy()

    @staticmethod
    def _program() -> Path:
        return required(_VARIABLE, "build the program of its authors and name it there")


DENSNE = DenSne()
