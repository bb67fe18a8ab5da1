"""Whole fits by PyTorch, on the CPU: the same map, the same interface, clear errors."""

from __future__ import annotations

import pickle
import sys
import types

import numpy as np
import pytest
from fit_support import fitted
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.quality import density_correlation, trustworthiness

torch = pytest.importorskip("torch")
from gpu_ways import both_ways, going  # noqa: E402

from dtsne._cost import Job  # noqa: E402
from dtsne._cost_torch import peak_memory  # noqa: E402
from dtsne.forces.fft._repulsion_torch import TorchNumerics  # noqa: E402
from dtsne.runtime._errors import ParameterError  # noqa: E402

# On a GPU where there is one, kernels and recorded iterations included.
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def blobs():
    X, labels, _ = load("2D-samples")
    return np.hstack([X, 0.1 * X[:, ::-1] ** 2])[::2], labels[::2]


def compare(X, **parameters):
    here = fitted(X, perplexity=20, **parameters)
    there = fitted(X, perplexity=20, device=DEVICE, **parameters)
    return here, there


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("method", ["exact", "fft"])
def test_the_map_is_as_good_as_that_of_the_cpu(blobs, sparse, method):
    X = blobs[0]
    max_dense = 100 if sparse else 10_000
    here, there = compare(X, method=method, max_iter=150, tol=0, max_dense=max_dense)
    np.testing.assert_allclose(there.sigma_, here.sigma_, rtol=1e-4)
    assert there.kl_divergence_ == pytest.approx(here.kl_divergence_, rel=0.01)
    assert there.n_calibrations_ == here.n_calibrations_ == 5
    for measure in (density_correlation, trustworthiness):
        k = 20 if measure is density_correlation else 15
        assert measure(X, there.embedding_, k=k) == pytest.approx(
            measure(X, here.embedding_, k=k), abs=0.01
        )


@pytest.mark.parametrize("n_components", [1, 3])
def test_other_dimensions(blobs, n_components):
    _, there = compare(blobs[0], n_components=n_components, method="fft", max_iter=30, tol=0)
    assert there.embedding_.shape == (len(blobs[0]), n_components)
    assert np.isfinite(there.embedding_).all()


def test_two_fits_give_the_same_bits(blobs):
    maps = [
        DTSNE(perplexity=20, device=DEVICE, method="fft", max_iter=60, tol=0).fit_transform(
            blobs[0]
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*maps)


def test_the_paper_s_descent_is_the_same_code(blobs):
    here, there = compare(blobs[0], optimizer="paper", max_iter=40)
    assert there.kl_divergence_ == pytest.approx(here.kl_divergence_, rel=0.01)


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "precomputed"])
def test_other_distances(blobs, metric):
    from scipy.spatial.distance import cdist

    X = blobs[0] + 20.0
    given = cdist(X, X) if metric == "precomputed" else X
    here, there = compare(given, metric=metric, max_iter=20, tol=0)
    np.testing.assert_allclose(there.sigma_, here.sigma_, rtol=2e-3)


def test_given_neighbours(blobs):
    X = blobs[0]
    graph = NearestNeighbors(n_neighbors=70).fit(X).kneighbors_graph(mode="distance")
    here, there = compare(X, neighbors=graph, max_iter=20, tol=0)
    np.testing.assert_allclose(there.sigma_, here.sigma_, rtol=1e-4)


def test_sparse_data_and_a_reduction():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(300, 80)).astype(float)
    for given in (X, csr_array(X)):
        here, there = compare(given, n_pcs=10, max_iter=20, tol=0)
        np.testing.assert_allclose(there.sigma_, here.sigma_, rtol=1e-3)


def test_copies_are_moved_apart(blobs):
    X = np.vstack([blobs[0], np.repeat(blobs[0][:1], 50, axis=0)])
    with pytest.warns(UserWarning, match="duplicates as the perplexity"):
        model = DTSNE(perplexity=20, device=DEVICE, max_iter=30, tol=0).fit(X)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_tensors_come_in_and_go_out(blobs, dtype):
    X = torch.tensor(100 * blobs[0]).to(dtype)
    model = DTSNE(perplexity=20, device=DEVICE, max_iter=20, tol=0)
    Y = model.fit_transform(X)
    assert isinstance(Y, torch.Tensor)
    assert Y.dtype == (torch.float32 if dtype == torch.float32 else torch.float64)
    assert isinstance(model.sigma_, torch.Tensor)
    assert model.n_features_in_ == 4
    of_numpy = DTSNE(perplexity=20, device=DEVICE, max_iter=20, tol=0).fit_transform(X.numpy())
    assert isinstance(of_numpy, np.ndarray)
    np.testing.assert_allclose(Y, of_numpy, rtol=1e-3, atol=1e-3)
    assert model.report().quality.n == len(X)


def test_tensors_of_the_cpu_are_taken_by_the_cpu_too(blobs):
    Y = DTSNE(perplexity=20, max_iter=20, tol=0).fit_transform(torch.tensor(blobs[0]))
    assert isinstance(Y, torch.Tensor)


def test_what_else_an_estimator_has(blobs, tmp_path):
    X, labels = blobs
    seen = []

    def callback(iteration, kl, shown):
        seen.append((iteration, type(shown)))
        return iteration >= 20

    model = DTSNE(perplexity=20, device=DEVICE, callback=callback, random_state=0, init="random")
    model.fit(X)
    assert seen == [(0, np.ndarray), (10, np.ndarray), (20, np.ndarray)]
    assert clone(model).device == DEVICE
    again = pickle.loads(pickle.dumps(model.set_params(callback=None)))
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert model.report(labels=labels).ratios is not None


def test_a_fit_goes_on_from_its_checkpoint(blobs, tmp_path):
    parameters = {"perplexity": 20, "device": DEVICE, "method": "exact"}
    whole = DTSNE(**parameters).fit(blobs[0])

    def interrupt(iteration, kl, shown):
        if iteration == 60:
            raise KeyboardInterrupt

    path = tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        DTSNE(**parameters, callback=interrupt, checkpoint=path).fit(blobs[0])
    resumed = DTSNE(**parameters, checkpoint=path).fit(blobs[0])
    np.testing.assert_allclose(resumed.embedding_, whole.embedding_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (torch.ones(5), "2D array"),
        (torch.ones(3, 2), "minimum of 4"),
        (torch.full((20, 2), float("nan")), "NaN or infinity"),
        (torch.ones(20, 2, dtype=torch.complex64), "Complex"),
        (torch.ones(20, 2), "all rows of X are equal"),
    ],
)
def test_bad_tensors_are_refused(bad, said):
    with pytest.raises(ValueError, match=said):
        DTSNE(device=DEVICE).fit(bad)


def test_rows_without_a_direction_are_refused(blobs):
    X = torch.tensor(blobs[0])
    X[0] = 0
    for metric, said in (("cosine", "no direction"), ("correlation", "correlate with nothing")):
        with pytest.raises(ValueError, match=said):
            DTSNE(device=DEVICE, metric=metric).fit(X)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there(blobs):
    with pytest.raises(RuntimeError, match=r"sees none: .*device='cpu'"):
        DTSNE(device="cuda").fit(blobs[0])
    auto = DTSNE(perplexity=20, device="auto", max_iter=20, tol=0).fit(blobs[0])
    cpu = DTSNE(perplexity=20, max_iter=20, tol=0).fit(blobs[0])
    np.testing.assert_array_equal(auto.embedding_, cpu.embedding_)


def test_devices_that_are_none(blobs):
    for device in ("tpu", torch.device("meta")):
        with pytest.raises(ParameterError) as error:
            DTSNE(device=device).fit(blobs[0])
        assert error.value.parameter == "device"
        assert "'cuda'" in error.value.allowed


def test_pytorch_that_is_missing_or_old(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "dtsne\[gpu\]"'):
        DTSNE(device="cuda").fit(blobs[0])
    old = types.ModuleType("torch")
    old.__version__ = "1.13.1+cu117"
    monkeypatch.setitem(sys.modules, "torch", old)
    with pytest.raises(ImportError, match=r"2\.11 or newer, and 1\.13\.1"):
        DTSNE(device="cuda").fit(blobs[0])


def test_a_tensor_on_another_device_is_refused(blobs):
    class Elsewhere:
        device = "cuda:1"
        ndim, shape, dtype = 2, (100, 2), "float32"

        def __dlpack_device__(self):
            return (2, 1)

    with pytest.raises(ValueError, match=r"cuda:1.*device='auto'"):
        DTSNE(device="cpu").fit(Elsewhere())


@pytest.mark.integration
@both_ways
@pytest.mark.parametrize("method", ["exact", "fft"])
def test_all_kernels_together_give_the_map_of_the_cpu(way, method, rng):
    """From a start in columns, as pandas makes it: kernels go by rows."""
    X = rng.normal(size=(60, 5)) * np.where(np.arange(60) < 30, 1.0, 3.0)[:, None]
    parameters = {"perplexity": 5, "method": method, "max_iter": 12, "tol": 0}
    parameters["max_dense"] = 0 if method == "fft" else 100
    for order in "CF":
        start = np.array(X[:, :2], order=order)
        here = fitted(X, init=start, **parameters)
        with going(way) as device:
            there = fitted(X, init=start, device=device, **parameters)
        assert there.kl_divergence_ == pytest.approx(here.kl_divergence_, rel=1e-3)
        np.testing.assert_allclose(there.sigma_, here.sigma_, rtol=1e-4)


def test_iterations_are_recorded_only_where_kernels_run(blobs, monkeypatch):
    """In plain PyTorch some wait for the device, which a recording cannot."""

    def refuse(*_):
        raise AssertionError("recorded")

    monkeypatch.setattr("dtsne.forces._recorder_torch.Recorder.repeat", refuse)
    monkeypatch.setattr("dtsne.forces._engine_torch.runs_triton", lambda _: False)
    DTSNE(perplexity=20, device=DEVICE, method="fft", max_iter=60, tol=0).fit(blobs[0])
    monkeypatch.setattr("dtsne.forces._engine_torch.runs_triton", lambda _: True)
    with pytest.raises(AssertionError, match="recorded"):
        DTSNE(perplexity=20, device=DEVICE, method="fft", max_iter=60, tol=0).fit(blobs[0])


@pytest.mark.parametrize("what", ["dense", "sparse", "graph"])
def test_a_spectral_start(rng, what):
    """One cloud, as those of several that do not touch have no order of their own."""
    X, parameters = rng.normal(size=(300, 4)) * [9, 4, 1, 1], {"init": "spectral"}
    if what == "sparse":
        parameters["max_dense"] = 100
    if what == "graph":  # which has no coordinates, and so no other start
        search = NearestNeighbors(n_neighbors=70).fit(X)
        X, parameters = search.kneighbors_graph(mode="distance"), {"metric": "precomputed"}
    starts = []
    compare(X, **parameters, callback=lambda _, kl, Y: starts.append(Y) or True)
    for axis in range(2):  # but for noise, which goes by the order of the points in memory
        assert np.corrcoef(starts[0][:, axis], starts[1][:, axis])[0, 1] > 0.98


def test_few_points_in_three_dimensions(rng):
    """Grids stay small however few points are in their cells."""
    model = DTSNE(n_components=3, method="fft", perplexity=1.2, device=DEVICE, max_iter=5, tol=0)
    sizes = []
    making = TorchNumerics.make_plan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            TorchNumerics,
            "make_plan",
            lambda *given, **named: sizes.append(plan := making(*given, **named)) or plan,
        )
        model.fit(rng.normal(size=(5, 6)))
    assert max(plan.spectra.nbytes for plan in sizes) < 2**27


def test_settings_of_the_process_change_nothing(blobs):
    parameters = {"perplexity": 20, "device": DEVICE, "method": "fft", "max_iter": 20, "tol": 0}
    expected = DTSNE(**parameters).fit_transform(blobs[0])
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        found = DTSNE(**parameters).fit_transform(blobs[0])
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    np.testing.assert_array_equal(found, expected)


def test_a_fit_that_has_no_room_is_refused_before_it_starts(blobs, monkeypatch):
    monkeypatch.setattr("dtsne._cost.free_memory", lambda _: 10**6)
    with pytest.raises(MemoryError, match=r"GiB are free; .*free some memory"):
        DTSNE(perplexity=20, device=DEVICE).fit(blobs[0])


def test_data_that_has_no_room_is_refused_before_it_is_sent(blobs, monkeypatch):
    monkeypatch.setattr("dtsne.data._points_torch.free_memory", lambda _: 1000)
    monkeypatch.setattr("dtsne.data._prepare._as_rows", None)
    with pytest.raises(MemoryError, match=r"X of shape \(400, 4\) on c.* reduce it first"):
        DTSNE(perplexity=20, device=DEVICE).fit(blobs[0])


def test_a_small_fit_needs_little_memory():
    def job(n):
        return Job(
            n=n, d=50, n_components=2, perplexity=30, max_dense=10_000, max_exact=10_000,
            method="auto", n_iter=200, n_threads=1,
        )  # fmt: skip

    assert peak_memory(job(100)) < 2**30
    assert peak_memory(job(20_000), free=2**32) < 3 * 2**30 < peak_memory(job(20_000))


def test_memory_that_runs_out_is_said(blobs, monkeypatch):
    def run_out(*_, **__):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    monkeypatch.setattr("dtsne.neighbors._search_torch.nearest", run_out)
    with pytest.raises(MemoryError, match=r"no memory left .*20\.00 GiB.*device='cpu'"):
        DTSNE(perplexity=20, device=DEVICE).fit(blobs[0])
