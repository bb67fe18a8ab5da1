from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dtsne import DTSNE, Config, embed
from dtsne.datasets import load
from dtsne.quality import cluster_radius_ratios, evaluate

QUICK = {"perplexity": 10.0, "max_iter": 120, "tol": 0.0}

# scikit-learn's checks use as few as 10 points, for which the perplexity is lowered with a warning,
# and refit on rows of which many are equal.
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore:perplexity=:UserWarning")
@pytest.mark.filterwarnings("ignore:.*as many duplicates as the perplexity:UserWarning")
@pytest.mark.filterwarnings("ignore:KL had not settled:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [DTSNE(perplexity=5.0, max_iter=30), DTSNE(perplexity=5.0, max_iter=30, metric="precomputed")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def radii_ratio(embedding: np.ndarray) -> float:
    """How many times as wide as the first half the second half is drawn."""
    radii = [
        np.sqrt(((part - part.mean(axis=0)) ** 2).sum(axis=1).mean())
        for part in np.split(embedding, 2)
    ]
    return float(radii[1] / radii[0])


def test_size_means_spread(two_clusters):
    true = radii_ratio(two_clusters)
    dtsne = DTSNE(perplexity=15.0).fit_transform(two_clusters)
    tsne = DTSNE(perplexity=15.0, density_scale=0.0).fit_transform(two_clusters)
    assert radii_ratio(dtsne) == pytest.approx(true, rel=0.1)
    assert radii_ratio(tsne) == pytest.approx(1.0, rel=0.25)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_fitted_attributes(two_clusters, n_components):
    model = DTSNE(n_components=n_components, **QUICK).fit(two_clusters)
    n = len(two_clusters)
    assert model.embedding_.shape == (n, n_components)
    assert np.isfinite(model.embedding_).all()
    assert model.sigma_.shape == model.kernel_scale_.shape == (n,)
    assert model.n_iter_ == 120
    assert model.n_features_in_ == 5
    assert model.perplexity_ == 10.0
    assert not model.converged_
    np.testing.assert_array_equal(model.history_[:, 0], np.arange(0, 121, 10))
    assert model.history_[-1, 1] == model.kl_divergence_
    assert list(model.get_feature_names_out()) == [f"dtsne{i}" for i in range(n_components)]


def test_descent_lowers_kl_and_converges(two_clusters):
    model = DTSNE(perplexity=15.0, calibration=False).fit(two_clusters)
    assert model.converged_
    assert model.n_iter_ < 1000
    assert model.kl_divergence_ < 0.8 * model.history_[0, 1]


def test_not_settling_is_said(two_clusters):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        DTSNE(perplexity=15.0, max_iter=20).fit(two_clusters)


def test_same_bits_for_any_number_of_threads_and_every_time(two_clusters):
    maps = [DTSNE(n_jobs=n_jobs, **QUICK).fit_transform(two_clusters) for n_jobs in (1, 2, -1, 1)]
    for other in maps[1:]:
        np.testing.assert_array_equal(maps[0], other)


@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
def test_random_state_decides_all_that_is_random(two_clusters, init):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (
        DTSNE(init=init, random_state=3, **QUICK).fit_transform(two_clusters) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    other = DTSNE(init=init, random_state=4, **QUICK).fit_transform(two_clusters)
    assert np.array_equal(first, other) == (init != "random")
    assert evaluate(two_clusters, first, k=20).trustworthiness > 0.85


def test_random_state_instance(two_clusters):
    first, second = (
        DTSNE(init="random", random_state=np.random.RandomState(1), **QUICK).fit_transform(
            two_clusters
        )
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist])
def test_own_start_is_used_as_it_is(two_clusters, rng, kind):
    start = rng.normal(size=(120, 2))
    seen = []
    DTSNE(init=kind(start), callback=lambda i, kl, y: seen.append(y), **QUICK).fit(two_clusters)
    np.testing.assert_array_equal(seen[0], start)


def test_paper_starts_tiny_from_principal_components(two_clusters):
    seen = []
    model = DTSNE(
        optimizer="paper", callback=lambda i, kl, y: seen.append(y), max_iter=50, perplexity=10.0
    ).fit(two_clusters)
    assert seen[0][:, 0].std() == pytest.approx(1e-4)
    # γ of the paper is at most 1, which in our scales means that the smallest is 1.
    assert model.kernel_scale_.min() == pytest.approx(1.0)
    assert model.n_iter_ == 50


def test_density_scale_is_the_exponent_on_sigma(two_clusters):
    model = DTSNE(calibration=False, density_scale=0.5, **QUICK).fit(two_clusters)
    expected = np.sqrt(model.sigma_ / np.median(model.sigma_))
    np.testing.assert_allclose(model.kernel_scale_, expected)
    flat = DTSNE(density_scale=0.0, **QUICK).fit(two_clusters)
    np.testing.assert_array_equal(flat.kernel_scale_, 1.0)


def test_callback_sees_the_descent_and_can_end_it(two_clusters):
    calls = []

    def stop_at_30(iteration, kl, embedding):
        calls.append((iteration, kl, embedding.shape))
        return iteration == 30

    model = DTSNE(perplexity=10.0, callback=stop_at_30).fit(two_clusters)
    assert [c[0] for c in calls] == [0, 10, 20, 30]
    assert model.n_iter_ == 30
    assert model.kl_divergence_ == calls[-1][1]


def test_ctrl_c_keeps_the_best_map_and_raises(two_clusters):
    # From the map of another run, exaggeration first raises KL: the best is not the last.
    good = DTSNE(perplexity=15.0, calibration=False).fit_transform(two_clusters)

    def interrupt(iteration, kl, embedding):
        if iteration == 20:
            raise KeyboardInterrupt

    model = DTSNE(
        perplexity=15.0, init=good, early_exaggeration=8.0, calibration=False, callback=interrupt
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(two_clusters)
    assert model.history_[-1, 1] > model.history_[0, 1]
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.embedding_, good)


def test_callback_cannot_write_to_the_map(two_clusters):
    def spoil(iteration, kl, embedding):
        embedding *= 0

    with pytest.raises(ValueError, match="read-only"):
        DTSNE(callback=spoil, **QUICK).fit(two_clusters)


def test_failed_refit_leaves_the_former_map_whole(two_clusters):
    def fail(iteration, kl, embedding):
        raise RuntimeError

    model = DTSNE(**QUICK).fit(two_clusters)
    model.callback = fail
    with pytest.raises(RuntimeError):
        model.fit(two_clusters[:90])
    assert len(model.embedding_) == len(model.sigma_) == len(model.kernel_scale_) == 120


def test_threads_are_put_back_after_an_error(two_clusters):
    from threadpoolctl import threadpool_info

    before = [pool["num_threads"] for pool in threadpool_info()]

    def fail(iteration, kl, embedding):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        DTSNE(n_jobs=1, callback=fail, **QUICK).fit(two_clusters)
    assert before == [pool["num_threads"] for pool in threadpool_info()]


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_warnings_point_at_the_users_line(two_clusters, method):
    with pytest.warns(UserWarning, match="clipped") as caught:
        getattr(DTSNE(max_iter=60, tol=0.0), method)(two_clusters)
    assert caught[0].filename == __file__


def test_rising_kl_is_not_convergence(two_clusters):
    model = DTSNE(perplexity=15.0, learning_rate=1e5, max_iter=200, tol=1e-6, calibration=False)
    with pytest.warns(ConvergenceWarning, match="not settled"):
        model.fit(two_clusters)
    assert not model.converged_


def test_paper_always_runs_to_the_end(two_clusters):
    model = DTSNE(optimizer="paper", perplexity=10.0, tol=0.1, max_iter=60).fit(two_clusters)
    assert model.n_iter_ == 60


def test_calibration_rounds_are_counted(two_clusters):
    assert DTSNE(perplexity=15.0).fit(two_clusters).n_calibrations_ == 5
    assert DTSNE(perplexity=15.0, calibration=False).fit(two_clusters).n_calibrations_ == 0
    assert DTSNE(perplexity=15.0, max_iter=30, tol=0.0).fit(two_clusters).n_calibrations_ == 0


@pytest.mark.filterwarnings("ignore:perplexity=:UserWarning")
@pytest.mark.filterwarnings("ignore:KL had not settled:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("n", [4, 5, 7, 12])
def test_few_points(rng, init, n_components, n):
    X = rng.normal(size=(n, 6))
    model = DTSNE(init=init, n_components=n_components, random_state=0, max_iter=60)
    assert np.isfinite(model.fit_transform(X)).all()


@pytest.mark.parametrize("n", [240, 600])
def test_spectral_start_of_clusters_without_ties(rng, n):
    """Separate clusters are single points of the eigenmap; sizes have to come out all the same."""
    X = rng.normal(size=(n, 8)) * np.repeat([1.0, 4.0], n // 2)[:, None]
    X[n // 2 :] += 100
    model = DTSNE(init="spectral", perplexity=20.0).fit(X)
    labels = np.repeat([0, 1], n // 2)
    assert abs(cluster_radius_ratios(X, model.embedding_, labels).largest_error) < 0.15


# --- kinds of input ---


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
def test_kinds_of_numbers(two_clusters, dtype):
    X = np.round(3 * two_clusters)
    X = (X - X.min() if dtype == "uint8" else X).astype(dtype)
    embedding = DTSNE(**QUICK).fit_transform(X)
    assert embedding.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert np.isfinite(embedding).all()


def test_data_frames_in_and_out(two_clusters):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    names = [f"gene{i}" for i in range(5)]
    expected = DTSNE(**QUICK).fit_transform(two_clusters)
    frame = pd.DataFrame(two_clusters, columns=names, index=[f"cell{i}" for i in range(120)])
    model = DTSNE(**QUICK).set_output(transform="pandas")
    out = model.fit_transform(frame)
    np.testing.assert_array_equal(out.to_numpy(), expected)
    assert list(out.columns) == ["dtsne0", "dtsne1"]
    assert list(out.index) == list(frame.index)
    assert list(model.feature_names_in_) == names
    out = DTSNE(**QUICK).set_output(transform="polars").fit_transform(pl.DataFrame(two_clusters))
    assert isinstance(out, pl.DataFrame)
    np.testing.assert_array_equal(out.to_numpy(), expected)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array", "lil_array"])
def test_every_sparse_format_gives_the_same_map(rng, kind):
    import scipy.sparse

    X = rng.poisson(0.5, size=(80, 70)).astype(float)
    expected = DTSNE(**QUICK).fit_transform(csr_array(X))
    np.testing.assert_array_equal(
        DTSNE(**QUICK).fit_transform(getattr(scipy.sparse, kind)(X)), expected
    )


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_order_of_memory_changes_nothing(two_clusters, metric):
    X = squareform(pdist(two_clusters)) if metric == "precomputed" else two_clusters
    c_order, fortran_order = (
        DTSNE(metric=metric, **QUICK).fit_transform(np.asarray(X, order=order)) for order in "CF"
    )
    np.testing.assert_array_equal(c_order, fortran_order)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("exponent", [-600, -30, 30, 500])
def test_size_of_the_numbers_changes_only_sigma(two_clusters, metric, exponent):
    X = squareform(pdist(two_clusters)) if metric == "precomputed" else two_clusters
    factor = 2.0**exponent
    one, other = (DTSNE(metric=metric, **QUICK).fit(f * X) for f in (1.0, factor))
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.testing.assert_array_equal(other.sigma_, factor * one.sigma_)


def test_sparse_goes_through_svd(rng):
    X = rng.poisson(0.3, size=(150, 200)).astype(float)
    X[75:, :20] += rng.poisson(3, size=(75, 20))
    from sklearn.decomposition import TruncatedSVD

    reduced = TruncatedSVD(50, random_state=0).fit_transform(csr_array(X))
    sparse = DTSNE(**QUICK).fit_transform(csr_array(X))
    np.testing.assert_allclose(sparse, DTSNE(**QUICK).fit_transform(reduced), atol=1e-6)
    # With few columns nothing is reduced, and sparse is the same as dense.
    few = csr_array(X[:, :30])
    np.testing.assert_array_equal(
        DTSNE(**QUICK).fit_transform(few), DTSNE(**QUICK).fit_transform(few.toarray())
    )


def test_principal_components_are_taken_first(rng):
    X = rng.normal(size=(100, 60)) * np.geomspace(10, 0.1, 60)
    assert not np.allclose(
        DTSNE(n_pcs=3, **QUICK).fit(X).sigma_, DTSNE(n_pcs=None, **QUICK).fit(X).sigma_
    )
    # 60 components of 60 columns are a rotation.
    np.testing.assert_allclose(
        DTSNE(n_pcs=60, **QUICK).fit(X).sigma_, DTSNE(n_pcs=None, **QUICK).fit(X).sigma_
    )


def test_precomputed_distances_give_the_map_of_the_points(two_clusters):
    D = squareform(pdist(two_clusters))
    from_points = DTSNE(**QUICK).fit(two_clusters)
    from_distances = DTSNE(metric="precomputed", **QUICK).fit(D)
    np.testing.assert_allclose(from_distances.sigma_, from_points.sigma_, rtol=1e-6)
    assert from_distances.kl_divergence_ == pytest.approx(from_points.kl_divergence_, rel=0.05)


def test_cosine_does_not_see_lengths(two_clusters, rng):
    X = two_clusters + 10
    lengths = rng.uniform(0.5, 20, size=(120, 1))
    one = DTSNE(metric="cosine", **QUICK).fit(X)
    other = DTSNE(metric="cosine", **QUICK).fit(X * lengths)
    np.testing.assert_allclose(one.sigma_, other.sigma_, rtol=1e-6)
    sigma_of_units = DTSNE(**QUICK).fit(X / np.linalg.norm(X, axis=1, keepdims=True)).sigma_
    np.testing.assert_allclose(one.sigma_, sigma_of_units, rtol=1e-6)


def test_same_bits_for_any_number_of_threads_beyond_the_dense_limit(two_clusters):
    one, two = (
        embed(two_clusters, Config(n_jobs=n_jobs, max_dense=50, **QUICK)).coordinates
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_more_points_than_the_dense_limit(two_clusters):
    dense = DTSNE(perplexity=15.0).fit(two_clusters)
    sparse = embed(two_clusters, Config(perplexity=15.0, max_dense=50))
    np.testing.assert_allclose(sparse.sigma, dense.sigma_, rtol=0.1)
    labels = np.repeat([0, 1], 60)
    error = cluster_radius_ratios(two_clusters, sparse.coordinates, labels).largest_error
    assert abs(error) < 0.1


# --- scikit-learn's habits ---


def test_clone_pickle_and_pipeline(two_clusters):
    model = DTSNE(density_scale=0.5, **QUICK)
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit(two_clusters)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.embedding_, fitted.embedding_)
    piped = make_pipeline(StandardScaler(), DTSNE(**QUICK)).fit_transform(two_clusters)
    scaled = StandardScaler().fit_transform(two_clusters)
    np.testing.assert_array_equal(piped, DTSNE(**QUICK).fit_transform(scaled))


def test_refit_forgets(two_clusters):
    model = DTSNE(**QUICK).fit(two_clusters[:, :3])
    model.fit(two_clusters)
    np.testing.assert_array_equal(model.embedding_, DTSNE(**QUICK).fit(two_clusters).embedding_)
    assert model.n_features_in_ == 5


def test_verbose_goes_to_logging_and_quiet_is_quiet(two_clusters, capsys, caplog):
    DTSNE(**QUICK).fit(two_clusters)
    assert capsys.readouterr() == ("", "")
    DTSNE(verbose=1, **QUICK).fit(two_clusters)
    assert any("KL" in message for message in caplog.messages)


def test_digits_beat_chance_by_far():
    digits = load("digits")
    model = DTSNE(perplexity=50.0).fit(digits.X)
    found = evaluate(digits.X, model.embedding_, k=50)
    assert found.trustworthiness > 0.97
    assert found.density_log_correlation > 0.75
