"""The account of a map: against brute force, known clusters, and what must not change it."""

from __future__ import annotations

import doctest
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from dtsne import DTSNE
from dtsne._neighbors import nearest_neighbors
from dtsne._threads import limited_threads
from dtsne.account import Account, account_of
from dtsne.account._bootstrap import distinct, interval, resampled_spreads
from dtsne.account._islands import _ends, island_sizes, smallest_size
from dtsne.datasets import load
from dtsne.quality import cluster_radius_ratios, evaluate, neighbor_recall
from dtsne.quality._clusters import spread

quick = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 2**32 - 1)
OPTIONS = {"k": 12, "k_neighborhood": 6, "n_bootstrap": 100}


def blobs(n=120, d=4, seed=0):
    """Three groups of different spread, and a map of them with some noise."""
    rng = np.random.default_rng(seed)
    labels = np.array(["A", "B", "C"])[np.arange(n) % 3]
    codes = np.arange(n)[:, None] % 3
    X = 12.0 * codes + rng.normal(size=(n, d)) * (1.0 + codes)
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2)), labels


def sorted_neighbors(points):
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :-1]
    return order, np.take_along_axis(distances, order, axis=1)


def close(a, b, **tolerance):
    np.testing.assert_allclose(a, b, **{"rtol": 1e-7, "atol": 1e-9, **tolerance})


def assert_same(one: Account, other: Account, order=slice(None), *, map_shift=0.0, map_scale=1.0):
    """Check that two accounts say the same of the same points, the map having another scale."""
    for name, values in one.points.columns().items():
        expected = other.points.columns()[name][order]
        if values.dtype.kind == "f":
            close(values, expected + (map_shift if name == "log_radius_map" else 0.0))
        else:
            np.testing.assert_array_equal(values, expected)
    for name, values in (one.groups.columns() | one.ratios.columns()).items():
        expected = (other.groups.columns() | other.ratios.columns())[name]
        if values.dtype.kind == "f":
            shift = map_shift if name == "log_radius_map" else 0.0
            close(values, expected * (map_scale if name == "spread_map" else 1.0) + shift)
        else:
            np.testing.assert_array_equal(values, expected)
    for name, value in one.whole.as_dict().items():
        expected = other.whole.as_dict()[name]
        if isinstance(value, float):
            close(value, expected)
        else:
            assert value == expected


def page(account):
    """Return what is printed, on one line."""
    return " ".join(str(account).split())


# Against brute force


def test_points_match_brute_force():
    X, Y, labels = blobs()
    account = account_of(X, Y, labels=labels, **OPTIONS)
    (in_data, r), (in_map, s) = sorted_neighbors(X), sorted_neighbors(Y)
    log_r, log_s = np.log(r[:, 11]), np.log(s[:, 11])
    points = account.points
    close(points.log_radius_data, log_r - np.median(log_r))
    close(points.log_radius_map, log_s - np.median(log_s))
    close(points.density_residual, log_s - log_r - np.median(log_s - log_r))
    kept = [len(set(a[:6]) & set(b[:6])) / 6 for a, b in zip(in_data, in_map, strict=True)]
    close(points.neighbor_recall, kept)
    assert points.neighbor_recall.mean() == pytest.approx(account.whole.neighbor_recall)
    np.testing.assert_array_equal(points.label, labels)
    assert points.sigma is None
    assert points.sigma_at_bound is None
    assert points.perplexity_too_large is None


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_whole_is_what_evaluate_finds(metric):
    X, Y, labels = blobs()
    options = {"k": 12, "k_neighborhood": 6, "metric": metric, "max_rows": 50}
    account = account_of(X, Y, labels=labels, n_bootstrap=0, **options)
    assert account.whole.as_dict() == evaluate(X, Y, labels=labels, **options).as_dict()
    assert "50 of 120 rows" in account.whole.sampled
    assert "50 of 120 rows" in page(account)
    assert len(account.points) == 120  # all the same


def test_with_sigma_both_radii_are_in_units_of_the_map():
    X, Y, _ = blobs()
    sigma = np.linspace(1.0, 3.0, len(X))
    account = account_of(X, Y, sigma=sigma, **OPTIONS)
    assert account.map_unit == 2.0
    close(account.points.log_radius_data, np.log(sorted_neighbors(X)[1][:, 11] / 2.0))
    close(account.points.log_radius_map, np.log(sorted_neighbors(Y)[1][:, 11]))
    assert np.median(account.points.density_residual) == pytest.approx(0.0, abs=1e-12)
    unit = np.median(sorted_neighbors(X)[1][:, 11] / sorted_neighbors(Y)[1][:, 11])
    assert account.radius_unit == pytest.approx(unit, rel=1e-3)  # the median of the logarithms
    said = f"One unit of the map is {account.radius_unit:.3g} in the data by these radii, and 2,"
    assert said in page(account)


def test_groups_match_numpy_and_the_measure_of_quality():
    X, Y, labels = blobs()
    account = account_of(X, Y, labels=labels, **OPTIONS)
    groups, ratios = account.groups, account.ratios
    np.testing.assert_array_equal(groups.label, ["A", "B", "C"])
    for space, points in {"data": X, "map": Y}.items():
        expected = [np.sqrt(points[labels == g].var(axis=0, ddof=1).sum()) for g in "ABC"]
        close(getattr(groups, f"spread_{space}"), expected)
    close(groups.log_radius_map[1], np.median(account.points.log_radius_map[labels == "B"]))
    error = cluster_radius_ratios(X, Y, labels).error
    close(groups.drawn / groups.drawn[0] - 1, error, atol=1e-12)
    assert list(zip(ratios.group, ratios.reference, strict=True)) == [
        ("B", "A"), ("C", "A"), ("C", "B")
    ]  # fmt: skip
    close(ratios.map[1], groups.spread_map[2] / groups.spread_map[0])
    for space in ("data", "map"):
        value, low, high = (getattr(ratios, f"{space}{end}") for end in ("", "_low", "_high"))
        assert (low < value).all()
        assert (value < high).all()
    assert ratios.sentences[1].startswith("C is 2.69 (")
    assert "times as wide as A in the data, 2.74 (" in ratios.sentences[1]


def test_many_groups_are_compared_with_the_largest():
    X, Y, _ = blobs(n=117)
    labels = np.minimum(np.arange(117) // 13, 7)  # eight, the last of 26 points
    ratios = account_of(X, Y, labels=labels, **OPTIONS).ratios
    assert len(ratios) == 7
    assert all(7 in pair for pair in zip(ratios.group, ratios.reference, strict=True))


def test_groups_without_a_spread_are_named_and_not_compared():
    X, Y, _ = blobs(n=60)
    labels = np.array([0] * 30 + [1] * 27 + [2] * 2 + [3])
    account = account_of(X, Y, labels=labels, **OPTIONS)
    assert np.isnan(account.groups.spread_data[3])
    pairs = set(zip(account.ratios.group, account.ratios.reference, strict=True))
    assert {frozenset(pair) for pair in pairs} == {frozenset(p) for p in [(0, 1), (0, 2), (1, 2)]}
    of_two = (account.ratios.group == 2) | (account.ratios.reference == 2)
    assert np.isnan(account.ratios.data_low[of_two]).all()  # too few to resample
    assert np.isfinite(account.ratios.data_low[~of_two]).all()
    assert "nan" not in str(account)


def test_a_reference_is_a_group_whose_width_means_something():
    X, Y, _ = blobs(n=320)
    order = np.argsort(X[:, 0], kind="stable")
    labels = np.empty(320, int)
    labels[order] = np.repeat(np.arange(7), [80, 40, 40, 40, 40, 40, 40])  # slices of the data
    Y = X[:, :2].copy()
    torn = np.flatnonzero(labels == 0)[:40]
    Y[torn] += 500.0
    account = account_of(X, Y, labels=labels, **OPTIONS)
    assert account.groups.caveat[0] == "torn"
    reference = account.ratios.reference[0]
    assert reference != 0  # though it is the largest
    assert account.groups.reliable[reference]
    assert (account.ratios.reference == reference).all()
    of_torn = account.ratios.group == 0
    assert account.ratios.caveat[of_torn].tolist() == ["0 is torn"]
    assert not account.ratios.reliable[of_torn].any()


def test_what_is_in_pieces_in_the_data_is_not_torn_by_the_map(rng):
    X = rng.normal(size=(200, 2))
    X[:40] += np.repeat([[50.0, 0], [-50.0, 0]], 20, axis=0)  # half of them here, half there
    X[40:44] += 200.0  # of four points nothing is said
    labels = np.repeat(["pieces", "few", "rest"], [40, 4, 156])
    Y = X.copy()
    Y[[*range(5, 10), *range(25, 30)]] += 300.0
    Y[42:44] += 500.0
    groups = account_of(X, Y, labels=labels, **OPTIONS | {"k_neighborhood": 3}).groups
    assert (groups.piece_map < 0.9 * groups.piece_data).tolist() == [True, True, False]
    assert not (groups.caveat == "torn").any()


def test_many_torn_groups_are_not_all_named():
    X = np.repeat(np.arange(12.0) * 100, 20)[:, None] + np.arange(240)[:, None] % 20 * [1.0, 0.5]
    Y = X.copy()
    Y[::2] += 1e5  # every group in two
    account = account_of(X, Y, labels=np.arange(240) // 20, **OPTIONS)
    assert (account.groups.caveat == "torn").all()
    assert "7 (50%, 100%) and 4 more. In brackets" in page(account)
    assert account.readings[1].startswith("Widths of groups: nothing can be said, as fewer than")


# The bootstrap


def test_groups_of_copies_have_no_intervals(rng):
    """Resamples of copies of one point have no spread, to which no interval can reach."""
    X, Y, labels = blobs(n=150)
    labels[labels == "C"] = "B"
    mostly = np.flatnonzero(labels == "B")
    X[mostly[3:]] = X[mostly[3]]
    account = account_of(X, Y, labels=labels, **OPTIONS)
    assert np.isfinite(account.ratios.data).all()
    assert np.isnan(account.ratios.data_low).all()
    assert np.isnan(account.ratios.drawn_low).all()
    X[mostly[:5]] = rng.normal(size=(5, 4))  # of 100, few enough to be missed by 1 % of resamples
    ratios = account_of(X, Y, labels=labels, **OPTIONS).ratios
    assert (np.isnan(ratios.data_low) | (ratios.data_high < 1e3)).all()
    assert not distinct(np.repeat(rng.normal(size=(4, 3)), 9, axis=0), 5)
    assert distinct(np.repeat(rng.normal(size=(5, 3)), 9, axis=0), 5)


def test_resamples_without_a_spread_are_nan():
    points = np.zeros((30, 2))
    points[0] = 1.0
    found = resampled_spreads([points], 2000, np.random.default_rng(0))[0]
    missed = (1 - 1 / 30) ** 30
    assert np.isnan(found).mean() == pytest.approx(missed, rel=0.1)
    assert np.nanmin(found) > 0.1
    assert np.isnan(interval(found)).all()
    few = np.where(np.arange(2000) < 10, np.nan, np.abs(found))
    assert np.isfinite(interval(np.nan_to_num(few[10:], nan=1.0))).all()


def test_data_and_map_are_resampled_together(rng):
    """So what the map draws too wide is known far better than the widths are."""
    X = np.vstack([rng.normal(size=(40, 3)), 3 * rng.normal(size=(40, 3)) + 20])
    labels = np.repeat(["a", "b"], 40)
    ratios = account_of(X, np.where(labels == "b", 1.5, 1.0)[:, None] * X, labels=labels).ratios
    close(ratios.drawn, 1.5)
    close(np.stack([ratios.drawn_low, ratios.drawn_high]), 1.5)
    assert ratios.map_high[0] / ratios.map_low[0] > 1.3
    assert ratios.sentences[0].endswith("in the map: 1.50 (1.50–1.50) times what it should be.")
    assert "should be" not in account_of(X, X, labels=labels).ratios.sentences[0]


def test_other_labels_do_not_change_an_interval():
    X, Y, labels = blobs()
    options = OPTIONS | {"n_bootstrap": 200}
    before = account_of(X, Y, labels=labels, **options).ratios
    more = labels.astype("<U9")
    more[np.flatnonzero(labels == "C")[:10]] = "AA, first"
    after = account_of(X, Y, labels=more, **options).ratios
    row = np.flatnonzero((after.group == "B") & (after.reference == "A"))[0]
    assert after.data_low[row] == before.data_low[0]
    assert after.map_high[row] == before.map_high[0]


def test_resampled_spreads_are_those_of_the_points_drawn(rng):
    points = rng.normal(size=(40, 3)) * [1.0, 2.0, 5.0]
    found = resampled_spreads([points, 2 * points], 4000, np.random.default_rng(1))
    close(found[1], 2 * found[0])
    drawn = points[np.random.default_rng(2).integers(40, size=(4000, 40))]
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    expected = np.sqrt((centred**2).sum(axis=(1, 2)) / 39 * 40 / 39)
    quantiles = [0.025, 0.25, 0.5, 0.75, 0.975]
    close(np.quantile(found[0], quantiles), np.quantile(expected, quantiles), rtol=0.02)
    assert (found[0] ** 2).mean() == pytest.approx(spread(points) ** 2, rel=0.01)


def test_intervals_of_large_groups_are_as_wide_as_theory_says(rng):
    n, d = 6000, 3
    found = resampled_spreads([rng.normal(size=(n, d))], 1000, np.random.default_rng(1))
    low, high = interval(found)[0]
    # The square of the spread of a Gaussian has the relative variance 2 / (n d).
    width = 2 * 1.96 * np.sqrt(3.0) * 0.5 * np.sqrt(2 / (n * d))
    assert high - low == pytest.approx(width, rel=0.12)


@pytest.mark.parametrize(("d", "sizes"), [(2, (40, 60)), (30, (25, 100))])
def test_intervals_of_ratios_hold_the_truth_as_often_as_they_say(d, sizes):
    rng = np.random.default_rng(3)
    held = 0
    with limited_threads(1):
        for _ in range(300):
            wide, narrow = (
                resampled_spreads([scale * rng.normal(size=(n, d))], 400, rng)[0]
                for scale, n in zip((3.0, 1.0), sizes, strict=True)
            )
            low, high = interval(wide / narrow)
            held += low <= 3.0 <= high
    assert 0.90 <= held / 300 <= 0.98


def test_the_seed_decides_the_intervals_and_nothing_else_does():
    X, Y, labels = blobs()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (
        account_of(X, Y, labels=labels, random_state=seed, **OPTIONS) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert first.to_json() == again.to_json()
    close(first.ratios.data, other.ratios.data)
    assert (first.ratios.data_low != other.ratios.data_low).all()
    without = account_of(X, Y, labels=labels, k=12, n_bootstrap=0).ratios
    assert np.isnan(without.data_low).all()
    assert "(" not in without.sentences[0]


# What it must not depend on


@quick
@given(seeds, st.floats(0, 2 * np.pi), st.floats(-50, 50))
def test_rotating_and_moving_the_map_changes_nothing(seed, angle, shift):
    X, Y, labels = blobs(n=60, seed=seed)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    options = OPTIONS | {"labels": labels, "sigma": 1 + X[:, 0] ** 2}
    assert_same(account_of(X, Y @ turn + shift, **options), account_of(X, Y, **options))


@quick
@given(seeds, st.floats(1e-3, 1e3))
def test_scaling_the_map_shifts_its_log_radii_only(seed, scale):
    X, Y, labels = blobs(n=60, seed=seed)
    options = OPTIONS | {"labels": labels}
    sigma = 1 + X[:, 0] ** 2
    scaled = account_of(X, scale * Y, sigma=sigma, **options)
    plain = account_of(X, Y, sigma=sigma, **options)
    assert_same(scaled, plain, map_shift=np.log(scale), map_scale=scale)
    # Without σ they are relative to the typical point, and nothing shifts.
    assert_same(account_of(X, scale * Y, **options), account_of(X, Y, **options), map_scale=scale)


@quick
@given(seeds)
def test_permuting_the_rows_permutes_the_account(seed):
    X, Y, labels = blobs(n=60, seed=seed)
    order = np.random.default_rng(seed).permutation(60)
    sigma = 1 + X[:, 0] ** 2
    options = OPTIONS | {"perplexity": 10}
    permuted = account_of(X[order], Y[order], labels=labels[order], sigma=sigma[order], **options)
    assert_same(permuted, account_of(X, Y, labels=labels, sigma=sigma, **options), order)


# What to mistrust


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("perplexity", "flagged"), [(30, 0), (50, 0), (100, 100), (110, 100)])
def test_a_cluster_smaller_than_the_perplexity_is_found_without_labels(seed, perplexity, flagged):
    X, labels, _ = load("2D-samples", seed=seed)
    sizes = island_sizes(*nearest_neighbors(X, 140), smallest_size(perplexity))
    assert (sizes > 0).sum() == flagged
    assert (sizes[labels == 0] == flagged).all()


@pytest.mark.parametrize(
    ("name", "perplexities"),
    [("2D-density", (30, 100)), ("G3-d", (30, 100)), ("G3-s", (100,)), ("digits", (30, 100))],
)
def test_larger_clusters_are_left_alone(name, perplexities):
    X = load(name).X
    neighbors = nearest_neighbors(X, 125)
    for perplexity in perplexities:
        assert (island_sizes(*neighbors, smallest_size(perplexity)) > 0).mean() <= 0.02


def test_small_clusters_in_many_dimensions_and_facing_others(rng):
    sizes = [400, 40, 30]
    centres = np.zeros((3, 20))
    centres[1, 0], centres[2, 1] = 12.0, 12.0
    X = np.repeat(centres, sizes, axis=0) + rng.normal(size=(470, 20))
    found = island_sizes(*nearest_neighbors(X, 100), 75)
    np.testing.assert_array_equal(found, np.repeat([0, 40, 30], sizes))
    assert not island_sizes(*nearest_neighbors(X, 100), 25).any()


def test_distances_of_few_values_make_no_islands():
    grid = np.stack(np.meshgrid(*[np.arange(7.0)] * 3), axis=-1).reshape(-1, 3)
    assert not island_sizes(*nearest_neighbors(grid, 60), 40).any()
    copies = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 4, axis=0)
    assert not island_sizes(*nearest_neighbors(copies, 60), 40).any()


def test_few_points_see_an_end_by_chance(rng):
    for points in (rng.normal(size=(800, 2)), rng.uniform(size=(800, 10))):
        ends = _ends(nearest_neighbors(points, 100)[1])
        assert (ends > 0).mean() < 0.04


def test_labels_of_clusters_say_their_size_too(rng):
    X = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(12, 2)) * 0.4 + 2.5])
    labels = np.repeat(["many", "few"], [100, 12])  # which touch, so that there is no gap
    options = OPTIONS | {"perplexity": 12}
    assert not account_of(X, X, **options).points.perplexity_too_large.any()
    account = account_of(X, X, labels=labels, **options)
    np.testing.assert_array_equal(account.points.perplexity_too_large, labels == "few")
    np.testing.assert_array_equal(account.points.unreliable, labels == "few")
    close(account.groups.share_unreliable, [1.0, 0.0])
    assert account.groups.reliable.tolist() == [False, True]
    assert "are in clusters of 12 points (few), too few for a perplexity of 12" in page(account)
    assert "(few is too small for the perplexity: such widths mean nothing.)" in page(account)


def test_labels_that_are_no_clusters_are_not_too_small():
    """Donors, batches and conditions lie among the points of others, whose σ is right."""
    X, Y, _ = blobs(n=240)
    batches = np.random.default_rng(0).integers(12, size=240)
    options = OPTIONS | {"perplexity": 30}
    account = account_of(X, Y, labels=batches, **options)
    np.testing.assert_array_equal(
        account.points.unreliable, account_of(X, Y, **options).points.unreliable
    )
    assert not account.points.perplexity_too_large.any()
    assert account.groups.below_perplexity.all()
    assert account.groups.reliable.all()
    assert account.groups.own_neighbors.max() < 0.3
    assert not account.ratios.caveat.any()
    alone = account_of(X, Y, labels=np.arange(240) == 5, **options)  # one point is no cluster
    assert not alone.points.perplexity_too_large.any()


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_copies_have_no_radius(rng, noise):
    """Nor those that went through somebody's principal components, and differ by rounding."""
    X = rng.normal(size=(100, 2))
    X[:30] = X[0]
    X[50] = X[51]
    Y = X + 1e-6 * rng.normal(size=(100, 2))
    account = account_of(X + noise * rng.normal(size=X.shape), Y, **OPTIONS)
    points, repeated = account.points, np.arange(100) < 30
    np.testing.assert_array_equal(np.isnan(points.log_radius_data), repeated)
    np.testing.assert_array_equal(np.isnan(points.density_residual), repeated)
    np.testing.assert_array_equal(points.unreliable, repeated)
    np.testing.assert_array_equal(np.flatnonzero(points.copy), [*range(30), 50, 51])
    assert "copy: 32 of 100 points (32.0%) have copies, and 30 so many that" in page(account)
    assert points.sigma_at_bound is None


def test_most_points_may_be_copies_and_few_far_out(rng):
    X = rng.normal(size=(200, 2))
    X[:130] = X[0] + 1e-13 * rng.normal(size=(130, 2))
    np.testing.assert_array_equal(account_of(X, X, **OPTIONS).points.copy, np.arange(200) < 130)
    X = rng.normal(size=(200, 2))
    X[0] = 1e9
    assert not account_of(X, X, **OPTIONS).points.copy.any()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_neighbours_equally_far_are_equally_good(metric):
    X = np.repeat(np.arange(10.0)[:, None] ** 2, 9, axis=0)  # ten times nine copies
    rng = np.random.default_rng(0)
    Y = np.hstack([X, X]) + 1e-3 * rng.normal(size=(90, 2))
    for k in (4, 20, 40):  # as many neighbours as are searched for
        account = account_of(X, Y, k=k, k_neighborhood=4, metric=metric)
        if metric == "euclidean" or k > 4:  # lists that end among the copies do not know the rest
            assert (account.points.neighbor_recall == 1).all()
            assert account.whole.neighbor_recall == 1


def test_the_recall_of_the_whole_is_that_of_the_points():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(150, 3)).astype(float)  # many equally far, and copies
    Y = rng.normal(size=(150, 2)) + X[:, :2]
    account = account_of(X, Y, **OPTIONS)
    assert account.whole.neighbor_recall == pytest.approx(account.points.neighbor_recall.mean())
    assert account.whole.neighbor_recall == neighbor_recall(X, Y, k=6)
    reach = np.sort(cdist(X, X) + np.diag(np.full(150, np.inf)), axis=1)[:, 5:6]
    in_map = sorted_neighbors(Y)[0][:, :6]
    kept = np.take_along_axis(cdist(X, X), in_map, axis=1) <= reach + 1e-9
    close(account.points.neighbor_recall, kept.mean(axis=1))


def test_a_point_torn_from_its_neighbours_is_unreliable():
    X, _, labels = blobs(n=150)
    Y = X[:, :2].copy()
    Y[7] = 1e4  # alone, far outside
    points = account_of(X, Y, labels=labels, **OPTIONS).points
    assert points.unreliable[7]
    assert points.density_residual[7] > np.log(2)
    assert points.neighbor_recall[7] <= 0.1
    assert points.unreliable.sum() <= 3


# In words


@pytest.fixture(scope="module")
def three_gaussians():
    X, labels, _ = load("2D-density", n=450)
    model = DTSNE(perplexity=50)
    return X, labels, model, model.fit_transform(X)


def test_reading_a_map_that_keeps_densities(three_gaussians):
    X, labels, model, Y = three_gaussians
    account = account_of(
        X, Y, labels=labels, sigma=model.sigma_, perplexity=model.perplexity_, n_bootstrap=200
    )
    densities, widths, neighbours, distances = account.readings
    assert densities.startswith("Densities can be read:")
    assert widths.startswith("Widths of groups can be read:")
    assert neighbours.startswith("Neighbours can be trusted:")
    assert distances.startswith("Distances between clusters can be read:")
    assert not account.points.perplexity_too_large.any()
    assert np.abs(account.groups.drawn - 1).max() < 0.1


def test_reading_a_map_in_which_all_clusters_look_alike(three_gaussians):
    X, labels, _, _ = three_gaussians
    centres = np.array([X[labels == g].mean(axis=0) for g in range(3)])
    Y = centres[labels] + (X - centres[labels]) / np.array([1, 2, 4])[labels, None]
    account = account_of(X, Y, labels=labels, n_bootstrap=200)
    assert account.readings[0].startswith("Densities cannot be read:")
    assert account.readings[1].startswith("Widths of groups cannot be read:")
    assert "the widest beside its true width is 0, the narrowest 2." in page(account)
    np.testing.assert_allclose(account.groups.drawn, [2, 1, 0.5], rtol=0.15)
    assert "have more than twice the room they should have" in page(account)


def test_a_group_in_two_places_is_torn():
    X, Y, labels = blobs(n=150)
    moved = np.flatnonzero(labels == "B")[:20]
    Y[moved] += 200.0
    account = account_of(X, Y, labels=labels, **OPTIONS)
    close(account.groups.piece_data, 1.0)
    close(account.groups.piece_map, [1.0, 0.6, 1.0])
    assert "Torn into pieces by the map: B (60%, 100%)." in page(account)
    assert "(of 2 of 3 groups, the others being torn, too small or" in account.readings[1]
    assert account.groups.caveat.tolist() == ["", "torn", ""]
    assert "in the map. (B is torn: such widths mean nothing.)" in page(account)


def test_radii_beyond_a_cluster_say_nothing_of_density():
    X, labels, _ = load("2D-samples")
    account = account_of(X, X, labels=labels, n_bootstrap=0)
    np.testing.assert_array_equal(account.points.k_too_large, labels == 0)
    np.testing.assert_array_equal(np.isnan(account.points.density_residual), labels == 0)
    np.testing.assert_array_equal(account.points.cluster_size, np.where(labels == 0, 100, 0))
    assert not account.points.unreliable.any()  # no fault of the map
    assert "k_too_large: 100 of 800 points (12.5%)" in page(account)
    assert not account_of(X, X, k=50).points.k_too_large.any()


def test_reading_a_map_without_sense(rng):
    X, _, _ = blobs()
    readings = account_of(X, rng.normal(size=(120, 2)), **OPTIONS).readings
    assert readings[0].startswith("Densities cannot be read:")
    assert readings[1].startswith("Neighbours cannot be trusted:")
    assert readings[2].startswith("Distances between clusters cannot be read:")


def test_reading_data_of_one_density():
    angles = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reading = account_of(ring, ring, **OPTIONS).readings[0]
    assert "about equally dense everywhere" in reading


# To other places


@pytest.fixture
def account():
    X, Y, labels = blobs()
    sigma = 1 + X[:, 0] ** 2
    return account_of(X, Y, labels=labels, sigma=sigma, perplexity=10, **OPTIONS)


def test_json_and_back(account):
    read = Account.from_json(account.to_json())
    assert read.as_dict() == account.as_dict() == json.loads(account.to_json())
    assert str(read) == str(account)
    assert read.points.copy.dtype == bool
    assert read.whole.clusters.largest_error == account.whole.clusters.largest_error


def test_json_of_what_is_not_known(rng):
    X, Y, _ = blobs()
    X[:40] = X[0]
    labels = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")[np.arange(120) % 2]
    account = account_of(None, Y, neighbors=nearest_neighbors(X, 20), labels=labels, **OPTIONS)
    read = Account.from_json(account.to_json())
    assert read.as_dict() == account.as_dict()
    assert np.isnan(read.points.log_radius_data).sum() == 40
    assert np.isnan(read.whole.trustworthiness)
    assert read.points.sigma is None
    with pytest.raises(ValueError, match="no account"):
        Account.from_json("{}")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(account, library):
    pytest.importorskip(library)
    frame = getattr(account, f"to_{library}")()
    assert list(frame.columns) == list(account.points.columns())
    close(frame["density_residual"].to_numpy(), account.points.density_residual)
    assert list(frame["label"]) == account.points.label.tolist()
    assert frame["unreliable"].sum() == account.points.unreliable.sum()
    groups, ratios = (getattr(account, f"to_{library}")(table) for table in ("groups", "ratios"))
    assert list(groups["n"]) == [40, 40, 40]
    assert len(ratios) == 3
    with pytest.raises(ValueError, match="choose 'points', 'groups' or 'ratios'"):
        getattr(account, f"to_{library}")("rows")


def test_the_page_says_it_all(account):
    plain, markdown = str(account), account.to_markdown()
    for text in (page(account), markdown):
        assert all(sentence in text for sentence in (*account.readings, *account.ratios.sentences))
        assert f"{account.whole.trustworthiness:.3f}" in text
    assert max(map(len, plain.splitlines())) <= 96
    assert "| A | 40 |" in markdown


def test_labels_cannot_break_the_tables_of_markdown():
    X, Y, _ = blobs(n=60)
    labels = np.where(np.arange(60) < 30, "a|b*", "<c>")
    markdown = account_of(X, Y, labels=labels, **OPTIONS).to_markdown()
    assert "| a\\|b\\* | 30 |" in markdown
    assert "<c>" not in markdown


def test_no_label_breaks_the_lines_of_a_page():
    X, Y, _ = blobs(n=60)
    labels = np.where(np.arange(60) < 30, "a\n`b`_c_[d](e)", "\\x & y")
    account = account_of(X, Y, labels=labels, **OPTIONS)
    assert "| a \\`b\\`\\_c\\_\\[d\\](e) | 30 |" in account.to_markdown()
    assert "| \\\\x &amp; y | 30 |" in account.to_markdown()
    assert any(line.startswith("a `b`_c_[d](e) ") for line in str(account).splitlines())


def test_labels_of_dates_are_text_everywhere():
    X, Y, _ = blobs()
    days = np.array(["2024-01-09", "2024-01-10"], "datetime64[ns]")[np.arange(120) % 2]
    days[:3] = np.datetime64("NaT")
    account = account_of(X, Y, labels=days, **OPTIONS)
    expected = ["2024-01-09", "2024-01-10"]
    assert account.groups.label.tolist() == expected
    assert json.loads(account.to_json())["groups"]["label"] == expected
    assert account.to_polars("groups")["label"].to_list() == expected
    assert account.points.label[:4].tolist() == [None, None, None, "2024-01-10"]


@pytest.mark.parametrize("missing", [False, True])
def test_labels_keep_their_kind_and_order(missing):
    import pandas as pd

    X, Y, _ = blobs()
    numbers = pd.Series(np.arange(120) % 12)
    codes = numbers.where(numbers > 0) if missing else numbers  # floats where some are missing
    expected = list(range(1 if missing else 0, 12))
    text = codes.map(lambda c: f"c{c:.0f}", na_action="ignore")
    ordered = pd.Categorical(text, categories=["empty", *(f"c{c}" for c in reversed(range(12)))])
    given = {
        "float": (codes, expected),
        "Int64": (codes.astype("Int64"), expected),
        "categories of numbers": (pd.Categorical(codes), expected),
        "text": (text, [f"c{c}" for c in expected]),
        "categories": (ordered, [f"c{c}" for c in reversed(expected)]),
        "a column of them": (pd.Series(ordered), [f"c{c}" for c in reversed(expected)]),
    }
    for labels, names in given.values():
        account = account_of(X, Y, labels=labels, **OPTIONS)
        assert account.groups.label.tolist() == names
        assert (account.points.label[0] is None) == missing
        read = Account.from_json(account.to_json())
        assert read.points.label.tolist() == account.points.label.tolist()
        assert read.groups.label.tolist() == names


def test_words_are_among_the_plain_values(account):
    values = account.as_dict()
    assert values["readings"] == list(account.readings)
    assert values["comparisons"] == list(account.ratios.sentences)
    assert "drawn" in values["groups"]
    assert "drawn" in account.to_pandas("groups")
    assert account.to_polars("ratios")["drawn_low"].len() == 3


def test_what_a_verdict_leaves_out_is_said():
    X, labels, _ = load("2D-samples")
    said = page(account_of(X, X, labels=labels, n_bootstrap=0))
    assert "(of the 88% of points whose room is known)" in said
    assert "These figures are of all points" in said
    said = page(account_of(X, X, labels=labels, n_bootstrap=0, k=50))
    assert "whose room is known" not in said
    assert "These figures are of all points" not in said


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (["a"] * 120, "there is only one group"),
        (["a"] + ["b"] * 119, "fewer than two groups have more than one point"),
    ],
)
def test_widths_that_cannot_be_compared_are_said_not_to_be(labels, why):
    X, Y, _ = blobs()
    reading = account_of(X, Y, labels=labels, **OPTIONS).readings[1]
    assert reading.startswith(f"Widths of groups: nothing can be said, as {why}")


def test_tables_of_groups_need_labels():
    X, Y, _ = blobs()
    account = account_of(X, Y, **OPTIONS)
    assert account.groups is None
    with pytest.raises(ValueError, match="no labels were given"):
        account.to_pandas("groups")


def test_many_groups_do_not_fill_the_page():
    X, Y, _ = blobs(n=160)
    account = account_of(X, Y, labels=np.arange(160) // 4, **OPTIONS)
    assert len(account.groups) == 40
    assert "10 more groups" in page(account)
    assert len(str(account).splitlines()) < 130


# Neighbours from elsewhere, other distances, many points


def test_given_neighbors_are_as_good_as_found_ones():
    X, Y, labels = blobs()
    options = OPTIONS | {"labels": labels, "perplexity": 10}
    searched = account_of(X, Y, **options)
    indices, distances = nearest_neighbors(X, 30)
    given_pair = account_of(X, Y, neighbors=(indices, distances), **options)
    assert_same(given_pair, searched)
    assert np.isnan(given_pair.search_recall)
    rows = np.repeat(np.arange(120), 30)
    graph = csr_array((distances.ravel(), (rows, indices.ravel())), shape=(120, 120))
    assert_same(account_of(X, Y, neighbors=graph, **options), searched)
    without_points = account_of(None, Y, neighbors=graph, **options)
    close(without_points.points.density_residual, searched.points.density_residual)
    close(without_points.whole.density_log_correlation, searched.whole.density_log_correlation)
    assert np.isnan(without_points.whole.trustworthiness)
    assert np.isnan(without_points.ratios.data).all()
    assert np.isfinite(without_points.ratios.map_low).all()
    assert "times as wide as A in the map." in page(without_points)
    assert "nan" not in str(without_points)


def test_too_few_given_neighbors_lower_k():
    X, Y, _ = blobs()
    account = account_of(X, Y, k=100, neighbors=nearest_neighbors(X, 10))
    assert account.whole.k == account.whole.k_neighborhood == 10
    assert "k 100 → 10, k_neighborhood 15 → 10 (the neighbours that are given)" in page(account)


@pytest.mark.parametrize("metric", ["manhattan", "correlation", "precomputed"])
def test_other_distances(metric):
    X, Y, labels = blobs(d=6)
    names = {"manhattan": "cityblock", "correlation": "correlation", "precomputed": "euclidean"}
    distances = cdist(X, X, names[metric])
    if metric == "correlation":
        distances = np.sqrt(2 * distances)
    seen = distances if metric == "precomputed" else X
    options = OPTIONS | {"labels": labels, "metric": metric, "sigma": np.ones(120)}
    account = account_of(seen, Y, **options)
    log_r = np.log(np.sort(distances, axis=1)[:, 12])
    close(account.points.log_radius_data, log_r, atol=1e-7)
    assert np.isfinite(account.ratios.data).all() == (metric == "correlation")
    if metric == "precomputed":
        graph = csr_array(np.where(distances < np.sort(distances, axis=1)[:, 40:41], distances, 0))
        sparse = account_of(graph, Y, **options)
        close(sparse.points.log_radius_data, account.points.log_radius_data)


def test_neighbours_of_many_points_are_searched_for_approximately(monkeypatch):
    X, Y, labels = blobs(n=900)
    exact = account_of(X, Y, labels=labels, perplexity=20, **OPTIONS)
    assert exact.search_recall == 1
    monkeypatch.setattr("dtsne._data.MAX_EXACT_NEIGHBORS", 500)
    found = account_of(X, Y, labels=labels, perplexity=20, **OPTIONS)
    assert found.search_recall >= 0.99
    difference = found.points.density_residual - exact.points.density_residual
    assert np.mean(np.abs(difference) > 1e-9) < 0.05


@pytest.mark.parametrize("n_axes", [1, 3, 5])
def test_maps_of_any_dimension(n_axes):
    X, _, labels = blobs(d=6)
    account = account_of(X, X[:, :n_axes], labels=labels, **OPTIONS)
    log_s = np.log(sorted_neighbors(X[:, :n_axes])[1][:, 11])
    close(account.points.log_radius_map, log_s - np.median(log_s))


# Bad input


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"Y": np.zeros((119, 2))}, ValueError, "X has 120 rows and Y has 119"),
        ({"Y": np.full((120, 2), np.nan)}, ValueError, "Y has NaN"),
        ({"X": np.full((120, 2), np.inf)}, ValueError, "X has NaN or infinite"),
        ({"X": None}, ValueError, "give X or neighbors"),
        ({"X": csr_array(np.eye(120))}, TypeError, "X is sparse"),
        ({"X": np.zeros((7, 3)), "metric": "manhattan"}, ValueError, "X has 7 rows and Y has 120"),
        ({"metric": "euclidian"}, ValueError, "metric='euclidian' is not known"),
        ({"labels": ["a"] * 119}, ValueError, "labels has shape"),
        ({"labels": [None] * 120}, ValueError, "labels has missing values only"),
        ({"labels": np.array([1] + ["a"] * 119, object)}, ValueError, "labels mix kinds"),
        ({"k": 0}, ValueError, "k=0 is not a number of neighbours"),
        ({"k_neighborhood": 2.5}, TypeError, "k_neighborhood=2.5 has to be an integer"),
        ({"sigma": np.ones(119)}, ValueError, "sigma has shape"),
        ({"sigma": np.zeros(120)}, ValueError, "sigma has values that are not positive"),
        ({"perplexity": 1}, ValueError, "perplexity=1 has to be above 1 and below 120"),
        ({"labels": np.array([1, "a", None, 2] * 30, object)}, ValueError, "labels mix kinds"),
        ({"n_bootstrap": -1}, ValueError, "n_bootstrap=-1 is too few resamples"),
        ({"n_bootstrap": 1}, ValueError, "n_bootstrap=1 is too few .* from 100 to"),
        ({"n_bootstrap": 200.0}, TypeError, "n_bootstrap=200.0 has to be an integer"),
        ({"max_rows": 2}, ValueError, "max_rows=2 is too few"),
        ({"max_rows": 100.5}, TypeError, "max_rows=100.5 has to be an integer"),
        ({"random_state": -1}, ValueError, "random_state=-1 has to be at least 0"),
        ({"random_state": "a"}, TypeError, "random_state='a' has to be an integer"),
        ({"neighbors": 5}, TypeError, "neighbors has to be a pair"),
        ({"neighbors": csr_array((120, 120))}, ValueError, "no neighbours other than itself"),
    ],
)
def test_bad_input_is_refused(change, error, message):
    X, Y, labels = blobs()
    arguments = OPTIONS | {"X": X, "Y": Y, "labels": labels} | change
    with pytest.raises(error, match=message):
        account_of(**arguments)


def test_a_k_too_large_is_lowered_and_said():
    X, Y, labels = blobs(n=60)
    account = account_of(X, Y, labels=labels, n_bootstrap=0)
    assert account.whole.k == 29
    assert "k 100 → 29 (less than half of 60 points)" in page(account)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_as_few_points_as_can_be(n):
    X, Y, labels = blobs(n=n)
    account = account_of(X, Y, labels=labels, perplexity=1.5, sigma=np.ones(n))
    assert len(account.points) == n
    assert "nan" not in str(account).replace("not known", "")


def test_points_on_one_spot_in_the_map():
    X, _, _ = blobs(n=40)
    account = account_of(X, np.zeros((40, 2)), **OPTIONS)
    assert account.points.unreliable.all()
    assert "Densities: nothing can be said" in page(account)


def test_the_example_is_true():
    import dtsne.account

    assert doctest.testmod(dtsne.account) == (0, 5)


def test_importing_is_light():
    script = "import sys, dtsne.account; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"numba", "scipy", "sklearn", "pandas", "polars", "matplotlib"})


@pytest.mark.parametrize("missing", [None, np.nan])
def test_points_without_a_label_are_in_no_group(missing):
    X, Y, labels = blobs()
    some = np.array([str(label) for label in labels], object)
    some[:5] = missing
    options = {**OPTIONS, "perplexity": 8.0}
    account, without = account_of(X, Y, labels=some, **options), account_of(X, Y, **options)
    rest = account_of(X[5:], Y[5:], labels=some[5:].astype(str), **options)
    assert account.groups.label.tolist() == rest.groups.label.tolist()
    assert account.groups.n.tolist() == rest.groups.n.tolist()
    close(account.groups.spread_data, rest.groups.spread_data)
    close(account.ratios.map, rest.ratios.map)
    # They have no cluster by name, and are no less reliable for it.
    assert account.points.unreliable[:5].tolist() == without.points.unreliable[:5].tolist()
    assert account.points.label[:5].tolist() == [None] * 5
    assert account.whole.clusters.sizes.sum() == len(X) - 5
    again = Account.from_json(account.to_json())
    assert again.points.label.tolist() == account.points.label.tolist()
    assert account.to_pandas()["label"].isna().sum() == 5
    assert account.to_polars()["label"].null_count() == 5


def test_a_table_in_markdown_stands_apart_from_a_list():
    X, Y, labels = blobs()
    lines = account_of(X, Y, labels=labels, **OPTIONS).to_markdown().splitlines()
    for before, line in itertools.pairwise(lines):
        if line.startswith("|") and not before.startswith("|"):
            assert before == ""
