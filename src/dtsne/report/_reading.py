"""What can be read from a map, in words, and where the words come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.report._points import LARGE_RESIDUAL, LOW_RECALL
from dtsne.report._tables import three_digits

if TYPE_CHECKING:
    from dtsne.quality import Quality
    from dtsne.report._tables import BoolArray, GroupTable, PointTable
    from dtsne.runtime._typing import FloatArray

# Of a correlation: the map then accounts for 64 % of the variation in the data, or for 25 %.
_GOOD, _FAIR = 0.8, 0.5
# Of the slope of log radii: twice the radius is drawn as 1.6 to 2.8 times, or at least as 1.3.
_GOOD_SLOPES, _FAIR_SLOPE = (2 / 3, 3 / 2), 0.4
# Of the room of nine points in ten: right within this factor.
_GOOD_FACTOR, _FAIR_FACTOR = 2.0, 3.0
# Of the widths of groups, map over data: the largest is no more than this times the smallest.
_GOOD_WIDTHS, _FAIR_WIDTHS = 1.25, 2.0
# Of trustworthiness: neighbours are then among about the nearest 5 % of all points, or 15 %.
_TRUSTED, _PARTLY_TRUSTED = 0.95, 0.85
# Radii of nine points in ten within a factor of 1.1 either way leave nothing to correlate.
_EVEN = float(np.log(1.1))
# Names that a sentence has; the tables have them all.
_MOST_NAMES = 8


def readings(points: PointTable, groups: GroupTable | None, whole: Quality) -> tuple[str, ...]:
    """Say what densities, widths, neighbours and distances in the map mean."""
    said = (
        _read_densities(points),
        "" if groups is None else _read_widths(groups),
        _read_neighbors(whole),
        _read_distances(whole),
    )
    return tuple(sentence for sentence in said if sentence)


def torn_groups(groups: GroupTable) -> tuple[str, ...]:
    """Name the groups that are in pieces in the map and not in the data."""
    torn = np.flatnonzero(groups.caveat == "torn")
    if not len(torn):
        return ()
    named = _names(
        [f"{groups.label[g]} ({groups.piece_map[g]:.0%}, {groups.piece_data[g]:.0%})" for g in torn]
    )
    return (
        f"Torn into pieces by the map: {named}. In brackets the share of the points that are in "
        "the largest piece, in the map and in the data. The spread of such a group is that of its "
        "pieces together.",
    )


def _names(names: list[str]) -> str:
    listed = ", ".join(names[:_MOST_NAMES])
    n_more = len(names) - _MOST_NAMES
    return f"{listed} and {n_more:,} more" if n_more > 0 else listed


def _read_densities(points: PointTable) -> str:
    known = np.isfinite(points.density_residual)
    if not known.any():
        why = (
            "the clusters have too few points for this k; choose a smaller one"
            if points.k_too_large.any()
            else "every point has as many copies as a radius reaches to"
        )
        return f"Densities: nothing can be said, as {why}."
    share = "" if known.all() else f" (of the {_percent(known)} of points whose room is known)"
    in_data, in_map = points.log_radius_data[known], points.log_radius_map[known]
    factor = float(np.exp(np.quantile(np.abs(points.density_residual[known]), 0.9)))
    errors = f"the room of nine points in ten is right within a factor of {three_digits(factor)}"
    if np.quantile(np.abs(in_data - np.median(in_data)), 0.9) < _EVEN:
        return (
            f"Densities{share}: the data is about equally dense everywhere, so that there is "
            f"little to show; in the map {errors}."
        )
    correlation, slope = _line(in_data, in_map)
    low, high = _GOOD_SLOPES
    if correlation >= _GOOD and low <= slope <= high and factor <= _GOOD_FACTOR:
        verdict = "Densities can be read"
    elif correlation >= _FAIR and slope >= _FAIR_SLOPE and factor <= _FAIR_FACTOR:
        verdict = "Densities can be read roughly"
    else:
        verdict = "Densities cannot be read"
    return (
        f"{verdict}{share}: points twice as far from their neighbours in the data are drawn "
        f"{three_digits(2.0**slope)} times as far from them (log r = {correlation:.2f}), and "
        f"{errors}."
    )


def _read_widths(groups: GroupTable) -> str:
    known = np.isfinite(groups.drawn)
    whole = known & groups.reliable
    if whole.sum() < 2:
        return f"Widths of groups: nothing can be said, as {_why_no_widths(groups)}."
    drawn = groups.drawn[whole]
    factor = float(drawn.max() / drawn.min())
    if factor <= _GOOD_WIDTHS:
        verdict = "Widths of groups can be read"
    elif factor <= _FAIR_WIDTHS:
        verdict = "Widths of groups can be read roughly"
    else:
        verdict = "Widths of groups cannot be read"
    left, n = int(whole.sum()), int(known.sum())
    of_some = (
        f" (of {left} of {n} groups, the others being torn, too small or unreliable)"
        if left < n
        else ""
    )
    widest, narrowest = groups.label[whole][[drawn.argmax(), drawn.argmin()]]
    return (
        f"{verdict}{of_some}: of two that are equally wide in the data, one may be drawn "
        f"{three_digits(factor)} times as wide as the other; the widest beside its true width is "
        f"{widest}, the narrowest {narrowest}."
    )


def _why_no_widths(groups: GroupTable) -> str:
    if len(groups) < 2:
        return "there is only one group"
    if np.isnan(groups.spread_data).all():
        return "the data has no coordinates, or every group is copies of one point"
    if np.isfinite(groups.drawn).sum() < 2:
        return "fewer than two groups have more than one point in data and map"
    return "fewer than two groups are neither torn, nor too small, nor unreliable"


def _line(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return the correlation of two arrays, 0 if one is constant, and the slope of b over a."""
    a, b = a - a.mean(), b - b.mean()
    covariance, variance, other = float(a @ b), float(a @ a), float(b @ b)
    if other == 0:
        return 0.0, 0.0
    return covariance / np.sqrt(variance * other), covariance / variance


def _read_neighbors(whole: Quality) -> str:
    n, k = whole.n, whole.k_neighborhood
    at_random = k * k / (n - 1)
    expected = f"{at_random:.1f}" if at_random >= 0.1 else "less than 0.1"
    kept = (
        f"Of the {k} nearest points in the data {k * whole.neighbor_recall:.1f} are among the {k} "
        f"nearest in the map (at random it would be {expected})."
    )
    trust = whole.trustworthiness
    if np.isnan(trust):
        return f"Neighbours: {kept[0].lower()}{kept[1:]}"
    if trust >= _TRUSTED:
        verdict = "Neighbours can be trusted"
    elif trust >= _PARTLY_TRUSTED:
        verdict = "Neighbours can be trusted in part"
    else:
        verdict = "Neighbours cannot be trusted"
    mean_rank = k + (1 - trust) * (2 * n - 3 * k - 1) / 2
    return (
        f"{verdict}: the {k} nearest points in the map are on average among the nearest "
        f"{mean_rank / (n - 1):.1%} in the data (trustworthiness {trust:.3f}). {kept}"
    )


def _read_distances(whole: Quality) -> str:
    rho = whole.distance_correlation
    if np.isnan(rho):
        return ""
    if rho >= _GOOD:
        verdict = "Distances between clusters can be read"
    elif rho >= _FAIR:
        verdict = "Distances between clusters can be read roughly"
    else:
        verdict = "Distances between clusters cannot be read"
    return (
        f"{verdict}: those between all points in the map account for {max(rho, 0) ** 2:.0%} of the "
        f"variation of those in the data (ρ = {rho:.2f})."
    )


def warnings_of(
    points: PointTable, groups: GroupTable | None, perplexity: float | None
) -> tuple[str, ...]:
    """Say which points to be careful with, and why."""
    said = [
        *_room_sentences(points),
        *_flag_sentences(points, groups, perplexity),
        *_limit_sentences(points),
    ]
    if points.unreliable.any():
        said.append(
            f"unreliable: {_count(points.unreliable)} in all have a scale that means nothing, or "
            "have lost both their room and their neighbours. Read nothing from the room around "
            "them."
        )
    else:
        said.append(
            "unreliable: none. No point has a scale that means nothing, or has lost both its room "
            "and its neighbours."
        )
    return tuple(said)


def _room_sentences(points: PointTable) -> list[str]:
    residual = np.nan_to_num(points.density_residual)
    wrong = np.abs(residual) > LARGE_RESIDUAL
    if not wrong.any():
        return ["density_residual: no point has more than twice the room it should, or half of it."]
    wide, narrow = int((residual > LARGE_RESIDUAL).sum()), int((residual < -LARGE_RESIDUAL).sum())
    sentence = (
        f"density_residual: {_count(wrong)} have more than twice the room they should have "
        f"({wide:,}) or less than half of it ({narrow:,})"
    )
    lost = int((wrong & (points.neighbor_recall <= LOW_RECALL)).sum())
    if lost:
        sentence += f"; {lost:,} of these have lost nearly all their neighbours too"
    return [f"{sentence}."]


def _flag_sentences(
    points: PointTable, groups: GroupTable | None, perplexity: float | None
) -> list[str]:
    said = []
    too_large, at_bound = points.perplexity_too_large, points.sigma_at_bound
    if too_large is not None and too_large.any():
        said.append(
            f"perplexity_too_large: {_count(too_large)} are in clusters of "
            f"{_sizes(points, too_large)} points{_too_small(groups)}, too few for a perplexity of "
            f"{perplexity:g}. "
            "Their scale comes from outside of the cluster, whose width in the map means nothing. "
            "To draw a cluster as wide as it is, choose a perplexity of at most half of its points."
        )
    if at_bound is not None and at_bound.any():
        said.append(
            f"sigma_at_bound: {_count(at_bound)} have copies or near-copies, and so no scale of "
            "their own. They are drawn as tight clumps, of a size that means nothing."
        )
    return said


def _limit_sentences(points: PointTable) -> list[str]:
    """Say where the account itself has its limits."""
    said = []
    if points.k_too_large.any():
        said.append(
            f"k_too_large: {_count(points.k_too_large)} are in clusters of "
            f"{_sizes(points, points.k_too_large)} points, so that their radius reaches into "
            "another cluster and nothing is said of their room. Choose a k of at most half of the "
            "points of a cluster to see it."
        )
    if points.copy.any():
        sentence = f"copy: {_count(points.copy)} have copies"
        without = np.isnan(points.log_radius_data)
        if without.any():
            sentence += f", and {int(without.sum()):,} so many that their radius is 0"
        said.append(f"{sentence}.")
    return said


def _too_small(groups: GroupTable | None) -> str:
    """Name the labels that are too small, if there are any."""
    if groups is None:
        return ""
    names = [str(name) for name in groups.label[groups.caveat == "too small for the perplexity"]]
    return f" ({_names(names)})" if names else ""


def _sizes(points: PointTable, flag: BoolArray) -> str:
    fewest, most = int(points.cluster_size[flag].min()), int(points.cluster_size[flag].max())
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _percent(flag: BoolArray) -> str:
    """Write a share that is neither none nor all as what it is."""
    share = float(flag.mean())
    return f"{share:.0%}" if 0.01 <= share <= 0.99 else f"{share:.2%}"


def _count(flag: BoolArray) -> str:
    count = int(flag.sum())
    return f"{count:,} of {len(flag):,} points ({count / len(flag):.1%})"
