"""Data on a device: points as a tensor, and any other data by way of the host."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from dtsne.data._base import Data, group_equal_rows
from dtsne.data._distances import with_fixed_signs
from dtsne.data._points import MAX_EXACT_FEATURES, Points
from dtsne.runtime._devices import free_memory
from dtsne.runtime._errors import DataError, DataTypeError, setting
from dtsne.runtime._memory import shortage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, IntArray

# Of X, held at once while it is brought into its unit and around its mean.
_N_COPIES = 3
# Numbers that are brought to float64 at once: half a gigabyte.
_MAX_DOUBLES = 2**26
# Directions beyond those wanted, and times that the covariance is applied to them, as on the CPU.
_SPARE, _N_ROUNDS = 10, 7


@dataclass(frozen=True)
class DevicePoints(Data):
    """Points with Euclidean distances, in float32; see :class:`dtsne.data._base.Data`."""

    coordinates: Tensor

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def n_dimensions(self) -> int:
        """Coordinates of a point."""
        return int(self.coordinates.shape[1])

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """Where the points are."""
        return self.coordinates.device

    def to_host(self) -> Points:
        """Return the same points in float64 on the host."""
        return Points(self.coordinates.double().cpu().numpy(), unit=self.unit)

    def euclidean_coordinates(self) -> FloatArray:
        """See :class:`Data`."""
        return self.to_host().euclidean_coordinates()

    def squared_distances(self, _threads: Threads, /) -> Tensor:
        """See :class:`Data`."""
        double = self.coordinates.double()
        whole = torch.cdist(double, double, compute_mode="donot_use_mm_for_euclid_dist")
        return (whole**2).float()

    def with_offsets(self, offsets: FloatArray) -> DevicePoints:
        """See :class:`Data`."""
        moved = torch.as_tensor(offsets, dtype=torch.float32, device=self.device)
        return replace(self, coordinates=torch.hstack([self.coordinates, moved]))

    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """See :class:`Data`."""
        chosen = self.coordinates[torch.as_tensor(rows, device=self.device)]
        return group_equal_rows(chosen.cpu().numpy())

    def principal_axes(self, n_axes: int, _threads: Threads, /) -> Tensor:
        """See :class:`Data`."""
        return principal_components(self.coordinates, n_axes).double()


@dataclass(frozen=True)
class HostData(Data):
    """Data of another kind, which stays on the host; see :class:`dtsne.data._base.Data`."""

    data: Data
    map_device: torch.device

    def __len__(self) -> int:
        return len(self.data)

    @property
    def has_all_distances(self) -> bool:  # type: ignore[override]
        """See :class:`Data`."""
        return self.data.has_all_distances

    @property
    def n_dimensions(self) -> int | None:
        """See :class:`Data`."""
        return self.data.n_dimensions

    @property
    def max_neighbors(self) -> int:
        """See :class:`Data`."""
        return self.data.max_neighbors

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """Where the map is made."""
        return self.map_device

    def to_host(self) -> Data:
        """See :class:`Data`."""
        return self.data

    def euclidean_coordinates(self) -> FloatArray | None:
        """See :class:`Data`."""
        return self.data.euclidean_coordinates()

    def squared_distances(self, threads: Threads, /) -> Tensor:
        """See :class:`Data`."""
        squared = self.data.squared_distances(threads)
        return torch.as_tensor(squared, dtype=torch.float32, device=self.device)

    def with_offsets(self, offsets: FloatArray) -> HostData:
        """See :class:`Data`."""
        return replace(self, data=self.data.with_offsets(offsets))

    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """See :class:`Data`."""
        return self.data.duplicate_groups(rows)

    def principal_axes(self, n_axes: int, threads: Threads, /) -> Tensor | None:
        """See :class:`Data`."""
        axes = self.data.principal_axes(n_axes, threads)
        return None if axes is None else torch.as_tensor(axes, device=self.device)


def as_tensor(X: object) -> Tensor:
    """Take an array of another library as a tensor that shares its memory."""
    return X if isinstance(X, torch.Tensor) else from_dlpack(X)


def to_device(X: FloatArray | Tensor, device: torch.device) -> Tensor:
    """Bring X to a device in float64 if that is what it is, and else in float32."""
    free = free_memory(device)
    n_bytes = _N_COPIES * X.nbytes
    if free is not None and n_bytes > free:
        raise shortage(
            n_bytes,
            free,
            f"X of shape {tuple(X.shape)} on {device}",
            f"pass float32, reduce it first, or use {setting('device', 'cpu')}",
        )
    tensor = torch.as_tensor(X, device=device)
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def reduced(points: Tensor, n_pcs: int | None) -> Tensor:
    """Return points around their mean, in float32 and at most so many dimensions."""
    # Around the middle before the digits of float32 are all there are.
    centred = (points - points.mean(dim=0)).float()
    n, d = centred.shape
    if n_pcs is not None and min(n_pcs, n - 1) < d:
        centred = principal_components(centred, min(n_pcs, n - 1))
    return centred.contiguous()


def check_tensor(X: object, min_points: int) -> Tensor:
    """Reject what cannot be mapped, as scikit-learn does for arrays of the host."""
    tensor = as_tensor(X)
    if tensor.layout != torch.strided:
        raise DataTypeError(
            f"X is a tensor of layout {tensor.layout}, which must be dense",
            "use X.to_dense(), or a sparse matrix of scipy, which is reduced as it is",
        )
    if tensor.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {tensor.ndim}D array instead: X has shape "
            f"{tuple(tensor.shape)}",
            "give a row for each point",
        )
    if tensor.is_complex():
        raise DataError("Complex data not supported: X holds complex numbers", "give real ones")
    n, d = tensor.shape
    if n < min_points or d < 1:
        raise DataError(
            f"Found array with {n} sample(s) and {d} feature(s) while a minimum of {min_points} "
            "and 1 is required by DTSNE"
        )
    tensor = tensor.detach()
    if not tensor.is_floating_point():
        tensor = tensor.double()
    elif tensor.dtype != torch.float64:
        tensor = tensor.float()  # of the halves, which few operations take, too
    if not bool(torch.isfinite(tensor).all()):
        raise DataError(
            "Input X contains NaN or infinity",
            "drop such rows, or impute them",
            in_python="sklearn.impute.SimpleImputer",
        )
    return tensor


def principal_components(points: Tensor, n_components: int) -> Tensor:
    """Return the first principal components, at most as many as the data has, in float32.

    The twin of :func:`dtsne.data._points.principal_components`. Everything is in float64, a part of
    the points at a time, as products in float32 may be rounded to three digits by a setting of the
    whole process.
    """
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
