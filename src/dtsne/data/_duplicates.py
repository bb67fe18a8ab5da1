"""Points that are the same: which they are, and how they are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._arrays import asarray_like, clone, median, to_host
from dtsne.runtime._errors import DataError, UserNotice
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from dtsne.data._base import Data
    from dtsne.runtime._typing import AnyArray, Array, FloatArray, IntArray

# The radius that duplicates are given, as a share of a typical one.
_DUPLICATE_RADIUS = 0.005
# Of a typical length: points that are nearer differ by rounding alone, as duplicates do that went
# through somebody's principal components in float32.
SAME = 1e-6
# Of all radii: larger ones may be those of a few points far out.
_COMMON_SHARE = 0.95
_DROP = "numpy.unique(X, axis=0)"


def duplicate_tolerance(radii: FloatArray) -> float:
    """Return the distance up to which points are duplicates, by the radii of all.

    It is a small share of a typical radius, those that are themselves rounding left aside.
    """
    common = float(np.quantile(radii, _COMMON_SHARE))
    return SAME * float(np.median(radii[radii >= SAME * common]))


def spread_duplicates(
    data: Data, distances: AnyArray, perplexity: float
) -> tuple[Data, IntArray] | None:
    """Spread groups of more duplicates than the perplexity a little; None if there are none.

    With the data come the rows that were moved, whose σ is then ours and not that of the data.

    Such duplicates have no σ. Worse, they are all equally near to each other, which a map can only
    draw on one spot; there each pair counts fully in Z, and takes its share from the repulsion of
    all other points. As a cluster that is tight, but has a shape, they are points like others.

    Parameters
    ----------
    data : Data
    distances : array of shape (n, k)
        To the nearest neighbours of each point.
    perplexity : float
    """
    near = distances[:, int(np.ceil(perplexity)) - 1]
    if not (near == 0).any():
        return None
    radii = to_host(near)
    rows = np.flatnonzero(radii == 0)
    warn(
        UserNotice(
            f"{len(rows)} rows of X have at least as many duplicates as the perplexity "
            f"({perplexity:g}) and are drawn as tight clusters, as if they differed a little",
            "drop the duplicates or raise the perplexity to change that",
            in_python=_DROP,
        )
    )
    if len(rows) == len(data):
        typical = float(median(distances[:, -1]))
        if typical == 0:
            raise DataError(
                f"every row of X has more than {distances.shape[1]} duplicates, so that no scale "
                "can be found",
                "drop the duplicates",
                in_python=_DROP,
            )
    else:
        typical = float(np.median(radii[radii > 0]))
    groups = data.duplicate_groups(rows)
    sizes = np.bincount(groups)[groups]
    # A cloud of N points has about the radius of its width times √(perplexity / N).
    widths = _DUPLICATE_RADIUS * typical * np.sqrt(sizes / perplexity)
    offsets = np.zeros((len(data), 2))
    offsets[rows] = widths[:, np.newaxis] * np.random.default_rng(0).normal(size=(len(rows), 2))
    return data.with_offsets(offsets), rows


def spread_initial_duplicates(start: Array, scales: Array, perplexity: float) -> Array:
    """Spread points that start on the same spot, as wide as a cluster of their number would be.

    Left on one spot they would not only stay there, as nothing tells them apart: each pair of them
    counts fully in Z, and takes its share from the repulsion of all others.
    """
    rows = _with_first_in_common(start)
    if not len(rows):
        return start
    shared = to_host(start[rows])
    _, group, sizes = np.unique(shared, axis=0, return_inverse=True, return_counts=True)
    size = sizes[group.reshape(-1)]
    width = np.where(size > 1, to_host(scales[rows]) * np.sqrt(size / perplexity), 0.0)
    # Always the same: the user's seed is for what is meant to be random.
    noise = np.random.default_rng(0).normal(size=start.shape)
    moved = clone(start)
    spread = shared + width[:, np.newaxis] * noise[rows]
    moved[rows] = asarray_like(spread, start)  # type: ignore[assignment]  # of one kind
    return moved


def _with_first_in_common(start: AnyArray) -> IntArray:
    """Rows whose first coordinate others have, too: all duplicates, and few besides."""
    order = start[:, 0].argsort()
    along = start[order, 0]
    equal = along[1:] == along[:-1]
    if not equal.any():
        return np.empty(0, np.int64)
    rows: IntArray = np.union1d(to_host(order[:-1][equal]), to_host(order[1:][equal]))
    return rows
