"""What can be read from a map, in words, and where the words come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.account._points import LARGE_RESIDUAL, LOW_RECALL
from dtsne.account._tables import three_digits

if TYPE_CHECKING:
    from dtsne._typing import FloatArray
    from dtsne.account._tables import BoolArray, PointTable
    from dtsne.quality import Quality

# Of a correlation: the map then accounts for 64 % of the variation in the data, or for 25 %.
_GOOD, _FAIR = 0.8, 0.5
# Of the slope of log radii: twice the radius is drawn as 1.6 to 2.8 times, or at least as 1.3.
_GOOD_SLOPES, _FAIR_SLOPE = (2 / 3, 3 / 2), 0.4
# Of trustworthiness: neighbours are then among about the nearest 5 % of all points, or 15 %.
_TRUSTED, _PARTLY_TRUSTED = 0.95, 0.85
# Radii of nine points in ten within a factor of 1.1 either way leave nothing to correlate.
_EVEN = float(np.log(1.1))


def readings(points: PointTable, whole: Quality) -> tuple[str, ...]:
    """Say what sizes, neighbours and distances in the map mean."""
    said = (_read_sizes(points, whole), _read_neighbors(whole), _read_distances(whole))
    return tuple(sentence for sentence in said if sentence)


def density_slope(points: PointTable) -> float:
    """Slope of the log radii in the map over those in the data: 1 draws differences as they are."""
    known = np.isfinite(points.density_residual)
    if not known.any():
        return float("nan")
    in_data, in_map = points.log_radius_data[known], points.log_radius_map[known]
    spread = in_data - in_data.mean()
    variance = float(spread @ spread)
    return float(spread @ in_map) / variance if variance > 0 else float("nan")


def _read_sizes(points: PointTable, whole: Quality) -> str:
    known = np.isfinite(points.density_residual)
    if not known.any():
        return "Sizes: nothing is known, as every point has as many copies as a radius reaches to."
    nine_in_ten = _factor_of_nine_in_ten(points.density_residual[known])
    errors = f"the room of nine points in ten is right within a factor of {nine_in_ten}"
    in_data = points.log_radius_data[known]
    if np.quantile(np.abs(in_data - np.median(in_data)), 0.9) < _EVEN:
        return (
            f"Sizes: the data is about equally dense everywhere, so that there is little to show; "
            f"in the map {errors}."
        )
    correlation, slope = whole.density_log_correlation, density_slope(points)
    if correlation >= _GOOD and _GOOD_SLOPES[0] <= slope <= _GOOD_SLOPES[1]:
        verdict = "Sizes can be read"
    elif correlation >= _FAIR and slope >= _FAIR_SLOPE:
        verdict = "Sizes can be read roughly"
    else:
        verdict = "Sizes cannot be read"
    return (
        f"{verdict}: points twice as far from their neighbours in the data are drawn "
        f"{three_digits(2.0**slope)} times as far from them (log r = {correlation:.2f}), and "
        f"{errors}."
    )


def _read_neighbors(whole: Quality) -> str:
    n, k = whole.n, whole.k_neighborhood
    kept = (
        f"Of the {k} nearest points in the data {k * whole.neighbor_recall:.1f} are among the {k} "
        f"nearest in the map (at random it would be {k * k / (n - 1):.1f})."
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


def warnings_of(points: PointTable, perplexity: float | None) -> tuple[str, ...]:
    """Say which points to be careful with, and why; the first sentence is about all of them."""
    if points.unreliable.any():
        first = (
            f"unreliable: {_count(points.unreliable)}. Do not read the room around them as density."
        )
    else:
        first = f"None of the {len(points):,} points is unreliable."
    said = [first, *_flag_sentences(points, perplexity), *_residual_sentences(points)]
    if points.copy.any():
        said.append(
            f"copy: {_count(points.copy)} have exact copies, which by itself is no fault of the "
            "map."
        )
    return tuple(said)


def _flag_sentences(points: PointTable, perplexity: float | None) -> list[str]:
    said = []
    too_large, at_bound, sizes = (
        points.perplexity_too_large,
        points.sigma_at_bound,
        points.cluster_size,
    )
    if too_large is not None and sizes is not None and too_large.any():
        fewest, most = int(sizes[too_large].min()), int(sizes.max())
        range_ = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        said.append(
            f"perplexity_too_large: {_count(too_large)} in clusters of {range_} points, too few "
            f"for a perplexity of {perplexity:g}. Their scale comes from outside of the cluster, "
            "which is drawn too wide. To draw a cluster as wide as it is, choose a perplexity of "
            "at most half of its points."
        )
    if at_bound is not None and at_bound.any():
        said.append(
            f"sigma_at_bound: {_count(at_bound)} with copies or near-copies, and so with no scale "
            "of their own. They are drawn as tight clumps, of a size that means nothing."
        )
    without = np.isnan(points.density_residual)
    if without.any():
        said.append(
            f"log_radius: unknown for {_count(without)}, with so many copies that the radius is 0."
        )
    return said


def _residual_sentences(points: PointTable) -> list[str]:
    residual = np.nan_to_num(points.density_residual)
    wrong = np.abs(residual) > LARGE_RESIDUAL
    if not wrong.any():
        return []
    lost = int((wrong & (points.neighbor_recall <= LOW_RECALL)).sum())
    wide, narrow = int((wrong & (residual > 0)).sum()), int((wrong & (residual < 0)).sum())
    return [
        f"density_residual: {_count(wrong)} with more than twice the room they should have "
        f"({wide:,}) or less than half of it ({narrow:,}); {lost:,} of them have also lost nearly "
        "all their neighbours."
    ]


def _count(flag: BoolArray) -> str:
    count = int(flag.sum())
    return f"{count:,} of {len(flag):,} points ({count / len(flag):.1%})"


def _factor_of_nine_in_ten(residual: FloatArray) -> str:
    return three_digits(float(np.exp(np.quantile(np.abs(residual), 0.9))))
