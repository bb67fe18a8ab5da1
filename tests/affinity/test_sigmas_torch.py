from __future__ import annotations

import numpy as np
import pytest
from gpu_ways import DEVICE, kernels, torch
from hypothesis import given
from hypothesis import strategies as st

from dtsne.affinity import _base as on_cpu
from dtsne.affinity import _sigmas_torch as _sigmas
from dtsne.data._distances import pairwise_squared_distances


def rows_of_all_kinds(k: int, seed: int = 0) -> np.ndarray:
    """Rows over twelve decades, with copies, too many copies, and equidistant points."""
    rng = np.random.default_rng(seed)
    size = 10 ** rng.uniform(-6, 6, size=(9, 1))
    spread = rng.uniform(0.01, 3, size=(9, 1))
    rows = size * np.exp(spread * rng.normal(size=(9, k)))
    rows[1, : k // 2] = 0
    rows[4] = 2.5
    rows[6, :3] = 0
    return rows.astype(np.float32)


@given(
    scale=st.floats(-6, 6),
    spread=st.floats(0.01, 3),
    perplexity=st.floats(2, 60),
    seed=st.integers(0, 999),
)
def test_sigmas_are_those_of_the_cpu(scale, spread, perplexity, seed):
    rng = np.random.default_rng(seed)
    squared = (10.0**scale * np.exp(spread * rng.normal(size=(3, 200)))).astype(np.float32)
    found = _sigmas.find_sigmas(torch.from_numpy(squared), perplexity)
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found, on_cpu.find_sigmas(squared, perplexity), rtol=1e-6)


def test_copies_and_equidistant_points_get_what_they_get_on_the_cpu():
    squared = rows_of_all_kinds(40)
    found = _sigmas.find_sigmas(torch.from_numpy(squared), 8.0).numpy()
    np.testing.assert_allclose(found, on_cpu.find_sigmas(squared, 8.0), rtol=1e-6)
    assert found[1] == 0
    assert found[4] == pytest.approx(np.sqrt(2.5))
    assert found[6] > 0


@pytest.mark.parametrize("entries_at_once", [2**22, 100])
def test_diagonal_is_left_out_of_a_square_matrix(rng, monkeypatch, entries_at_once):
    monkeypatch.setattr(_sigmas, "_ENTRIES_AT_ONCE", entries_at_once)
    squared = pairwise_squared_distances(rng.normal(size=(31, 4)))
    found = _sigmas.find_sigmas(torch.from_numpy(squared), 5.0, skip_diagonal=True)
    np.testing.assert_allclose(
        found, on_cpu.find_sigmas(squared, 5.0, skip_diagonal=True), rtol=1e-6
    )


@pytest.mark.parametrize("k", [17, 32, 300])
def test_kernel_finds_the_same_sigmas(k):
    squared = torch.from_numpy(rows_of_all_kinds(k))
    found = kernels("affinity._sigmas").find_sigmas(squared.to(DEVICE), 8.0).cpu()
    np.testing.assert_allclose(found, _sigmas.find_sigmas_plainly(squared, 8.0), rtol=1e-6)


def test_kernel_leaves_the_diagonal_out(rng):
    squared = torch.from_numpy(pairwise_squared_distances(rng.normal(size=(21, 4))))
    found = (
        kernels("affinity._sigmas").find_sigmas(squared.to(DEVICE), 5.0, skip_diagonal=True).cpu()
    )
    expected = _sigmas.find_sigmas_plainly(squared, 5.0, skip_diagonal=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
