"""Where the names of groups stand: in their midst, and not on top of one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtsne.plots._points import local_density

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray, IntArray

# More names than this hide the map; then the largest groups are named, and a legend lists all.
MAX_NAMES = 30
# Share of a group's points within its reach.
_WITHIN = 0.8
# A medoid compares all pairs; a sample of so many points has about the same one.
_MAX_SAMPLE = 400
# A gap that splits a group is so many times as wide as the distance to the fourth neighbour.
_LINKED, _GAP = 4, 4.0
_ROUNDS = 400
_PULL = 0.03
_PADDING = 2.0


class Places(NamedTuple):
    """Where groups lie, how far from there most of their points, and how many there are."""

    centers: FloatArray
    reaches: FloatArray
    sizes: IntArray


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
    gap = _GAP * np.median(np.partition(apart, _LINKED, axis=1)[:, _LINKED])
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
