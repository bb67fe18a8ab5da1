# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-decorators=False
"""The sum over all pairs as a kernel.

A program holds some rows in registers and streams a part of the columns past them. A lane has one
column of a tile and all rows of its warp, so that the loads of a column serve eight pairs, and
every (row, lane) has sums of its own: lanes meet only once, at the end. What is left is 13
instructions a pair in two dimensions, of which 12 are arithmetic. The parts of the columns are
added up in float64 afterwards, in their order; each is so short that its float32 sums keep six
digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from torch import Tensor

# 32 rows on 4 warps are 8 rows a lane: 24 sums and 24 coordinates in two dimensions, 72 registers
# in all, so that seven programs run on a multiprocessor. 64 rows need 128 registers (four programs)
# and 12.5 instructions a pair.
_ROWS = 32
_COLUMNS = 32
_WARPS = 4
# A part adds up at most this many columns, 512 in each lane.
_MAX_PART = 16384
_MIN_PART = 256
# Enough programs for some eight rounds on a large device, so that the last one does not matter.
_WANTED_PROGRAMS = 7392
# Numbers in the sums of all parts: 256 MB at most.
_MAX_PARTIAL_SUMS = 2**26
# Where columns end: so far away that the kernel is 0 in float32, and its divisor still finite.
_FAR = tl.constexpr(1e18)


def exact_repulsion(
    points: Tensor, rows: Tensor | None = None, *, n_axes: int = 3
) -> tuple[Tensor, Tensor]:
    """See :func:`dtsne.forces._exact_torch.exact_repulsion`."""
    n_rows = len(points) if rows is None else len(rows)
    length = _length_of_parts(n_rows, len(points))
    n_parts = triton.cdiv(len(points), length)
    at_once = max(_ROWS, _MAX_PARTIAL_SUMS // (4 * n_parts) // _ROWS * _ROWS)
    blocks = []
    for first in range(0, n_rows, at_once):
        last = min(first + at_once, n_rows)
        partial = points.new_empty((n_parts, last - first, 4))
        _sum_over_pairs[(triton.cdiv(last - first, _ROWS), n_parts)](
            # Rows are never read where all of them are summed, but a pointer it must be.
            points, points if rows is None else rows, partial, len(points), first, last, length,
            ALL_ROWS=rows is None, N_AXES=n_axes, APPROXIMATE=points.is_cuda,
            ROWS=_ROWS, COLUMNS=_COLUMNS, num_warps=_WARPS,
        )  # fmt: skip
        blocks.append(partial.sum(dim=0, dtype=torch.float64))
    whole = blocks[0] if len(blocks) == 1 else torch.cat(blocks)
    return whole[:, :3].to(points.dtype), whole[:, 3]


def _length_of_parts(n_rows: int, n: int) -> int:
    """Columns in a part, a multiple of the tile; all parts but the last are of one length."""
    n_parts = max(_WANTED_PROGRAMS * _ROWS // n_rows, -(-n // _MAX_PART), 1)
    length = max(-(-n // n_parts), _MIN_PART)
    return -(-length // _COLUMNS) * _COLUMNS


@triton.jit
def inverse_of(x, APPROXIMATE: tl.constexpr):
    """Invert by one instruction, right to one unit in the last place; a division takes eight."""
    if APPROXIMATE:
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return 1.0 / x


@triton.jit
def _load(place, exists, other, MASKED: tl.constexpr):
    if MASKED:
        return tl.load(place, mask=exists, other=other)
    return tl.load(place)


@triton.jit
def _add_columns(
    i, y0, y1, y2, s, points, begin, end, n, f0, f1, f2, total,
    MASKED: tl.constexpr, N_AXES: tl.constexpr, APPROXIMATE: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Add the pairs with the columns of a range; masked where some of them do not count."""
    lanes = tl.arange(0, COLUMNS)
    for first in range(begin, end, COLUMNS):
        j = first + lanes
        # All offsets fit 32 bits: four numbers a point, and no sum over pairs of 500 M points.
        place = points + 4 * j
        exists = j < n
        d0 = y0 - _load(place, exists, _FAR, MASKED)[None, :]
        scale = s + _load(place + 3, exists, 0.0, MASKED)[None, :]
        squared_scale = scale * scale
        divisor = squared_scale + d0 * d0
        if N_AXES > 1:
            d1 = y1 - _load(place + 1, exists, 0.0, MASKED)[None, :]
            divisor += d1 * d1
        if N_AXES > 2:
            d2 = y2 - _load(place + 2, exists, 0.0, MASKED)[None, :]
            divisor += d2 * d2
        inverse = inverse_of(divisor, APPROXIMATE)
        w = squared_scale * inverse
        if MASKED:
            # Left out rather than taken off the sum, of which 1 may be the larger part by far.
            w = tl.where(i[:, None] == j[None, :], 0.0, w)
        push = w * inverse
        total += w
        f0 += push * d0
        if N_AXES > 1:
            f1 += push * d1
        if N_AXES > 2:
            f2 += push * d2
    return f0, f1, f2, total


@triton.jit
def _sum_over_pairs(
    points, rows, partial, n, first_row, last_row, length,
    ALL_ROWS: tl.constexpr, N_AXES: tl.constexpr, APPROXIMATE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    first = first_row + tl.program_id(0) * ROWS
    place = first + tl.arange(0, ROWS)
    exists = place < last_row
    begin = tl.program_id(1) * length
    end = tl.minimum(begin + length, n)
    if ALL_ROWS:
        i = place
        has_own = (begin < first + ROWS) & (first < end)
    else:
        i = tl.load(rows + place, mask=exists, other=0).to(tl.int32)
        has_own = begin >= 0  # which may be any of them
    point = points + 4 * i
    y0 = tl.load(point, mask=exists, other=0.0)[:, None]
    y1 = tl.load(point + 1, mask=exists, other=0.0)[:, None]
    y2 = tl.load(point + 2, mask=exists, other=0.0)[:, None]
    s = tl.load(point + 3, mask=exists, other=1.0)[:, None]
    f0 = tl.zeros((ROWS, COLUMNS), tl.float32)
    f1 = tl.zeros((ROWS, COLUMNS), tl.float32)
    f2 = tl.zeros((ROWS, COLUMNS), tl.float32)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    # Only the part with the rows themselves, and the last with its end, need masks.
    if has_own | (begin + length > n):
        f0, f1, f2, total = _add_columns(
            i, y0, y1, y2, s, points, begin, end, n, f0, f1, f2, total,
            MASKED=True, N_AXES=N_AXES, APPROXIMATE=APPROXIMATE, COLUMNS=COLUMNS,
        )  # fmt: skip
    else:
        f0, f1, f2, total = _add_columns(
            i, y0, y1, y2, s, points, begin, end, n, f0, f1, f2, total,
            MASKED=False, N_AXES=N_AXES, APPROXIMATE=APPROXIMATE, COLUMNS=COLUMNS,
        )  # fmt: skip
    n_rows = last_row - first_row
    out = partial + (tl.program_id(1).to(tl.int64) * n_rows + (place - first_row)) * 4
    # With D = 2 (y_i − y_j): γ w² (y_i − y_j) = 2 w D / |D|².
    tl.store(out, 2.0 * tl.sum(f0, axis=1), mask=exists)
    tl.store(out + 1, 2.0 * tl.sum(f1, axis=1), mask=exists)
    tl.store(out + 2, 2.0 * tl.sum(f2, axis=1), mask=exists)
    tl.store(out + 3, tl.sum(total, axis=1), mask=exists)
