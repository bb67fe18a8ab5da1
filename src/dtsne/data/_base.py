"""What the method asks of data of any kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    import torch

    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

MAX_SAMPLED_ROWS = 500


def sample_rows(n: int, max_rows: int = MAX_SAMPLED_ROWS) -> IntArray:
    """Choose rows to measure something on, always the same, in order."""
    return np.sort(np.random.default_rng(0).choice(n, min(n, max_rows), replace=False))


def group_equal_rows(table: FloatArray) -> IntArray:
    """Return a number for each row, the same for equal rows."""
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def all_rows_equal() -> DataError:
    """Return the error for data without any differences."""
    return DataError("all rows of X are equal, so there is nothing to map")


@dataclass(frozen=True)
class Data(ABC):
    """Points, distances or neighbours, prepared for the method.

    Distances are in a unit that makes them of size 1 or so: squares of 1e-200 or 1e200 leave the
    range of floats. `unit` is a power of two, which changes no digit. Neighbours are found by an
    index over the data, `NeighborIndex.build`. Arrays that go into the map
    (`squared_distances`, `principal_axes`) are numpy's where `device` is None, and tensors on the
    device elsewhere; all others are numpy's.

    Attributes
    ----------
    unit : float
        A distance of 1 here, in the unit of the user.
    device : torch.device or None
        Where the map is made; None for numpy.
    has_all_distances : bool
        Whether `squared_distances` can be asked for.
    """

    unit: float = field(kw_only=True)
    device: ClassVar[torch.device | None] = None
    has_all_distances: ClassVar[bool] = True

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of points."""

    @property
    @abstractmethod
    def n_dimensions(self) -> int | None:
        """Numbers that a point comes with; None where these are its distances to all others."""

    @property
    def max_neighbors(self) -> int:
        """The most neighbours that can be asked for of every point."""
        return len(self) - 1

    def to_host(self) -> Data:
        """Return the same data for numpy."""
        return self

    def euclidean_coordinates(self) -> FloatArray | None:
        """Return coordinates whose Euclidean distances are those of the data, in the user's unit.

        None where there are none.
        """
        return None

    @abstractmethod
    def squared_distances(self, threads: Threads, /) -> AnyArray:
        """Return all n × n squared distances."""

    @abstractmethod
    def with_offsets(self, offsets: FloatArray) -> Data:
        """Return the points moved by offsets of shape (n, 2) along two axes of their own."""

    @abstractmethod
    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """Return the number of the group of equal points that each of some rows is in."""

    @abstractmethod
    def principal_axes(self, n_axes: int, threads: Threads, /) -> AnyArray | None:
        """Return the first principal components, fewer if the data has fewer dimensions.

        None where there is nothing to take them of.
        """
