"""The measures of a map, against brute force, other libraries and what they must not depend on."""

from __future__ import annotations

import logging
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from scipy.stats import pearsonr, spearmanr

from dtsne import DTSNE, quality
from dtsne.quality._neighborhoods import map_neighbors
from dtsne.report import report_of
from dtsne.runtime._errors import DataError, ParameterError
from dtsne.runtime._threads import ONE_THREAD, Threads

# Every measure, as a function of data and map alone and for as few as 20 points.
MEASURES = {
    "distance": quality.distance_correlation,
    "own": lambda X, Y: quality.neighbor_distance_correlation(X, Y, k=5),
    "shared": lambda X, Y: quality.neighbor_distance_correlation(X, Y, k=5, neighbors="shared"),
    "ratio": lambda X, Y: quality.density_correlation(X, Y, k=5),
    "log": lambda X, Y: quality.density_correlation(X, Y, k=5, of="log"),
    "rank": lambda X, Y: quality.density_correlation(X, Y, k=5, of="rank"),
    "trustworthiness": lambda X, Y: quality.trustworthiness(X, Y, k=5),
    "continuity": lambda X, Y: quality.continuity(X, Y, k=5),
    "recall": lambda X, Y: quality.neighbor_recall(X, Y, k=5),
}
CORRELATIONS = ["distance", "own", "shared", "ratio", "log", "rank"]

quick = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def blobs(n=120, d=6, seed=0):
    """Three groups of different spread, and a map of them with some noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    X = 5.0 * labels[:, None] + rng.normal(size=(n, d)) * (1.0 + labels[:, None])
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2)), labels


def sorted_neighbors(distances):
    """Order all other points by distance, then index."""
    distances = distances.copy()
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :-1]
    return order, np.take_along_axis(distances, order, axis=1)


def seen_by(metric, X):
    """Points whose Euclidean distances are those of the metric."""
    return X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X


# Against brute force and other libraries


@pytest.mark.parametrize("n", [4, 5, 40, 41])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_distance_correlation_is_pearson_of_all_pairs(n, metric):
    X, Y, _ = blobs(n)
    expected = pearsonr(pdist(seen_by(metric, X)), pdist(Y)).statistic
    assert quality.distance_correlation(X, Y, metric=metric) == pytest.approx(expected, rel=1e-10)


def test_distance_correlation_keeps_digits_of_nearly_equal_distances():
    rng = np.random.default_rng(0)
    X = np.eye(30) + 1e-7 * rng.normal(size=(30, 30))
    Y = rng.normal(size=(30, 2))
    expected = pearsonr(pdist(X), pdist(Y)).statistic
    assert quality.distance_correlation(X, Y) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbor_distance_correlation_is_pearson_of_sorted_distances(metric):
    X, Y, _ = blobs()
    k = 7
    seen = seen_by(metric, X)
    neighbors, in_data = sorted_neighbors(cdist(seen, seen))
    in_map = cdist(Y, Y)
    own = sorted_neighbors(in_map)[1][:, :k]
    shared = np.take_along_axis(in_map, neighbors, axis=1)[:, :k]
    for name, distances in {"own": own, "shared": shared}.items():
        expected = pearsonr(in_data[:, :k].ravel(), distances.ravel()).statistic
        found = quality.neighbor_distance_correlation(X, Y, k=k, neighbors=name, metric=metric)
        assert found == pytest.approx(expected, rel=1e-10)


def radii(points, k):
    return sorted_neighbors(cdist(points, points))[1][:, k - 1]


def test_density_correlations_match_brute_force():
    X, Y, _ = blobs()
    r, s = radii(X, 9), radii(Y, 9)
    off_diagonal = ~np.eye(len(r), dtype=bool)
    expected = {
        "ratio": pearsonr(
            np.divide.outer(r, r)[off_diagonal], np.divide.outer(s, s)[off_diagonal]
        ).statistic,
        "log": pearsonr(np.log(r), np.log(s)).statistic,
        "rank": spearmanr(r, s).statistic,
    }
    for of, value in expected.items():
        assert quality.density_correlation(X, Y, k=9, of=of) == pytest.approx(value, rel=1e-10)


@quick
@given(seeds, st.integers(2, 30), st.sampled_from([1e-5, 0.01, 1.0, 4.0]))
def test_correlation_of_ratios_in_closed_form(seed, n, spread):
    from dtsne.quality._correlations import _correlate_ratios

    r, s = np.exp(spread * np.random.default_rng(seed).normal(size=(2, n)))
    # Less 1, since the brute force itself loses digits when all ratios are near 1.
    off_diagonal = ~np.eye(n, dtype=bool)
    a, b = (((v[:, None] - v) / v)[off_diagonal] for v in (r, s))
    expected = np.corrcoef(a, b)[0, 1]
    assert _correlate_ratios(r, s) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("k", [1, 5, 59])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_trustworthiness_and_continuity_agree_with_scikit_learn(k, metric):
    from sklearn.manifold import trustworthiness

    X, Y, _ = blobs()
    found = quality.trustworthiness(X, Y, k=k, metric=metric)
    expected = trustworthiness(X, Y, n_neighbors=k, metric=metric)
    assert found == pytest.approx(expected, rel=1e-12)
    if metric == "euclidean":
        assert quality.continuity(X, Y, k=k) == pytest.approx(
            trustworthiness(Y, X, n_neighbors=k), rel=1e-12
        )


def test_recall_matches_brute_force():
    X, Y, _ = blobs()
    in_data, in_map = (sorted_neighbors(cdist(P, P))[0][:, :6] for P in (X, Y))
    kept = [len(set(a) & set(b)) / 6 for a, b in zip(in_data, in_map, strict=True)]
    assert quality.neighbor_recall(X, Y, k=6) == pytest.approx(np.mean(kept))


def test_neighborhood_scores_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    Y = np.array([[0.0], [3.0], [1.0], [7.0]])  # The middle points have changed places.
    # Nearest in X: 1, 0, 1, 2; in Y: 2, 2, 0 and 1. Of the map's, in the data 0→2 has rank 2,
    # 1→2 rank 2, 2→0 rank 2, 3→1 rank 2: an excess of 4 · 1, with 2 / (4 · 1 · (8 − 3 − 1)).
    assert quality.trustworthiness(X, Y, k=1) == pytest.approx(1 - 4 * 2 / 16)
    # Of the data's, in the map 0→1 rank 2, 1→0 rank 2, 2→1 rank 2, 3→2 rank 2.
    assert quality.continuity(X, Y, k=1) == pytest.approx(1 - 4 * 2 / 16)
    assert quality.neighbor_recall(X, Y, k=1) == 0
    assert quality.neighbor_recall(X, Y, k=2) == 1


def test_map_neighbors_agree_with_the_search_in_the_data():
    from dtsne.neighbors._exact import nearest_neighbors

    rng = np.random.default_rng(0)
    for dimensions in (2, 3, 12):
        Y = rng.normal(size=(200, dimensions))
        rows = np.array([3, 50, 199])
        for queries in (None, rows):
            found = map_neighbors(Y, 10, ONE_THREAD, queries=queries)
            expected = nearest_neighbors(Y, 10, queries=queries)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_allclose(found[1], expected[1])
            assert found[0].dtype == expected[0].dtype


# What the measures must not depend on


def all_values(X, Y):
    """All measures by evaluate(), which a test below compares with the single functions."""
    values = quality.evaluate(X, Y, k=5, k_neighborhood=5, labels=X[:, 0] > 3).as_dict()
    return {name: value for name, value in values.items() if isinstance(value, float)}


@quick
@given(seeds, st.floats(-3, 3), st.floats(0.01, 100), st.floats(-100, 100))
def test_position_orientation_and_scale_of_the_map_do_not_matter(seed, angle, scale, shift):
    X, Y, _ = blobs(30, seed=seed)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert all_values(X, scale * Y @ turn + shift) == pytest.approx(all_values(X, Y), abs=1e-7)


@quick
@given(seeds)
def test_order_of_the_points_does_not_matter(seed):
    X, Y, _ = blobs(30, seed=seed)
    order = np.random.default_rng(seed).permutation(30)
    assert all_values(X[order], Y[order]) == pytest.approx(all_values(X, Y), abs=1e-10)


@quick
@given(seeds, st.integers(4, 60))
def test_measures_stay_within_their_bounds(seed, n):
    X, Y = np.random.default_rng(seed).normal(size=(2, n, 2))
    values = quality.evaluate(X, Y, k=20).as_dict()
    for name, value in values.items():
        if name.endswith("correlation"):
            assert -1 <= value <= 1 or np.isnan(value)
        elif name in ("trustworthiness", "continuity", "neighbor_recall"):
            assert 0 <= value <= 1


@pytest.mark.parametrize("name", MEASURES)
def test_perfect_map_has_one(name):
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert MEASURES[name](X, X) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_map_of_one_place_has_no_correlation(name):
    X, Y, _ = blobs()
    assert np.isnan(MEASURES[name](X, np.zeros_like(Y)))
    assert np.isnan(MEASURES[name](np.full_like(X, 0.1), Y))


def test_equal_distances_have_no_correlation():
    X = np.random.default_rng(0).normal(size=(8, 8))
    simplex = 0.1 * np.eye(8) + 1 / 3  # All distances are equal, up to rounding.
    assert np.isnan(quality.distance_correlation(X, simplex))
    for of in ("ratio", "log", "rank"):
        assert np.isnan(quality.density_correlation(X, simplex, k=3, of=of))


# Copies


def test_radii_of_copies_are_raised_to_the_smallest():
    X, Y, _ = blobs(40)
    X[:6], Y[20:26] = X[0], Y[20]
    r, s = radii(X, 4), radii(Y, 4)
    assert (r == 0).sum() == (s == 0).sum() == 6
    r, s = np.maximum(r, r[r > 0].min()), np.maximum(s, s[s > 0].min())
    found = quality.density_correlation(X, Y, k=4, of="log")
    assert found == pytest.approx(pearsonr(np.log(r), np.log(s)).statistic)


def test_copies_are_neighbors_and_the_point_itself_is_not():
    Y = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    indices, distances = map_neighbors(Y, 4, ONE_THREAD)
    for row in range(10):
        assert row not in indices[row]
        assert set(indices[row]) | {row} == set(range(row // 5 * 5, row // 5 * 5 + 5))
    assert not distances.any()
    indices, distances = map_neighbors(
        Y, 2, ONE_THREAD
    )  # Fewer than the copies: the row may not be found.
    assert all(len(set(found) - {row}) == 2 for row, found in enumerate(indices))
    assert not distances.any()
    np.testing.assert_allclose(map_neighbors(Y, 5, ONE_THREAD)[1][:, -1], 5)


def test_data_full_of_copies_is_measured():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.integers(0, 2, (60, 3)), rng.normal(size=(60, 3))])
    for name, measure in MEASURES.items():
        assert np.isfinite(measure(X, X[:, :2])), name
    six_times = np.repeat(X, 6, axis=0)  # Every radius to the fifth neighbour is 0.
    for name, measure in MEASURES.items():
        has_none = name in ("own", "shared", "ratio", "log", "rank")
        assert np.isnan(measure(six_times, six_times[:, :2])) == has_none, name


def test_ranks_put_ties_in_the_order_of_their_index():
    X = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0], [5.0], [6.0]])
    from dtsne.quality._kernels import ranks

    found = ranks(X, np.array([0]), np.array([[1, 2, 3, 4, 5, 6]]), ONE_THREAD)
    np.testing.assert_array_equal(found, [[1, 2, 3, 4, 5, 6]])


# Samples


@pytest.mark.parametrize(
    "measure",
    [
        quality.neighbor_distance_correlation,
        quality.density_correlation,
        quality.trustworthiness,
        quality.continuity,
        quality.neighbor_recall,
    ],
)
def test_sample_of_rows_approximates_all(measure):
    X, Y, _ = blobs(1500)
    exact, sampled = measure(X, Y, k=20), measure(X, Y, k=20, max_rows=500)
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=0.05)
    assert sampled == measure(X, Y, k=20, max_rows=500, random_state=0)
    assert sampled != measure(X, Y, k=20, max_rows=500, random_state=1)


def test_sample_of_pairs_approximates_all():
    X, Y, _ = blobs(1000)
    exact = quality.distance_correlation(X, Y)
    sampled = quality.distance_correlation(X, Y, max_pairs=50_000)
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=0.01)
    assert sampled == quality.distance_correlation(X, Y, max_pairs=50_000, random_state=0)
    assert np.isfinite(quality.distance_correlation(X, Y, max_pairs=1))


def test_largest_sample_of_pairs_lacks_only_a_few():
    X, Y, _ = blobs(41)
    n_pairs = 41 * 40 // 2
    exact = quality.distance_correlation(X, Y, max_pairs=n_pairs)
    assert quality.distance_correlation(X, Y, max_pairs=n_pairs - 1) == pytest.approx(exact, 0.1)


def test_copies_are_as_good_as_each_other():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(12, 2)), 10, axis=0)
    Y = X + 1e-3 * rng.normal(size=(120, 2))
    assert quality.neighbor_recall(X, Y, k=5) == 1  # any five of the nine copies
    assert quality.neighbor_recall(X, rng.permutation(Y), k=5) < 0.3
    X[-20:] = 5 + rng.normal(size=(20, 2))  # some that are none
    Y[-20:] = X[-20:]
    rounded = X + 1e-13 * rng.normal(size=X.shape)  # as after principal components
    assert quality.neighbor_recall(rounded, Y, k=5) == 1


def test_correlation_is_the_cosine_of_centred_rows():
    X, Y, labels = blobs(60)
    options = {"labels": labels, "k": 10}
    centred = X - X.mean(axis=1, keepdims=True)
    found = quality.evaluate(X, Y, metric="correlation", **options).as_dict()
    expected = quality.evaluate(centred, Y, metric="cosine", **options).as_dict()
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value) if isinstance(value, float) else value), name
    radii = quality.cluster_radius_ratios(X, Y, labels, metric="correlation")
    assert radii.largest_error == pytest.approx(found["largest_cluster_error"])


# Clusters


def test_radii_are_by_one_less_than_the_points():
    """As in a report: a group of few points would look narrower than it is."""
    X = np.array([[0.0], [2.0], [10.0], [11.0], [12.0], [13.0]])
    found = quality.cluster_radius_ratios(X, X, [0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(found.data, [1, np.sqrt(5 / 3) / np.sqrt(2)])
    with_copies = np.vstack([X, [[20.0], [20.0 + 1e-12], [20.0]]])
    labels = [0, 0, 1, 1, 1, 1, 2, 2, 2]
    np.testing.assert_array_equal(
        np.isnan(quality.cluster_radius_ratios(with_copies, with_copies, labels).data),
        [False, False, True],
    )


def test_a_cluster_drawn_on_nearly_one_spot_has_a_radius():
    """As locally linear embedding draws them: that is for the measure to say."""
    X, _, labels = blobs(60)
    Y = np.where(labels == labels[0], 1e-8, 1.0)[:, None] * X[:, :2]
    found = quality.cluster_radius_ratios(X, Y, labels)
    assert np.isfinite(found.error).all()
    assert np.abs(found.error).max() > 1e6


def test_cluster_radii_by_hand():
    X = np.array([[-1, 0, 0], [1, 0, 0], [10, 0, 3], [10, 0, -3], [5, 5, 5]])
    Y = np.array([[0, 0], [2, 0], [0, 9], [0, 5], [1, 1]])
    found = quality.cluster_radius_ratios(X, Y, ["a", "a", "b", "b", "c"])
    assert found.labels.tolist() == ["a", "b", "c"]
    assert found.sizes.tolist() == [2, 2, 1]
    assert found.reference == "a"
    np.testing.assert_allclose(found.data, [1, 3, np.nan])
    np.testing.assert_allclose(found.map, [1, 2, np.nan])
    np.testing.assert_allclose(found.error, [0, -1 / 3, np.nan])
    assert found.largest_error == pytest.approx(-1 / 3)
    assert str(found).splitlines() == [
        "label  points   data    map   error",
        "a           2  1.000  1.000   +0.0%",
        "b           2  3.000  2.000  -33.3%",
        "c           1    nan    nan   +nan%",
    ]


def test_first_label_without_radius_is_not_the_reference():
    X, Y, _ = blobs(9)
    X[1:4] = 0.1
    found = quality.cluster_radius_ratios(X, Y, [0, 1, 1, 1, 2, 2, 2, 3, 3])
    assert found.reference == 2
    np.testing.assert_array_equal(np.isnan(found.error), [True, True, False, False])
    nothing = quality.cluster_radius_ratios(X, Y, np.arange(9))
    assert nothing.reference is None
    assert np.isnan(nothing.largest_error)


def test_scaled_map_has_no_cluster_errors():
    X, _, labels = blobs()
    found = quality.cluster_radius_ratios(X, 7 * X + 3, labels)
    np.testing.assert_allclose(found.error, 0, atol=1e-12)


# All at once


@pytest.mark.parametrize("limits", [{}, {"max_rows": 60, "max_pairs": 3000, "random_state": 5}])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_evaluate_gives_what_the_functions_give(limits, metric):
    X, Y, labels = blobs()
    found = quality.evaluate(X, Y, k=20, k_neighborhood=7, labels=labels, metric=metric, **limits)
    rows = {"metric": metric, **{key: limits[key] for key in limits if key != "max_pairs"}}
    pairs = {"metric": metric, **{key: limits[key] for key in limits if key != "max_rows"}}
    expected = {
        "distance_correlation": quality.distance_correlation(X, Y, **pairs),
        "neighbor_distance_correlation": quality.neighbor_distance_correlation(X, Y, k=20, **rows),
        "shared_neighbor_distance_correlation": quality.neighbor_distance_correlation(
            X, Y, k=20, neighbors="shared", **rows
        ),
        "trustworthiness": quality.trustworthiness(X, Y, k=7, **rows),
        "continuity": quality.continuity(X, Y, k=7, **rows),
        "neighbor_recall": quality.neighbor_recall(X, Y, k=7, **rows),
    }
    for of in ("ratio", "log", "rank"):
        expected[f"density_{of}_correlation"] = quality.density_correlation(
            X, Y, k=20, of=of, **rows
        )
    values = found.as_dict()
    assert {name: values[name] for name in expected} == expected
    if metric == "euclidean":
        clusters = quality.cluster_radius_ratios(X, Y, labels)
        assert values["largest_cluster_error"] == clusters.largest_error
    assert (found.n, found.k, found.k_neighborhood, found.clipped) == (120, 20, 7, None)
    assert found.sampled == (
        "neighbourhoods of 60 of 120 rows; 3,000 of 7,140 pairs" if limits else None
    )


def test_evaluate_lowers_k_for_few_points_and_says_so(caplog):
    X, Y, _ = blobs(31)
    with caplog.at_level(logging.INFO, logger="dtsne"):
        found = quality.evaluate(X, Y)
    assert (found.k, found.k_neighborhood) == (15, 15)
    assert found.clipped == "k 100 → 15 (less than half of 31 points)"
    assert found.clipped in caplog.text
    assert "clipped: k 100 → 15" in str(found)
    smallest = quality.evaluate(X[:4], Y[:4])
    assert (smallest.k, smallest.k_neighborhood) == (1, 1)


def test_evaluate_prints_an_aligned_table():
    X, Y, labels = blobs()
    lines = str(quality.evaluate(X, Y, k=20, labels=labels, max_rows=50)).splitlines()
    assert len(lines) == 12
    assert lines[0].split() == ["points", "120"]
    assert len({line.index("  ", 40) for line in lines[1:-1]}) == 1
    assert lines[-1] == "sampled: neighbourhoods of 50 of 120 rows"
    assert "largest_cluster_error" not in str(quality.evaluate(X, Y, k=20))


def test_data_frames_and_lists_are_taken():
    pandas = pytest.importorskip("pandas")
    X, Y, labels = blobs(40)
    expected = quality.evaluate(X, Y, k=5, labels=labels).as_dict()
    frames = pandas.DataFrame(X), pandas.DataFrame(Y)
    names = pandas.Series(labels).astype("category")
    assert quality.evaluate(*frames, k=5, labels=names).as_dict() == expected
    assert quality.evaluate(X.tolist(), Y.tolist(), k=5, labels=labels).as_dict() == expected
    polars = pytest.importorskip("polars")
    frames = polars.DataFrame(X), polars.DataFrame(Y)
    assert quality.evaluate(*frames, k=5, labels=polars.Series(labels)).as_dict() == expected


@pytest.mark.integration
def test_import_is_light():
    code = (
        "import sys; import dtsne.quality; "
        "sys.exit(any(m in sys.modules for m in ('scipy', 'numba', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Errors


def test_inputs_that_do_not_fit_are_rejected():
    X, Y, labels = blobs(20)
    holed = np.where(np.arange(20)[:, None] == 3, np.nan, Y)
    zero_row = X * (np.arange(20)[:, None] != 3)
    for error, argument, message, call in [
        (ValueError, "Y", "X has 20 rows and Y has 19", lambda: quality.evaluate(X, Y[:-1])),
        (ValueError, "X", "X has shape .*two dimensions", lambda: quality.evaluate(X[:, 0], Y)),
        (ValueError, "Y", "Y has shape .*two dimensions", lambda: quality.evaluate(X, Y[:, :0])),
        (ValueError, "Y", "Y has NaN or infinite", lambda: quality.evaluate(X, holed)),
        (ValueError, "X", "at least 4", lambda: quality.evaluate(X[:3], Y[:3])),
        (TypeError, "X", "TruncatedSVD", lambda: quality.evaluate(csr_array(X), Y)),
        (TypeError, "Y", "Y has values of type", lambda: quality.evaluate(X, Y.astype(str))),
        (TypeError, "X", "real numbers", lambda: quality.evaluate(X + 1j, Y)),
        (ValueError, "X", "overflow", lambda: quality.evaluate(1e160 * X, Y)),
        (ValueError, "X", "rows of zeros", lambda: quality.evaluate(zero_row, Y, metric="cosine")),
        (
            ValueError,
            "labels",
            "one label for each",
            lambda: quality.evaluate(X, Y, labels=labels[:-1]),
        ),
    ]:
        with pytest.raises(DataError, match=message) as raised:
            call()
        assert isinstance(raised.value, error)
        assert raised.value.argument == argument


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        ("metric", "manhattan", "'cosine'"),
        ("max_rows", 1, "at least 4"),
        ("max_pairs", 0, "at least 1"),
        ("k_neighborhood", 0, "at least 1"),
        ("random_state", -1, "at least 0"),
    ],
)
def test_options_out_of_bounds_are_rejected(parameter, value, allowed):
    X, Y, _ = blobs(20)
    with pytest.raises(ParameterError) as raised:
        quality.evaluate(X, Y, **{parameter: value})
    assert raised.value.parameter == parameter
    assert allowed in raised.value.allowed


@pytest.mark.parametrize("missing", [None, np.nan, "pandas.NA"])
def test_labels_that_cannot_be_told_apart_are_rejected(missing):
    X, Y, _ = blobs(4)
    if missing == "pandas.NA":
        missing = pytest.importorskip("pandas").NA
    for last, message in ((missing, "missing"), (1, "no common order")):
        labels = np.array(["a", "b", "c", last], dtype=object)
        with pytest.raises(DataError, match=message) as raised:
            quality.cluster_radius_ratios(X, Y, labels)
        assert raised.value.argument == "labels"


@pytest.mark.parametrize(
    ("measure", "most"),
    [
        (quality.neighbor_distance_correlation, 19),
        (quality.density_correlation, 19),
        (quality.neighbor_recall, 19),
        (quality.trustworthiness, 9),
        (quality.continuity, 9),
    ],
)
def test_number_of_neighbors_has_bounds(measure, most):
    X, Y, _ = blobs(20)
    assert np.isfinite(measure(X, Y, k=most))
    for k in (0, most + 1):
        with pytest.raises(ParameterError) as raised:
            measure(X, Y, k=k)
        assert raised.value.parameter == "k"
        assert raised.value.allowed == f"an integer of at least 1 and at most {most}"
    with pytest.raises(TypeError, match="integer"):
        measure(X, Y, k=5.0)
    with pytest.raises(TypeError, match="neighbours"):
        measure(X, Y, neighbours=5)


def test_unknown_choices_are_rejected():
    X, Y, _ = blobs(20)
    for parameter, allowed, measure in [
        ("neighbors", "'shared'", quality.neighbor_distance_correlation),
        ("of", "'rank'", quality.density_correlation),
    ]:
        with pytest.raises(ParameterError) as raised:
            measure(X, Y, k=5, **{parameter: "both"})
        assert raised.value.parameter == parameter
        assert allowed in raised.value.allowed


# Threads


@pytest.fixture
def threads_used(monkeypatch):
    """Numbers of threads that were started, or that a search was asked to use."""
    import scipy.spatial

    numbers = []
    enter = Threads.__enter__

    class Tree(scipy.spatial.cKDTree):
        def query(self, *args, workers=1, **options):
            numbers.append(workers)
            return super().query(*args, workers=workers, **options)

    monkeypatch.setattr(scipy.spatial, "cKDTree", Tree)
    monkeypatch.setattr(Threads, "__enter__", lambda s: numbers.append(s.number) or enter(s))
    return numbers


@pytest.mark.parametrize("name", [*MEASURES, "evaluate", "clusters"])
def test_measures_use_as_many_threads_as_they_are_given(name, threads_used):
    X, Y, labels = blobs(300)
    measure = {
        "distance": quality.distance_correlation,
        "own": quality.neighbor_distance_correlation,
        "shared": partial(quality.neighbor_distance_correlation, neighbors="shared"),
        "ratio": quality.density_correlation,
        "log": partial(quality.density_correlation, of="log"),
        "rank": partial(quality.density_correlation, of="rank"),
        "trustworthiness": quality.trustworthiness,
        "continuity": quality.continuity,
        "recall": quality.neighbor_recall,
        "evaluate": lambda X, Y, **options: quality.evaluate(X, Y, **options).as_dict(),
        "clusters": lambda X, Y, **options: (
            quality.cluster_radius_ratios(X, Y, labels, **options).largest_error
        ),
    }[name]
    found = []
    for n_jobs in (1, 2):
        threads_used.clear()
        found.append(measure(X, Y, n_jobs=n_jobs))
        assert set(threads_used) == {n_jobs}
    assert found[0] == found[1]


def test_the_report_of_a_model_uses_its_threads(threads_used):
    X, _, labels = blobs(300)
    model = DTSNE(perplexity=20, max_iter=20, tol=0, n_jobs=1).fit(X)
    threads_used.clear()
    model.report(labels=labels, n_bootstrap=100)
    assert set(threads_used) == {1}
    report_of(X, X[:, :2], labels=labels, n_bootstrap=100, n_jobs=1)
    assert set(threads_used) == {1}
