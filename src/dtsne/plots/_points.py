"""Points on axes, one by one, or for very many points as an image.

The size and opacity of points follow from how densely they lie on the paper. Of an image, the
points in each pixel are counted, not painted over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

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
RasterScale: TypeAlias = Literal["log", "equalize"]
# Above this a scatter is slow to draw, and its transparency too coarse to show densities.
RASTERIZE_ABOVE = 100_000
PIXELS_PER_INCH = 144
# Opacity of a pixel with one point, so that single ones are still seen.
_MIN_PIXEL_ALPHA = 0.45


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


@dataclass(frozen=True)
class Grid:
    """Square pixels over a map.

    Attributes
    ----------
    low : (float, float)
        The lower left corner, in units of the map.
    side : float
        Side of a pixel, in units of the map.
    shape : (int, int)
        Number of rows and columns.
    """

    low: tuple[float, float]
    side: float
    shape: tuple[int, int]

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top."""
        rows, columns = self.shape
        left, bottom = self.low
        return left, left + columns * self.side, bottom, bottom + rows * self.side

    def pixels(self, Y: FloatArray) -> IntArray:
        """Return the flat index of each point's pixel, row by row from the bottom."""
        rows, columns = self.shape
        column = np.clip(((Y[:, 0] - self.low[0]) / self.side).astype(np.int64), 0, columns - 1)
        row = np.clip(((Y[:, 1] - self.low[1]) / self.side).astype(np.int64), 0, rows - 1)
        flat: IntArray = row * columns + column
        return flat


def draw_image(
    ax: Axes, Y: FloatArray, coloring: Coloring, size: tuple[float, float], scale: RasterScale
) -> None:
    """Draw a map as an image of some inches: colours are mixed, and opacity follows the counts."""
    from matplotlib.colors import to_rgb
    from matplotlib.image import AxesImage

    grid = make_grid(Y, *size)
    image = np.empty((*grid.shape, 4))
    colors = coloring.of_pixels(Y, grid)
    image[..., :3] = np.where(np.isnan(colors), to_rgb(coloring.gray), colors)
    image[..., 3] = opacity(spread(count_pixels(Y, grid)), scale)
    drawn = AxesImage(ax, extent=grid.extent, origin="lower")
    drawn.set_data(image)
    ax.add_image(drawn)
    left, right, bottom, top = grid.extent
    ax.update_datalim([(left, bottom), (right, top)])


def make_grid(Y: FloatArray, width: float, height: float) -> Grid:
    """Lay pixels over a map that is to be drawn so wide and high, in inches."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    if (low == high).all():  # one place: a pixel in the midst of a window, not all of it
        around = max(0.5, 1e-6 * float(np.abs(low).max()))
        low, high = low - around, high + around
    extent = high - low
    # One pixel of margin, for points that are drawn larger than a pixel.
    side = float(max(extent[0] / width, extent[1] / height)) / PIXELS_PER_INCH
    columns, rows = (int(size // side) + 3 for size in extent)
    return Grid((float(low[0] - side), float(low[1] - side)), side, (rows, columns))


def count_pixels(Y: FloatArray, grid: Grid) -> IntArray:
    """Count the points in each pixel."""
    counts = np.bincount(grid.pixels(Y), minlength=grid.shape[0] * grid.shape[1])
    return counts.reshape(grid.shape)


def mean_per_pixel(Y: FloatArray, columns: FloatArray, grid: Grid) -> FloatArray:
    """Average columns (n, c) over the points in and next to each pixel; nan where none are."""
    pixels, n_pixels = grid.pixels(Y), grid.shape[0] * grid.shape[1]
    counts = spread(count_pixels(Y, grid))
    sums = [
        spread(np.bincount(pixels, weights=column, minlength=n_pixels).reshape(grid.shape))
        for column in columns.T
    ]
    with np.errstate(invalid="ignore"):  # 0 / 0 is what has no mean
        return np.stack(sums, axis=-1) / counts[..., None]


def spread(image: FloatArray | IntArray) -> FloatArray:
    """Add to each pixel those on its four sides: a point of one pixel is too small to see."""
    wide = image.astype(np.float64)
    wide[1:] += image[:-1]
    wide[:-1] += image[1:]
    wide[:, 1:] += image[:, :-1]
    wide[:, :-1] += image[:, 1:]
    return wide


def opacity(counts: FloatArray, scale: RasterScale) -> FloatArray:
    """Turn counts into opacities: 0 for none, and from visible to opaque for one to the most.

    "log" keeps what a density is; "equalize" gives every opacity as many pixels, which shows the
    most detail and no proportions.
    """
    full = counts > 0
    alpha = np.zeros(counts.shape)
    if not full.any():
        return alpha
    found = counts[full].astype(np.float64)
    if scale == "log":
        # Few pixels with very many points must not make all others pale.
        most = max(np.quantile(found, 0.99), 2.0)
        shade = np.minimum(np.log(found) / np.log(most), 1)
    else:
        _, ranks, sizes = np.unique(found, return_inverse=True, return_counts=True)
        shade = (np.cumsum(sizes) - sizes)[ranks] / max(len(found) - sizes[-1], 1)
    alpha[full] = _MIN_PIXEL_ALPHA + (1 - _MIN_PIXEL_ALPHA) * shade
    return alpha
