"""From what the user gives to points on a device: numpy arrays, tensors, and what speaks DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dtsne.data._pca_torch import principal_components
from dtsne.data._points_torch import DevicePoints, FromHost
from dtsne.data._prepare import prepare as prepare_on_host
from dtsne.runtime._devices import free_memory
from dtsne.runtime._memory import shortage

if TYPE_CHECKING:
    from dtsne.data._base import Data

# Distances between points with coordinates; all others are found on the CPU.
_EUCLIDEAN = ("euclidean", "cosine", "correlation")
# Of X, held at once while it is brought into its unit and around its mean.
_COPIES = 3
_ROUNDING = 1e-7  # of float32, as columns of `dtsne.data._prepare` vary by more than float64's


def as_tensor(X: Any) -> Any:
    """Take an array of another library as a tensor that shares its memory."""
    return X if isinstance(X, torch.Tensor) else torch.utils.dlpack.from_dlpack(X)


def check_tensor(X: Any, least: int) -> Any:
    """Refuse what cannot be mapped, as scikit-learn does for arrays of the host."""
    tensor = as_tensor(X)
    if tensor.layout != torch.strided:
        raise TypeError(
            f"X is a tensor of layout {tensor.layout}; give a dense one, X.to_dense(), or a sparse "
            "matrix of scipy, which is reduced without becoming dense."
        )
    if tensor.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {tensor.ndim}D array instead: X has shape "
            f"{tuple(tensor.shape)}; give a row for each point."
        )
    if tensor.is_complex():
        raise ValueError("Complex data not supported: X holds complex numbers; give real ones.")
    n, d = tensor.shape
    if n < least or d < 1:
        raise ValueError(
            f"Found array with {n} sample(s) and {d} feature(s) while a minimum of {least} and 1 "
            "is required by DTSNE."
        )
    tensor = tensor.detach()
    if not tensor.is_floating_point():
        tensor = tensor.double()
    elif tensor.dtype != torch.float64:
        tensor = tensor.float()  # of the halves, which few operations take, too
    if not bool(torch.isfinite(tensor).all()):
        raise ValueError(
            "Input X contains NaN or infinity; drop such rows, or fill them in "
            "(sklearn.impute.SimpleImputer)."
        )
    return tensor


def prepare(X: Any, device: Any, *, metric: str, n_pcs: int | None, neighbors: Any) -> Data:
    """Turn checked input into data on the device."""
    dense = isinstance(X, np.ndarray | torch.Tensor)
    if neighbors is None and metric in _EUCLIDEAN and dense:
        _check_room(X, device)
        return _points(torch.as_tensor(X, device=device), metric, n_pcs)
    if isinstance(X, torch.Tensor):
        X = X.cpu().numpy()
    data = prepare_on_host(X, metric=metric, n_pcs=n_pcs, neighbors=neighbors)
    return FromHost(data, device)


def _check_room(X: Any, device: Any) -> None:
    """Refuse what the device has no room for: X, and X around its mean, before it is reduced."""
    free = free_memory(device)
    n_bytes = _COPIES * X.nbytes
    if free is not None and n_bytes > free:
        raise shortage(
            n_bytes,
            free,
            f"X of shape {tuple(X.shape)} on {device}",
            "give float32, reduce it first (sklearn.decomposition.PCA(50)), or use device='cpu'",
        )


def _points(X: Any, metric: str, n_pcs: int | None) -> DevicePoints:
    """As :func:`dtsne.data._prepare._points`, which says why, for a tensor."""
    lowest, highest = torch.aminmax(X)
    largest = max(-float(lowest), float(highest))
    unit = 2.0 ** np.floor(np.log2(largest)) if largest > 0 else 1.0
    points = X.double() / unit if X.dtype == torch.float64 else X.float() / unit
    if metric == "correlation":
        points = points - points.mean(dim=1, keepdim=True)
        _check_lengths(points, "the same value in all columns, which correlate with nothing")
    if metric in ("cosine", "correlation"):
        _check_lengths(points, "zeros, which have no direction")
        points, unit = points / torch.linalg.vector_norm(points, dim=1, keepdim=True), 1.0
    # Around the middle before the digits of float32 are all there are.
    points = (points - points.mean(dim=0)).float()
    n, d = points.shape
    if n_pcs is not None and min(n_pcs, n - 1) < d:
        points = principal_components(points, min(n_pcs, n - 1))
    if not bool((points.amax(dim=0) - points.amin(dim=0)).max() > _ROUNDING * points.abs().max()):
        raise ValueError("All rows of X are equal, so there is nothing to map.")
    return DevicePoints(points.contiguous(), float(unit))


def _check_lengths(points: Any, what: str) -> None:
    if not bool((points != 0).any(dim=1).all()):
        raise ValueError(f"X has rows with {what}; drop them or use metric='euclidean'.")
