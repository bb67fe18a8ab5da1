"""Data whose distances are computed, or looked up, pair by pair; and kernels for all pairs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dtsne.data._base import Data, group_equal_rows
from dtsne.runtime._arrays import to_host
from dtsne.runtime._jit import compiled
from dtsne.runtime._threads import ONE_THREAD

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, FloatArray, IntArray

Result = TypeVar("Result")

ALL = slice(None)


@dataclass(frozen=True)
class PairwiseData(Data):
    """Data that gives the distances of any pairs; see :class:`dtsne.data._base.Data`.

    Attributes
    ----------
    max_block : int
        Distances that a thread holds at once.
    """

    max_block: int = field(default=5_000_000, kw_only=True)

    @abstractmethod
    def between(self, rows: IntArray, others: IntArray | slice) -> FloatArray:
        """Return the distances from each of some rows to each of others."""

    @abstractmethod
    def from_new(self, new: FloatArray) -> FloatArray:
        """Return the distances from each of some new points to all points.

        New points are rows as those that the data is of, in its unit.
        """

    def squared_distances(self, threads: Threads, /) -> FloatArray:
        """See :class:`Data`."""
        n = len(self)
        squared = np.empty((n, n))

        def fill(rows: IntArray) -> None:
            squared[rows] = self.between(rows, ALL) ** 2

        self.by_blocks(fill, np.arange(n), n, threads)
        return squared

    def nearest(self, rows: IntArray, k: int, threads: Threads) -> tuple[IntArray, FloatArray]:
        """Find the k nearest others of some rows; see `nearest_in_matrix`."""

        def search(part: IntArray) -> tuple[IntArray, FloatArray]:
            return nearest_in_matrix(self.between(part, ALL), k, own=part)

        return joined(self.by_blocks(search, rows, len(self), threads))

    def by_blocks(
        self,
        function: Callable[[IntArray], Result],
        rows: IntArray,
        n_values: int,
        threads: Threads,
    ) -> list[Result]:
        """Call a function for some rows at a time, on all threads; a row takes n_values."""
        n_at_once = max(1, self.max_block // n_values)
        parts = [rows[first : first + n_at_once] for first in range(0, len(rows), n_at_once)]
        results: dict[int, Result] = {}

        def work(begin: int, end: int) -> None:
            for part in range(begin, end):
                results[part] = function(parts[part])

        threads.for_rows(work, len(parts), min_rows=1)
        return [results[part] for part in range(len(parts))]


@dataclass(frozen=True)
class Distances(PairwiseData):
    """Data of which only the distances are known; see :class:`dtsne.data._base.Data`."""

    matrix: FloatArray

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def n_dimensions(self) -> None:
        """Unknown."""

    def between(self, rows: IntArray, others: IntArray | slice) -> FloatArray:
        """See :class:`PairwiseData`."""
        return self.matrix[rows][:, others]

    def from_new(self, new: FloatArray) -> FloatArray:
        """Return new points, which are given by these distances."""
        return new

    def with_offsets(self, offsets: FloatArray) -> Distances:
        """See :class:`Data`."""
        squared = pairwise_squared_distances(offsets, ONE_THREAD)
        return replace(self, matrix=np.sqrt(self.matrix**2 + squared))

    def duplicate_groups(self, rows: IntArray) -> IntArray:
        """See :class:`Data`."""
        return group_equal_rows(self.matrix[rows])

    def principal_axes(self, n_axes: int, _threads: Threads, /) -> FloatArray:
        """Classical scaling, which for Euclidean distances is principal components."""
        from scipy.linalg import eigh

        n = len(self)
        gram = -0.5 * self.matrix**2
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1, keepdims=True)
        wanted = min(n_axes, n)
        values, vectors = eigh(gram, subset_by_index=(n - wanted, n - 1))
        if len(values) < wanted:  # LAPACK gives up where most eigenvalues are equal
            values, vectors = (part[..., -wanted:] for part in np.linalg.eigh(gram))
        return with_fixed_signs(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))


def nearest_in_matrix(
    distances: FloatArray, k: int, *, own: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the k smallest distances of each row, sorted by distance, then by column.

    Parameters
    ----------
    distances : ndarray of shape (m, n)
    k : int
    own : ndarray of int, shape (m,), optional
        The column to leave out of each row: a point is not its own neighbour.

    Returns
    -------
    indices : ndarray of int32, shape (m, k)
    distances : ndarray of shape (m, k)
    """
    indices = np.empty((len(distances), k), np.int32)
    last = k - 1 if own is None else k
    for i, row in enumerate(distances):
        # The point itself, at 0, is among the k + 1 nearest, or as near as the last of them.
        near = np.flatnonzero(row <= np.partition(row, last)[last])
        if own is not None:
            near = near[near != own[i]]
        indices[i] = near[np.argsort(row[near], kind="stable")[:k]]
    return indices, np.take_along_axis(distances, indices, axis=1)


def joined(parts: list[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    """Join the neighbours of rows that were searched for in parts."""
    indices, distances = zip(*parts, strict=True)
    return np.concatenate(indices), np.concatenate(distances)


def scale_to_distances(
    coordinates: FloatArray, rows: IntArray, others: IntArray, distances: FloatArray
) -> float:
    """Return the factor that gives the pairs of some rows the distances that they should have.

    It is the median over the pairs, rounded to less than one percent: no initialisation needs more,
    and distances that are those of the coordinates, in whatever unit, leave every digit as it is.
    """
    euclidean = np.sqrt(((coordinates[rows] - coordinates[others]) ** 2).sum(axis=1))
    both = (euclidean > 0) & (distances > 0)
    if not both.any():
        return 1.0
    ratio = np.median(distances[both] / euclidean[both])
    return float(2.0 ** np.round(np.log2(ratio), 2))


def with_fixed_signs(axes: FloatArray) -> FloatArray:
    """Make the entry of largest size of each axis positive: eigenvectors come with either sign."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    fixed: FloatArray = axes * np.where(largest < 0, -1.0, 1.0)
    return fixed


def pairwise_squared_distances(X: FloatArray, threads: Threads = ONE_THREAD) -> FloatArray:
    """All n × n squared distances, symmetric to the last bit."""
    squared = np.empty((len(X), len(X)))
    threads.for_rows(_fill_pairwise, len(X), as_kernel_input(X), squared)
    return squared


def as_kernel_input(X: AnyArray) -> FloatArray:
    """Return points as kernels take them.

    Writeable, though nothing is written: numba compiles anew for read-only arrays, which is what
    pandas and memory maps give.
    """
    return np.require(to_host(X), np.float64, ["C", "W"])


@compiled()
def _fill_pairwise(begin, end, X, squared):  # type: ignore[no-untyped-def]
    n, d = X.shape
    for i in range(begin, end):
        for j in range(n):
            distance = 0.0
            for f in range(d):
                difference = X[i, f] - X[j, f]
                distance += difference * difference
            squared[i, j] = distance
