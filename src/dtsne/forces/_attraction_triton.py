# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-decorators=False
"""The sums over the pairs of P as kernels, which read P once, at the speed of the memory.

Sparse P: a program is one warp and goes through consecutive rows. The entries of a row follow those
of the row before it, so that the next tile's place is always known, and it is asked for while this
one is worked on. A neighbour's four numbers are one load of 16 bytes: it is these loads, one for
each entry, that bound the kernel where they miss the multiprocessor's own cache. So programs of one
multiprocessor work on rows that lie side by side, and P, read once, is not to stay in the caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.affinity._base import DenseAffinities
from dtsne.affinity._sparse_torch import PROGRAMS_PER_PROCESSOR
from dtsne.forces._exact_triton import inverse_of

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.affinity._sparse_torch import Affinities, SparseAffinities

# Four entries a lane: 8 sums, 16 numbers of neighbours and 16 of P, this tile's and the next's, in
# the 64 registers that 32 programs on a multiprocessor have. It is 23 instructions for 32 entries.
_TILE = 128
_MAX_REGISTERS = 64
_JOINED_AT_ONCE = 128
# Dense P: 16 entries of it on the way in each lane, and programs enough at some thousand points.
_ROWS = 8
_COLUMNS = 128
_DENSE_WARPS = 2


def attraction(
    affinities: Affinities, points: Tensor, *, n_axes: int = 3, with_cost: bool = False
) -> tuple[Tensor, Tensor | None]:
    """See :func:`dtsne.forces._attraction_torch.attraction`."""
    if isinstance(affinities, DenseAffinities):
        forces, costs = _dense(affinities, points, n_axes, with_cost=with_cost)
    else:
        forces, costs = _sparse(affinities, points, n_axes, with_cost=with_cost)
    return forces, costs.sum(dtype=torch.float64) if with_cost else None


def _sparse(
    affinities: SparseAffinities, points: Tensor, n_axes: int, *, with_cost: bool
) -> tuple[Tensor, Tensor]:
    """Compute forces and, if asked for, shares of the cost."""
    n, pieces = len(points), affinities.pieces
    n_pieces = len(pieces.starts) - 1
    forces = points.new_empty((n_pieces, 3))
    costs = points.new_empty(n_pieces if with_cost else 0)
    is_cut = pieces.rows is not None
    _sum_sparse[(pieces.n_processors * PROGRAMS_PER_PROCESSOR,)](
        pieces.starts, pieces.rows if is_cut else pieces.shares, pieces.shares,
        affinities.columns, affinities.values, points, forces, costs if with_cost else forces,
        n_pieces, pieces.n_processors,
        N_AXES=n_axes, IS_CUT=is_cut, WITH_COST=with_cost, APPROXIMATE=points.is_cuda,
        PER_PROCESSOR=PROGRAMS_PER_PROCESSOR, TILE=_TILE, num_warps=1, maxnreg=_MAX_REGISTERS,
    )  # fmt: skip
    if is_cut:
        parts, forces = forces, points.new_empty((n, 3))
        _join_pieces[(triton.cdiv(n, _JOINED_AT_ONCE),)](
            pieces.firsts, parts, forces, n, ROWS=_JOINED_AT_ONCE
        )
    return forces, costs


def _dense(
    affinities: DenseAffinities[Tensor], points: Tensor, n_axes: int, *, with_cost: bool
) -> tuple[Tensor, Tensor]:
    """Compute forces and, if asked for, shares of the cost."""
    n = len(points)
    forces = points.new_empty((n, 3))
    costs = points.new_empty(n if with_cost else 0)
    _sum_dense[(triton.cdiv(n, _ROWS),)](
        affinities.values, points, forces, costs if with_cost else forces, n,
        N_AXES=n_axes, WITH_COST=with_cost, APPROXIMATE=points.is_cuda,
        ROWS=_ROWS, COLUMNS=_COLUMNS, num_warps=_DENSE_WARPS,
    )  # fmt: skip
    return forces, costs


@triton.jit
def _four_numbers(points, j, TILE: tl.constexpr):
    """2y and s of some points, each by one load of 16 bytes."""
    # As 64 bits before the product: one instruction for an address then, not three.
    places = points + 4 * j.to(tl.int64)[:, None] + tl.arange(0, 4)[None, :]
    pairs = tl.reshape(tl.load(places), (TILE, 2, 2))
    y0_and_y2, y1_and_s = tl.split(pairs)
    y0, y2 = tl.split(y0_and_y2)
    y1, s = tl.split(y1_and_s)
    return y0, y1, y2, s


@triton.jit
def _add_pairs(
    p, d0, d1, d2, scale, f0, f1, f2, cost,
    N_AXES: tl.constexpr, WITH_COST: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """Add forces, and shares of the cost, of pairs with D = (d0, d1, d2, scale)."""
    squared_scale = scale * scale
    divisor = squared_scale + d0 * d0
    if N_AXES > 1:
        divisor += d1 * d1
    if N_AXES > 2:
        divisor += d2 * d2
    pull = p * inverse_of(divisor, APPROXIMATE)
    f0 += pull * d0
    if N_AXES > 1:
        f1 += pull * d1
    if N_AXES > 2:
        f2 += pull * d2
    if WITH_COST:
        cost += p * tl.log(divisor * inverse_of(squared_scale, APPROXIMATE))
    return f0, f1, f2, cost


@triton.jit
def _sum_sparse(
    starts, rows, shares, columns, values, points, forces, costs, n_pieces, n_processors,
    N_AXES: tl.constexpr, IS_CUT: tl.constexpr, WITH_COST: tl.constexpr,
    APPROXIMATE: tl.constexpr, PER_PROCESSOR: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    # Programs are dealt to the multiprocessors in turn: these are the shares that lie side by side.
    program = tl.program_id(0)
    share = (program % n_processors) * PER_PROCESSOR + program // n_processors
    first = tl.load(shares + share)
    last = tl.load(shares + share + 1)
    lanes = tl.arange(0, TILE)
    begin = tl.load(starts + first)
    end = tl.load(starts + tl.minimum(first + 1, n_pieces))
    exists = lanes < (end - begin).to(tl.int32)
    j = tl.load(columns + begin + lanes, mask=exists, other=0, cache_modifier=".cg")
    p = tl.load(values + begin + lanes, mask=exists, other=0.0, cache_modifier=".cg")
    for piece in range(first, last):
        i = piece
        if IS_CUT:
            i = tl.load(rows + piece)
        own = points + 4 * i
        y0, s = tl.load(own), tl.load(own + 3)
        y1, y2 = tl.load(own + 1), tl.load(own + 2)
        length = (end - begin).to(tl.int32)
        length_of_next = (tl.load(starts + tl.minimum(piece + 2, n_pieces)) - end).to(tl.int32)
        f0 = tl.zeros((TILE,), tl.float32)
        f1 = tl.zeros((TILE,), tl.float32)
        f2 = tl.zeros((TILE,), tl.float32)
        cost = tl.zeros((TILE,), tl.float32)
        # Once for an empty row too, as the next one's tile is asked for here.
        for done in range(0, tl.maximum(length, 1), TILE):
            is_last = done + TILE >= length
            next_place = tl.where(is_last, end, begin + (done + TILE))
            left = tl.where(is_last, length_of_next, length - (done + TILE))
            exists = lanes < left
            next_j = tl.load(
                columns + next_place + lanes, mask=exists, other=0, cache_modifier=".cg"
            )
            next_p = tl.load(
                values + next_place + lanes, mask=exists, other=0.0, cache_modifier=".cg"
            )
            z0, z1, z2, z3 = _four_numbers(points, j, TILE)
            f0, f1, f2, cost = _add_pairs(
                p, y0 - z0, y1 - z1, y2 - z2, s + z3, f0, f1, f2, cost,
                N_AXES, WITH_COST, APPROXIMATE,
            )  # fmt: skip
            j = next_j
            p = next_p
        out = forces + 3 * piece
        tl.store(out, 2.0 * tl.sum(f0, axis=0))
        tl.store(out + 1, 2.0 * tl.sum(f1, axis=0))
        tl.store(out + 2, 2.0 * tl.sum(f2, axis=0))
        if WITH_COST:
            tl.store(costs + piece, tl.sum(cost, axis=0))
        begin = end
        end += length_of_next


@triton.jit
def _join_pieces(firsts, parts, forces, n, ROWS: tl.constexpr):
    """Add up the pieces of each row, in their order."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    exists = i < n
    first = tl.load(firsts + i, mask=exists, other=0)
    count = tl.load(firsts + i + 1, mask=exists, other=0) - first
    f0 = tl.zeros((ROWS,), tl.float32)
    f1 = tl.zeros((ROWS,), tl.float32)
    f2 = tl.zeros((ROWS,), tl.float32)
    for k in range(tl.max(count, axis=0)):
        place = parts + 3 * (first + k)
        f0 += tl.load(place, mask=k < count, other=0.0)
        f1 += tl.load(place + 1, mask=k < count, other=0.0)
        f2 += tl.load(place + 2, mask=k < count, other=0.0)
    tl.store(forces + 3 * i, f0, mask=exists)
    tl.store(forces + 3 * i + 1, f1, mask=exists)
    tl.store(forces + 3 * i + 2, f2, mask=exists)


# Not specialised, as Triton would load P by 16 bytes a lane where n allows it, and then exchange
# what it loaded between the lanes.
@triton.jit(do_not_specialize=["n"])
def _sum_dense(
    values, points, forces, costs, n,
    N_AXES: tl.constexpr, WITH_COST: tl.constexpr, APPROXIMATE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    is_row = i < n
    row_start = i.to(tl.int64)[:, None] * n
    y0 = tl.load(points + 4 * i, mask=is_row, other=0.0)[:, None]
    y1 = tl.load(points + 4 * i + 1, mask=is_row, other=0.0)[:, None]
    y2 = tl.load(points + 4 * i + 2, mask=is_row, other=0.0)[:, None]
    s = tl.load(points + 4 * i + 3, mask=is_row, other=1.0)[:, None]
    f0 = tl.zeros((ROWS, COLUMNS), tl.float32)
    f1 = tl.zeros((ROWS, COLUMNS), tl.float32)
    f2 = tl.zeros((ROWS, COLUMNS), tl.float32)
    cost = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, n, COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        is_column = j < n
        p = tl.load(
            values + row_start + j[None, :],
            mask=is_row[:, None] & is_column[None, :],
            other=0.0,
            cache_modifier=".cg",
        )
        d0 = y0 - tl.load(points + 4 * j, mask=is_column, other=0.0)[None, :]
        scale = s + tl.load(points + 4 * j + 3, mask=is_column, other=1.0)[None, :]
        d1, d2 = d0, d0  # of axes that are not used
        if N_AXES > 1:
            d1 = y1 - tl.load(points + 4 * j + 1, mask=is_column, other=0.0)[None, :]
        if N_AXES > 2:
            d2 = y2 - tl.load(points + 4 * j + 2, mask=is_column, other=0.0)[None, :]
        f0, f1, f2, cost = _add_pairs(
            p, d0, d1, d2, scale, f0, f1, f2, cost, N_AXES, WITH_COST, APPROXIMATE
        )
    tl.store(forces + 3 * i, 2.0 * tl.sum(f0, axis=1), mask=is_row)
    tl.store(forces + 3 * i + 1, 2.0 * tl.sum(f1, axis=1), mask=is_row)
    tl.store(forces + 3 * i + 2, 2.0 * tl.sum(f2, axis=1), mask=is_row)
    if WITH_COST:
        tl.store(costs + i, tl.sum(cost, axis=1), mask=is_row)
