"""Every kind of bad input: a clear message that names the fix, before any long work."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from dtsne import DTSNE
from dtsne.quality import cluster_radius_ratios, distance_correlation, trustworthiness
from dtsne.runtime._errors import ParameterError, ParameterTypeError


@pytest.fixture(name="X")
def sixty_points(rng):
    return rng.normal(size=(60, 4))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(X, value):
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        DTSNE().fit(X)


def test_text(X):
    with pytest.raises(ValueError, match=r"holds text.*OneHotEncoder"):
        DTSNE().fit(np.full((60, 2), "a", dtype=object))
    with pytest.raises(ValueError, match=r"text|string|numeric"):
        DTSNE().fit(np.full((60, 2), "a"))


def test_shapes(X):
    with pytest.raises(ValueError, match="Reshape your data"):
        DTSNE().fit(X[0])
    with pytest.raises(ValueError, match="dim"):
        DTSNE().fit(X[None])
    with pytest.raises(ValueError, match="minimum of 4"):
        DTSNE().fit(X[:3])
    with pytest.raises(ValueError, match="0 feature"):
        DTSNE().fit(X[:, :0])


def test_complex_numbers(X):
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        DTSNE().fit(X + 1j)


def test_all_rows_equal():
    with pytest.raises(ValueError, match="all rows of X are equal"):
        DTSNE().fit(np.ones((50, 3)))
    with pytest.raises(ValueError, match="all rows of X are equal"):
        DTSNE(metric="cosine").fit(np.outer(np.arange(1, 51), [0.1, 0.7, 0.3]))
    with pytest.raises(ValueError, match="all precomputed distances are 0"):
        DTSNE(metric="precomputed").fit(np.zeros((50, 50)))


def test_constant_columns_change_nothing(X, caplog):
    wide = np.hstack([X, np.ones((60, 2)), np.zeros((60, 1))])
    with caplog.at_level("INFO", logger="dtsne"):
        sigma = DTSNE(perplexity=10.0).fit(wide).sigma_
    np.testing.assert_allclose(sigma, DTSNE(perplexity=10.0).fit(X).sigma_)
    assert "3 of 7 columns are constant" in caplog.text


def test_four_points_are_enough(X):
    with pytest.warns(UserWarning, match="clipped to 1.5"):
        embedding = DTSNE().fit_transform(X[:4] + np.array([[0], [0], [9], [9]]))
    distances = squareform(pdist(embedding))
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_array_equal(distances.argmin(axis=1), [1, 0, 3, 2])


def test_too_large_a_perplexity_is_lowered_and_said(X):
    with pytest.warns(UserWarning, match=r"perplexity=100 .*60 points.*clipped to 19.67"):
        model = DTSNE().fit(X)
    assert model.perplexity_ == pytest.approx(59 / 3)


def test_line_and_plane_in_more_components():
    line = np.linspace(0, 1, 50)[:, None]
    embedding = DTSNE(perplexity=5.0, n_components=3).fit_transform(line)
    assert np.isfinite(embedding).all()
    assert (embedding.std(axis=0) > 0).all()


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({"perplexity": 1.0}, "a number above 1"),
        ({"perplexity": -5}, "above 1"),
        ({"perplexity": np.nan}, "above 1"),
        ({"n_components": 4}, "at least 1 and at most 3"),
        ({"n_components": 0}, "at least 1"),
        ({"density_scale": -0.1}, "at least 0"),
        ({"metric": "mahalanobis"}, "'euclidean', 'cosine', 'correlation', 'manhattan', "),
        ({"init": "umap"}, "'pca', 'random', 'spectral' or an array of shape"),
        ({"optimizer": "adam"}, "'scaled', 'paper'"),
        ({"method": "barnes_hut"}, "'auto', 'exact', 'fft'"),
        ({"fft_tolerance": 0.0}, "above 0 and at most 0.1"),
        ({"calibration": "always"}, "'auto', False"),
        ({"device": "tpu"}, "'cpu', 'cuda'"),
        ({"learning_rate": 0}, "above 0 or 'auto'"),
        ({"early_exaggeration": 0.5}, "at least 1 or 'auto'"),
        ({"max_iter": 0}, "at least 1"),
        ({"tol": -1.0}, "at least 0 or 'auto'"),
        ({"n_pcs": 0}, "at least 1"),
        ({"n_jobs": 0}, "a positive number of threads, or -1 for all"),
        ({"verbose": -1}, "at least 0"),
    ],
)
def test_bad_values(X, parameters, allowed):
    (name, value), *_ = parameters.items()
    with pytest.raises(ParameterError) as error:
        DTSNE(**parameters).fit(X)
    assert error.value.parameter == name
    assert error.value.value is value
    assert allowed in error.value.allowed
    assert str(error.value) == f"{name}={value!r} must be {error.value.allowed}."


@pytest.mark.parametrize(
    "parameters",
    [
        {"perplexity": "100"},
        {"n_components": 2.0},
        {"n_components": True},
        {"learning_rate": None},
        {"max_iter": 10.5},
        {"callback": "stop"},
        {"n_jobs": 1.5},
    ],
)
def test_bad_types(X, parameters):
    with pytest.raises(ParameterTypeError) as error:
        DTSNE(**parameters).fit(X)
    assert isinstance(error.value, TypeError)
    assert error.value.parameter == next(iter(parameters))


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.zeros((60, 3)), r"must be \(60, 2\)"),
        (np.zeros((59, 2)), r"must be \(60, 2\)"),
        (np.full((60, 2), np.nan), "finite"),
        (np.zeros((60, 2)), "all points are equal"),
    ],
)
def test_bad_start(X, init, message):
    with pytest.raises(ValueError, match=message):
        DTSNE(perplexity=10.0, init=init).fit(X)


def test_diverging_descent_is_an_error(X):
    with pytest.raises(FloatingPointError, match="learning_rate='auto'"), np.errstate(all="ignore"):
        DTSNE(perplexity=10.0, optimizer="paper", learning_rate=1e200).fit(X)


def test_bad_distances(X):
    D = np.abs(X[:, :1] - X[:, :1].T)
    for broken, message in [
        (D[:, :-1], "square matrix"),
        (-D, "Negative"),
        (D + 1, "diagonal"),
        (np.triu(D), "symmetric"),
        (np.triu(D) * 1e-10, "symmetric"),
    ]:
        with pytest.raises(ValueError, match=message):
            DTSNE(perplexity=10.0, metric="precomputed").fit(broken)


def test_equidistant_points():
    """All affinities are equal, as they are of a map whose points all but coincide."""
    model = DTSNE(perplexity=10.0, metric="precomputed").fit(1 - np.eye(60))
    np.testing.assert_array_equal(model.sigma_, model.sigma_[0])
    assert model.kl_divergence_ == pytest.approx(0, abs=1e-6)
    assert (model.embedding_.std(axis=0) > 0).all()


def test_integer_grid_is_quiet():
    grid = np.stack(np.meshgrid(np.arange(12), np.arange(12)), axis=-1).reshape(-1, 2)
    embedding = DTSNE(perplexity=10.0).fit_transform(grid)
    assert trustworthiness(grid, embedding) > 0.99
    assert distance_correlation(grid, embedding) > 0.99


def test_cosine_of_a_zero_row(X):
    X[5] = 0
    with pytest.raises(ValueError, match="rows of zeros"):
        DTSNE(metric="cosine").fit(X)


def test_not_enough_memory(X, monkeypatch):
    monkeypatch.setattr("dtsne._cost.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="GiB are free"):
        DTSNE(perplexity=10.0).fit(X)


# --- copies ---


def test_half_the_rows_copied_leave_the_rest_as_it_was(rng):
    """A tight and a wide cluster, each row twice: sizes still mean spread."""
    X = np.vstack([rng.normal(size=(100, 10)), 30 + 3 * rng.normal(size=(100, 10))])
    doubled = np.vstack([X, X])
    labels = np.tile(np.repeat([0, 1], 100), 2)
    model = DTSNE(perplexity=40.0).fit(doubled)
    assert np.isfinite(model.embedding_).all()
    assert abs(cluster_radius_ratios(doubled, model.embedding_, labels).largest_error) < 0.1


def test_more_copies_than_the_perplexity_are_said_and_do_not_flatten(rng):
    """Half of all rows are one and the same; the two clusters beside them keep their sizes."""
    X = np.vstack([rng.normal(size=(100, 10)), 30 + 3 * rng.normal(size=(100, 10))])
    copied = np.vstack([X, np.full((200, 10), -20.0)])
    with pytest.warns(UserWarning, match=r"200 rows of X have at least as many duplicates.*unique"):
        model = DTSNE(perplexity=20.0).fit(copied)
    assert np.isfinite(model.embedding_).all()
    labels = np.repeat([0, 1], 100)
    ratio = cluster_radius_ratios(X, model.embedding_[:200], labels)
    assert abs(ratio.largest_error) < 0.15
    spread_of_copies = model.embedding_[200:].std(axis=0).max()
    assert spread_of_copies < 0.2 * model.embedding_[:100].std(axis=0).mean()


@pytest.mark.filterwarnings("ignore:.*as many duplicates:UserWarning")
@pytest.mark.parametrize("n_copies", [100, 300, 800])
def test_copies_do_not_shrink_the_rest(rng, n_copies):
    """The clusters keep at least half the size they have without the copies, and their ratio."""
    X = np.vstack([rng.normal(size=(100, 10)), 30 + 3 * rng.normal(size=(100, 10))])
    copied = np.vstack([X, np.full((n_copies, 10), -20.0)])
    labels = np.repeat([0, 1], 100)
    alone, beside = (DTSNE(perplexity=20.0).fit(data).embedding_[:200] for data in (X, copied))
    assert abs(cluster_radius_ratios(X, beside, labels).largest_error) < 0.15
    assert beside[:100].std(axis=0).mean() > 0.5 * alone[:100].std(axis=0).mean()


@pytest.mark.filterwarnings("ignore:.*as many duplicates:UserWarning")
def test_all_rows_copied_too_often(rng):
    few = np.repeat(rng.normal(size=(4, 3)), 30, axis=0)
    groups = DTSNE(perplexity=20.0).fit_transform(few).reshape(4, 30, 2)
    assert pdist(groups.mean(axis=1)).min() > 5 * groups.std(axis=1).max()
    two = np.repeat(rng.normal(size=(2, 3)), 100, axis=0)
    with pytest.raises(ValueError, match="drop the duplicates"):
        DTSNE(perplexity=20.0).fit(two)


@pytest.mark.filterwarnings("ignore:.*as many duplicates:UserWarning")
def test_copies_among_precomputed_distances(rng):
    X = np.vstack([rng.normal(size=(100, 3)), np.full((100, 3), 5.0)])
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    embedding = DTSNE(perplexity=20.0, metric="precomputed").fit_transform(D)
    assert embedding[100:].std(axis=0).max() < 0.2 * embedding[:100].std(axis=0).mean()
