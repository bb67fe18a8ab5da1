"""What the tests of pictures share."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from make_palette import min_distance
from matplotlib.colors import to_hex

from dtsne.plots._names import Names


def blobs(n=300, k=3, seed=0):
    """Groups around the corners of a wide grid, and the group of each point."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    side = int(np.ceil(np.sqrt(k)))
    centres = 10.0 * np.column_stack([np.arange(k) % side, np.arange(k) // side])
    return centres[labels] + rng.normal(size=(n, 2)), labels


def pixels(ax):
    """Draw the figure; return its pixels, rows from the bottom."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(ax.figure.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[::-1, :, :3]


def pixel_at(ax, place):
    image = pixels(ax)
    column, row = ax.transData.transform(place).astype(int)
    return to_hex(image[row, column] / 255).upper()


def names_of(ax):
    return next(artist for artist in ax.get_children() if isinstance(artist, Names))


def least_distance(colors, vision="normal"):
    return min_distance([to_hex(color) for color in colors], vision)


def legend_texts(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


# Names and legends


def overlaps(boxes):
    return [
        (i, j)
        for i in range(len(boxes))
        for j in range(i)
        if boxes[i].x0 < boxes[j].x1
        and boxes[j].x0 < boxes[i].x1
        and boxes[i].y0 < boxes[j].y1
        and boxes[j].y0 < boxes[i].y1
    ]
