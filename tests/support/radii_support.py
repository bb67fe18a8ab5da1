"""Maps whose radii are hard to find."""

from __future__ import annotations

import numpy as np


def uneven(rng: np.random.Generator, n: int, n_axes: int) -> np.ndarray:
    """Clusters whose widths differ by three decades, duplicates, and one point far out."""
    widths = np.geomspace(0.001, 1.0, 4)[rng.integers(4, size=n)]
    centres = 5 * rng.normal(size=(4, n_axes))[rng.integers(4, size=n)]
    embedding = centres + widths[:, None] * rng.normal(size=(n, n_axes))
    embedding[: n // 8] = embedding[0]
    embedding[-1] = 1e6
    return embedding
