"""How reliable a map is, in words, and the thresholds behind the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.quality._correlations import pearson
from dtsne.report._points import LARGE_RESIDUAL, LOW_RECALL
from dtsne.report._tables import three_digits

if TYPE_CHECKING:
    from dtsne.quality import Quality
    from dtsne.report._tables import GroupTable, PointTable
    from dtsne.runtime._typing import BoolArray, FloatArray

# Of a correlation: the map then accounts for 64 % of the variation in the data, or for 25 %.
_GOOD, _FAIR = 0.8, 0.5
# Of the slope of log radii: twice the radius is drawn as 1.6 to 2.8 times, or at least as 1.3.
_GOOD_SLOPES, _FAIR_SLOPE = (2 / 3, 3 / 2), 0.4
# Of the local radius of 90 % of the points: correct within this factor.
_GOOD_FACTOR, _FAIR_FACTOR = 2.0, 3.0
# Of the map/data ratios of groups: the largest is no more than this times the smallest.
_GOOD_RATIOS, _FAIR_RATIOS = 1.25, 2.0
# Of trustworthiness: neighbours are then among about the nearest 5 % of all points, or 15 %.
_GOOD_TRUST, _FAIR_TRUST = 0.95, 0.85
# Radii of 90 % of the points within a factor of 1.1 either way leave nothing to correlate.
_EVEN = float(np.log(1.1))
# Names in a sentence; the tables have them all.
_MAX_NAMES = 8


def reliability_of(
    points: PointTable, groups: GroupTable | None, quality: Quality
) -> tuple[str, ...]:
    """Grade densities, spreads, neighbours and distances in the map, with the reasons."""
    sentences = (
        _grade_densities(points),
        "" if groups is None else _grade_spreads(groups),
        _grade_neighbors(quality),
        _grade_distances(quality),
    )
    return tuple(sentence for sentence in sentences if sentence)


def split_groups(groups: GroupTable) -> tuple[str, ...]:
    """Name the groups that have several components in the map but one in the data."""
    split = np.flatnonzero(groups.caveat == "split")
    if not len(split):
        return ()
    in_map, in_data = groups.largest_component_map, groups.largest_component_data
    named = _names([f"{groups.label[g]} ({in_map[g]:.0%}, {in_data[g]:.0%})" for g in split])
    return (
        f"Split by the map: {named}. In brackets: the share of the points in the largest connected "
        "component, in the map and in the data. The spread of a split group in the map measures "
        "the distance between its components, not a width.",
    )


def _grade(*, good: bool, fair: bool) -> str:
    return "reliable" if good else "partly reliable" if fair else "not reliable"


def _names(names: list[str]) -> str:
    listed = ", ".join(names[:_MAX_NAMES])
    n_more = len(names) - _MAX_NAMES
    return f"{listed} and {n_more:,} more" if n_more > 0 else listed


def _grade_densities(points: PointTable) -> str:
    known = np.isfinite(points.density_residual)
    if not known.any():
        why = (
            "all clusters have too few points for this k; choose a smaller k"
            if points.k_too_large.any()
            else "every point has at least k duplicates"
        )
        return f"Densities: no statement is possible, because {why}."
    share = "" if known.all() else f" (for the {_percent(known)} of points with a known radius)"
    in_data, in_map = points.log_radius_data[known], points.log_radius_map[known]
    factor = float(np.exp(np.quantile(np.abs(points.density_residual[known]), 0.9)))
    errors = (
        f"the local radius of 90% of the points is correct within a factor of "
        f"{three_digits(factor)}"
    )
    if np.quantile(np.abs(in_data - np.median(in_data)), 0.9) < _EVEN:
        return (
            f"Densities{share}: the data is about equally dense everywhere, so there is little to "
            f"show; in the map {errors}."
        )
    correlation, slope = _line(in_data, in_map)
    low, high = _GOOD_SLOPES
    grade = _grade(
        good=correlation >= _GOOD and low <= slope <= high and factor <= _GOOD_FACTOR,
        fair=correlation >= _FAIR and slope >= _FAIR_SLOPE and factor <= _FAIR_FACTOR,
    )
    return (
        f"Densities are {grade}{share}: points twice as far from their neighbours in the data are "
        f"drawn {three_digits(2.0**slope)} times as far from them (log r = {correlation:.2f}), and "
        f"{errors}."
    )


def _grade_spreads(groups: GroupTable) -> str:
    known = np.isfinite(groups.map_over_data)
    usable = known & groups.reliable
    if usable.sum() < 2:
        return f"Group spreads: no statement is possible, because {_why_no_spreads(groups)}."
    ratios = groups.map_over_data[usable]
    factor = float(ratios.max() / ratios.min())
    grade = _grade(good=factor <= _GOOD_RATIOS, fair=factor <= _FAIR_RATIOS)
    n_usable, n = int(usable.sum()), int(known.sum())
    share = (
        f" (for {n_usable} of {n} groups; the others are split, too small or unreliable)"
        if n_usable < n
        else ""
    )
    widest, narrowest = groups.label[usable][[ratios.argmax(), ratios.argmin()]]
    return (
        f"Group spreads are {grade}{share}: of two groups that are equally wide in the data, one "
        f"may be drawn {three_digits(factor)} times as wide as the other. The group with the "
        f"largest map/data ratio is {widest}, the one with the smallest is {narrowest}."
    )


def _why_no_spreads(groups: GroupTable) -> str:
    if len(groups) < 2:
        return "there is only one group"
    if np.isnan(groups.spread_data).all():
        return "the data has no coordinates, or every group consists of duplicates of one point"
    if np.isfinite(groups.map_over_data).sum() < 2:
        return "fewer than two groups have more than one point in data and map"
    return "all groups but one are split, too small or unreliable"


def _line(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return the correlation of two arrays, 0 if one is constant, and the slope of b over a."""
    correlation = pearson(a, b)
    if np.isnan(correlation):
        return 0.0, 0.0
    return correlation, correlation * float(b.std() / a.std())


def _grade_neighbors(quality: Quality) -> str:
    n, k = quality.n, quality.k_neighborhood
    at_random = k * k / (n - 1)
    expected = f"{at_random:.1f}" if at_random >= 0.1 else "less than 0.1"
    kept = (
        f"of the {k} nearest points in the data, {k * quality.neighbor_recall:.1f} are among the "
        f"{k} nearest in the map ({expected} would be at random)."
    )
    trust = quality.trustworthiness
    if np.isnan(trust):
        return f"Neighbours: {kept}"
    grade = _grade(good=trust >= _GOOD_TRUST, fair=trust >= _FAIR_TRUST)
    mean_rank = k + (1 - trust) * (2 * n - 3 * k - 1) / 2
    return (
        f"Neighbours are {grade}: the {k} nearest points in the map are on average among the "
        f"nearest {mean_rank / (n - 1):.1%} in the data (trustworthiness {trust:.3f}); {kept}"
    )


def _grade_distances(quality: Quality) -> str:
    rho = quality.distance_correlation
    if np.isnan(rho):
        return ""
    grade = _grade(good=rho >= _GOOD, fair=rho >= _FAIR)
    return (
        f"Distances between clusters are {grade}: the distances of all pairs in the map explain "
        f"{max(rho, 0) ** 2:.0%} of the variance of those in the data (ρ = {rho:.2f})."
    )


def cautions_of(
    points: PointTable, groups: GroupTable | None, perplexity: float | None
) -> tuple[str, ...]:
    """List the points to treat with caution, and why."""
    if points.unreliable.any():
        unreliable = (
            f"unreliable: {_count(points.unreliable)} have a scale without meaning, or have lost "
            "both their local radius and their neighbours. Do not read densities around them."
        )
    else:
        unreliable = (
            "unreliable: none. No point has a scale without meaning, or has lost both its local "
            "radius and its neighbours."
        )
    return (
        _residual_sentence(points),
        *_scale_sentences(points, groups, perplexity),
        *_limit_sentences(points),
        unreliable,
    )


def _residual_sentence(points: PointTable) -> str:
    residual = np.nan_to_num(points.density_residual)
    wrong = np.abs(residual) > LARGE_RESIDUAL
    if not wrong.any():
        return (
            "density_residual: no point has more than twice, or less than half, the local radius "
            "it should have."
        )
    wide, narrow = int((residual > LARGE_RESIDUAL).sum()), int((residual < -LARGE_RESIDUAL).sum())
    lost = int((wrong & (points.neighbor_recall <= LOW_RECALL)).sum())
    also = f"; {lost:,} of them have also lost nearly all neighbours" if lost else ""
    return (
        f"density_residual: {_count(wrong)} have more than twice ({wide:,}), or less than half "
        f"({narrow:,}), the local radius they should have{also}."
    )


def _scale_sentences(
    points: PointTable, groups: GroupTable | None, perplexity: float | None
) -> list[str]:
    """Name the points whose σ does not come from their surroundings in the data."""
    sentences = []
    too_large, at_bound = points.perplexity_too_large, points.sigma_at_bound
    if too_large is not None and too_large.any():
        sentences.append(
            f"perplexity_too_large: {_count(too_large)} are in clusters of "
            f"{_sizes(points, too_large)} points{_too_small(groups)}, too few for a perplexity of "
            f"{perplexity:g}. Their scale comes from outside the cluster, whose spread in the map "
            "has no meaning. To draw a cluster as wide as it is, choose a perplexity of at most "
            "half its number of points."
        )
    if at_bound is not None and at_bound.any():
        sentences.append(
            f"sigma_at_bound: {_count(at_bound)} have duplicates or near-duplicates, so that their "
            "scale does not come from the data. They are drawn as tight clumps, whose size has no "
            "meaning."
        )
    return sentences


def _limit_sentences(points: PointTable) -> list[str]:
    """Name the points about which the report itself makes no statement."""
    sentences = []
    if points.k_too_large.any():
        sentences.append(
            f"k_too_large: {_count(points.k_too_large)} are in clusters of "
            f"{_sizes(points, points.k_too_large)} points, so that their radius reaches into "
            "another cluster and is no density. To include a cluster, choose a k of at most half "
            "its number of points."
        )
    if points.is_duplicate.any():
        without = int(np.isnan(points.log_radius_data).sum())
        so_many = f"; {without:,} have so many that their radius is 0" if without else ""
        sentences.append(f"is_duplicate: {_count(points.is_duplicate)} have duplicates{so_many}.")
    return sentences


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
    """Write a share so that neither a few points nor all but a few are rounded away."""
    share = float(flag.mean())
    return f"{share:.0%}" if 0.01 <= share <= 0.99 else f"{share:.2%}"


def _count(flag: BoolArray) -> str:
    count = int(flag.sum())
    return f"{count:,} of {len(flag):,} points ({count / len(flag):.1%})"
