"""Union of the neighbour lists and their transpose, on a device.

A row of the union is a point's own list, merged with the points that have it in theirs. These come
from one stable sort of all the lists' entries, in 32 bits; the rest is done within the rows. Where
there are too many entries to sort at once, it is done for ranges of rows, one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from dtsne.affinity._pieces_torch import rows_at_once
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from torch import Tensor

# Entries of the lists that are sorted at once: 5 GB while it is done.
_ENTRIES_AT_ONCE = 2**27
# What an entry of the lists takes at the worst time: its index and distance, and then either twice
# both of its key (4 bytes) and its place (8), with the places to begin with, while it is sorted; or
# its sorted copy, its transpose and two entries of the union.
_BYTES_PER_ENTRY = 40
# The same where it is done by ranges: lists, union, and the union's columns a second time.
_BYTES_PER_ENTRY_BY_RANGES = 32
_BYTES_PER_POINT = 64


def peak_bytes(n: int, k: int) -> int:
    """Bytes that the union takes at its worst time, lists and result among them.

    An upper bound for kernels in Triton, reached where no two points have each other as neighbours;
    the union is usually two thirds of it.
    """
    if n * k <= _ENTRIES_AT_ONCE:
        return n * k * _BYTES_PER_ENTRY + n * _BYTES_PER_POINT
    by_ranges = n * k * _BYTES_PER_ENTRY_BY_RANGES + _ENTRIES_AT_ONCE * _BYTES_PER_ENTRY
    return by_ranges + n * _BYTES_PER_POINT


def symmetric_graph(
    indices: Tensor, squared: Tensor, *, entries_at_once: int = _ENTRIES_AT_ONCE
) -> tuple[Tensor, Tensor, Tensor]:
    """Row starts, columns (ascending in each row) and squared distances of the union.

    A pair that has each other as neighbours gets the mean of the two distances, as given ones need
    not be quite the same both ways. Waits for the device.

    Parameters
    ----------
    indices : Tensor of shape (n, k), int32
        Neighbours of each point, each once and without the point itself.
    squared : Tensor of shape (n, k)
    entries_at_once : int
        Lists with more entries than this are transposed by ranges of rows.
    """
    n = len(indices)
    indices, squared = indices.contiguous(), squared.contiguous()
    lengths, columns, merged = [], [], []
    for first, last in _ranges(indices, entries_at_once):
        if last - first == n:
            incoming = _transposed(indices, squared)
        else:
            incoming = _transposed_range(indices, squared, first, last, entries_at_once)
        part = _union(indices[first:last], squared[first:last], *incoming)
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


def _ranges(indices: Tensor, entries_at_once: int) -> list[tuple[int, int]]:
    """Ranges of rows, of whose lists and transpose none has too many entries."""
    n, k = indices.shape
    if n * k <= entries_at_once:
        return [(0, n)]
    counts = torch.zeros(n, dtype=torch.int64, device=indices.device)
    for part in torch.split(indices.view(-1), entries_at_once):
        counts += torch.bincount(part, minlength=n)
    starts = torch.zeros(n + 1, dtype=torch.int64, device=indices.device)
    torch.cumsum(counts.clamp_(min=k), dim=0, out=starts[1:])
    return [(first, last) for first, last, _, _ in rows_at_once(starts, entries_at_once)]


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
    indices: Tensor, squared: Tensor, first: int, last: int, entries_at_once: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the same for a range of points."""
    n, k = indices.shape
    n_rows = max(1, entries_at_once // k)
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


def _union(
    indices: Tensor, squared: Tensor, starts: Tensor, sources: Tensor, from_sources: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    if runs_triton(indices):
        from dtsne.affinity import _graph_triton as _neighbor_graph_triton

        return _neighbor_graph_triton.union(indices, squared, starts, sources, from_sources)
    return union_plainly(indices, squared, starts, sources, from_sources)


def union_plainly(
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
