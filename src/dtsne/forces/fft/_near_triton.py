"""Near pairs of the FFT repulsion, by Triton; see :mod:`dtsne.forces.fft._near_torch`.

A program takes a block of points that follow each other in order of the cells, and with them all
candidates of one row of cells (in 3-D, of one plane): what the rows find is added up afterwards, in
a fixed order. So the work on a crowd is shared among five times as many programs, or more, where
candidates of a row are dealt out to several.

The block's points may lie in cells far apart, at the end of one row and the start of another, or on
both sides of a crowd. They are taken in pieces of no more than `span` cells, whose candidates are
one range of points in every row: some of them are beyond the cutoff, where u is 0, but none comes
twice, as long as span + 2 BORDER cells are no more than a row.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.forces.fft._cells import BORDER

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.forces.fft._cells_torch import Cells

# Points of a program, and candidates at a time. With four warps each thread has 8 pairs: what they
# add up to stays in its registers, and is added over the 32 threads of a warp once, at the end.
_BLOCK, _TILE, _WARPS = 32, 32, 4
_SPAN = 8
# Programs that share the candidates of a row, by number of axes.
_SLICES = {1: 8, 2: 1, 3: 1}


def sum_near(y: Tensor, s: Tensor, cells: Cells, cutoff: float) -> Tensor:
    """Sum forces and w u³ over the pairs nearer than the cutoff."""
    n, n_axes = y.shape
    slices = _SLICES[n_axes]
    n_parts = slices * (1 if n_axes == 1 else 2 * BORDER + 1)
    found = torch.empty(n_parts, n, 4, dtype=torch.float32, device=y.device)
    row, rows = cells.counts[0], (*cells.counts, 1)[1]
    _sum_near[(triton.cdiv(n, _BLOCK), n_parts)](
        y.contiguous(), s.contiguous(), cells.cell_of, cells.starts, found,
        n, 1.0 / cutoff, row, row * rows, min(_SPAN, row - 2 * BORDER),
        AXES=n_axes, BORDER=BORDER, SLICES=slices, BLOCK=_BLOCK, TILE=_TILE, num_warps=_WARPS,
    )  # fmt: skip
    return found[0] if n_parts == 1 else found.sum(dim=0)


@triton.jit(do_not_specialize=["n", "row", "plane", "span"])
def _sum_near(
    y, s, cell_of, starts, found, n, per_cutoff, row, plane, span,
    AXES: tl.constexpr, BORDER: tl.constexpr, SLICES: tl.constexpr,
    BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    nowhere = 2147483647
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(1)
    cell = tl.load(cell_of + i, mask=i < n, other=-1).to(tl.int32)
    cell = tl.where(i < n, cell, nowhere)
    own_scale = tl.load(s + i, mask=i < n, other=1.0).to(tl.float32) * per_cutoff
    f0 = tl.zeros([BLOCK, TILE], tl.float32)
    f1 = tl.zeros([BLOCK, TILE], tl.float32)
    f2 = tl.zeros([BLOCK, TILE], tl.float32)
    total = tl.zeros([BLOCK, TILE], tl.float32)
    first = tl.min(cell, axis=0)
    while first < nowhere:
        is_inside = (cell >= first) & (cell - first < span)
        last = tl.max(tl.where(is_inside, cell, first), axis=0)
        # Relative to a point of the piece: far from the origin, float32 has no digits for it.
        origin = tl.min(tl.where(is_inside, i, n), axis=0)
        # Far outside of any cutoff, with a square that float32 can hold, is all that has no pairs.
        x0 = _relative(y, i, origin, i < n, per_cutoff, 0, AXES)
        x0 = tl.where(is_inside, x0, 1e10)
        x1 = _relative(y, i, origin, i < n, per_cutoff, 1, AXES)
        x2 = _relative(y, i, origin, i < n, per_cutoff, 2, AXES)
        for middle in range(-BORDER if AXES > 2 else 0, BORDER + 1 if AXES > 2 else 1):
            step = middle * row
            if AXES > 2:
                step += (part // SLICES - BORDER) * plane
            elif AXES > 1:
                step += (part // SLICES - BORDER) * row
            begin = tl.load(starts + first + step - BORDER)
            end = tl.load(starts + last + step + BORDER + 1)
            for low in range(begin + part % SLICES * TILE, end, SLICES * TILE):
                j = low + tl.arange(0, TILE)
                is_other = j < end
                other_scale = tl.load(s + j, mask=is_other, other=1.0).to(tl.float32) * per_cutoff
                z0 = _relative(y, j, origin, is_other, per_cutoff, 0, AXES)
                z0 = tl.where(is_other, z0, -1e10)
                z1 = _relative(y, j, origin, is_other, per_cutoff, 1, AXES)
                z2 = _relative(y, j, origin, is_other, per_cutoff, 2, AXES)
                scale = own_scale[:, None] + other_scale[None, :]
                d0 = x0[:, None] - z0[None, :]
                d1 = x1[:, None] - z1[None, :]
                d2 = x2[:, None] - z2[None, :]
                is_pair = i[:, None] != j[None, :]
                push, w_u3 = _near_kernel(d0 * d0 + d1 * d1 + d2 * d2, scale, is_pair)
                total += w_u3
                f0 += push * d0
                f1 += push * d1
                f2 += push * d2
        first = tl.min(tl.where(cell > last, cell, nowhere), axis=0)
    at = found + (part.to(tl.int64) * n + i) * 4
    tl.store(at, tl.sum(f0, axis=1) * per_cutoff, mask=i < n)
    tl.store(at + 1, tl.sum(f1, axis=1) * per_cutoff, mask=i < n)
    tl.store(at + 2, tl.sum(f2, axis=1) * per_cutoff, mask=i < n)
    tl.store(at + 3, tl.sum(total, axis=1), mask=i < n)


@triton.jit
def _near_kernel(squared, scale, is_pair):
    """−d(w u³)/d(d²) and w u³, in units of the cutoff."""
    scale2 = scale * scale
    here, there = scale2 + 4.0 * squared, scale2 + 4.0
    inverse = 1.0 / (here * there)  # one division for both
    v, c = there * inverse, here * inverse
    # A point's own w of 1 would drown the others'.
    u = tl.where(is_pair, 4.0 * tl.maximum(1.0 - squared, 0.0) * c, 0.0)
    w_u2 = scale2 * v * u * u
    # As w' = −4 v w and u' = −4 c.
    return w_u2 * (4.0 * v * u + 12.0 * c), w_u2 * u


@triton.jit
def _relative(y, j, origin, mask, per_cutoff, axis: tl.constexpr, AXES: tl.constexpr):
    """Coordinates along an axis, relative to those of a point; 0 along an axis that is not used."""
    if axis < AXES:
        at_origin = tl.load(y + origin * AXES + axis)
        away = tl.load(y + j * AXES + axis, mask=mask, other=0.0) - at_origin
        return away.to(tl.float32) * per_cutoff
    else:  # noqa: RET505 (in Triton a branch that is not taken must not be reached)
        return tl.zeros([j.shape[0]], tl.float32)
