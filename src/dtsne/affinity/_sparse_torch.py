"""P on a device; :mod:`dtsne.affinity._base` defines it.

Exponents and sums are in float64, which costs a device a millisecond; the stored P is float32.

A row of a sparse P is a point's own list of neighbours, merged with the points that have it in
theirs. These come from one stable sort of all the lists' entries, in 32 bits; the rest is done
within the rows. Where there are too many entries to sort at once, it is done for ranges of rows,
one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import torch

from dtsne.affinity import _base
from dtsne.affinity._base import DenseAffinities
from dtsne.runtime._triton import dispatch

if TYPE_CHECKING:
    from torch import Tensor

# Entries that plain PyTorch works on at a time: some 8 numbers of 8 bytes each.
_MAX_ENTRIES = 2**23
# Entries of the lists that are sorted at once: 5 GB while it is done.
_MAX_SORTED = 2**27
# What an entry of the lists takes at the worst time: its index and distance, and then either twice
# both of its key (4 bytes) and its place (8), with the places to begin with, while it is sorted; or
# its sorted copy, its transpose and two entries of the union.
_BYTES_PER_ENTRY = 40
# The same where it is done by ranges: lists, union, and the union's columns a second time.
_BYTES_PER_ENTRY_BY_RANGES = 32
_BYTES_PER_POINT = 64
# One warp a program, and no multiprocessor runs more than 32 programs at a time.
PROGRAMS_PER_PROCESSOR = 32
# Begin and end of a row take as long as this many entries.
_ENTRIES_PER_ROW = 64
# A row is cut where it is longer than a share, but no piece is shorter than this.
_MIN_CUT = 2048
# For a device without multiprocessors (the interpreter of the tests).
_FEW_PROCESSORS = 2


@dataclass(frozen=True)
class Pieces:
    """Rows of P, hubs cut, and which of them each program works on.

    A piece begins where the one before it ends, so that ``starts`` says it all. Shares are ranges
    of pieces: rows that lie side by side are summed by programs on the same multiprocessor, which
    then finds most of their neighbours' points in its own cache.
    """

    starts: Tensor  # int64, of each piece, and the end of the last
    shares: Tensor  # int32, the first piece of each program, and the end
    n_processors: int
    # Only where rows were cut:
    rows: Tensor | None = None  # int32, that each piece is of
    firsts: Tensor | None = None  # int32, the first piece of each row, and the end


@dataclass(frozen=True)
class SparseAffinities(_base.SparseAffinities["Tensor"]):
    """P over neighbouring pairs on a device, and its rows in parts to work on."""

    row_starts: Tensor  # type: ignore[assignment]
    columns: Tensor  # type: ignore[assignment]

    @cached_property
    def pieces(self) -> Pieces:
        """The rows in shares of equal work; the first use waits for the device."""
        return cut_rows(self.row_starts)

    @cached_property
    def rows_at_once(self) -> tuple[tuple[int, int, int, int], ...]:
        """Ranges of rows and their entries, for plain PyTorch; the first use waits too."""
        return rows_at_once(self.row_starts, _MAX_ENTRIES)


Affinities: TypeAlias = "DenseAffinities[Tensor] | SparseAffinities"


def dense_affinities(
    squared: Tensor, sigmas: Tensor, dtype: torch.dtype = torch.float32
) -> DenseAffinities[Tensor]:
    """Affinities of all pairs, from the n × n squared distances."""
    n = len(sigmas)
    sigmas = sigmas.double()
    n_rows = max(1, _MAX_ENTRIES // n)
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
    """See :func:`dtsne.affinity._affinities.sparse_affinities`."""
    affinities = SparseAffinities(*symmetric_graph(indices, squared.to(dtype)))
    put_affinities(affinities, sigmas.double())
    return affinities


@dispatch("_sparse_triton")
def put_affinities(affinities: SparseAffinities, sigmas: Tensor) -> None:
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


def sum_p_log_p(values: Tensor) -> float:
    """Sum p log p, in float64."""
    total = torch.zeros((), dtype=torch.float64, device=values.device)
    for part in torch.split(values, _MAX_ENTRIES):  # no temporaries of P's own size
        p = part.double()
        total += torch.special.xlogy(p, p).sum()
    return float(total)


def peak_bytes(n: int, k: int) -> int:
    """Bytes that the union takes at its worst time, lists and result among them.

    An upper bound for kernels in Triton, reached where no two points have each other as neighbours;
    the union is usually two thirds of it.
    """
    if n * k <= _MAX_SORTED:
        return n * k * _BYTES_PER_ENTRY + n * _BYTES_PER_POINT
    by_ranges = n * k * _BYTES_PER_ENTRY_BY_RANGES + _MAX_SORTED * _BYTES_PER_ENTRY
    return by_ranges + n * _BYTES_PER_POINT


def symmetric_graph(
    indices: Tensor, squared: Tensor, *, max_sorted: int = _MAX_SORTED
) -> tuple[Tensor, Tensor, Tensor]:
    """Row starts, columns (ascending in each row) and squared distances of the union.

    A pair that has each other as neighbours gets the mean of the two distances, as precomputed
    ones need not be quite the same both ways. Waits for the device.

    Parameters
    ----------
    indices : Tensor of shape (n, k), int32
        Neighbours of each point, each once and without the point itself.
    squared : Tensor of shape (n, k)
    max_sorted : int
        Lists with more entries than this are transposed by ranges of rows.
    """
    n = len(indices)
    indices, squared = indices.contiguous(), squared.contiguous()
    lengths, columns, merged = [], [], []
    for first, last in _ranges(indices, max_sorted):
        if last - first == n:
            incoming = _transposed(indices, squared)
        else:
            incoming = _transposed_range(indices, squared, first, last, max_sorted)
        part = union(indices[first:last], squared[first:last], *incoming)
        del incoming
        lengths.append(part[0])
        columns.append(part[1])
        merged.append(part[2])
        del part
    row_starts = torch.zeros(n + 1, dtype=torch.int64, device=indices.device)
    torch.cumsum(_joined(lengths), dim=0, out=row_starts[1:])
    return row_starts, _joined(columns), _joined(merged)


def _joined(parts: list[Tensor]) -> Tensor:
    """Join the parts, which are gone then; a single one is not copied."""
    whole = parts[0] if len(parts) == 1 else torch.cat(parts)
    parts.clear()
    return whole


def _ranges(indices: Tensor, max_sorted: int) -> list[tuple[int, int]]:
    """Ranges of rows, of whose lists and transpose none has too many entries."""
    n, k = indices.shape
    if n * k <= max_sorted:
        return [(0, n)]
    counts = torch.zeros(n, dtype=torch.int64, device=indices.device)
    for part in torch.split(indices.view(-1), max_sorted):
        counts += torch.bincount(part, minlength=n)
    starts = torch.zeros(n + 1, dtype=torch.int64, device=indices.device)
    torch.cumsum(counts.clamp_(min=k), dim=0, out=starts[1:])
    return [(first, last) for first, last, _, _ in rows_at_once(starts, max_sorted)]


def _transposed(indices: Tensor, squared: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For every point: where those that have it in their lists begin; these; the distances."""
    n, k = indices.shape
    # Stable, so that the sources of each point ascend.
    targets, order = torch.sort(indices.view(-1), stable=True)
    starts = _starts(targets, n)
    del targets
    from_sources = squared.view(-1)[order]
    return starts, order.div_(k, rounding_mode="floor").int(), from_sources


def _transposed_range(
    indices: Tensor, squared: Tensor, first: int, last: int, max_sorted: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the same for a range of points."""
    n, k = indices.shape
    n_rows = max(1, max_sorted // k)
    targets, sources, from_sources = [], [], []
    for begin in range(0, n, n_rows):
        part = indices[begin : begin + n_rows].view(-1)
        places = ((part >= first) & (part < last)).nonzero().view(-1)
        targets.append(part[places].sub_(first))
        from_sources.append(squared[begin : begin + n_rows].view(-1)[places])
        sources.append(places.div_(k, rounding_mode="floor").add_(begin).int())
    in_order, order = torch.sort(_joined(targets), stable=True)
    starts = _starts(in_order, last - first)
    del in_order
    return starts, _joined(sources)[order], _joined(from_sources)[order]


def _starts(ascending: Tensor, n: int) -> Tensor:
    """Where each of the numbers 0 … n begins."""
    numbers = torch.arange(n + 1, dtype=ascending.dtype, device=ascending.device)
    return torch.searchsorted(ascending, numbers)


@dispatch("_sparse_triton")
def union(
    indices: Tensor, squared: Tensor, starts: Tensor, sources: Tensor, from_sources: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Lengths, columns and squared distances of the rows of the union.

    Parameters
    ----------
    indices, squared : Tensor of shape (m, k)
        The lists of some points.
    starts : Tensor of shape (m + 1,)
        Where the sources of each of these points begin.
    sources, from_sources : Tensor
        The points that have it in their lists, ascending, and the squared distances.
    """
    m = len(indices)
    rows = torch.arange(m, device=indices.device)
    row_of_source = torch.repeat_interleave(rows, starts.diff(), output_size=len(sources))
    keys = torch.cat(
        [
            (rows[:, None] * 2**32 + indices).view(-1),
            row_of_source * 2**32 + sources,
        ]
    )
    keys, order = torch.sort(keys, stable=True)
    merged = torch.cat([squared.view(-1), from_sources])[order]
    del order
    is_repeated = torch.zeros(len(keys), dtype=torch.bool, device=keys.device)
    torch.eq(keys[1:], keys[:-1], out=is_repeated[1:])
    has_repeat = is_repeated.roll(-1)
    merged[has_repeat] = (merged[has_repeat] + merged[is_repeated]) / 2
    kept = ~is_repeated
    keys = keys[kept]
    lengths = torch.bincount(keys >> 32, minlength=m)
    return lengths, (keys & (2**32 - 1)).int(), merged[kept]


def cut_rows(row_starts: Tensor, *, n_processors: int | None = None) -> Pieces:
    """Cut the rows that are longer than a share, and share the pieces out.

    Waits for the device: the number of pieces must be known here.
    """
    if n_processors is None:
        n_processors = _n_processors(row_starts.device)
    n_programs = n_processors * PROGRAMS_PER_PROCESSOR
    lengths = row_starts.diff()
    n_entries, longest = torch.stack([row_starts[-1], lengths.max()]).tolist()
    cut = max(_MIN_CUT, n_entries // n_programs)
    if longest <= cut:
        return Pieces(row_starts, _share_out(row_starts, n_programs), n_processors)
    counts = ((lengths + cut - 1) // cut).clamp_(min=1)
    firsts = torch.zeros_like(row_starts)
    torch.cumsum(counts, dim=0, out=firsts[1:])
    rows = torch.repeat_interleave(counts)
    place_in_row = torch.arange(len(rows), device=rows.device) - firsts[rows]
    starts = torch.cat([row_starts[rows] + cut * place_in_row, row_starts[-1:]])
    shares = _share_out(starts, n_programs)
    return Pieces(starts, shares, n_processors, rows.int(), firsts.int())


def _share_out(starts: Tensor, n_programs: int) -> Tensor:
    work = starts + _ENTRIES_PER_ROW * torch.arange(len(starts), device=starts.device)
    bounds = torch.arange(n_programs + 1, device=starts.device) * work[-1] // n_programs
    return torch.searchsorted(work, bounds).int()


def _n_processors(device: torch.device) -> int:
    if device.type != "cuda":
        return _FEW_PROCESSORS
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def rows_at_once(row_starts: Tensor, n_entries: int) -> tuple[tuple[int, int, int, int], ...]:
    """Consecutive ranges of rows, ``(first, last, begin, end)`` with those of their entries.

    None has more entries than asked for, unless it is a single row. Waits for the device.
    """
    starts = row_starts.cpu()
    ranges, first, n = [], 0, len(starts) - 1
    while first < n:
        begin = int(starts[first])
        last = int(torch.searchsorted(starts, begin + n_entries, right=True)) - 1
        last = min(max(last, first + 1), n)
        ranges.append((first, last, begin, int(starts[last])))
        first = last
    return tuple(ranges)
