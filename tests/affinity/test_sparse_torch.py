"""What only a device does: lists in ranges, merging in blocks, rows in shares of equal work."""

from __future__ import annotations

import numpy as np
from gpu_ways import DEVICE, kernels, torch
from hypothesis import given
from hypothesis import strategies as st

from dtsne.affinity import _affinities, _sparse_torch
from dtsne.affinity._sparse_torch import PROGRAMS_PER_PROCESSOR, cut_rows, peak_bytes, rows_at_once
from dtsne.neighbors._exact import nearest_neighbors


def lists(n: int, k: int, copies: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours and squared distances not quite the same both ways, with a hub and an outlier."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:copies] = X[0]
    X[-1] = 0
    X[-2] = 20
    indices, distances = nearest_neighbors(X, k)
    squared = np.square(distances * rng.uniform(0.99, 1.01, size=distances.shape))
    return indices.astype(np.int32), squared.astype(np.float32)


def as_tensors(*arrays: np.ndarray) -> list[torch.Tensor]:
    return [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]


@given(
    n=st.integers(12, 60),
    k=st.integers(1, 11),
    copies=st.integers(0, 4),
    seed=st.integers(0, 99),
    max_sorted=st.sampled_from([10**9, 100, 7]),
)
def test_graph_by_ranges_is_that_of_the_cpu_to_the_last_bit(n, k, copies, seed, max_sorted):
    indices, squared = lists(n, k, copies, seed)
    found = _sparse_torch.symmetric_graph(*as_tensors(indices, squared), max_sorted=max_sorted)
    for tensor, array, dtype in zip(
        found,
        _affinities.symmetric_graph(indices, squared),
        [torch.int64, torch.int32, torch.float32],
        strict=True,
    ):
        assert tensor.dtype == dtype
        np.testing.assert_array_equal(tensor, array)


def test_kernels_merge_the_lists_to_the_same_bits(monkeypatch):
    merging = kernels("affinity._sparse")
    monkeypatch.setattr(merging, "_MERGED_AT_ONCE", 8)
    monkeypatch.setattr(merging, "_RANKED_AT_ONCE", 8)
    indices, squared = as_tensors(*lists(24, 9))
    incoming = _sparse_torch._transposed(indices, squared)
    assert incoming[0].diff().min() == 0  # a point that is in nobody's list
    assert incoming[0].diff().max() > 16  # and one in the lists of many
    expected = _sparse_torch.union.__wrapped__(indices, squared, *incoming)
    found = merging.union(*(tensor.to(DEVICE) for tensor in (indices, squared, *incoming)))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.cpu(), other)


def test_lists_of_five_million_points_fit_a_large_device():
    assert peak_bytes(5_000_000, 300) < 64e9
    few, many = peak_bytes(70_000, 300), peak_bytes(140_000, 300)
    assert few < 1e9
    assert many == 2 * few


def test_kernels_put_the_same_affinities(monkeypatch):
    putting = kernels("affinity._sparse")
    monkeypatch.setattr(putting, "_ENTRIES_AT_ONCE", 8)
    monkeypatch.setattr(putting, "_WARPS", 1)
    indices, squared, sigmas = as_tensors(
        *lists(40, 7), np.random.default_rng(1).uniform(0.3, 2, size=40)
    )
    squared[5] *= 1e4  # all of whose exponentials would be 0 without the shift
    expected = _sparse_torch.sparse_affinities(indices, squared, sigmas)
    graph = _sparse_torch.symmetric_graph(indices, squared)
    found = _sparse_torch.SparseAffinities(*(tensor.to(DEVICE) for tensor in graph))
    putting.put_affinities(found, sigmas.to(DEVICE))
    np.testing.assert_allclose(found.values.cpu(), expected.values, rtol=1e-6)


@given(lengths=st.lists(st.integers(0, 60), min_size=1, max_size=30), hub=st.integers(0, 9000))
def test_pieces_are_the_rows_in_their_order_and_none_too_long(lengths, hub):
    lengths = np.array([*lengths, hub, *lengths])
    row_starts = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)]))
    pieces = cut_rows(row_starts, n_processors=1)
    n_programs = PROGRAMS_PER_PROCESSOR
    assert pieces.starts[-1] == row_starts[-1]
    longest = max(_sparse_torch._MIN_CUT, int(row_starts[-1]) // n_programs)
    assert pieces.starts.diff().min() >= 0
    assert pieces.starts.diff().max() <= longest
    if hub > longest:
        assert torch.equal(pieces.starts[pieces.firsts.long()], row_starts)
        starts_of_rows = row_starts[pieces.rows.long()]
        assert (pieces.starts[:-1] >= starts_of_rows).all()
        assert (pieces.rows.diff() >= 0).all()
    else:
        assert pieces.rows is None
        assert torch.equal(pieces.starts, row_starts)
    shares = pieces.shares
    assert len(shares) == n_programs + 1
    assert shares[0] == 0
    assert shares[-1] == len(pieces.starts) - 1
    assert (shares.diff() >= 0).all()


def test_shares_are_of_equal_work(rng):
    row_starts = torch.from_numpy(np.concatenate([[0], np.cumsum(rng.integers(300, 900, 5000))]))
    pieces = cut_rows(row_starts, n_processors=2)
    entries = pieces.starts[pieces.shares.long()].diff()
    assert entries.max() < 1.1 * entries.double().mean()


@given(lengths=st.lists(st.integers(0, 20), min_size=1, max_size=30), n_entries=st.integers(1, 40))
def test_rows_at_once_are_all_rows_and_not_too_many(lengths, n_entries):
    row_starts = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)]))
    ranges = rows_at_once(row_starts, n_entries)
    assert [first for first, *_ in ranges] == [0, *(last for _, last, *_ in ranges[:-1])]
    assert ranges[-1][1] == len(lengths)
    for first, last, begin, end in ranges:
        assert (begin, end) == (row_starts[first], row_starts[last])
        assert end - begin <= n_entries or last == first + 1
