"""Calibration: correct the kernel scales by what the map itself shows.

σ sets the scale of the kernel, and the map's radii follow it, but only so far. Every so often
during the descent we take the radii r of the neighbourhoods, in the data and in the map, and move
the kernel scale of each point by the mismatch::

    log s_i += strength · mean over k of (b_k · log r_i,k^data − log r_i,k^map),   both centred

P does not change. b_k is 1, unless the map by itself exaggerates the differences, as it does for
text and RNA. To insist on 1 there costs more than it gives, so b_k is then the slope of log r^map
over log r^data at the first round, and what is removed is the scatter around it.

docs/optimiser.md compares the ways to do all this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import array_namespace

from dtsne.optimize._radii import neighbor_radii
from dtsne.runtime._arrays import median
from dtsne.runtime._threads import ONE_THREAD, Threads

if TYPE_CHECKING:
    from dtsne._config import CalibrationPlan
    from dtsne.runtime._typing import FloatArray, IntArray

# Radii of copies are 0; as shares of the median, smaller ones than this are not told apart.
_SMALLEST_RADIUS = 0.01


@dataclass(frozen=True)
class Calibration:
    """The radii the map should have, and the scales to stay near to."""

    plan: CalibrationPlan
    ks: tuple[int, ...]
    log_radii: FloatArray  # (len(ks), n)
    neighbors: IntArray  # (n, number to average over)
    base_scales: FloatArray

    @classmethod
    def from_neighbors(
        cls,
        plan: CalibrationPlan,
        indices: IntArray,
        distances: FloatArray,
        scales: FloatArray,
        *,
        perplexity: float,
        density_scale: float,
    ) -> Calibration:
        """Take the wanted radii from the neighbours in the data.

        A density_scale other than 1 asks for radii r ** density_scale.
        """
        n_found = distances.shape[1]
        wanted = (round(share * perplexity) for share in plan.shares_of_perplexity)
        ks = tuple(sorted({min(max(1, k), n_found) for k in wanted}))
        xp = array_namespace(distances)
        radii = xp.stack([_centred_log(distances[:, k - 1]) for k in ks])
        # A copy, so that the whole lists are not kept alive.
        neighbors = xp.asarray(indices[:, : plan.n_smoothing], copy=True)
        return cls(plan, ks, density_scale * radii, neighbors, scales)

    def is_due(self, n_done: int, relative_change: float) -> bool:
        """Whether to calibrate now: once started, at every check until all rounds are done."""
        started = n_done > 0 or relative_change < self.plan.start_below
        return started and n_done < self.plan.n_rounds

    def following(self, in_map: FloatArray) -> Calibration:
        """Return this calibration with the radii spread as far as those found in a map are."""
        xp = array_namespace(in_map)
        spread = self.log_radii - self.log_radii.mean(axis=1, keepdims=True)
        variances = (spread**2).sum(axis=1)
        even = variances == 0
        slopes = (spread * in_map).sum(axis=1) / xp.where(even, 1.0, variances)
        factors = xp.where(even, 1.0, (slopes - self.plan.slope_tolerance).clip(min=1.0))
        return replace(self, log_radii=factors[:, None] * self.log_radii)

    def adjust(self, in_map: FloatArray, scales: FloatArray) -> FloatArray:
        """Return the kernel scales after one round, from the radii found in the map."""
        mismatch = (self.log_radii - in_map).mean(axis=0)
        own_and_neighbors = mismatch + mismatch[self.neighbors].sum(axis=1)
        smoothed = own_and_neighbors / (1 + self.neighbors.shape[1])
        xp = array_namespace(scales)
        moved = xp.log(scales) + self.plan.strength * smoothed
        base, reach = xp.log(self.base_scales), float(np.log(self.plan.bound))
        bounded = xp.clip(moved, base - reach, base + reach)
        # In the unit of before: the median is 1, except where most points are copies.
        unit = round(float(median(base)), 2)
        adjusted: FloatArray = xp.exp(bounded - median(bounded) + unit)
        return adjusted

    def log_radii_in(self, embedding: FloatArray, threads: Threads = ONE_THREAD) -> FloatArray:
        """Find the radii in a map, as `log_radii` has those of the data."""
        xp = array_namespace(embedding)
        radii = neighbor_radii(embedding, self.ks, threads)
        stacked: FloatArray = xp.stack([_centred_log(of_k) for of_k in radii])
        return stacked


def _centred_log(radii: FloatArray) -> FloatArray:
    xp = array_namespace(radii)
    typical = float(median(radii[radii > 0])) if radii.any() else 1.0
    logarithms = xp.log(radii.clip(min=_SMALLEST_RADIUS * typical))
    centred: FloatArray = logarithms - median(logarithms)
    return centred
