"""The report of a map: against brute force, known clusters, and what must not change it."""

from __future__ import annotations

import doctest
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_support import OPTIONS, assert_same, blobs, close, page, sorted_neighbors
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from dtsne.datasets import load
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.quality import evaluate, neighbor_recall
from dtsne.report import Report, report_of
from dtsne.report._islands import _ends, island_sizes, smallest_size

quick = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 2**32 - 1)


# Against brute force


def test_points_match_brute_force():
    X, Y, labels = blobs()
    report = report_of(X, Y, labels=labels, **OPTIONS)
    (in_data, r), (in_map, s) = sorted_neighbors(X), sorted_neighbors(Y)
    log_r, log_s = np.log(r[:, 11]), np.log(s[:, 11])
    points = report.points
    close(points.log_radius_data, log_r - np.median(log_r))
    close(points.log_radius_map, log_s - np.median(log_s))
    close(points.density_residual, log_s - log_r - np.median(log_s - log_r))
    kept = [len(set(a[:6]) & set(b[:6])) / 6 for a, b in zip(in_data, in_map, strict=True)]
    close(points.neighbor_recall, kept)
    assert points.neighbor_recall.mean() == pytest.approx(report.quality.neighbor_recall)
    np.testing.assert_array_equal(points.label, labels)
    assert points.sigma is None
    assert points.sigma_at_bound is None
    assert points.perplexity_too_large is None


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_whole_is_what_evaluate_finds(metric):
    X, Y, labels = blobs()
    options = {"k": 12, "k_neighborhood": 6, "metric": metric, "max_rows": 50}
    report = report_of(X, Y, labels=labels, n_bootstrap=0, **options)
    assert report.quality.as_dict() == evaluate(X, Y, labels=labels, **options).as_dict()
    assert "50 of 120 rows" in report.quality.sampled
    assert "50 of 120 rows" in page(report)
    assert len(report.points) == 120  # all the same


def test_with_sigma_both_radii_are_in_units_of_the_map():
    X, Y, _ = blobs()
    sigma = np.linspace(1.0, 3.0, len(X))
    report = report_of(X, Y, sigma=sigma, **OPTIONS)
    assert report.kernel_unit == 2.0
    close(report.points.log_radius_data, np.log(sorted_neighbors(X)[1][:, 11] / 2.0))
    close(report.points.log_radius_map, np.log(sorted_neighbors(Y)[1][:, 11]))
    assert np.median(report.points.density_residual) == pytest.approx(0.0, abs=1e-12)
    unit = np.median(sorted_neighbors(X)[1][:, 11] / sorted_neighbors(Y)[1][:, 11])
    assert report.radius_unit == pytest.approx(unit, rel=1e-3)  # the median of the logarithms
    said = f"One unit of the map is {report.radius_unit:.3g} in the data by these radii, and 2,"
    assert said in page(report)


# What it must not depend on


@quick
@given(seeds, st.floats(0, 2 * np.pi), st.floats(-50, 50))
def test_rotating_and_moving_the_map_changes_nothing(seed, angle, shift):
    X, Y, labels = blobs(n=60, seed=seed)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    options = OPTIONS | {"labels": labels, "sigma": 1 + X[:, 0] ** 2}
    assert_same(report_of(X, Y @ turn + shift, **options), report_of(X, Y, **options))


@quick
@given(seeds, st.floats(1e-3, 1e3))
def test_scaling_the_map_shifts_its_log_radii_only(seed, scale):
    X, Y, labels = blobs(n=60, seed=seed)
    options = OPTIONS | {"labels": labels}
    sigma = 1 + X[:, 0] ** 2
    scaled = report_of(X, scale * Y, sigma=sigma, **options)
    plain = report_of(X, Y, sigma=sigma, **options)
    assert_same(scaled, plain, map_shift=np.log(scale), map_scale=scale)
    # Without σ they are relative to the typical point, and nothing shifts.
    assert_same(report_of(X, scale * Y, **options), report_of(X, Y, **options), map_scale=scale)


@quick
@given(seeds)
def test_permuting_the_rows_permutes_the_report(seed):
    X, Y, labels = blobs(n=60, seed=seed)
    order = np.random.default_rng(seed).permutation(60)
    sigma = 1 + X[:, 0] ** 2
    options = OPTIONS | {"perplexity": 10}
    permuted = report_of(X[order], Y[order], labels=labels[order], sigma=sigma[order], **options)
    assert_same(permuted, report_of(X, Y, labels=labels, sigma=sigma, **options), order)


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
    assert not report_of(X, X, **options).points.perplexity_too_large.any()
    report = report_of(X, X, labels=labels, **options)
    np.testing.assert_array_equal(report.points.perplexity_too_large, labels == "few")
    np.testing.assert_array_equal(report.points.unreliable, labels == "few")
    close(report.groups.share_unreliable, [1.0, 0.0])
    assert report.groups.reliable.tolist() == [False, True]
    assert "are in clusters of 12 points (few), too few for a perplexity of 12" in page(report)
    assert "(few is too small for the perplexity: such spreads have no meaning.)" in page(report)


def test_labels_that_are_no_clusters_are_not_too_small():
    """Donors, batches and conditions lie among the points of others, whose σ is right."""
    X, Y, _ = blobs(n=240)
    batches = np.random.default_rng(0).integers(12, size=240)
    options = OPTIONS | {"perplexity": 30}
    report = report_of(X, Y, labels=batches, **options)
    np.testing.assert_array_equal(
        report.points.unreliable, report_of(X, Y, **options).points.unreliable
    )
    assert not report.points.perplexity_too_large.any()
    assert report.groups.below_perplexity.all()
    assert report.groups.reliable.all()
    assert report.groups.own_neighbors.max() < 0.3
    assert not report.ratios.caveat.any()
    alone = report_of(X, Y, labels=np.arange(240) == 5, **options)  # one point is no cluster
    assert not alone.points.perplexity_too_large.any()


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_copies_have_no_radius(rng, noise):
    """Nor those that went through somebody's principal components, and differ by rounding."""
    X = rng.normal(size=(100, 2))
    X[:30] = X[0]
    X[50] = X[51]
    Y = X + 1e-6 * rng.normal(size=(100, 2))
    report = report_of(X + noise * rng.normal(size=X.shape), Y, **OPTIONS)
    points, repeated = report.points, np.arange(100) < 30
    np.testing.assert_array_equal(np.isnan(points.log_radius_data), repeated)
    np.testing.assert_array_equal(np.isnan(points.density_residual), repeated)
    np.testing.assert_array_equal(points.unreliable, repeated)
    np.testing.assert_array_equal(np.flatnonzero(points.is_duplicate), [*range(30), 50, 51])
    assert "is_duplicate: 32 of 100 points (32.0%) have duplicates; 30 have so many that" in page(
        report
    )
    assert points.sigma_at_bound is None


def test_most_points_may_be_copies_and_few_far_out(rng):
    X = rng.normal(size=(200, 2))
    X[:130] = X[0] + 1e-13 * rng.normal(size=(130, 2))
    np.testing.assert_array_equal(
        report_of(X, X, **OPTIONS).points.is_duplicate, np.arange(200) < 130
    )
    X = rng.normal(size=(200, 2))
    X[0] = 1e9
    assert not report_of(X, X, **OPTIONS).points.is_duplicate.any()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_neighbours_equally_far_are_equally_good(metric):
    X = np.repeat(np.arange(10.0)[:, None] ** 2, 9, axis=0)  # ten times nine copies
    rng = np.random.default_rng(0)
    Y = np.hstack([X, X]) + 1e-3 * rng.normal(size=(90, 2))
    for k in (4, 20, 40):  # as many neighbours as are searched for
        report = report_of(X, Y, k=k, k_neighborhood=4, metric=metric)
        if metric == "euclidean" or k > 4:  # lists that end among the copies do not know the rest
            assert (report.points.neighbor_recall == 1).all()
            assert report.quality.neighbor_recall == 1


def test_the_recall_of_the_whole_is_that_of_the_points():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(150, 3)).astype(float)  # many equally far, and copies
    Y = rng.normal(size=(150, 2)) + X[:, :2]
    report = report_of(X, Y, **OPTIONS)
    assert report.quality.neighbor_recall == pytest.approx(report.points.neighbor_recall.mean())
    assert report.quality.neighbor_recall == neighbor_recall(X, Y, k=6)
    reach = np.sort(cdist(X, X) + np.diag(np.full(150, np.inf)), axis=1)[:, 5:6]
    in_map = sorted_neighbors(Y)[0][:, :6]
    kept = np.take_along_axis(cdist(X, X), in_map, axis=1) <= reach + 1e-9
    close(report.points.neighbor_recall, kept.mean(axis=1))


def test_a_point_split_from_its_neighbours_is_unreliable():
    X, _, labels = blobs(n=150)
    Y = X[:, :2].copy()
    Y[7] = 1e4  # alone, far outside
    points = report_of(X, Y, labels=labels, **OPTIONS).points
    assert points.unreliable[7]
    assert points.density_residual[7] > np.log(2)
    assert points.neighbor_recall[7] <= 0.1
    assert points.unreliable.sum() <= 3


# Neighbours from elsewhere, other distances, many points


def test_given_neighbors_are_as_good_as_found_ones():
    X, Y, labels = blobs()
    options = OPTIONS | {"labels": labels, "perplexity": 10}
    searched = report_of(X, Y, **options)
    indices, distances = nearest_neighbors(X, 30)
    given_pair = report_of(X, Y, neighbors=(indices, distances), **options)
    assert_same(given_pair, searched)
    assert np.isnan(given_pair.search_recall)
    rows = np.repeat(np.arange(120), 30)
    graph = csr_array((distances.ravel(), (rows, indices.ravel())), shape=(120, 120))
    assert_same(report_of(X, Y, neighbors=graph, **options), searched)
    without_points = report_of(None, Y, neighbors=graph, **options)
    close(without_points.points.density_residual, searched.points.density_residual)
    close(without_points.quality.density_log_correlation, searched.quality.density_log_correlation)
    assert np.isnan(without_points.quality.trustworthiness)
    assert np.isnan(without_points.ratios.data).all()
    assert np.isfinite(without_points.ratios.map_low).all()
    assert "times as wide as A in the map." in page(without_points)
    assert "nan" not in str(without_points)


def test_too_few_given_neighbors_lower_k():
    X, Y, _ = blobs()
    report = report_of(X, Y, k=100, neighbors=nearest_neighbors(X, 10))
    assert report.quality.k == report.quality.k_neighborhood == 10
    assert "k 100 → 10, k_neighborhood 15 → 10 (the precomputed neighbours)" in page(report)


@pytest.mark.parametrize("metric", ["manhattan", "correlation", "precomputed"])
def test_other_distances(metric):
    X, Y, labels = blobs(d=6)
    names = {"manhattan": "cityblock", "correlation": "correlation", "precomputed": "euclidean"}
    distances = cdist(X, X, names[metric])
    if metric == "correlation":
        distances = np.sqrt(2 * distances)
    seen = distances if metric == "precomputed" else X
    options = OPTIONS | {"labels": labels, "metric": metric, "sigma": np.ones(120)}
    report = report_of(seen, Y, **options)
    log_r = np.log(np.sort(distances, axis=1)[:, 12])
    close(report.points.log_radius_data, log_r, atol=1e-7)
    assert np.isfinite(report.ratios.data).all() == (metric == "correlation")
    if metric == "precomputed":
        graph = csr_array(np.where(distances < np.sort(distances, axis=1)[:, 40:41], distances, 0))
        sparse = report_of(graph, Y, **options)
        close(sparse.points.log_radius_data, report.points.log_radius_data)


def test_neighbours_of_many_points_are_searched_for_approximately(monkeypatch):
    X, Y, labels = blobs(n=900)
    options = OPTIONS | {"labels": labels, "perplexity": 20, "sigma": np.ones(len(X))}
    exact = report_of(X, Y, **options)
    assert exact.search_recall == 1
    monkeypatch.setattr("dtsne.neighbors._base.MAX_EXACT_NEIGHBORS", 500)
    found = report_of(X, Y, **options)
    assert found.search_recall >= 0.99
    # With a unit, radii are absolute: few differ at all.
    radii = found.points.log_radius_data - exact.points.log_radius_data
    assert np.mean(np.abs(radii) > 1e-9) < 0.05
    difference = found.points.density_residual - exact.points.density_residual
    # The median, which residuals are around, may be that of a point with another radius.
    shift = np.median(difference)
    assert abs(shift) < 1e-3
    assert np.mean(np.abs(difference - shift) > 1e-9) < 0.05


@pytest.mark.parametrize("n_axes", [1, 3, 5])
def test_maps_of_any_dimension(n_axes):
    X, _, labels = blobs(d=6)
    report = report_of(X, X[:, :n_axes], labels=labels, **OPTIONS)
    log_s = np.log(sorted_neighbors(X[:, :n_axes])[1][:, 11])
    close(report.points.log_radius_map, log_s - np.median(log_s))


# Bad input


def test_json_keeps_the_types_of_tables_without_rows():
    X, Y, _ = blobs()
    report = report_of(X, Y, labels=["one"] * len(X), **OPTIONS)
    again = Report.from_json(report.to_json())
    for name in ("groups", "ratios", "points"):
        kinds = [
            {column: values.dtype.kind for column, values in getattr(one, name).columns().items()}
            for one in (report, again)
        ]
        assert kinds[0] == kinds[1]
    assert len(again.ratios) == 0
    assert again.ratios.sentences == ()


def test_categories_of_several_kinds_are_handed_on():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, Y, labels = blobs()
    mixed = pd.Categorical([1 if label == "A" else label for label in labels], ["C", 1, "B"])
    report = report_of(X, Y, labels=mixed, **OPTIONS)
    again = Report.from_json(report.to_json())
    assert report.groups.label.tolist() == again.groups.label.tolist() == ["C", 1, "B"]
    assert report.to_polars("groups")["label"].to_list() == ["C", "1", "B"]
    assert isinstance(report.to_polars("groups"), pl.DataFrame)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"Y": np.zeros((119, 2))}, ValueError, "X has 120 rows and Y has 119"),
        ({"Y": np.full((120, 2), np.nan)}, ValueError, "Y has NaN"),
        ({"X": np.full((120, 2), np.inf)}, ValueError, "X has NaN or infinite"),
        ({"X": None}, ValueError, "pass X or neighbors"),
        ({"X": csr_array(np.eye(120))}, TypeError, "X is sparse"),
        ({"X": np.zeros((7, 3)), "metric": "manhattan"}, ValueError, "X has 7 rows and Y has 120"),
        ({"metric": "euclidian"}, ValueError, "metric='euclidian' must be one of 'euclidean'"),
        ({"labels": ["a"] * 119}, ValueError, "labels has shape"),
        ({"labels": [None] * 120}, ValueError, "labels has only missing values"),
        ({"labels": np.array([1] + ["a"] * 119, object)}, ValueError, "labels mixes numbers"),
        ({"k": 0}, ValueError, "k=0 must be an integer of at least 1"),
        ({"k_neighborhood": 2.5}, TypeError, "k_neighborhood=2.5 must be an integer"),
        ({"sigma": np.ones(119)}, ValueError, "sigma has shape"),
        ({"sigma": np.zeros(120)}, ValueError, "sigma has values that are not positive"),
        (
            {"perplexity": 1},
            ValueError,
            "perplexity=1 must be .* above 1 and below the number of points",
        ),
        ({"labels": np.array([1, "a", None, 2] * 30, object)}, ValueError, "labels mixes numbers"),
        ({"n_bootstrap": -1}, ValueError, "n_bootstrap=-1 must be .* at least 100"),
        ({"n_bootstrap": 1}, ValueError, "n_bootstrap=1 must be .* at least 100"),
        ({"n_bootstrap": 200.0}, TypeError, "n_bootstrap=200.0 must be an integer"),
        ({"max_rows": 2}, ValueError, "max_rows=2 must be .* at least 4"),
        ({"max_rows": 100.5}, TypeError, "max_rows=100.5 must be an integer"),
        ({"random_state": -1}, ValueError, "random_state=-1 must be .* at least 0"),
        ({"random_state": "a"}, TypeError, "random_state='a' must be an integer"),
        ({"neighbors": 5}, TypeError, "must be a pair of arrays"),
        ({"neighbors": csr_array((120, 120))}, ValueError, "no neighbours other than itself"),
    ],
)
def test_bad_input_is_refused(change, error, message):
    X, Y, labels = blobs()
    arguments = OPTIONS | {"X": X, "Y": Y, "labels": labels} | change
    with pytest.raises(error, match=message):
        report_of(**arguments)


def test_a_k_too_large_is_lowered_and_said():
    X, Y, labels = blobs(n=60)
    report = report_of(X, Y, labels=labels, n_bootstrap=0)
    assert report.quality.k == 29
    assert "k 100 → 29 (less than half of 60 points)" in page(report)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_as_few_points_as_can_be(n):
    X, Y, labels = blobs(n=n)
    report = report_of(X, Y, labels=labels, perplexity=1.5, sigma=np.ones(n))
    assert len(report.points) == n
    assert "nan" not in str(report).replace("not known", "")


def test_points_on_one_spot_in_the_map():
    X, _, _ = blobs(n=40)
    report = report_of(X, np.zeros((40, 2)), **OPTIONS)
    assert report.points.unreliable.all()
    assert "Densities: no statement is possible" in page(report)


def test_the_example_is_true():
    import dtsne.report

    assert doctest.testmod(dtsne.report) == (0, 5)


@pytest.mark.integration
def test_importing_is_light():
    script = "import sys, dtsne.report; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"numba", "scipy", "sklearn", "pandas", "polars", "matplotlib"})
