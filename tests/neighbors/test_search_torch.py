"""The search in plain PyTorch, and its kernels under Triton's interpreter where there is no GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import gpu_ways
import numpy as np
import pytest
from gpu_ways import DEVICE, torch

from dtsne.neighbors import _batches_torch, _ivf_torch, _search_torch
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.neighbors._search_torch import nearest, peak_bytes
from dtsne.runtime._errors import ParameterError


def by_torch_sort(lists, batch, keys, indices, distances):
    """Stand in for a kernel that the interpreter takes a second a row for."""
    rows = lists.order[batch.first : batch.first + batch.n_rows].long()
    nearest_keys = keys.sort(dim=1).values[:, : indices.shape[1]]
    indices[rows], distances[rows] = _ivf_torch.unpack(nearest_keys)


@pytest.fixture(name="kernels")
def by_kernels(monkeypatch):
    """The module of kernels, which every search then uses."""
    kernels = gpu_ways.kernels("neighbors._search")
    if DEVICE == "cpu":
        # The interpreter takes time for each program, not for what that works on.
        monkeypatch.setattr(kernels, "_ROWS_AT_ONCE", 128)
        monkeypatch.setattr(kernels, "_KEYS_AT_ONCE", 256)
        monkeypatch.setattr(kernels, "_TILES", 2)
        monkeypatch.setattr(kernels, "_write_nearest", by_torch_sort)
    with gpu_ways.going("triton", without=()):
        yield kernels


@pytest.fixture(params=["plain", "kernels"])
def way(request):
    """Run a test in plain PyTorch, and with the kernels."""
    if request.param == "kernels":
        request.getfixturevalue("kernels")
    return request.param


def clustered(rng, n, d):
    centres = 5 * rng.normal(size=(n // 50, d))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, d))


def search(X, k, **options):
    indices, distances, recall = nearest(torch.as_tensor(X, device=DEVICE), k, **options)
    assert indices.dtype == torch.int32
    assert distances.dtype == torch.float32
    return indices.cpu().numpy(), distances.cpu().numpy(), recall


def assert_equal_to_cpu(X, k):
    X = np.ascontiguousarray(X, dtype=np.float32)
    indices, distances, recall = search(X, k)
    expected, expected_distances = nearest_neighbors(X, k)
    assert recall == 1.0
    np.testing.assert_allclose(distances, expected_distances, rtol=2e-7)
    # Distances that differ in float64 alone are in order of their index.
    expected_distances = expected_distances.astype(np.float32)
    order = np.lexsort((expected, expected_distances), axis=-1)
    within = expected_distances < expected_distances[:, -1:]
    np.testing.assert_array_equal(
        np.where(within, indices, -1), np.where(within, np.take_along_axis(expected, order, 1), -1)
    )
    assert_in_order(indices, distances)


def assert_in_order(indices, distances):
    assert (np.diff(distances, axis=1) >= 0).all()
    ties = np.diff(distances, axis=1) == 0
    assert (np.diff(indices, axis=1)[ties] > 0).all()
    assert not (indices == np.arange(len(indices))[:, None]).any()


@pytest.mark.parametrize(("n", "d", "k"), [(320, 10, 20), (270, 70, 40), (270, 1, 5), (90, 3, 89)])
def test_equals_the_cpu(way, rng, n, d, k):
    assert_equal_to_cpu(clustered(rng, n, d), k)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("kind", ["far", "narrow", "outliers", "copies", "rhythm", "huge"])
def test_equals_the_cpu_on_awkward_data(way, rng, kind):
    X = rng.normal(size=(300, 4))
    if kind == "far":
        X = 1e4 + 0.1 * X
    elif kind == "narrow":
        X = 1e3 * X[np.arange(300) // 50] + 1e-4 * X
    elif kind == "outliers":
        X[::40] *= 1e6
    elif kind == "copies":
        # More than are kept of a row (256), and fewer than neighbours.
        X[20:285] = X[0]
        X[285:295] = X[-1]
    elif kind == "rhythm":
        X = 100 * X[np.arange(300) % 6] + X
    else:
        X *= 1e25
    assert_equal_to_cpu(X, 30)


def test_most_rows_need_no_second_look(kernels, rng):
    """The bound from a sample holds enough points, and not too many."""
    points = torch.as_tensor(clustered(rng, 600, 6).astype(np.float32), device=DEVICE)
    indices = torch.empty((600, 30), dtype=torch.int32, device=DEVICE)
    distances = torch.empty((600, 30), device=DEVICE)
    itself = torch.zeros((1, 1), dtype=torch.int32, device=DEVICE)
    sure = kernels.search(_ivf_torch.one_cell(points), itself, indices, distances, 2**20)
    assert sure.float().mean() > 0.98


@pytest.mark.parametrize("k", [1, 30, 90, 150, 300, 500, 1000, 2700])
def test_capacity_is_for_all_but_one_row_in_a_thousand(rng, k):
    """As if points were independent: those within a value of the sample are a gamma variate."""
    capacity = _batches_torch.capacity_for(k)
    rank = int(capacity.rank(torch.tensor([capacity.every])))
    within = capacity.every * rng.gamma(rank, size=100_000)
    assert capacity.kept <= _batches_torch.MAX_KEPT
    assert np.mean((within < k + 1) | (within > capacity.kept)) < 1e-3
    assert capacity.rank(torch.tensor([1])) > k


def test_small_batches_give_the_same(kernels, rng, monkeypatch):
    X = clustered(rng, 300, 5).astype(np.float32)
    whole = search(X, 12)
    monkeypatch.setattr(_search_torch, "_MAX_SCRATCH", 2**19)
    for a, b in zip(whole, search(X, 12), strict=True):
        np.testing.assert_array_equal(a, b)


def test_too_many_neighbors_for_the_kernels(kernels, rng, monkeypatch):
    monkeypatch.setattr(_search_torch, "MAX_KEPT", 128)
    assert_equal_to_cpu(rng.normal(size=(80, 3)), 60)


def test_kernel_sorts_keys(kernels):
    """Two rows alone, of which the second is first in the result."""
    keys = torch.tensor([[5 << 32 | 3, 5 << 32 | 1, 0, 2**63 - 1], [9, 8, 7, 6]], device=DEVICE)
    order = torch.tensor([1, 0], dtype=torch.int32, device=DEVICE)
    indices = torch.empty((2, 3), dtype=torch.int32, device=DEVICE)
    distances = torch.empty((2, 3), device=DEVICE)
    kernels._keep_nearest[(1,)](
        keys, order, indices, distances, 0, 2, 3, KEPT=4, ROWS=2, num_warps=1
    )
    np.testing.assert_array_equal(indices.cpu(), [[6, 7, 8], [0, 1, 3]])
    np.testing.assert_array_equal(distances.cpu().view(torch.int32), [[0, 0, 0], [0, 5, 5]])


COMPILE = """
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

from dtsne.neighbors import _search_triton as kernels

TYPES = {"*fp32": "points centres bounds samples distances", "i32": "first_row n_rows n_blocks "
         "n_candidates stride k", "*i64": "table rows keys"}
TYPES = {name: type_ for type_, names in TYPES.items() for name in names.split()}
TILE = dict(WIDTH=96, FEATURES=32, PRECISION=kernels._PRECISION, ROWS=64, COLUMNS=128, TILES=2)
for kernel, constants, types in (
    (kernels._compare, dict(TILE, SAMPLED=False), {}),
    (kernels._compare, dict(TILE, SAMPLED=True, WIDTH=32), {"output": "*fp32"}),
    (kernels._choose_bounds, dict(SIZE=256, ROWS=1), {}),
    (kernels._collect, dict(KEPT=256, ROWS=1, WORDS=128, COLUMNS=128), {}),
    (kernels._make_keys, dict(WIDTH=64, FEATURES=64, ROWS=1, BLOCK=32), {}),
    (kernels._keep_nearest, dict(KEPT=16, ROWS=1), {}),
):
    names = kernel.arg_names
    signature = {n: "constexpr" if n in constants else "*i32" for n in names}
    signature |= {n: TYPES[n] for n in names if n in TYPES} | types
    places = {(names.index(n),): value for n, value in constants.items()}
    compile(ASTSource(kernel, signature, places), target=GPUTarget("cuda", 90, 32))
"""


@pytest.mark.integration
def test_kernels_compile_for_a_gpu(tmp_path):
    """The interpreter takes more than the compiler does, which needs no GPU."""
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True)


# Beyond so many points, all of these tests use lists.
BY_LISTS = {"max_exact": 100}


def test_recall_is_raised_until_it_holds(rng, monkeypatch):
    monkeypatch.setattr(_search_torch, "cells_to_visit", lambda *_: 1)
    X = clustered(rng, 1000, 3).astype(np.float32)
    assert 0.95 <= search(X, 10, recall=0.95, **BY_LISTS)[2] < 1.0


def test_lists_that_find_too_little_give_way_to_all_pairs(rng):
    """In many dimensions without clusters, neighbours are in all cells."""
    X = rng.normal(size=(300, 60)).astype(np.float32)
    indices, _, recall = search(X, 100, **BY_LISTS)
    assert recall == 1.0
    np.testing.assert_array_equal(indices[:5], nearest_neighbors(X, 100)[0][:5])


def test_kernels_find_the_same_in_lists(kernels, rng, monkeypatch):
    """Cells of many sizes: of none, of fewer points than neighbours, of more than one block."""
    X = torch.as_tensor(clustered(rng, 350, 5).astype(np.float32), device=DEVICE)
    sizes = torch.tensor([90, 0, 6, 130, 64, 60], device=DEVICE)
    order = X[:, 0].argsort()
    starts = torch.cat((sizes.new_zeros(1), sizes.cumsum(0)))
    points = _ivf_torch.one_cell(X[order]).points
    lists = _ivf_torch.Lists(points, order.int(), starts, points[(starts[:-1]).clamp_max(349)])
    visited = _ivf_torch.nearest_cells(lists, 4, scratch=2**20)
    results = []
    for runs in (True, False):
        if not runs:
            monkeypatch.setattr(_search_torch, "search", _search_torch.search.__wrapped__)
        indices = torch.empty((350, 15), dtype=torch.int32, device=DEVICE)
        distances = torch.empty((350, 15), device=DEVICE)
        _search_torch._search(lists, visited, indices, distances, 2**31)
        results.append((indices.cpu(), distances.cpu()))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_lists_hold_every_point_once(rng):
    X = torch.as_tensor(clustered(rng, 500, 7).astype(np.float32), device=DEVICE)
    lists, of_row = _ivf_torch.divide(X, scratch=2**16)
    assert torch.equal(lists.order.long().sort().values, torch.arange(500, device=DEVICE))
    assert torch.equal(lists.points[:, :7], X[lists.order.long()])
    assert not lists.points[:, 7:].any()
    cells = torch.arange(len(lists.centres), device=DEVICE)
    assert torch.equal(cells.repeat_interleave(lists.sizes), of_row[lists.order.long()])
    # Any two cells, one after the other.
    some = of_row[:2]
    expected = torch.cat([(of_row[lists.order.long()] == cell).nonzero()[:, 0] for cell in some])
    assert torch.equal(lists.columns(some).long(), expected)


def test_halves_are_exact_and_fit_into_tf32(rng):
    X = torch.as_tensor(rng.normal(size=(50, 4)).astype(np.float32))
    high, low, squares = _search_torch._halves(X)
    assert torch.equal(high + low, X)
    assert not (high.view(torch.int32) & 0x1FFF).any()
    np.testing.assert_allclose(squares, (X.double() ** 2).sum(dim=1), rtol=1e-6)


def test_memory_grows_with_the_result():
    assert peak_bytes(5_000_000, 50, 300) > 8 * 5_000_000 * 300
    assert peak_bytes(5_000_000, 50, 300) < 2**35
    assert peak_bytes(200_000, 50, 30) < peak_bytes(200_001, 50, 30)
    assert peak_bytes(1000, 50, 30) < peak_bytes(1000, 2000, 30) < peak_bytes(1000, 2000, 300)


@pytest.mark.parametrize("k", [0, 20])
def test_impossible_number_of_neighbors(k):
    with pytest.raises(ParameterError) as error:
        nearest(torch.zeros((20, 3)), k)
    assert error.value.allowed.endswith("from 1 to 19")
