"""The cells of points in one launch, by Triton; see :mod:`dtsne.forces.fft._cells_torch`."""

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

_BLOCK = 256


def find_cells_triton(
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
