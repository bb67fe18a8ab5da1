"""The sets of the paper, drawn and prepared as it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dtsne.data._points import principal_components
from dtsne.datasets import load

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

N_COMPONENTS = 50  # "we project it to its first 50 principal components"
N_REAL = 5000  # "a random subset of 5000 samples"


@dataclass(frozen=True)
class PaperSet:
    """A set of the comparison.

    `column` is its name in the paper's table, None where it has no column there. `note` says in
    what it differs from the paper's.
    """

    name: str
    title: str
    column: str | None = None
    note: str = ""
    synthetic: bool = False


@dataclass(frozen=True, eq=False)
class DatasetSample:
    """A set drawn with a seed: what is embedded, and what it is drawn with."""

    X: FloatArray
    labels: IntArray
    label_names: tuple[str, ...]
    raw: FloatArray = field(repr=False)


_SUBSET = "a random subset of its own of 5000 points"
SETS = {
    found.name: found
    for found in (
        PaperSet("G3-s", "G3-s", "G3-s", synthetic=True),
        PaperSet("G3-d", "G3-d", "G3-d", synthetic=True),
        PaperSet("G10-d", "G10-d", "G10-d", synthetic=True),
        PaperSet(
            "U5-d", "U5-d", "U5-d", "5 clusters, as its name and the paper's text have it; the "
            "appendix says 10, which is U10-d here", synthetic=True,
        ),
        PaperSet(
            "amazon", "Amazon", "Amazon", "other reviews of the same 8 categories, embedded by "
            "MiniLM (384 numbers) where the paper has the Universal Sentence Encoder (512)",
        ),
        PaperSet("mnist", "MNIST", "MNIST", _SUBSET),
        PaperSet(
            "samusik", "Samusik", "Samusik", "5000 of the 10,000 cells of animal 01 that are "
            "published with their types, arcsinh(x/5); the paper says neither which cells it "
            "took nor how it transformed them",
        ),
        PaperSet(
            "himc", "HIMC PBMC", "Wong", "another study (HIMC) of human blood cells by mass "
            "cytometry, as the data of Wong et al. could not be had: compare with care",
        ),
        PaperSet("2D-density", "2-D, densities", synthetic=True),
        PaperSet("2D-samples", "2-D, sample sizes", synthetic=True),
        PaperSet("U10-d", "U10-d", None, "the appendix's reading of U5-d", synthetic=True),
    )
}  # fmt: skip


def draw(name: str, seed: int, n: int | None = None) -> DatasetSample:
    """Draw a set; n points of it at most, by default as many as the paper takes."""
    paper_set = SETS[name]
    whole = load(name, seed)
    size = len(whole.X)
    wanted = n or (size if paper_set.synthetic else N_REAL)
    part = whole if wanted >= size else load(name, seed, n=wanted)
    raw = np.asarray(part.X, np.float64)
    assert part.labels is not None  # all of these sets have labels
    X = raw if raw.shape[1] <= N_COMPONENTS else principal_components(raw, N_COMPONENTS)
    return DatasetSample(X, part.labels, part.label_names, raw)
