"""From distances to σ, and from σ to the affinities P.

σ_i is chosen so that the Gaussian around x_i has the wanted perplexity (exp of its entropy). P then
uses the mean of the two scales of a pair::

    σ_ij  = (σ_i + σ_j) / 2
    p_j|i ∝ exp(−‖x_i − x_j‖² / (2 σ_ij²)),   Σ_j p_j|i = 1
    p_ij  = (p_j|i + p_i|j) / (2n)

P is dense, over all pairs, or sparse, over the pairs of which one is among the nearest neighbours
of the other; both are symmetric and sum to 1.

Functions here take arrays of numpy or tensors, and work where these are. Where a type says numpy,
it is a tensor on a device.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeAlias

import numpy as np

from dtsne.runtime._arrays import to_host
from dtsne.runtime._typing import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import AnyArray, BoolArray, FloatArray, IntArray

# The smallest σ as a share of a typical one: near-duplicates would otherwise have one that makes
# every other point's kernel look flat compared with theirs.
_SIGMA_FLOOR = 0.01
# Affinities whose entropy is summed at once: no temporaries of the size of P.
_MAX_SUMMED = 2**20


@dataclass(frozen=True)
class DenseAffinities(Generic[Array]):
    """P over all pairs: ``values[i, j]`` is p_ij."""

    values: Array

    @property
    def negative_entropy(self) -> float:
        """Σ p log p, the part of KL(P‖Q) that no map changes."""
        return _sum_p_log_p(self.values.reshape(-1))

    def as_matrix(self) -> FloatArray:
        """P as an array of the host."""
        return to_host(self.values)


@dataclass(frozen=True)
class SparseAffinities(Generic[Array]):
    """P over neighbouring pairs, as the three arrays of a CSR matrix.

    Attributes
    ----------
    row_starts : int64 array of shape (n + 1,)
    columns : int32 array
        Ascending in each row.
    values : array
    """

    row_starts: IntArray
    columns: IntArray
    values: Array

    @property
    def negative_entropy(self) -> float:
        """Σ p log p, the part of KL(P‖Q) that no map changes."""
        return _sum_p_log_p(self.values)

    def as_matrix(self) -> csr_array:
        """P as a sparse matrix of the host."""
        from scipy.sparse import csr_array

        n = len(self.row_starts) - 1
        arrays = (self.values, self.columns, self.row_starts)
        return csr_array(tuple(map(to_host, arrays)), shape=(n, n))


Affinities: TypeAlias = "DenseAffinities[FloatArray] | SparseAffinities[FloatArray]"


@dataclass(frozen=True)
class Gaussians:
    """The Gaussian around each point, of which P is made.

    Attributes
    ----------
    sigmas : float64 array of shape (n,)
        In the unit of the distances.
    unit : float
        σ of a typical point.
    is_clipped : ndarray of bool, shape (n,)
        Where σ is not the one found, but the smallest that is allowed.
    squared : array of shape (n, n) or (n, k)
        Squared distances over all pairs, or to neighbours, in units of `length`.
    length : float
    """

    sigmas: FloatArray
    unit: float
    is_clipped: BoolArray
    squared: AnyArray
    length: float

    def affinities(self, indices: IntArray | None, threads: Threads) -> Affinities:
        """Return P over neighbours, whose indices are those of the distances; None for all."""
        sigmas = self.sigmas / self.length
        if isinstance(self.squared, np.ndarray):
            from dtsne.affinity import _affinities as on_host

            if indices is None:
                return on_host.dense_affinities(self.squared, sigmas, threads=threads)
            return on_host.sparse_affinities(indices, self.squared, sigmas, threads=threads)
        on_device = import_module("dtsne.affinity._sparse_torch")
        P: Affinities
        if indices is None:
            P = on_device.dense_affinities(self.squared, sigmas)
        else:
            P = on_device.sparse_affinities(indices, self.squared, sigmas)
        return P


def gaussians_of_all(squared: AnyArray, perplexity: float, threads: Threads) -> Gaussians:
    """Find the Gaussians over all other points, from n × n squared distances."""
    return _gaussians(squared, 1.0, perplexity, threads, skip_diagonal=True)


def gaussians_of_neighbors(distances: AnyArray, perplexity: float, threads: Threads) -> Gaussians:
    """Find the Gaussians over neighbours, from distances of shape (n, k), from near to far."""
    # Squares of float32 in a unit of their own: in that of the data they may be too small.
    farthest = distances[:, -1]
    length = float(np.median(farthest if isinstance(farthest, np.ndarray) else to_host(farthest)))
    ratios = distances / length
    if isinstance(ratios, np.ndarray):
        ratios = ratios.astype(np.float32)
    return _gaussians(ratios**2, length, perplexity, threads, skip_diagonal=False)


def _gaussians(
    squared: AnyArray, length: float, perplexity: float, threads: Threads, *, skip_diagonal: bool
) -> Gaussians:
    if isinstance(squared, np.ndarray):
        from dtsne.affinity._affinities import find_sigmas

        found = find_sigmas(squared, perplexity, skip_diagonal=skip_diagonal, threads=threads)
    else:
        on_device = import_module("dtsne.affinity._sigmas_torch")
        found = on_device.find_sigmas(squared, perplexity, skip_diagonal=skip_diagonal)
    found = length * found
    host = found if isinstance(found, np.ndarray) else to_host(found)
    unit = float(np.median(host[host > 0]))
    smallest = _SIGMA_FLOOR * unit
    sigmas = found.clip(min=smallest)
    return Gaussians(sigmas, unit, host < smallest, squared, length)


def _sum_p_log_p(values: AnyArray) -> float:
    if not isinstance(values, np.ndarray):
        from dtsne.affinity._sparse_torch import sum_p_log_p

        return sum_p_log_p(values)
    total = 0.0
    for part in np.array_split(values, 1 + len(values) // _MAX_SUMMED):
        positive = part[part > 0].astype(np.float64)
        total += float(positive @ np.log(positive))
    return total
