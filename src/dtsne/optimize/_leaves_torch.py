"""Points in leaves of a tree, each of `LEAF` points that lie close together.

Splits are by rank, along the axis on which the points of a branch are widest: neither outliers nor
densities over many decades make leaves fuller, or the tree deeper. All leaves are full, but the
last: a leaf is its place in the order, and so is a branch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# As many as a warp has threads.
LEAF = 32
# Leaves that share a box, by which all of them can be passed over.
GROUP = 64
# Boxes are compared with squared radii that are this much larger, for all that is lost to rounding.
SLACK = 1.0 + 1e-6
# Each level of the tree asks for a sort: it splits in four.
_BITS = 2


@dataclass(frozen=True)
class Leaves:
    """Points in order of their leaves, and the boxes that hold them.

    After the last of n points there are others up to a whole number of groups, infinitely far, and
    after the last leaf there are boxes that hold nothing.
    """

    points: Tensor  # (n_groups · GROUP · LEAF, axes)
    order: Tensor  # (n,): indices of the points
    n_leaves: int
    low: Tensor  # (n_groups · GROUP, axes): corners of the boxes of leaves
    high: Tensor
    group_low: Tensor  # (n_groups, axes)
    group_high: Tensor


def make_leaves(y: Tensor) -> Leaves:
    """Sort points of shape (n, axes)."""
    order = _order(y)
    points = _padded(y[order], GROUP * LEAF)
    low, high = _boxes(points, len(y), LEAF)
    group_low, group_high = _boxes(points, len(y), GROUP * LEAF)
    return Leaves(points, order, -(-len(y) // LEAF), low, high, group_low, group_high)


def _order(y: Tensor) -> Tensor:
    n = len(y)
    place = torch.arange(n, device=y.device)
    ranks = torch.empty(y.shape[1], n, dtype=torch.int64, device=y.device)
    ranks.scatter_(1, y.T.argsort(dim=1, stable=True), place.expand_as(ranks))
    order = place
    levels = max(-(-n // LEAF) - 1, 0).bit_length()
    while levels > 0:
        size = LEAF << levels
        low, high = _boxes(_padded(y[order], size), n, size)
        branch = place // size
        along = (high - low).argmax(dim=1)[branch]
        # All branches at once: a sort of each would be as many launches.
        order = order[((branch << 32) + ranks[along, order]).argsort()]
        levels -= _BITS
    return order


def _padded(points: Tensor, size: int) -> Tensor:
    """Points, and others infinitely far, up to a multiple of the size."""
    n, n_axes = points.shape
    n_whole = -(-n // size) * size
    padded = torch.full((n_whole, n_axes), torch.inf, dtype=points.dtype, device=points.device)
    padded[:n] = points
    return padded


def _boxes(points: Tensor, n: int, size: int) -> tuple[Tensor, Tensor]:
    """Corners of the boxes of so many points each, without those from the n-th on."""
    lowered = points.clone()
    lowered[n:] = -torch.inf
    branches = (-1, size, points.shape[1])
    return points.view(branches).amin(dim=1), lowered.view(branches).amax(dim=1)
