"""Names on a map, placed when it is drawn, as only then it is known how large they are."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, Stroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from dtsne.labels._format import shortened
from dtsne.plots._axes import ink
from dtsne.plots._places import Places, free_boxes, spread_boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase

    from dtsne.runtime._typing import FloatArray

_WIDTH = 18  # characters, after which a name is broken
_LINES = 3
_FEW = 12  # with more names than this they are written smaller
_SPARSE = 12  # points, of which none is to be covered
_COVERED = 0.1  # share of the map that names may cover where a legend lists them too
_GAP = 3.0  # points of paper (1/72 inch) between a group and a name above it


class Names(Artist):
    """Names of groups in their midst, or above those that they would cover.

    They are moved until they lie apart; a thin line leads from a moved one to where it belongs.
    Where there is not room for all of them, and a legend lists them (`listed`), those of small
    groups are left out.
    """

    def __init__(
        self, ax: Axes, names: Sequence[str], places: Places, *, listed: bool = False
    ) -> None:
        super().__init__()
        self.places = places
        self.listed = listed
        self.set_zorder(5)
        self.set_in_layout(False)
        self._halo = Stroke(linewidth=3, foreground=ax.get_facecolor(), alpha=0.9)
        size = "small" if len(names) <= _FEW else "x-small"
        self.texts = [
            Text(
                0,
                0,
                name,
                color=ink(ax),
                fontsize=size,
                ha="center",
                va="center",
                linespacing=1.05,
                transform=IdentityTransform(),
                parse_math=False,
            )
            for name in _broken(names)
        ]
        ax.add_artist(self)
        for text in self.texts:
            text.set_figure(ax.figure)

    def arrange(self, renderer: RendererBase) -> tuple[list[Bbox], FloatArray]:
        """Place the texts for the present size of the axes; return their boxes and anchors."""
        assert self.axes is not None
        boxes = [text.get_window_extent(renderer) for text in self.texts]
        sizes = np.array([(box.width, box.height) for box in boxes])
        anchors = self._anchors(sizes)
        room = self.axes.bbox
        centers = spread_boxes(anchors, sizes, np.array(room.min), np.array(room.max))
        for text, center in zip(self.texts, centers, strict=True):
            text.set_position((float(center[0]), float(center[1])))
        placed = [Bbox.from_bounds(*(c - s / 2), *s) for c, s in zip(centers, sizes, strict=True)]
        return placed, anchors

    def _anchors(self, sizes: FloatArray) -> FloatArray:
        assert self.axes is not None
        to_pixels = self.axes.transData
        centers, reaches, n_points = self.places
        anchors: FloatArray = to_pixels.transform(centers)
        top = to_pixels.transform(centers + np.column_stack([0 * reaches, reaches]))
        reaches = (top - anchors)[:, 1]
        width, height = sizes.T
        # A name about as large as its group, or as sparse a one, would hide it.
        hidden = (2 * reaches < np.minimum(1.2 * width, 4 * height)) | (n_points < _SPARSE)
        raised = np.minimum(reaches, 2 * height) + height / 2 + _GAP * self.axes.figure.dpi / 72
        anchors[hidden, 1] += raised[hidden]
        return anchors

    def draw(self, renderer: RendererBase) -> None:
        """Draw the names for the present size of the axes."""
        if not self.get_visible() or not self.texts:
            return
        boxes, anchors = self.arrange(renderer)
        drawn: Sequence[int] = range(len(boxes))
        if self.listed and self.axes is not None:
            room = _COVERED * self.axes.bbox.width * self.axes.bbox.height
            extents = np.array([box.extents for box in boxes])
            drawn = free_boxes(extents, self.places.sizes, room)
        for i in drawn:
            self._draw_leader(anchors[i], boxes[i], renderer)
        # All halos first: one drawn later would cut into the lines and names before it.
        halo: list[AbstractPathEffect] = [self._halo]
        for effects in (halo, []):
            for text in (self.texts[i] for i in drawn):
                text.set_path_effects(effects)
                text.draw(renderer)

    def _draw_leader(self, anchor: FloatArray, box: Bbox, renderer: RendererBase) -> None:
        assert self.axes is not None
        nearest = np.clip(anchor, box.min, box.max)
        if np.linalg.norm(nearest - anchor) < box.height / 4:
            return
        line = Line2D(
            [anchor[0], nearest[0]],
            [anchor[1], nearest[1]],
            color=self.texts[0].get_color(),
            linewidth=0.6,
            transform=IdentityTransform(),
        )
        line.set_figure(self.axes.figure)
        line.draw(renderer)


def _broken(names: Sequence[str]) -> list[str]:
    """Break names into lines; where the first lines of some are the same, shorten them before."""
    lines = [textwrap.fill(name, _WIDTH, max_lines=_LINES, placeholder="…") for name in names]
    if len(set(lines)) == len(set(names)):
        return lines
    return [textwrap.fill(name, _WIDTH) for name in shortened(names, _WIDTH * (_LINES - 1))]
