"""The attractive half of the objective, by all implementations, against its formulas."""

from __future__ import annotations

import numpy as np
import pytest
from force_ways import (
    TOLERANCES,
    a_map,
    assert_close,
    attraction,
    four_numbers,
    on_device,
    some_affinities,
)
from hypothesis import given
from hypothesis import strategies as st
from ways import all_ways, is_slow

from dtsne.affinity._base import DenseAffinities
from dtsne.forces._attraction import _log


def by_hand(affinities, embedding, scales):
    """Forces of shape (n, 3) and the cost, over all n × n pairs."""
    n, n_axes = embedding.shape
    P = np.zeros((n, n))
    if isinstance(affinities, DenseAffinities):
        P = affinities.values
    else:  # of which some pairs come twice
        rows = np.repeat(np.arange(n), np.diff(affinities.row_starts))
        np.add.at(P, (rows, affinities.columns), affinities.values)
    gamma = 4 / (scales[:, None] + scales) ** 2
    difference = embedding[:, None] - embedding
    w = 1 / (1 + gamma * (difference**2).sum(axis=2))
    forces = np.zeros((n, 3))
    forces[:, :n_axes] = ((P * gamma * w)[..., None] * difference).sum(axis=1)
    return forces, float((P * np.log(1 / w)).sum())


@all_ways
@pytest.mark.parametrize("with_cost", [True, False])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_forces_and_cost_equal_the_formulas(way, n_axes, dense, with_cost):
    for seed in range(1 if is_slow(way) else 10):
        affinities = some_affinities(37, seed, dense=dense)
        points = a_map(37, n_axes, seed)
        forces, cost = by_hand(affinities, *points)
        found, found_cost = attraction(way, affinities, *points, with_cost=with_cost)
        assert_close(found, forces, TOLERANCES[way])
        assert (found_cost is not None) == with_cost
        if with_cost:
            assert found_cost == pytest.approx(cost, rel=TOLERANCES[way])


@all_ways
@pytest.mark.parametrize("max_piece", [2048, 40], ids=["whole rows", "rows that are cut"])
def test_hubs_and_empty_rows(way, monkeypatch, max_piece):
    if way == "triton":
        from gpu_ways import kernels

        from dtsne.affinity import _sparse_torch

        monkeypatch.setattr(_sparse_torch, "_MIN_CUT", max_piece)
        monkeypatch.setattr(kernels("forces._attraction"), "_TILE", 32)
        monkeypatch.setattr(kernels("forces._attraction"), "_JOINED_AT_ONCE", 8)
    lengths = np.array([0, 0, 5, 32, 299, 0, 1, 33, 64, 70, 0])
    affinities = some_affinities(11, 0, dense=False, lengths=lengths)
    if way == "triton":
        import torch

        is_cut = on_device(affinities, torch.float32).pieces.rows is not None
        assert is_cut == (max_piece == 40)
    points = a_map(11, 2, 0)
    forces, cost = by_hand(affinities, *points)
    found, found_cost = attraction(way, affinities, *points)
    assert_close(found, forces, TOLERANCES[way])
    assert (found[lengths == 0] == 0).all()
    assert found_cost == pytest.approx(cost, rel=TOLERANCES[way])


@all_ways
def test_two_runs_give_the_same_bits(way):
    affinities, points = some_affinities(37, 0, dense=False), a_map(37, 2, 0)
    (forces, cost), (again, cost_again) = (attraction(way, affinities, *points) for _ in range(2))
    np.testing.assert_array_equal(forces, again)
    assert cost == cost_again


@given(n_axes=st.integers(1, 3), dense=st.booleans(), seed=st.integers(0, 999))
def test_double_precision_on_a_device(n_axes, dense, seed):
    torch = pytest.importorskip("torch")
    from dtsne.forces._attraction_torch import attraction as on_any_device

    affinities = some_affinities(40, seed, dense=dense)
    embedding, scales = a_map(40, n_axes, seed)
    forces, cost = by_hand(affinities, embedding, scales)
    found, found_cost = on_any_device(
        on_device(affinities, torch.float64), four_numbers(embedding, scales), n_axes=n_axes,
        with_cost=True,
    )  # fmt: skip
    assert found.dtype == torch.float64
    assert_close(found, forces, 1e-10)
    assert float(found_cost) == pytest.approx(cost, rel=1e-10)


@pytest.mark.parametrize("dense", [True, False])
def test_plain_sums_are_the_same_in_any_chunks(monkeypatch, dense):
    torch = pytest.importorskip("torch")
    from dtsne.affinity import _sparse_torch
    from dtsne.forces import _attraction_torch

    affinities, points = some_affinities(40, 0, dense=dense), four_numbers(*a_map(40, 2, 0))
    results = []
    for _ in range(2):
        there = on_device(affinities, torch.float64)
        results.append(_attraction_torch.attraction(there, points, with_cost=True))
        monkeypatch.setattr(_attraction_torch, "_PAIRS_AT_ONCE", 500)
        monkeypatch.setattr(_sparse_torch, "_MAX_ENTRIES", 100)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@given(st.floats(1, 1e300))
def test_vector_logarithm(x):
    assert _log(x) == pytest.approx(np.log(x), rel=1e-12, abs=1e-12)
