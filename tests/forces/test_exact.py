"""The repulsion by a sum over all pairs, by all implementations, against its formulas."""

from __future__ import annotations

import numpy as np
import pytest
from force_ways import TOLERANCES, a_map, assert_close, exact_repulsion, four_numbers
from hypothesis import given
from hypothesis import strategies as st
from ways import all_ways, is_slow

from dtsne.forces import _exact


def by_hand(embedding, scales):
    """Forces of shape (n, 3) and Σ_j w_ij, over all n × n pairs."""
    n, n_axes = embedding.shape
    gamma = 4 / (scales[:, None] + scales) ** 2
    difference = embedding[:, None] - embedding
    w = 1 / (1 + gamma * (difference**2).sum(axis=2))
    np.fill_diagonal(w, 0.0)
    forces = np.zeros((n, 3))
    forces[:, :n_axes] = ((gamma * w**2)[..., None] * difference).sum(axis=1)
    return forces, w.sum(axis=1)


@all_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_forces_and_sums_equal_the_formulas(way, n_axes, monkeypatch):
    if way == "triton":  # in several parts of the columns, and of the rows
        from gpu_ways import kernels

        monkeypatch.setattr(kernels("forces._exact"), "_MIN_PART", 32)
        monkeypatch.setattr(kernels("forces._exact"), "_MAX_PARTIAL_SUMS", 1000)
    for seed in range(1 if is_slow(way) else 10):
        points = a_map(101, n_axes, seed)
        forces, sums = by_hand(*points)
        for rows in (None, np.array([100, 3, 3, 64])):
            some = slice(None) if rows is None else rows
            found, found_sums = exact_repulsion(way, *points, rows)
            assert_close(found, forces[some], TOLERANCES[way])
            np.testing.assert_allclose(found_sums, sums[some], rtol=TOLERANCES[way])


def test_normaliser_is_the_sum_over_all_pairs():
    embedding, scales = a_map(50, 2, 0)
    coordinates = np.vstack([embedding.T, np.zeros(50)])
    forces, normaliser = _exact.exact_repulsion(coordinates, scales)
    expected, sums = by_hand(embedding, scales)
    assert_close(forces.T, expected, 1e-10)
    assert normaliser == pytest.approx(sums.sum(), rel=1e-10)


@all_ways
def test_sum_of_a_lonely_point_keeps_its_digits(way, rng):
    # Its own w = 1 is a million times the rest.
    points = 1000 * rng.normal(size=(40, 2)), np.full(40, 0.5)
    _, expected = by_hand(*points)
    assert expected.min() < 1e-4
    np.testing.assert_allclose(exact_repulsion(way, *points)[1], expected, rtol=1e-5)


@all_ways
def test_two_runs_give_the_same_bits(way):
    points = a_map(37, 2, 0)
    for one, other in zip(
        exact_repulsion(way, *points), exact_repulsion(way, *points), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@given(n_axes=st.integers(1, 3), seed=st.integers(0, 999))
def test_double_precision_on_a_device(n_axes, seed):
    torch = pytest.importorskip("torch")
    from dtsne.forces._exact_torch import exact_repulsion as on_any_device

    embedding, scales = a_map(50, n_axes, seed)
    forces, sums = by_hand(embedding, scales)
    found, found_sums = on_any_device(four_numbers(embedding, scales), n_axes=n_axes)
    assert (found.dtype, found_sums.dtype) == (torch.float64, torch.float64)
    assert_close(found, forces, 1e-10)
    np.testing.assert_allclose(found_sums, sums, rtol=1e-10)


def test_plain_sums_are_the_same_in_any_chunks(monkeypatch):
    pytest.importorskip("torch")
    from dtsne.forces import _exact_torch

    points = four_numbers(*a_map(40, 2, 0))
    at_once = _exact_torch.exact_repulsion(points)
    monkeypatch.setattr(_exact_torch, "_PAIRS_AT_ONCE", 150)
    for one, other in zip(_exact_torch.exact_repulsion(points), at_once, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_parts_of_the_columns_are_whole_tiles_and_short_enough():
    pytest.importorskip("torch")
    from gpu_ways import kernels

    summing = kernels("forces._exact")
    for n in (5, 300, 10_000, 70_000, 1_000_000):
        length = summing._length_of_parts(n, n)
        assert length % summing._COLUMNS == 0
        assert length <= summing._MAX_PART
