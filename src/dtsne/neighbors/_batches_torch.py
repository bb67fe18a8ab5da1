"""Which rows are compared with which points, in batches that fit into the memory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from dtsne.neighbors._ivf_torch import Lists

# Rows of a block where there is one cell, and where there are many, which hold some hundred points:
# a wider block shares the work on its columns (less the centre, split into parts) among more rows,
# and leaves more of itself empty at the end of a cell.
_ROWS_OF_ONE, _ROWS_OF_MANY = 128, 64
# Columns of a tile, which are so many bits.
COLUMNS = 128
_WORD = 32
# A row of the sample must fit into the registers of one program, 64 of each of 256 threads.
_MAX_SAMPLED = 2**14
# Keys that one program sorts.
MAX_KEPT, _MIN_KEPT = 2**12, 2**8
# Beyond k and the point itself: float32 cannot tell neighbours of almost the same distance.
_SPARE = 8
# Those within a value of the sample are a gamma variate of its rank, times the columns for one of
# the sample; its square root has a standard deviation of 1/2, whatever the rank. So much on both
# sides leaves one row in 3,000 outside.
_MARGIN = 1.8
# Of so many columns one is looked at, or of more.
_MIN_EVERY = 6
# Columns of the table of blocks.
N_FIELDS = 9


@dataclass(frozen=True)
class Capacity:
    """How many points are kept for each row, and how the bound is chosen."""

    wanted: int
    kept: int  # a power of two
    every: int  # columns for one of the sample

    def rank(self, every: Tensor) -> Tensor:
        """Rank in the sample that the bound is at: between too few and too many."""
        fewest, most = (self.wanted / every).sqrt(), (self.kept / every).sqrt()
        return torch.minimum((fewest + most) / 2, fewest + _MARGIN).square().round().long()


def capacity_for(k: int) -> Capacity:
    """Plan for k neighbours; beyond 2,700 or so, that is more than one program can sort."""
    wanted = k + 1 + _SPARE
    kept = _MIN_KEPT
    while (sqrt(kept) - sqrt(wanted)) / (2 * _MARGIN) < sqrt(_MIN_EVERY):
        kept *= 2
    return Capacity(wanted, kept, int(((sqrt(kept) - sqrt(wanted)) / (2 * _MARGIN)) ** 2))


@dataclass(frozen=True)
class Batch:
    """Blocks of rows, one after the other, that are worked on together."""

    # int64. For each block: its cell; its first row, and how many; of its columns, where they begin
    # in the list and how many there are; of how many one is sampled; the rank of the bound in the
    # sample; where its samples begin, and where its words of bits do.
    table: Tensor
    block_of_row: Tensor  # int32
    cell_of_row: Tensor
    columns: Tensor  # int32: positions, one list after the other
    first: int
    n_rows: int
    rows_of_block: int
    n_samples: int  # of all rows together
    n_words: int
    max_columns: int  # of any block
    max_sampled: int


@dataclass(frozen=True)
class _Blocks:
    """All blocks, in memory of the host."""

    cell: Tensor
    first: Tensor
    n_rows: Tensor
    n_columns: Tensor
    every: Tensor
    rank: Tensor

    def __getitem__(self, part: slice) -> _Blocks:
        return _Blocks(*(getattr(self, field.name)[part] for field in fields(self)))

    @property
    def n_sampled(self) -> Tensor:
        return _divided_up(self.n_columns, self.every)

    @property
    def n_samples(self) -> Tensor:
        return self.n_rows * self.n_sampled

    @property
    def n_words(self) -> Tensor:
        return self.n_rows * _divided_up(self.n_columns, COLUMNS) * (COLUMNS // _WORD)


def batches(lists: Lists, visited: Tensor, capacity: Capacity, scratch: int) -> Iterator[Batch]:
    """Divide all rows into blocks, and these into batches that take so many bytes at most."""
    list_sizes = lists.sizes[visited.long()].sum(dim=1).cpu()
    rows_of_block = _ROWS_OF_ONE if len(visited) == 1 else _ROWS_OF_MANY
    blocks = _divide_cells(lists, list_sizes, capacity, rows_of_block)
    # The rows themselves are around their centre for a while, and squared.
    bytes_of_row = 12 * capacity.kept + 12 * lists.points.shape[1]
    n_bytes = 4 * blocks.n_samples + 4 * blocks.n_words + bytes_of_row * blocks.n_rows
    # The list of columns, and what it is made from, once for all blocks of a cell.
    is_first = blocks.cell.diff(prepend=blocks.cell.new_tensor([-1])) > 0
    n_bytes += 24 * blocks.n_columns * is_first
    ends = (n_bytes.cumsum(0) // scratch).diff().nonzero().flatten() + 1
    for begin, end in pairwise([0, *ends.tolist(), len(n_bytes)]):
        yield _batch(lists, visited, list_sizes, blocks[begin:end], rows_of_block)


def _divide_cells(
    lists: Lists, list_sizes: Tensor, capacity: Capacity, rows_of_block: int
) -> _Blocks:
    starts = lists.starts.cpu()
    n_blocks = _divided_up(starts.diff(), rows_of_block)
    cell = torch.arange(len(n_blocks), device=starts.device).repeat_interleave(n_blocks)
    number = torch.arange(len(cell), device=starts.device) - (n_blocks.cumsum(0) - n_blocks)[cell]
    first = starts[cell] + rows_of_block * number
    n_columns = list_sizes[cell]
    every = _divided_up(n_columns, _MAX_SAMPLED).clamp_min(capacity.every)
    # Where all fit, all are taken: more of the sample are asked for than there are.
    rank = torch.where(n_columns > capacity.kept, capacity.rank(every), _MAX_SAMPLED + 1)
    n_rows = (starts[cell + 1] - first).clamp_max(rows_of_block)
    return _Blocks(cell, first, n_rows, n_columns, every, rank)


def _batch(
    lists: Lists, visited: Tensor, list_sizes: Tensor, blocks: _Blocks, rows_of_block: int
) -> Batch:
    device = visited.device
    cells = slice(int(blocks.cell[0]), int(blocks.cell[-1]) + 1)
    columns_begin = _before(list_sizes[cells])[blocks.cell - cells.start]
    table = torch.stack(
        (
            blocks.cell, blocks.first, blocks.n_rows, columns_begin, blocks.n_columns, blocks.every,
            blocks.rank, _before(blocks.n_samples), _before(blocks.n_words),
        ), dim=1,
    )  # fmt: skip
    block_of_row = torch.arange(len(table), device=table.device).repeat_interleave(blocks.n_rows)
    return Batch(
        table=table.to(device),
        block_of_row=block_of_row.int().to(device),
        cell_of_row=blocks.cell[block_of_row].to(device),
        columns=lists.columns(visited[cells].flatten().long()),
        first=int(blocks.first[0]),
        n_rows=len(block_of_row),
        rows_of_block=rows_of_block,
        n_samples=int(blocks.n_samples.sum()),
        n_words=int(blocks.n_words.sum()),
        max_columns=int(blocks.n_columns.max()),
        max_sampled=int(blocks.n_sampled.max()),
    )


def _divided_up(numbers: Tensor, by: Tensor | int) -> Tensor:
    return -(-numbers // by)


def _before(numbers: Tensor) -> Tensor:
    """Sum of all numbers before each."""
    return numbers.cumsum(0) - numbers
