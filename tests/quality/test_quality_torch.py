"""The measures on a device, against those on the CPU."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE, quality
from dtsne.report import report_of
from dtsne.runtime._errors import ParameterError
from dtsne.runtime._threads import ONE_THREAD

torch = pytest.importorskip("torch")

from dtsne.quality import _kernels  # noqa: E402
from dtsne.quality import _quality_torch as on_device  # noqa: E402

CPU = torch.device("cpu")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# What is nearer is decided in float32.
CLOSE = {"rel": 1e-4, "abs": 1e-4, "nan_ok": True}


@pytest.fixture(autouse=True)
def one_thread():
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


def clusters(n=300, d=6, seed=0):
    """Groups of different spread, far from the origin, and a map of them with some noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    X = 1000.0 + 5.0 * labels[:, None] + rng.normal(size=(n, d)) * (0.1 + labels[:, None])
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2)), labels


def tensor(values, **options):
    return torch.as_tensor(values, device=DEVICE, **options)


def assert_close(found, expected):
    found, expected = found.as_dict(), expected.as_dict()
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        close = pytest.approx(value, **CLOSE) if isinstance(value, float) else value
        assert found[name] == close, name


def assert_same(X, Y, **options):
    """Compare all measures with those on the CPU, and return them."""
    found = quality.evaluate(X, Y, device=DEVICE, **options)
    assert_close(found, quality.evaluate(X, Y, **options))
    return found


# The same measures


@pytest.mark.parametrize("n", [4, 5, 120, 121])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_measures_agree_with_the_cpu(n, metric):
    X, Y, labels = clusters(n)
    found = assert_same(X, Y, k=20, labels=labels, metric=metric)
    if n > 5:
        assert all(
            np.isfinite(value) for value in found.as_dict().values() if isinstance(value, float)
        )


def test_measures_of_noise_agree_with_the_cpu():
    rng = np.random.default_rng(0)
    for d, axes in [(1, 1), (3, 3), (70, 2)]:
        assert_same(rng.normal(size=(250, d)), rng.normal(size=(250, axes)), k=30)


@pytest.mark.parametrize("max_rows", [40, 150])  # compared with all points, and chosen from all
def test_samples_are_the_same_rows_and_pairs(max_rows):
    X, Y, labels = clusters()
    found = assert_same(
        X, Y, k=20, labels=labels, max_rows=max_rows, max_pairs=9000, random_state=3
    )
    assert found.sampled == f"neighbourhoods of {max_rows} of 300 rows; 9,000 of 44,850 pairs"


def test_parts_of_the_work_make_no_difference(monkeypatch):
    X, Y, _ = clusters(100)
    expected = quality.evaluate(X, Y, k=20, max_rows=20, device=DEVICE).as_dict()
    monkeypatch.setattr(on_device, "MAX_SCRATCH", 2**14)
    assert quality.evaluate(X, Y, k=20, max_rows=20, device=DEVICE).as_dict() == expected


def test_same_bits_twice():
    X, Y, _ = clusters()
    found = [quality.evaluate(X, Y, k=20, device=DEVICE).as_dict() for _ in range(2)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "measure",
    [
        quality.distance_correlation,
        quality.neighbor_distance_correlation,
        quality.density_correlation,
        quality.trustworthiness,
        quality.continuity,
        quality.neighbor_recall,
    ],
)
def test_single_measures_take_a_device(measure):
    X, Y, _ = clusters(250)
    assert measure(X, Y, device=DEVICE) == pytest.approx(measure(X, Y), **CLOSE)


def test_radii_of_labels_agree_with_the_cpu():
    X, Y, labels = clusters(30)
    X[labels == 1] = 0.1  # copies: no radius
    expected = quality.cluster_radius_ratios(X, Y, labels)
    found = quality.cluster_radius_ratios(X, Y, labels, device=DEVICE)
    np.testing.assert_allclose(found.data, expected.data)
    np.testing.assert_allclose(found.map, expected.map)
    assert found.reference == expected.reference


# Ties


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 4]), st.sampled_from([0.0, 1e6 + 3]))
def test_neighbours_and_ranks_of_whole_numbers_are_exact(seed, d, shift):
    from dtsne.neighbors._exact import nearest_neighbors

    rng = np.random.default_rng(seed)
    X = shift + rng.integers(0, 4, (60, d)).astype(float)  # full of copies and equal distances
    rows = np.sort(rng.choice(60, 10, replace=False))
    for queries in (None, rows):
        found = on_device.neighbors(tensor(X), 12, queries)
        expected = nearest_neighbors(X, 12, queries=queries)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-14)
    others = np.argsort(rng.random((10, 60)), axis=1)
    others = others[others != rows[:, None]].reshape(10, 59)
    np.testing.assert_array_equal(
        on_device.ranks(tensor(X), rows, others), _kernels.ranks(X, rows, others, ONE_THREAD)
    )


def test_copies_have_the_measures_of_the_cpu():
    X, Y, _ = clusters(200)
    X[:9], Y[100:108] = X[0], Y[100]  # fewer than the neighbours asked for
    assert_same(X, Y, k=15, k_neighborhood=15)
    for of in ("ratio", "log", "rank"):  # radii of 0
        options = {"k": 5, "of": of}
        assert quality.density_correlation(X, Y, device=DEVICE, **options) == pytest.approx(
            quality.density_correlation(X, Y, **options), **CLOSE
        )


def test_what_has_no_correlation_has_none_on_a_device():
    X = np.random.default_rng(0).normal(size=(8, 8))
    simplex = 0.1 * np.eye(8) + 1 / 3  # All distances are equal, up to rounding.
    for data, map_ in [(X, simplex), (simplex, X), (np.full((8, 2), 0.1), X)]:
        found = quality.evaluate(data, map_, device=DEVICE).as_dict()
        correlations = [value for name, value in found.items() if name.endswith("correlation")]
        assert len(correlations) == 6
        assert np.isnan(correlations).all()


def test_any_scale_and_an_outlier():
    X, Y, _ = clusters(100)
    X[0] += 1e4
    for scale in (1e-140, 1e140):
        assert_same(scale * X, scale * Y, k=20)


# Tensors


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_tensors_are_taken(dtype):
    X, Y, labels = clusters(60)
    X, Y = (100 * X).astype(dtype), (100 * Y).astype(dtype)
    expected = quality.evaluate(X, Y, k=10, labels=labels)
    of_torch = tensor(X), tensor(Y)
    for one, other in [of_torch, (of_torch[0], Y), (X, of_torch[1])]:
        found = quality.evaluate(one, other, k=10, labels=labels, device=DEVICE)
        assert_close(found, expected)
    assert_close(quality.evaluate(*of_torch, k=10, labels=labels, device="auto"), expected)


def test_maps_with_a_gradient_are_measured():
    X, Y, _ = clusters(30)
    followed = tensor(Y).requires_grad_()
    assert quality.distance_correlation(X, followed, device=DEVICE) == pytest.approx(
        quality.distance_correlation(X, Y)
    )


class _Elsewhere(torch.Tensor):
    """A tensor that says it is on a GPU."""

    device = torch.device("cuda:1")

    def __dlpack_device__(self):
        return 2, 1


def test_tensors_elsewhere_are_rejected():
    X, Y, _ = clusters(20)
    elsewhere = torch.as_tensor(Y).as_subclass(_Elsewhere)
    with pytest.raises(ValueError, match=r"Y is a tensor on cuda:1, and device='cpu'.*'auto'"):
        quality.evaluate(X, elsewhere)
    with pytest.raises(ValueError, match="Y is a tensor on cuda:1, and device='cpu' is another"):
        quality.evaluate(X, elsewhere, device=CPU)


def test_tensors_that_do_not_fit_are_rejected():
    X, Y, _ = clusters(20)
    Xt, Yt = tensor(X), tensor(Y)
    zero_row = Xt * (torch.arange(20, device=DEVICE)[:, None] != 3)
    for error, message, values in [
        (ValueError, "X has 20 rows and Y has 19", (Xt, Yt[:-1])),
        (ValueError, r"X has shape \(20,\)", (Xt[:, 0], Yt)),
        (ValueError, "Y has NaN or infinite", (Xt, Yt / 0)),
        (ValueError, "at least 4", (Xt[:0], Yt[:0])),
        (ValueError, "overflow", (1e160 * Xt, Yt)),
        (ValueError, "rows of zeros", (zero_row, Yt)),
        (TypeError, "real numbers", (Xt + 1j, Yt)),
    ]:
        with pytest.raises(error, match=message):
            quality.evaluate(*values, metric="cosine", device=DEVICE)


def test_devices_that_cannot_be_had_are_rejected(monkeypatch):
    X, Y, _ = clusters(20)
    with pytest.raises(ParameterError) as raised:
        quality.evaluate(X, Y, device="gpu!")
    assert raised.value.parameter == "device"
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "dtsne\[gpu\]"'):
        quality.evaluate(X, Y, device="cuda")


# The report of a model


@pytest.mark.parametrize("options", [{}, {"metric": "manhattan"}, {"metric": "cosine"}])
def test_report_of_a_model_on_a_device(options, monkeypatch):
    X, _, labels = clusters(150)
    model = DTSNE(perplexity=15, max_iter=20, tol=0, device=DEVICE, **options).fit(X)
    searched = []
    neighbors = on_device.neighbors
    monkeypatch.setattr(
        on_device, "neighbors", lambda *args: searched.append(args) or neighbors(*args)
    )
    found = model.report(labels=labels, max_rows=60)
    assert len(searched) == 2  # of all rows, and those of the sample
    kept = model._embedding.artifacts
    host = replace(kept, data=kept.data.to_host(), lists=None)
    monkeypatch.setattr(model, "_embedding", replace(model._embedding, artifacts=host))
    expected = model.report(labels=labels, max_rows=60)
    assert len(searched) == 2
    assert found.ratios.sentences == expected.ratios.sentences
    assert_close(found.quality, expected.quality)
    for name, values in expected.points.columns().items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found.points.columns()[name], values, rtol=1e-4, atol=1e-4)
        else:
            np.testing.assert_array_equal(found.points.columns()[name], values)


def test_report_of_given_neighbours_and_tensors_on_a_device():
    X, _, _ = clusters(150)
    graph = NearestNeighbors(n_neighbors=60).fit(X).kneighbors_graph(mode="distance")
    model = DTSNE(perplexity=15, max_iter=20, tol=0, neighbors=graph, device=DEVICE).fit(tensor(X))
    found = model.report()
    assert np.isfinite(found.quality.distance_correlation)
    assert found.to_json() == model.report(X=tensor(X)).to_json()


@pytest.mark.parametrize("metric", ["euclidean", "correlation", "manhattan"])
def test_account_of_any_map_on_a_device(metric):
    X, Y, labels = clusters(150)
    options = {"labels": labels, "k": 20, "metric": metric, "perplexity": 15, "n_bootstrap": 100}
    expected = report_of(X, Y, **options)
    for both in ((X, Y), (tensor(X), tensor(Y))):
        found = report_of(*both, device=DEVICE, **options)
        assert_close(found.quality, expected.quality)
        residual = found.points.density_residual
        np.testing.assert_allclose(residual, expected.points.density_residual, atol=1e-3)
    neighbors = NearestNeighbors(n_neighbors=40).fit(X).kneighbors()[::-1]
    found = report_of(None, Y, neighbors=neighbors, k=20, device=DEVICE)
    assert_close(found.quality, report_of(None, Y, neighbors=neighbors, k=20).quality)


def test_a_report_on_a_device_takes_the_lists_of_the_fit(monkeypatch):
    X, _, _ = clusters(150)
    model = DTSNE(perplexity=20, max_iter=20, tol=0, device=DEVICE).fit(X)
    searched = replace(model._embedding.artifacts, lists=None)
    with_lists = model.report()
    monkeypatch.setattr("dtsne.neighbors._search_torch.nearest", None)  # is not called
    assert model.report().to_json() == with_lists.to_json()
    monkeypatch.undo()
    monkeypatch.setattr(model, "_embedding", replace(model._embedding, artifacts=searched))
    assert model.report().to_json() == with_lists.to_json()


def test_measures_work_on_the_device_of_their_tensors(monkeypatch, rng):
    """Whichever is the current one; and where its memory runs out, that is said."""
    X = rng.normal(size=(200, 5))
    entered = []

    def launching_on(device):
        entered.append(device)
        return nullcontext()

    monkeypatch.setattr("dtsne.runtime._devices.launching_on", launching_on)
    model = DTSNE(perplexity=10, device=DEVICE, max_iter=20, tol=0).fit(X)
    for measure in (model.report, lambda: quality.evaluate(X, X[:, :2], k=10, device=DEVICE)):
        entered.clear()
        measure()
        assert set(entered) == {DEVICE}

    def run_out(*_, **__):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    monkeypatch.setattr("dtsne.quality._quality_torch.one_cell", run_out)
    for measure in (model.report, lambda: quality.evaluate(X, X[:, :2], k=10, device=DEVICE)):
        with pytest.raises(MemoryError, match="The GPU has no memory left"):
            measure()
