"""Colours as matplotlib has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.plots._palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.colors import Colormap

    from dtsne.plots._palette import Ground
    from dtsne.runtime._typing import FloatArray


def rgb(colors: Iterable[Any]) -> FloatArray:
    """Turn colours of any kind into an array (n, 3) of red, green and blue from 0 to 1."""
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(color) for color in colors], dtype=np.float64).reshape(-1, 3)


def sequential_colormap(ground: Ground) -> Colormap:
    """Return viridis, or as much of it as is seen on a ground."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    if ground is LIGHT:
        return colormaps["viridis"]
    return LinearSegmentedColormap.from_list("dtsne_sequential", ground.sequential)


def diverging_colormap(ground: Ground = LIGHT) -> Colormap:
    """Return blue to red, through what is quiet on a ground."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("dtsne_diverging", ground.diverging)
