"""Points into the order of their cells and back, by Triton; see `_cells_torch`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.forces.fft._cells import BORDER
from dtsne.forces.fft._cells_torch import EDGE, SortedPoints

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.forces.fft._plan import Plan

_BLOCK = 256


def find_cells(
    y: Tensor, origin: Tensor, width: float, counts: tuple[int, ...], dtype: torch.dtype
) -> Tensor:
    """Return the cell of each point."""
    n, n_axes = y.shape
    cells = torch.empty(n, dtype=dtype, device=y.device)
    along = (*counts, 1, 1)[:3]
    _find_cells[(triton.cdiv(n, _BLOCK),)](
        y.contiguous(), origin.to(y.dtype), cells, n, 1.0 / width, *along,
        AXES=n_axes, BORDER=BORDER, BLOCK=_BLOCK,
    )  # fmt: skip
    return cells


def arrange(
    y: Tensor, scales: Tensor, order: Tensor, origin: Tensor, plan: Plan[Tensor]
) -> SortedPoints:
    """Take the points in an order."""
    # Kernels read and write row by row; what is made like these then is, too.
    y, scales, weights = y.contiguous(), scales.contiguous(), plan.weights.contiguous()
    (n, n_axes), n_nodes = y.shape, weights.shape[1]
    taken = SortedPoints(
        torch.empty_like(y),
        torch.empty_like(y),
        torch.empty_like(scales),
        torch.empty_like(weights),
    )
    _arrange[(triton.cdiv(n, _BLOCK),)](
        y, scales, weights, order, origin.to(y.dtype), *taken,
        n, 1.0 / plan.spacing, *(length - EDGE for length in (*plan.grid_shape, 4, 4)[:3]),
        AXES=n_axes, NODES=n_nodes, BLOCK=_BLOCK,
    )  # fmt: skip
    return taken


def join(
    far: Tensor, near: Tensor | None, scales: Tensor, order: Tensor, cutoff: float, spacing: float
) -> Tensor:
    """Add the parts, in the order of the map."""
    n, far = len(far), far.contiguous()
    found = torch.empty_like(far)
    _join[(triton.cdiv(n, _BLOCK),)](
        far, far if near is None else near, scales, order, found, n, -0.5 / spacing,
        4.0 * cutoff**2, HAS_NEAR=near is not None, BLOCK=_BLOCK,
    )  # fmt: skip
    return found


# Numbers that differ from plan to plan are not compiled in: each would be another compilation.
@triton.jit(do_not_specialize=["n", "n0", "n1", "n2"])
def _find_cells(
    y, origin, cells, n, per_width, n0, n1, n2,
    AXES: tl.constexpr, BORDER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    cell = _along(y, origin, 0, i, inside, per_width, n0, AXES, BORDER)
    if AXES > 1:
        cell += n0 * _along(y, origin, 1, i, inside, per_width, n1, AXES, BORDER)
    if AXES > 2:
        cell += n0 * n1 * _along(y, origin, 2, i, inside, per_width, n2, AXES, BORDER)
    tl.store(cells + i, cell.to(cells.dtype.element_ty), mask=inside)


@triton.jit
def _along(
    y, origin, axis: tl.constexpr, i, inside, per_width, count,
    AXES: tl.constexpr, BORDER: tl.constexpr,
):  # fmt: skip
    last = count - (1 + 2 * BORDER)
    away = tl.load(y + i * AXES + axis, mask=inside, other=0.0) - tl.load(origin + axis)
    # Brought into the box before it is an integer, which may not hold it, and, for what is no
    # number, after it.
    steps = tl.minimum(tl.maximum(away * per_width, 0.0), last.to(away.dtype))
    return tl.minimum(tl.maximum(steps.to(tl.int32), 0), last) + BORDER


@triton.jit(do_not_specialize=["n"])
def _arrange(
    y, s, weights, order, origin, relative, positions, sorted_s, sorted_weights, n, per_spacing,
    last0, last1, last2,
    AXES: tl.constexpr, NODES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    row = tl.load(order + i, mask=inside, other=0)
    at = i.to(tl.int64)
    for axis in tl.static_range(AXES):
        away = tl.load(y + row * AXES + axis, mask=inside) - tl.load(origin + axis)
        tl.store(relative + at * AXES + axis, away, mask=inside)
        last = last0 if axis == 0 else (last1 if axis == 1 else last2)
        position = tl.minimum(away * per_spacing + 1.0, last)
        tl.store(positions + at * AXES + axis, position, mask=inside)
    tl.store(sorted_s + at, tl.load(s + row, mask=inside), mask=inside)
    for node in tl.static_range(NODES):
        weight = tl.load(weights + row * NODES + node, mask=inside)
        tl.store(sorted_weights + at * NODES + node, weight, mask=inside)


@triton.jit(do_not_specialize=["n"])
def _join(
    far, near, s, order, found, n, factor, four_cutoff2,
    HAS_NEAR: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    row = tl.load(order + i, mask=inside, other=0)
    at = i.to(tl.int64)
    for axis in tl.static_range(3):
        force = tl.load(far + at * 4 + axis, mask=inside) * factor
        if HAS_NEAR:
            force += tl.load(near + at * 4 + axis, mask=inside)
        tl.store(found + row * 4 + axis, force, mask=inside)
    total = tl.load(far + at * 4 + 3, mask=inside)
    if HAS_NEAR:
        # The far kernel at no distance: w (1 + u + u²) at the cutoff.
        scale = 2.0 * tl.load(s + at, mask=inside, other=1.0)
        squared = scale * scale
        u = four_cutoff2 / (squared + four_cutoff2)
        own = squared / (squared + four_cutoff2) * (1.0 + u + u * u)
        total += tl.load(near + at * 4 + 3, mask=inside) - own
    else:
        total -= 1.0
    tl.store(found + row * 4 + 3, total, mask=inside)
