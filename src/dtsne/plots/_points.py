"""Points on axes: how large and opaque they are follows from how densely they lie on the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dtsne.plots._coloring import Coloring
    from dtsne.runtime._typing import FloatArray, IntArray

# Diameters in points (1/72 inch): below, a point is lost; above, it looks like a symbol.
_DIAMETERS = (1.4, 6.0)
# Share of the paper that the points should cover where a typical one lies.
_COVER = 0.7
# Opacity of one point, and of what lies on top of one another in the denser half.
_OPACITY, _STACKED_OPACITY = 0.85, 0.95
# Below this a single point of a pale colour is not seen.
_MIN_ALPHA = 0.3
_MAX_CELLS = 512
# Above this, a vector file (PDF, SVG) holds the points as an image.
_EMBED_ABOVE = 5_000


@dataclass(frozen=True)
class PointStyle:
    """Size and opacity of all points of a map."""

    diameter: float
    alpha: float

    @property
    def size(self) -> float:
        """What matplotlib calls the size `s`: the square of the diameter in points."""
        return self.diameter**2


def draw_points(
    ax: Axes, Y: FloatArray, coloring: Coloring, style: PointStyle, order: IntArray
) -> None:
    """Draw points of Y, those of `order`, one after the other."""
    ax.scatter(
        Y[order, 0],
        Y[order, 1],
        c=coloring.of_points()[order],
        s=style.size,
        alpha=style.alpha,
        linewidths=0,
        rasterized=len(order) > _EMBED_ABOVE,
    )


def point_style(Y: FloatArray, width: float, height: float) -> PointStyle:
    """Choose the style for a map on a window of some width and height, in points (1/72 inch).

    The diameter is the one at which points cover a share of the paper where a typical point lies.
    Where that would be too small to see, it stays, and points become transparent instead: until as
    many as lie on top of one another in the denser parts are just opaque.
    """
    if len(Y) == 0:
        return PointStyle(_DIAMETERS[1], _OPACITY)
    density = local_density(Y, width, height)
    typical, high = np.quantile(density, [0.5, 0.75])
    disc = np.pi / 4
    diameter = float(np.clip(np.sqrt(_COVER / (disc * typical)), *_DIAMETERS))
    stacked = high * disc * diameter**2
    alpha = _OPACITY
    if stacked > 1:
        alpha = min(alpha, 1 - (1 - _STACKED_OPACITY) ** (1 / stacked))
    return PointStyle(diameter, float(max(alpha, _MIN_ALPHA)))


def local_density(Y: FloatArray, width: float, height: float) -> FloatArray:
    """Return how many points lie on a square point of paper around each."""
    low = Y.min(axis=0)
    extent = Y.max(axis=0) - low
    if not extent.any():  # all lie in one place
        return np.full(len(Y), len(Y) / max(_DIAMETERS) ** 2)
    scale = 1 / max(extent[0] / width, extent[1] / height)
    # As fine as there are still several points in a cell.
    n_cells = int(np.clip(np.sqrt(len(Y) / 4), 4, _MAX_CELLS))
    side = extent.max() / n_cells
    cells = np.minimum((Y - low) / side, n_cells - 1).astype(np.int64)
    flat = cells[:, 0] * n_cells + cells[:, 1]
    counts = np.bincount(flat, minlength=n_cells**2)
    density: FloatArray = counts[flat] / (side * scale) ** 2
    return density
