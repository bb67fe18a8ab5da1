"""The rows of a sparse P in shares of equal work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

# One warp a program, and no multiprocessor runs more than 32 programs at a time.
PROGRAMS_PER_PROCESSOR = 32
# Begin and end of a row take as long as this many entries.
_ENTRIES_PER_ROW = 64
# A row is cut where it is longer than a share, but no piece is shorter than this.
_SHORTEST_CUT = 2048
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


def cut_rows(row_starts: Tensor, *, n_processors: int | None = None) -> Pieces:
    """Cut the rows that are longer than a share, and share the pieces out.

    Waits for the device: the number of pieces must be known here.
    """
    if n_processors is None:
        n_processors = _n_processors(row_starts.device)
    n_programs = n_processors * PROGRAMS_PER_PROCESSOR
    lengths = row_starts.diff()
    n_entries, longest = torch.stack([row_starts[-1], lengths.max()]).tolist()
    cut = max(_SHORTEST_CUT, n_entries // n_programs)
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
