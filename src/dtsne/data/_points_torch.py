"""Data on a device: points as a tensor, and any other data by way of the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from dtsne.data._base import Points
from dtsne.data._pca_torch import principal_components
from dtsne.neighbors._search_torch import nearest

if TYPE_CHECKING:
    from dtsne.data._base import Data
    from dtsne.runtime._typing import FloatArray, IntArray


@dataclass(frozen=True)
class DevicePoints:
    """Points with coordinates, in a unit that makes them of size 1; see `dtsne.data._base`."""

    coordinates: Any  # (n, d) in float32
    unit: float
    has_all_distances: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def n_dimensions(self) -> int:
        """Coordinates of a point."""
        return int(self.coordinates.shape[1])

    @property
    def device(self) -> Any:
        """Where the points are."""
        return self.coordinates.device

    def on_host(self) -> Points:
        """Return the same points on the CPU."""
        return Points(self.coordinates.double().cpu().numpy(), self.unit)

    def neighbors_on_host(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others on the device, and bring them to the host."""
        indices, distances, recall = self.neighbors(k)
        return indices.cpu().numpy(), distances.double().cpu().numpy(), recall

    def neighbors(self, k: int) -> tuple[Any, Any, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""
        return nearest(self.coordinates, k)

    def squared_distances(self) -> Any:
        """All n × n of them."""
        double = self.coordinates.double()
        whole = torch.cdist(double, double, compute_mode="donot_use_mm_for_euclid_dist")
        return (whole**2).float()

    def apart(self, offsets: FloatArray) -> DevicePoints:
        """Return the points moved apart along axes of their own."""
        moved = torch.as_tensor(offsets, dtype=torch.float32, device=self.coordinates.device)
        return DevicePoints(torch.hstack([self.coordinates, moved]), self.unit)

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""
        chosen = self.coordinates[torch.as_tensor(rows, device=self.coordinates.device)]
        return np.unique(chosen.cpu().numpy(), axis=0, return_inverse=True)[1].reshape(-1)

    def principal_axes(self, n_axes: int) -> Any:
        """Return the first principal components; fewer if the data has fewer dimensions."""
        return principal_components(self.coordinates, n_axes).double()


@dataclass(frozen=True)
class FromHost:
    """Data of any kind, whose neighbours are found on the CPU and brought to the device."""

    data: Data
    device: Any

    def __len__(self) -> int:
        return len(self.data)

    def on_host(self) -> Data:
        """Return the data as it is on the CPU."""
        return self.data

    def neighbors_on_host(self, k: int) -> tuple[IntArray, FloatArray, float]:
        """Find the k nearest others, and leave them where they are found."""
        return self.data.neighbors(k)

    @property
    def unit(self) -> float:
        """What a distance of 1 is in the numbers of the user."""
        return self.data.unit

    @property
    def has_all_distances(self) -> bool:
        """Whether `squared_distances` can be asked for."""
        return self.data.has_all_distances

    @property
    def n_dimensions(self) -> int | None:
        """Numbers that a point comes with."""
        return self.data.n_dimensions

    def neighbors(self, k: int) -> tuple[Any, Any, float]:
        """Find the k nearest others: their indices, their distances, and the share found."""
        indices, distances, recall = self.data.neighbors(k)
        return (
            torch.as_tensor(indices, dtype=torch.int32, device=self.device),
            torch.as_tensor(distances, dtype=torch.float32, device=self.device),
            recall,
        )

    def squared_distances(self) -> Any:
        """All n × n of them."""
        return torch.as_tensor(
            self.data.squared_distances(), dtype=torch.float32, device=self.device
        )

    def apart(self, offsets: FloatArray) -> FromHost:
        """Return the points moved apart along axes of their own."""
        return FromHost(self.data.apart(offsets), self.device)

    def groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""
        return self.data.groups(rows)

    def principal_axes(self, n_axes: int) -> FloatArray | None:
        """Return the first principal components; None where there is nothing to take them of."""
        return self.data.principal_axes(n_axes)
