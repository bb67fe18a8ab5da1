"""LargeVis (Tang et al. 2016): the authors' program, where `LARGEVIS` names it, else TorchDR's."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduce.methods._method import versions
from reproduce.methods._programs import call, described, named_by

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

_VARIABLE = "LARGEVIS"


@dataclass(frozen=True)
class LargeVis:
    """The original or another implementation, whichever there is; `version` says which."""

    title: str = "LargeVis"
    n_rehearsed: int = 400

    @property
    def settings(self) -> dict[str, Any]:
        """The authors' perplexity; all else as its implementation has it."""
        return {"perplexity": 50}

    def version(self) -> str:
        """Return which implementation would run."""
        program = named_by(_VARIABLE)
        if program is not None:
            return f"the authors' ({described(program)})"
        return f"TorchDR's ({versions(['torchdr', 'torch'])})"

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""
        program = named_by(_VARIABLE)
        return self._by_torchdr(X, seed) if program is None else self._by_program(program, X)

    def _by_torchdr(self, X: FloatArray, seed: int) -> FloatArray:
        import torch
        from torchdr import LargeVis as TorchLargeVis

        torch.set_num_threads(1)  # with more of them its maps differ from run to run
        method = TorchLargeVis(
            **self.settings, random_state=int(seed), device="cpu", backend=None,
            scheduler_kwargs="auto",  # a step that falls to 0, as the authors'; not the default
        )  # fmt: skip
        return np.asarray(method.fit_transform(X.astype(np.float32)))

    def _by_program(self, program: Path, X: FloatArray) -> FloatArray:
        """Call the program, which reads and writes text: "n d", then a row for each point.

        Five million samples: left to itself it takes 200 times as many for sets of this size. It
        has a seed of its own.
        """
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            header = f"{X.shape[0]} {X.shape[1]}"
            np.savetxt(folder / "data.txt", X, fmt="%.7g", header=header, comments="")
            call(
                [program, "-input", "data.txt", "-output", "map.txt", "-outdim", "2",
                 "-perp", str(self.settings["perplexity"]), "-samples", "5", "-threads", "1"],
                folder,
            )  # fmt: skip
            return np.loadtxt(folder / "map.txt", skiprows=1)


LARGEVIS = LargeVis()
