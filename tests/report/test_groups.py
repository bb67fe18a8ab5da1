"""Groups of a report: their spreads, ratios and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from report_support import OPTIONS, blobs, close, page

from dtsne.quality import cluster_radius_ratios
from dtsne.quality._clusters import spread
from dtsne.report import report_of
from dtsne.report._bootstrap import distinct, interval, resampled_spreads
from dtsne.runtime._threads import open_threads


def test_groups_match_numpy_and_the_measure_of_quality():
    X, Y, labels = blobs()
    report = report_of(X, Y, labels=labels, **OPTIONS)
    groups, ratios = report.groups, report.ratios
    np.testing.assert_array_equal(groups.label, ["A", "B", "C"])
    for space, points in {"data": X, "map": Y}.items():
        expected = [np.sqrt(points[labels == g].var(axis=0, ddof=1).sum()) for g in "ABC"]
        close(getattr(groups, f"spread_{space}"), expected)
    close(groups.log_radius_map[1], np.median(report.points.log_radius_map[labels == "B"]))
    error = cluster_radius_ratios(X, Y, labels).error
    close(groups.map_over_data / groups.map_over_data[0] - 1, error, atol=1e-12)
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
    ratios = report_of(X, Y, labels=labels, **OPTIONS).ratios
    assert len(ratios) == 7
    assert all(7 in pair for pair in zip(ratios.group, ratios.reference, strict=True))


def test_groups_without_a_spread_are_named_and_not_compared():
    X, Y, _ = blobs(n=60)
    labels = np.array([0] * 30 + [1] * 27 + [2] * 2 + [3])
    report = report_of(X, Y, labels=labels, **OPTIONS)
    assert np.isnan(report.groups.spread_data[3])
    pairs = set(zip(report.ratios.group, report.ratios.reference, strict=True))
    assert {frozenset(pair) for pair in pairs} == {frozenset(p) for p in [(0, 1), (0, 2), (1, 2)]}
    of_two = (report.ratios.group == 2) | (report.ratios.reference == 2)
    assert np.isnan(report.ratios.data_low[of_two]).all()  # too few to resample
    assert np.isfinite(report.ratios.data_low[~of_two]).all()
    assert "nan" not in str(report)


def test_a_reference_is_a_group_whose_width_means_something():
    X, Y, _ = blobs(n=320)
    order = np.argsort(X[:, 0], kind="stable")
    labels = np.empty(320, int)
    labels[order] = np.repeat(np.arange(7), [80, 40, 40, 40, 40, 40, 40])  # slices of the data
    Y = X[:, :2].copy()
    split = np.flatnonzero(labels == 0)[:40]
    Y[split] += 500.0
    report = report_of(X, Y, labels=labels, **OPTIONS)
    assert report.groups.caveat[0] == "split"
    reference = report.ratios.reference[0]
    assert reference != 0  # though it is the largest
    assert report.groups.reliable[reference]
    assert (report.ratios.reference == reference).all()
    of_split = report.ratios.group == 0
    assert report.ratios.caveat[of_split].tolist() == ["0 is split"]
    assert not report.ratios.reliable[of_split].any()


def test_what_is_in_components_in_the_data_is_not_split_by_the_map(rng):
    X = rng.normal(size=(200, 2))
    X[:40] += np.repeat([[50.0, 0], [-50.0, 0]], 20, axis=0)  # half of them here, half there
    X[40:44] += 200.0  # of four points nothing is said
    labels = np.repeat(["pieces", "few", "rest"], [40, 4, 156])
    Y = X.copy()
    Y[[*range(5, 10), *range(25, 30)]] += 300.0
    Y[42:44] += 500.0
    groups = report_of(X, Y, labels=labels, **OPTIONS | {"k_neighborhood": 3}).groups
    assert (groups.largest_component_map < 0.9 * groups.largest_component_data).tolist() == [
        True,
        True,
        False,
    ]
    assert not (groups.caveat == "split").any()


def test_many_split_groups_are_not_all_named():
    X = np.repeat(np.arange(12.0) * 100, 20)[:, None] + np.arange(240)[:, None] % 20 * [1.0, 0.5]
    Y = X.copy()
    Y[::2] += 1e5  # every group in two
    report = report_of(X, Y, labels=np.arange(240) // 20, **OPTIONS)
    assert (report.groups.caveat == "split").all()
    assert "7 (50%, 100%) and 4 more. In brackets" in page(report)
    assert report.reliability[1].startswith(
        "Group spreads: no statement is possible, because all groups but one"
    )


# The bootstrap


def test_groups_of_copies_have_no_intervals(rng):
    """Resamples of copies of one point have no spread, to which no interval can reach."""
    X, Y, labels = blobs(n=150)
    labels[labels == "C"] = "B"
    mostly = np.flatnonzero(labels == "B")
    X[mostly[3:]] = X[mostly[3]]
    report = report_of(X, Y, labels=labels, **OPTIONS)
    assert np.isfinite(report.ratios.data).all()
    assert np.isnan(report.ratios.data_low).all()
    assert np.isnan(report.ratios.map_over_data_low).all()
    X[mostly[:5]] = rng.normal(size=(5, 4))  # of 100, few enough to be missed by 1 % of resamples
    ratios = report_of(X, Y, labels=labels, **OPTIONS).ratios
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
    known = np.arange(2000.0)
    known[:10] = np.nan  # too few to matter
    np.testing.assert_allclose(interval(known), np.quantile(known[10:], [0.025, 0.975]))


def test_data_and_map_are_resampled_together(rng):
    """So what the map draws too wide is known far better than the widths are."""
    X = np.vstack([rng.normal(size=(40, 3)), 3 * rng.normal(size=(40, 3)) + 20])
    labels = np.repeat(["a", "b"], 40)
    ratios = report_of(X, np.where(labels == "b", 1.5, 1.0)[:, None] * X, labels=labels).ratios
    close(ratios.map_over_data, 1.5)
    close(np.stack([ratios.map_over_data_low, ratios.map_over_data_high]), 1.5)
    assert ratios.map_high[0] / ratios.map_low[0] > 1.3
    assert ratios.sentences[0].endswith("in the map: 1.50 (1.50–1.50) times the ratio in the data.")
    assert "should be" not in report_of(X, X, labels=labels).ratios.sentences[0]


def test_other_labels_do_not_change_an_interval():
    X, Y, labels = blobs()
    options = OPTIONS | {"n_bootstrap": 200}
    before = report_of(X, Y, labels=labels, **options).ratios
    more = labels.astype("<U9")
    more[np.flatnonzero(labels == "C")[:10]] = "AA, first"
    after = report_of(X, Y, labels=more, **options).ratios
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
    with open_threads(1):
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
        report_of(X, Y, labels=labels, random_state=seed, **OPTIONS) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert first.to_json() == again.to_json()
    close(first.ratios.data, other.ratios.data)
    assert (first.ratios.data_low != other.ratios.data_low).all()
    without = report_of(X, Y, labels=labels, k=12, n_bootstrap=0).ratios
    assert np.isnan(without.data_low).all()
    assert "(" not in without.sentences[0]
