"""Forces by each implementation, from and to arrays of numpy in order of the points."""

from __future__ import annotations

from typing import Any

import numpy as np
from ways import device_for

from dtsne.affinity._base import DenseAffinities, SparseAffinities
from dtsne.forces import _attraction, _exact

# What float32 leaves of the forces; numba works in the precision of P.
TOLERANCES = {"numba": 1e-10, "twin": 1e-5, "triton": 1e-5}


def a_map(n: int, n_axes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of shape (n, n_axes) and scales over three decades, with some duplicates."""
    rng = np.random.default_rng(seed)
    embedding = (rng.normal(size=(n_axes, n)) * 10 ** rng.uniform(-1, 1.5, size=n)).T
    embedding[1] = embedding[0]
    return embedding - embedding.mean(axis=0), 10 ** rng.uniform(-1.5, 1.5, size=n)


def some_affinities(n: int, seed: int, *, dense: bool, lengths: Any = None) -> Any:
    """P of any numbers in float64: no force needs it to be symmetric, or to sum to 1."""
    rng = np.random.default_rng(seed)
    if dense:
        values = rng.random((n, n)) / n**2
        np.fill_diagonal(values, 0.0)
        return DenseAffinities(values)
    lengths = rng.integers(0, n, size=n) if lengths is None else np.asarray(lengths)
    row_starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = rng.integers(0, n, size=row_starts[-1]).astype(np.int32)
    return SparseAffinities(row_starts, columns, rng.random(row_starts[-1]) / n**2)


def padded(embedding: np.ndarray) -> np.ndarray:
    """Coordinates of shape (3, n), as the CPU has them."""
    coordinates = np.zeros((3, len(embedding)))
    coordinates[: embedding.shape[1]] = embedding.T
    return coordinates


def four_numbers(embedding: np.ndarray, scales: np.ndarray) -> Any:
    """(2y, s) of every point, as devices have them, in float64."""
    import torch

    return torch.from_numpy(np.vstack([2 * padded(embedding), scales]).T.copy())


def on_device(affinities: Any, dtype: Any, device: Any = "cpu") -> Any:
    """Return P as tensors."""
    import torch

    from dtsne.affinity import _sparse_torch

    values = torch.from_numpy(affinities.values).to(device, dtype)
    if isinstance(affinities, DenseAffinities):
        return DenseAffinities(values)
    return _sparse_torch.SparseAffinities(
        torch.from_numpy(affinities.row_starts).to(device),
        torch.from_numpy(affinities.columns).to(device),
        values,
    )


def attraction(
    way: str, affinities: Any, embedding: np.ndarray, scales: np.ndarray, *, with_cost: bool = True
) -> tuple[np.ndarray, float | None]:
    """Forces of shape (n, 3), and the cost."""
    with device_for(way) as device:
        if device is None:
            found, cost = _attraction.attraction(
                affinities, padded(embedding), scales, with_cost=with_cost
            )
            return found.T, cost
        import torch

        from dtsne.forces import _attraction_torch

        forces, cost_there = _attraction_torch.attraction(
            on_device(affinities, torch.float32, device),
            four_numbers(embedding, scales).float().to(device),
            n_axes=embedding.shape[1],
            with_cost=with_cost,
        )
        assert forces.dtype == torch.float32
        assert cost_there is None or cost_there.dtype == torch.float64
        return forces.cpu().numpy(), None if cost_there is None else float(cost_there)


def exact_repulsion(
    way: str, embedding: np.ndarray, scales: np.ndarray, rows: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Forces of shape (n, 3), and each point's share of Z."""
    with device_for(way) as device:
        if device is None:
            every = np.arange(len(scales)) if rows is None else np.asarray(rows)
            forces, sums = _exact.repulsion_of_rows(every, padded(embedding), scales)
            return forces.T, sums
        import torch

        from dtsne.forces import _exact_torch

        points = four_numbers(embedding, scales).float().to(device)
        chosen = None if rows is None else torch.as_tensor(rows, device=device)
        found, found_sums = _exact_torch.exact_repulsion(points, chosen, n_axes=embedding.shape[1])
        assert (found.dtype, found_sums.dtype) == (torch.float32, torch.float64)
        return found.cpu().numpy(), found_sums.cpu().numpy()


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Within a share of the largest: forces may cancel in single points."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(
        found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
    )
