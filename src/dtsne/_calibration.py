"""Calibration: correct the kernel scales by what the map itself shows.

σ sets the scale of the kernel, and the map's radii follow it, but only so far. Every so often during
the descent we take the radii r of the neighbourhoods, in the data and in the map, and move the
kernel scale of each point by the mismatch::

    log s_i += strength · mean over k of (log r_i,k^data − log r_i,k^map),   both centred

P does not change. docs/optimiser.md compares the ways to do this; what matters most is to start
while the map still moves, to use two radii instead of one, and to average the mismatch over a few
neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne._typing import FloatArray, IntArray

_STRENGTH = 0.5
# Scales stay within this factor of σ's own: unbounded, the update runs away for some points.
_BOUND = 2.0
# The mismatch is averaged over a point and this many of its neighbours in the data.
_N_SMOOTHING = 5
# Radii are those of the neighbourhoods of this share of the perplexity. The smaller one raises the
# correlation of neighbour distances (ρ_knn), the larger one is what a reader sees as density.
_SHARES_OF_PERPLEXITY = (0.3, 1.0)
# Radii of copies are 0; as shares of the median, smaller ones than this are not told apart.
_SMALLEST_RADIUS = 0.01


@dataclass(frozen=True)
class Calibration:
    """The radii the map should have, and the scales to stay near to."""

    ks: tuple[int, ...]
    log_radii: FloatArray  # (len(ks), n)
    neighbors: IntArray  # (n, number to average over)
    base_scales: FloatArray
    n_jobs: int

    @classmethod
    def from_neighbors(
        cls,
        indices: IntArray,
        distances: FloatArray,
        scales: FloatArray,
        *,
        perplexity: float,
        density_scale: float,
        n_jobs: int,
    ) -> Calibration:
        """Take the wanted radii from the neighbours in the data.

        A density_scale other than 1 asks for radii r ** density_scale.
        """
        n_found = distances.shape[1]
        ks = sorted({min(max(1, round(p * perplexity)), n_found) for p in _SHARES_OF_PERPLEXITY})
        radii = np.stack([_centred_log(distances[:, k - 1]) for k in ks])
        return cls(tuple(ks), density_scale * radii, indices[:, :_N_SMOOTHING], scales, n_jobs)

    def adjust(self, embedding: FloatArray, scales: FloatArray) -> FloatArray:
        """Return the kernel scales after one round."""
        from scipy.spatial import cKDTree

        # The nearest is the point itself, at 0: ks count from the next one on.
        radii, _ = cKDTree(embedding).query(
            embedding, k=[k + 1 for k in self.ks], workers=self.n_jobs
        )
        mismatch = np.mean(
            [self.log_radii[a] - _centred_log(radii[:, a]) for a in range(len(self.ks))], axis=0
        )
        own_and_neighbors = mismatch + mismatch[self.neighbors].sum(axis=1)
        smoothed = own_and_neighbors / (1 + self.neighbors.shape[1])
        moved = np.log(scales) + _STRENGTH * smoothed
        base, reach = np.log(self.base_scales), np.log(_BOUND)
        bounded = np.clip(moved, base - reach, base + reach)
        adjusted: FloatArray = np.exp(bounded - np.median(bounded))
        return adjusted


def _centred_log(radii: FloatArray) -> FloatArray:
    typical = np.median(radii[radii > 0]) if radii.any() else 1.0
    logarithms = np.log(np.maximum(radii, _SMALLEST_RADIUS * typical))
    centred: FloatArray = logarithms - np.median(logarithms)
    return centred
