"""Points that are the same, but for rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

# Of a typical length: points that are nearer differ by rounding alone, as copies do that went
# through somebody's principal components in float32.
SAME = 1e-6
# Of all radii: larger ones may be those of a few points far out.
_COMMON = 0.95


def rounding_of(radii: FloatArray) -> float:
    """Return the distance up to which points are copies, by the radii of all.

    It is a small share of a typical radius, those that are themselves rounding left aside.
    """
    common = float(np.quantile(radii, _COMMON))
    return SAME * float(np.median(radii[radii >= SAME * common]))
