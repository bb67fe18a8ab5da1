"""Points into the order of their cells, and back, in one launch each; see `_arrange`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.forces.fft._arrange_torch import EDGE, Arranged

if TYPE_CHECKING:
    from torch import Tensor

_BLOCK = 256


def arrange_triton(
    y: Tensor,
    scales: Tensor,
    weights: Tensor,
    order: Tensor,
    origin: Tensor,
    spacing: float,
    lengths: tuple[int, ...],
) -> Arranged:
    """Take the points in an order."""
    # Kernels read and write row by row; what is made like these then is, too.
    y, scales, weights = y.contiguous(), scales.contiguous(), weights.contiguous()
    (n, n_axes), n_nodes = y.shape, weights.shape[1]
    taken = Arranged(
        torch.empty_like(y),
        torch.empty_like(y),
        torch.empty_like(scales),
        torch.empty_like(weights),
    )
    _arrange[(triton.cdiv(n, _BLOCK),)](
        y, scales, weights, order, origin.to(y.dtype), *taken,
        n, 1.0 / spacing, *(length - EDGE for length in (*lengths, 4, 4)[:3]),
        AXES=n_axes, NODES=n_nodes, BLOCK=_BLOCK,
    )  # fmt: skip
    return taken


def join_triton(
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
