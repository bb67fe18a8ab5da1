"""Principal components on a device; the twin of :mod:`dtsne.data._pca`.

Everything is in float64, a part of the points at a time, as products in float32 may be rounded to
three digits by a setting of the whole process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from dtsne.data._pca import MAX_EXACT_FEATURES, with_fixed_signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

# Numbers that are brought to float64 at once: half a gigabyte.
_MAX_DOUBLES = 2**26
# Directions beyond those wanted, and times that the covariance is applied to them, as on the CPU.
_SPARE, _N_ROUNDS = 10, 7


def principal_components(points: Tensor, n_components: int) -> Tensor:
    """Return the first principal components, at most as many as the data has, in float32."""
    n, d = points.shape
    n_components = min(n_components, n - 1, d)
    mean = points.mean(dim=0, dtype=torch.float64)
    if d <= MAX_EXACT_FEATURES:
        axes = _eigenvectors(_covariance_times(points, mean, None), n_components)
    else:
        axes = _leading_axes(points, mean, n_components)
    axes = torch.as_tensor(with_fixed_signs(axes.cpu().numpy()), device=points.device)
    components = [centred @ axes for centred in _centred(points, mean)]
    return torch.cat(components).float().contiguous()


def _leading_axes(points: Tensor, mean: Tensor, n_components: int) -> Tensor:
    """Return about the same without the covariance matrix, by iterations in a random subspace."""
    n, d = points.shape
    n_directions = min(n_components + _SPARE, n, d)
    # Random, but the same for everybody: the reduction is not what random_state is for.
    directions = torch.as_tensor(np.random.default_rng(0).normal(size=(d, n_directions)))
    basis = directions.to(points.device)
    for _ in range(_N_ROUNDS):
        basis = torch.linalg.qr(_covariance_times(points, mean, basis)).Q
    within = _eigenvectors(basis.T @ _covariance_times(points, mean, basis), n_components)
    return basis @ within


def _covariance_times(points: Tensor, mean: Tensor, matrix: Tensor | None) -> Tensor:
    """Return the product with the covariance matrix, or, without a matrix, that itself."""
    total: Tensor | float = 0.0
    for centred in _centred(points, mean):
        total = total + centred.T @ (centred if matrix is None else centred @ matrix)
    assert isinstance(total, torch.Tensor)
    return total


def _centred(points: Tensor, mean: Tensor) -> Iterator[Tensor]:
    for part in torch.split(points, max(1, _MAX_DOUBLES // points.shape[1])):
        yield part.double() - mean


def _eigenvectors(matrix: Tensor, count: int) -> Tensor:
    """Return those of the largest eigenvalues, which the CPU finds sooner: the matrix is small."""
    vectors = np.linalg.eigh(matrix.cpu().numpy())[1][:, ::-1][:, :count]
    return torch.as_tensor(vectors.copy(), device=matrix.device)
