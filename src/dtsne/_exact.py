"""The exact engine: KL(P‖Q) and its gradient by a sum over all pairs, O(n²) time and O(n) memory.

With kernel scales s_i (1 for a typical point) the method's kernel and gradient are::

    γ_ij = 4 / (s_i + s_j)²
    w_ij = 1 / (1 + γ_ij ‖y_i − y_j‖²),     Z = Σ_{k≠l} w_kl,     q_ij = w_ij / Z
    ∂KL/∂y_i = 4 Σ_j (p_ij − q_ij) γ_ij w_ij (y_i − y_j)

Neither q nor γ is ever stored. Each row is summed by one thread in a fixed order, and the sums over
rows are made afterwards, so that the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

from dtsne._affinities import Affinities, DenseAffinities

if TYPE_CHECKING:
    from dtsne._typing import FloatArray

_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


@njit(parallel=True, fastmath=_FASTMATH, cache=True)
def repulsion_2d(y0, y1, s, f0, f1, z):  # type: ignore[no-untyped-def]
    n = len(s)
    for i in prange(n):
        a0 = y0[i]; a1 = y1[i]; si = s[i]
        t0 = y0[i]*0; t1 = t0; tz = t0
        for j in range(n):
            d0 = a0 - y0[j]
            d1 = a1 - y1[j]
            S = si + s[j]
            S2 = S*S
            r = 1 / (S2 + 4 * (d0*d0 + d1*d1))
            w = S2 * r
            g = w * r
            tz += w
            t0 += g * d0
            t1 += g * d1
        f0[i] = 4*t0
        f1[i] = 4*t1
        z[i] = tz - 1
