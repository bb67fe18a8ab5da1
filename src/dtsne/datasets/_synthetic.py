"""Mixtures of clusters whose true spreads are known, after the paper's appendix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dtsne.datasets._dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dtsne.runtime._typing import FloatArray

Shape: TypeAlias = tuple[int, int]


def _standard_normal(rng: Generator, shape: Shape) -> FloatArray:
    return rng.standard_normal(shape)


def _standard_uniform(rng: Generator, shape: Shape) -> FloatArray:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)  # mean 0, variance 1


@dataclass(frozen=True)
class Mixture:
    """Clusters of one distribution, each with its size, spread and centre.

    `spreads` are the standard deviations in each dimension. Where `centres` is None, they are
    drawn from U(0, 50), independently in each dimension.
    """

    n_features: int
    sizes: tuple[int, ...]
    spreads: tuple[int, ...]
    centres: tuple[tuple[int, ...], ...] | None = None
    standard: Callable[[Generator, Shape], FloatArray] = _standard_normal

    @property
    def family(self) -> str:
        """The name of the clusters' distribution."""
        return "Gaussian" if self.standard is _standard_normal else "uniform"


TRIANGLE = ((10, 0), (0, 15), (-10, 0))

MIXTURES = {
    "2D-density": Mixture(2, (300,) * 3, (1, 2, 4), TRIANGLE),
    "2D-samples": Mixture(2, (100, 200, 500), (1,) * 3, TRIANGLE),
    "G3-s": Mixture(50, (200, 400, 600), (2,) * 3),
    "G3-d": Mixture(50, (300,) * 3, (2, 4, 8)),
    "G10-d": Mixture(50, (200,) * 10, tuple(range(1, 11))),
    # The paper's main text and the name of this set say 5 clusters, its appendix 10. "U5-d" holds
    # the former, "U10-d" the latter.
    "U5-d": Mixture(150, (200,) * 5, tuple(range(1, 6)), standard=_standard_uniform),
    "U10-d": Mixture(150, (200,) * 10, tuple(range(1, 11)), standard=_standard_uniform),
}


def draw_mixture(name: str, rng: Generator) -> Dataset:
    """Draw the points of a mixture, cluster after cluster."""
    mixture = MIXTURES[name]
    d = mixture.n_features
    if mixture.centres is None:
        centres = rng.uniform(0, 50, (len(mixture.sizes), d))
    else:
        centres = np.array(mixture.centres, dtype=np.float64)
    # The paper scales "the centered data". We take that as centred on the mean of the
    # distribution rather than of the sample: it is the draw from a Gaussian of that spread.
    clusters = [
        centre + spread * mixture.standard(rng, (size, d))
        for centre, spread, size in zip(centres, mixture.spreads, mixture.sizes, strict=True)
    ]
    return Dataset(
        name=name,
        X=np.concatenate(clusters),
        labels=np.repeat(np.arange(len(clusters)), mixture.sizes),
        label_names=tuple(
            f"{size} points of spread {spread}"
            for size, spread in zip(mixture.sizes, mixture.spreads, strict=True)
        ),
        description=_describe(mixture),
    )


def _describe(mixture: Mixture) -> str:
    def joined(values: tuple[int, ...]) -> str:
        return ", ".join(map(str, values))

    centres = "drawn from U(0, 50)" if mixture.centres is None else f"{mixture.centres}"
    return (
        f"Synthetic: {len(mixture.sizes)} {mixture.family} clusters, "
        f"{sum(mixture.sizes)} × {mixture.n_features}, of {joined(mixture.sizes)} points and "
        f"spread {joined(mixture.spreads)}; centres {centres}. No preprocessing."
    )
