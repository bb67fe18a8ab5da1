"""Names on a map, placed when it is drawn, as only then it is known how large they are."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from dtsne.plots._places import spread_boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from dtsne._typing import FloatArray

_WIDTH = 18  # characters, after which a name is broken
_LINES = 3
_FEW = 12  # with more names than this they are written smaller


class Names(Artist):
    """Names at places of a map, moved apart, with thin lines to where the moved ones belong."""

    def __init__(self, ax: Axes, names: Sequence[str], places: FloatArray) -> None:
        super().__init__()
        self.places = places
        self.set_zorder(5)
        self.set_in_layout(False)
        halo = withStroke(linewidth=2.5, foreground=ax.get_facecolor(), alpha=0.85)
        size = "small" if len(names) <= _FEW else "x-small"
        self.texts = [
            Text(
                0,
                0,
                textwrap.fill(name, _WIDTH, max_lines=_LINES, placeholder="…"),
                fontsize=size,
                ha="center",
                va="center",
                linespacing=0.95,
                transform=IdentityTransform(),
                path_effects=[halo],
                parse_math=False,
            )
            for name in names
        ]
        ax.add_artist(self)
        for text in self.texts:
            text.set_figure(ax.figure)

    def arrange(self, renderer: Any) -> list[Bbox]:
        """Place the texts for the present size of the axes; return the boxes they take."""
        assert self.axes is not None
        anchors = self.axes.transData.transform(self.places)
        boxes = [text.get_window_extent(renderer) for text in self.texts]
        sizes = np.array([(box.width, box.height) for box in boxes])
        room = self.axes.bbox
        centers = spread_boxes(anchors, sizes, np.array(room.min), np.array(room.max))
        for text, center in zip(self.texts, centers, strict=True):
            text.set_position((float(center[0]), float(center[1])))
        return [Bbox.from_bounds(*(c - s / 2), *s) for c, s in zip(centers, sizes, strict=True)]

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Draw the names for the present size of the axes."""
        if not self.get_visible() or not self.texts:
            return
        assert self.axes is not None
        anchors = self.axes.transData.transform(self.places)
        for anchor, box in zip(anchors, self.arrange(renderer), strict=True):
            self._draw_leader(anchor, box, renderer)
        for text in self.texts:
            text.draw(renderer)

    def _draw_leader(self, anchor: FloatArray, box: Bbox, renderer: Any) -> None:
        nearest = np.clip(anchor, box.min, box.max)
        if np.linalg.norm(nearest - anchor) < box.height / 4:
            return
        line = Line2D(
            [anchor[0], nearest[0]],
            [anchor[1], nearest[1]],
            color="0.25",
            linewidth=0.6,
            transform=IdentityTransform(),
        )
        line.set_figure(self.axes.figure)
        line.draw(renderer)
