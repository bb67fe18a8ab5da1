"""Names of groups on a map: in their midst, and not on top of one another.

They are placed when the map is drawn, as their sizes are not known before.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, Stroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from dtsne.labels._format import shortened
from dtsne.plots._axes import ink
from dtsne.plots._legends import MAX_NAMES
from dtsne.plots._points import local_density

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase

    from dtsne.plots._coloring import Categories
    from dtsne.runtime._typing import FloatArray, IntArray

_WIDTH = 18  # characters, after which a name is broken
_LINES = 3
_FEW = 12  # with more names than this they are written smaller
_SPARSE = 12  # points, of which none is to be covered
_COVERED = 0.1  # share of the map that names may cover where a legend lists them too
_GAP = 3.0  # points of paper (1/72 inch) between a group and a name above it
# Share of a group's points within its reach.
_WITHIN = 0.8
# A medoid compares all pairs; a sample of so many points has about the same one.
_MAX_SAMPLE = 400
# A gap that splits a group is so many times as wide as the distance to the fourth neighbour.
_LINKED, _SPLIT = 4, 4.0
_ROUNDS = 400
_PULL = 0.03
_PADDING = 2.0


class Places(NamedTuple):
    """Where groups lie, how far from there most of their points, and how many there are."""

    centers: FloatArray
    reaches: FloatArray
    sizes: IntArray


def write_names(ax: Axes, Y: FloatArray, coloring: Categories, *, listed: bool) -> None:
    """Write the names of the largest groups of a map on it."""
    places = group_places(Y, coloring.groups.codes, len(coloring.names))
    largest = np.argsort(-places.sizes, kind="stable")[:MAX_NAMES]
    chosen = np.sort(largest[places.sizes[largest] > 0])
    places = Places(places.centers[chosen], places.reaches[chosen], places.sizes[chosen])
    Names(ax, [coloring.names[i] for i in chosen], places, listed=listed)


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


def group_places(Y: FloatArray, codes: IntArray, n_groups: int, seed: int = 0) -> Places:
    """Find the middle of each group; nan for groups without points.

    It is the medoid of its largest connected component, weighted by density: the point of the
    component nearest to all others, where those in dense parts count more. So it is a point.
    """
    rng = np.random.default_rng(seed)
    centers, reaches = np.full((n_groups, 2), np.nan), np.full(n_groups, np.nan)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(n_groups + 1))
    for group in range(n_groups):
        members = order[bounds[group] : bounds[group + 1]]
        if len(members) > _MAX_SAMPLE:
            members = rng.choice(members, _MAX_SAMPLE, replace=False)
        if len(members):
            centers[group], reaches[group] = _medoid(_largest_component(Y[members]))
    return Places(centers, reaches, np.diff(bounds))


def _largest_component(points: FloatArray) -> FloatArray:
    """Return the points of the largest part that no wide gap separates from the rest."""
    from scipy.sparse.csgraph import connected_components

    if len(points) <= _LINKED:
        return points
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    gap = _SPLIT * np.median(np.partition(apart, _LINKED, axis=1)[:, _LINKED])
    _, components = connected_components(apart <= gap, directed=False)
    largest: FloatArray = points[components == np.bincount(components).argmax()]
    return largest


def _medoid(points: FloatArray) -> tuple[FloatArray, float]:
    weights = local_density(points, 1.0, 1.0)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    at = (apart @ (weights / weights.max())).argmin()
    return points[at], float(np.quantile(apart[at], _WITHIN))


def spread_boxes(
    anchors: FloatArray, sizes: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Move boxes from their anchors until they lie apart and within bounds.

    Two that overlap push each other along the axis where that is least; weak springs hold them near
    their anchors at first. Where there is not room enough some overlap remains.

    Parameters
    ----------
    anchors, sizes : ndarray of shape (n, 2)
        Where the centres of the boxes belong, and their widths and heights, in pixels.
    low, high : ndarray of shape (2,)
        The corners of the room.

    Returns
    -------
    ndarray of shape (n, 2)
        The centres.
    """
    half = sizes / 2 + _PADDING
    least, most = low + half, np.maximum(high - half, low + half)
    anchors = np.clip(anchors, least, most)
    centers = anchors.copy()
    reach = half[:, None] + half[None]
    others = ~np.eye(len(half), dtype=bool)
    # Of two in the same place, the first goes down and to the left.
    first = np.where(np.arange(len(half))[:, None] < np.arange(len(half))[None], -1.0, 1.0)
    for at in range(_ROUNDS):
        apart = centers[:, None] - centers[None]
        overlap = reach - np.abs(apart)
        both = np.all(overlap > 1e-6, axis=-1) & others
        if not both.any():
            break
        side = np.where(apart == 0, first[..., None], np.sign(apart))
        along_x = np.less(overlap[..., :1], overlap[..., 1:]) == [True, False]
        push = np.where(both[..., None] & along_x, side * overlap / 2, 0.0).sum(axis=1)
        # Several pushes at once overshoot; half of each goes on settling.
        centers = centers + np.where(both.sum(axis=1)[:, None] > 1, 0.6, 1.0) * push
        if at < _ROUNDS // 2:
            centers += _PULL * (anchors - centers)
        centers = np.clip(centers, least, most)
    return centers


def free_boxes(boxes: FloatArray, sizes: IntArray, room: float = np.inf) -> list[int]:
    """Choose boxes (left, bottom, right, top) that do not overlap nor cover more than some area.

    Those of large groups go first.
    """
    chosen: list[int] = []
    for i in np.argsort(-sizes, kind="stable"):
        left, bottom, right, top = boxes[i]
        others = boxes[chosen]
        over = (others[:, 0] < right) & (left < others[:, 2])
        covers = (over & (others[:, 1] < top) & (bottom < others[:, 3])).any()
        area = (right - left) * (top - bottom)
        if not covers and area <= room:
            chosen.append(int(i))
            room -= area
    return sorted(chosen)
