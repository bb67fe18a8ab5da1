"""The paper's theorem, checked: ratios of small distances in the data and in the map.

For dtSNE, ‖x_i−x_j‖²/‖x_k−x_l‖² ≈ ‖y_i−y_j‖²/‖y_k−y_l‖² for close pairs; for t-SNE the same holds
up to σ_i²/σ_k², which is near 1 only where both pairs lie in the same region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.neighbors._exact import nearest_neighbors

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

N_NEAREST = 15
N_RATIOS = 100_000


@dataclass(frozen=True, eq=False)
class Ratios:
    """Logarithms of the ratios of two close pairs' squared distances, in data and map."""

    data: FloatArray
    map: FloatArray

    @property
    def correlation(self) -> float:
        """1 if the map's follow the data's."""
        return float(np.corrcoef(self.data, self.map)[0, 1])

    @property
    def slope(self) -> float:
        """By how much the map's ratio grows with the data's: 1 if it follows."""
        return float(np.dot(self.data, self.map) / np.dot(self.data, self.data))

    @property
    def typical_factor(self) -> float:
        """The factor by which the ratio of the map misses that of the data, in the median."""
        return float(np.exp(np.median(np.abs(self.map - self.data))))


def compare_ratios(X: FloatArray, Y: FloatArray, *, anywhere: bool) -> Ratios:
    """Compare ratios of close pairs, both anywhere, or both around the same point."""
    rng = np.random.default_rng(0)
    n = len(X)
    k = min(N_NEAREST, n - 1)
    indices, _ = nearest_neighbors(X, k)
    first = rng.integers(n, size=N_RATIOS)
    second = rng.integers(n, size=N_RATIOS) if anywhere else first
    pairs = [(rows, indices[rows, rng.integers(k, size=N_RATIOS)]) for rows in (first, second)]
    in_data, in_map = (
        np.array([((points[i] - points[j]) ** 2).sum(axis=1) for i, j in pairs])
        for points in (X, Y)
    )
    known = (in_data > 0).all(axis=0) & (in_map > 0).all(axis=0)  # copies have no ratio
    known &= in_data[0] != in_data[1]  # the same pair twice, or there and back
    return Ratios(*(np.log(both[0, known] / both[1, known]) for both in (in_data, in_map)))
