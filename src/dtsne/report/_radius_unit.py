"""How long one unit of a map is in the data, by the radii of neighbourhoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray


def factor_of_radii(log_radius_data: FloatArray, log_radius_map: FloatArray) -> float | None:
    """Return the median of radius in the data over radius in the map; None if none is known."""
    factors = log_radius_data - log_radius_map
    known = factors[np.isfinite(factors)]
    return float(np.exp(np.median(known))) if len(known) else None
