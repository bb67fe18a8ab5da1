"""What comes in: tensors of all kinds and libraries, wide data, starts; and the same kind out."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from sklearn.decomposition import PCA

from dtsne import DTSNE
from dtsne._config import Config
from dtsne.optimize._checkpoint import identity_of
from dtsne.runtime._arrays import is_on_device, output_format

torch = pytest.importorskip("torch")
from dtsne.data._points_torch import (  # noqa: E402
    DevicePoints,
    HostData,
    principal_components,
)
from dtsne.data._prepare import prepare  # noqa: E402

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
QUICK = {"perplexity": 10, "device": DEVICE, "max_iter": 5, "tol": 0}


@pytest.fixture(name="X")
def drawn(rng):
    return rng.normal(size=(60, 6)) * [5, 4, 3, 2, 1, 1]


class Foreign:
    """An array of another library, which speaks DLPack."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.device, self.dtype, self.shape = tensor.device, tensor.dtype, tensor.shape

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_arrays_of_another_library_come_back_as_such(X, monkeypatch):
    library = types.ModuleType("cupyish")
    library.from_dlpack = Foreign
    monkeypatch.setitem(sys.modules, "cupyish", library)
    monkeypatch.setattr(Foreign, "__module__", "cupyish._core")
    given = Foreign(torch.tensor(X, device=DEVICE))
    model = DTSNE(**QUICK).fit(given)
    assert isinstance(model.embedding_, Foreign)
    assert isinstance(model.sigma_, Foreign)
    assert model.embedding_.device == given.device
    np.testing.assert_array_equal(
        model.embedding_.tensor.cpu(), DTSNE(**QUICK).fit(given.tensor).embedding_.cpu()
    )


def test_a_library_that_says_what_its_namespace_is(X, monkeypatch):
    """As JAX, whose arrays are of a module that has no functions."""
    namespace = types.SimpleNamespace(from_dlpack=Foreign)
    monkeypatch.setattr(Foreign, "__array_namespace__", lambda self: namespace, raising=False)
    monkeypatch.setattr(Foreign, "__module__", "jaxlib._jax")
    assert isinstance(DTSNE(**QUICK).fit_transform(Foreign(torch.tensor(X))), Foreign)


def test_a_library_without_a_way_back_is_refused_before_the_work(X, monkeypatch):
    monkeypatch.setattr(Foreign, "__module__", "math")
    monkeypatch.setattr("dtsne._embed.prepare", None)
    with pytest.raises(TypeError, match=r"X is a math\.Foreign.* PyTorch, CuPy or JAX"):
        DTSNE(**QUICK).fit(Foreign(torch.tensor(X)))


def test_tensors_go_back_to_where_they_came_from(X):
    class Own(torch.Tensor):
        """As other packages derive from PyTorch's."""

    given = torch.tensor(X).as_subclass(Own).requires_grad_()
    Y = DTSNE(**QUICK).fit_transform(given)
    assert isinstance(Y, torch.Tensor)
    assert Y.device == given.device == torch.device("cpu")
    assert not Y.requires_grad


def test_memory_that_a_gpu_reads_directly_is_that_of_the_host():
    class Pinned(Foreign):
        def __dlpack_device__(self):
            return (3, 0)

    assert not is_on_device(Pinned(torch.zeros(3)))
    assert output_format(np.zeros((3, 2)), np.zeros((3, 2))).from_tensor is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("device", ["cpu", DEVICE])
def test_halves_are_taken(X, dtype, metric, device):
    given = torch.tensor(X).to(dtype)
    model = DTSNE(**{**QUICK, "device": device}, metric=metric)
    Y = model.fit_transform(given)
    assert Y.dtype == torch.float32
    assert torch.equal(Y, DTSNE(**model.get_params()).fit_transform(given.float()))


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors_are_refused(X):
    for given in (torch.tensor(X).to_sparse(), torch.tensor(X).to_sparse_csr()):
        with pytest.raises(TypeError, match=r"to_dense\(\)"):
            DTSNE(**QUICK).fit(given)


def test_a_start_may_be_a_tensor(X):
    start = torch.tensor(X[:, :2], device=DEVICE, requires_grad=True)
    expected = DTSNE(**QUICK, init=X[:, :2]).fit_transform(X)
    np.testing.assert_array_equal(DTSNE(**QUICK, init=start).fit_transform(X), expected)


def test_a_start_is_refused_before_the_work(X, monkeypatch):
    monkeypatch.setattr("dtsne._embed.prepare", None)
    with pytest.raises(ValueError, match="init has shape"):
        DTSNE(**QUICK, init=X).fit(X)


@pytest.mark.parametrize(("n", "d"), [(80, 40), (80, 2500), (300, 2100)])
def test_principal_components_are_those_of_the_cpu(rng, n, d):
    X = (rng.normal(size=(n, 5)) * [9, 7, 5, 3, 2]) @ rng.normal(size=(5, d))
    X += 0.01 * rng.normal(size=(n, d))
    found = principal_components(torch.tensor(X, dtype=torch.float32, device=DEVICE), 4)
    expected = PCA(4, svd_solver="full").fit_transform(X)
    signs = np.sign((found.cpu().numpy() * expected).sum(axis=0))
    np.testing.assert_allclose(found.cpu().numpy() * signs, expected, atol=2e-4 * expected.std())


def test_a_checkpoint_knows_the_data_that_it_is_of(X, rng):
    """Also of data that the host keeps for the device, which is large."""
    others = np.vstack([X] * 30) + 0.1 * rng.normal(size=(1800, 6))
    changed = others.copy()
    changed[900] += 1.0
    for parameters in ({"metric": "manhattan"}, {"metric": "euclidean"}):
        data, same, other = (
            prepare(values, n_pcs=None, device=DEVICE, **parameters)
            for values in (others, others.copy(), changed)
        )
        expected = HostData if parameters["metric"] == "manhattan" else DevicePoints
        assert isinstance(data, expected)
        assert len({identity_of(one, Config())["data"] for one in (data, same)}) == 1
        assert identity_of(data, Config()) != identity_of(other, Config())
