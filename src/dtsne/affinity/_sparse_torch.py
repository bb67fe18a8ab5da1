"""The affinities P on a device; :mod:`dtsne.affinity._base` defines them.

P is kept dense, over all pairs, or sparse, over the pairs of which one is among the nearest
neighbours of the other. Exponents and sums are in float64, which costs a device a millisecond; the
stored P is float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from dtsne.affinity._graph_torch import symmetric_graph
from dtsne.affinity._pieces_torch import Pieces, cut_rows, rows_at_once
from dtsne.runtime._arrays import to_host
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from torch import Tensor

# Entries that plain PyTorch works on at a time: some 8 numbers of 8 bytes each.
_ENTRIES_AT_ONCE = 2**23


@dataclass(frozen=True)
class DenseAffinities:
    """P over all pairs: ``values[i, j]`` is p_ij."""

    values: Tensor

    @property
    def negative_entropy(self) -> float:
        """Σ p log p, the part of KL(P‖Q) that no map changes."""
        return _sum_p_log_p(self.values.view(-1))

    def as_matrix(self) -> Any:
        """P as an array of the host."""
        return to_host(self.values)


@dataclass(frozen=True)
class SparseAffinities:
    """P over neighbouring pairs, as the three arrays of a CSR matrix."""

    row_starts: Tensor  # int64
    columns: Tensor  # int32, ascending in each row
    values: Tensor

    @property
    def negative_entropy(self) -> float:
        """Σ p log p, the part of KL(P‖Q) that no map changes."""
        return _sum_p_log_p(self.values)

    def as_matrix(self) -> Any:
        """P as a sparse matrix of the host."""
        from scipy.sparse import csr_array

        n = len(self.row_starts) - 1
        arrays = (self.values, self.columns, self.row_starts)
        return csr_array(tuple(map(to_host, arrays)), shape=(n, n))

    @cached_property
    def pieces(self) -> Pieces:
        """The rows in shares of equal work; the first use waits for the device."""
        return cut_rows(self.row_starts)

    @cached_property
    def rows_at_once(self) -> tuple[tuple[int, int, int, int], ...]:
        """Ranges of rows and their entries, for plain PyTorch; the first use waits too."""
        return rows_at_once(self.row_starts, _ENTRIES_AT_ONCE)


Affinities: TypeAlias = DenseAffinities | SparseAffinities


def dense_affinities(
    squared: Tensor, sigmas: Tensor, dtype: torch.dtype = torch.float32
) -> DenseAffinities:
    """Affinities of all pairs, from the n × n squared distances."""
    n = len(sigmas)
    sigmas = sigmas.double()
    n_rows = max(1, _ENTRIES_AT_ONCE // n)
    shifts, norms = torch.empty_like(sigmas), torch.empty_like(sigmas)
    for first in range(0, n, n_rows):
        rows = slice(first, first + n_rows)
        exponents = _dense_exponents(squared, sigmas, rows, first)
        shifts[rows] = exponents.amin(dim=1)
        norms[rows] = (shifts[rows, None] - exponents).exp_().sum(dim=1)
    values = torch.empty((n, n), dtype=dtype, device=squared.device)
    for first in range(0, n, n_rows):
        rows = slice(first, first + n_rows)
        exponents = _dense_exponents(squared, sigmas, rows, first)
        ours = (shifts[rows, None] - exponents).exp_() / norms[rows, None]
        theirs = (shifts - exponents).exp_() / norms
        values[rows] = (ours + theirs) / (2 * n)
    return DenseAffinities(values)


def _dense_exponents(squared: Tensor, sigmas: Tensor, rows: slice, first: int) -> Tensor:
    """‖x_i − x_j‖² / (2 σ_ij²) of some rows, infinite for a point and itself."""
    exponents = 2.0 * squared[rows].double() / (sigmas[rows, None] + sigmas).square_()
    exponents.diagonal(offset=first).fill_(torch.inf)
    return exponents


def sparse_affinities(
    indices: Tensor, squared: Tensor, sigmas: Tensor, dtype: torch.dtype = torch.float32
) -> SparseAffinities:
    """Affinities of the pairs of which one is among the other's k nearest.

    A pair counts in both rows even if only one of the two has the other as a neighbour: a point in
    a dense place is not aware of an outlier that is, through σ_ij, strongly tied to it.

    Parameters
    ----------
    indices : Tensor of shape (n, k), int32
        Neighbours of each point, each once and without the point itself.
    squared : Tensor of shape (n, k)
    sigmas : Tensor of shape (n,)
    """
    row_starts, columns, values = symmetric_graph(indices, squared.to(dtype))
    affinities = SparseAffinities(row_starts, columns, values)
    if runs_triton(values):
        from dtsne.affinity import _sparse_triton as _affinities_triton

        _affinities_triton.put_affinities(affinities, sigmas.double())
    else:
        put_affinities_plainly(affinities, sigmas.double())
    return affinities


def put_affinities_plainly(affinities: SparseAffinities, sigmas: Tensor) -> None:
    """Put p_ij in the place of the squared distances."""
    shifts, norms = torch.empty_like(sigmas), torch.empty_like(sigmas)
    for first, last, begin, end in affinities.rows_at_once:
        exponents, lengths, own, _ = _sparse_exponents(affinities, sigmas, first, last, begin, end)
        shifts[first:last] = torch.segment_reduce(exponents, "min", lengths=lengths, unsafe=True)
        weights = (shifts[own] - exponents).exp_()
        norms[first:last] = torch.segment_reduce(weights, "sum", lengths=lengths, unsafe=True)
    for first, last, begin, end in affinities.rows_at_once:
        exponents, _, own, other = _sparse_exponents(affinities, sigmas, first, last, begin, end)
        ours = (shifts[own] - exponents).exp_() / norms[own]
        theirs = (shifts[other] - exponents).exp_() / norms[other]
        affinities.values[begin:end] = (ours + theirs) / (2 * len(sigmas))


def _sparse_exponents(
    affinities: SparseAffinities, sigmas: Tensor, first: int, last: int, begin: int, end: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """‖x_i − x_j‖² / (2 σ_ij²) of some rows, their lengths, and the points of each pair."""
    lengths = affinities.row_starts[first : last + 1].diff()
    own = torch.repeat_interleave(
        torch.arange(first, last, device=sigmas.device), lengths, output_size=end - begin
    )
    other = affinities.columns[begin:end].long()
    sigma_sums = sigmas[own] + sigmas[other]
    return 2.0 * affinities.values[begin:end].double() / sigma_sums.square_(), lengths, own, other


def _sum_p_log_p(values: Tensor) -> float:
    total = torch.zeros((), dtype=torch.float64, device=values.device)
    for part in torch.split(values, _ENTRIES_AT_ONCE):  # no temporaries of P's own size
        p = part.double()
        total += torch.special.xlogy(p, p).sum()
    return float(total)
