"""The grid of the FFT repulsion, by Triton; see :mod:`dtsne.forces.fft._grid_torch`.

A program takes a block of points and all nodes of their stencils at once: 4 in 1-D, 16 in 2-D, 64
in 3-D. Threads next to each other have nodes next to each other, four of which are 32 bytes of the
grid of integers: what the second-level cache adds in one go.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from torch import Tensor

# Points of a program, by number of axes: 512 nodes of stencils, four for each thread.
_BLOCKS = {1: 128, 2: 32, 3: 8}
# Frequencies of a program, twice: real and imaginary parts are alike to it. Charges and spectra of
# that many, some ten kilobytes, are read several times, and stay in the first-level cache.
_FREQUENCIES = 512


def add_shares(positions: Tensor, weights: Tensor, unit: float, fixed: Tensor) -> None:
    """Add the points' shares of the nodes, in fixed point, to a grid of integers."""
    n, n_axes = positions.shape
    block = _BLOCKS[n_axes]
    _add_shares[(triton.cdiv(n, block),)](
        positions.contiguous(), weights.contiguous(), fixed, n, *_lengths_and_strides(fixed), unit,
        len(fixed), AXES=n_axes, STENCIL=4**n_axes, BLOCK=block,
    )  # fmt: skip


def gather(positions: Tensor, weights: Tensor, potentials: Tensor) -> Tensor:
    """Gather the gradient and the value of the potential that each point feels."""
    n, n_axes = positions.shape
    block = _BLOCKS[n_axes]
    found = torch.empty(n, 4, dtype=torch.float32, device=weights.device)
    if potentials.stride(-1) != 1:
        potentials = potentials.contiguous()
    _gather[(triton.cdiv(n, block),)](
        positions.contiguous(), weights.contiguous(), potentials, found, n,
        *_lengths_and_strides(potentials), len(potentials),
        AXES=n_axes, STENCIL=4**n_axes, BLOCK=block,
    )  # fmt: skip
    return found


def multiply_spectra(spectra: Tensor, charges: Tensor, factor: float) -> Tensor:
    """Σ_b K_ab · charge_b · factor at every frequency; K is symmetric and given once a pair."""
    charges = charges.contiguous()
    felt = torch.empty_like(charges)
    size = charges[0].numel()
    _multiply[(triton.cdiv(2 * size, _FREQUENCIES),)](
        spectra.contiguous(), torch.view_as_real(charges), torch.view_as_real(felt),
        size, len(charges), factor, BLOCK=_FREQUENCIES,
    )  # fmt: skip
    return felt


def _lengths_and_strides(grid: Tensor) -> tuple[int, ...]:
    """Lengths along the map's axes, strides from its second on, and that of the scale nodes."""
    lengths, strides = (*grid.shape[:0:-1], 1, 1)[:3], (*grid.stride()[:0:-1], 0, 0)[:3]
    return (*lengths, *strides[1:], grid.stride(0))


@triton.jit
def _place(positions, i, is_point, axis: tl.constexpr, length, AXES: tl.constexpr):
    """Second node of each point's spline along an axis, and the fraction of a step behind it."""
    position = tl.load(positions + i * AXES + axis, mask=is_point, other=1.0)
    # What lies outside is not to be written outside; it is no map that the plan was made for.
    second = tl.minimum(tl.maximum(position.to(tl.int32), 1), length - 3)
    fraction = (position - second.to(position.dtype)).to(tl.float32)
    return second, tl.minimum(tl.maximum(fraction, 0.0), 1.0)


@triton.jit
def _stencil(
    positions, n, n0, n1, n2, stride1, stride2,
    AXES: tl.constexpr, STENCIL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Points of a program, the nodes around them, and their fractions of a step along the axes."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    is_point = i < n
    q = tl.arange(0, STENCIL)[None, :]
    second, f0 = _place(positions, i, is_point, 0, n0, AXES)
    node = (second[:, None] + q % 4 - 1).to(tl.int64)
    f1, f2 = f0, f0  # of axes that are not used
    if AXES > 1:
        second, f1 = _place(positions, i, is_point, 1, n1, AXES)
        node += (second[:, None] + q // 4 % 4 - 1).to(tl.int64) * stride1
    if AXES > 2:
        second, f2 = _place(positions, i, is_point, 2, n2, AXES)
        node += (second[:, None] + q // 16 - 1).to(tl.int64) * stride2
    return i, is_point, q, node, f0, f1, f2


@triton.jit
def _spline(fraction, q):
    """Weight of the cubic B-spline at the q-th of the four nodes around a point."""
    f = fraction[:, None]
    x = tl.where((q == 0) | (q == 2), 1.0 - f, f)
    cube = x * x * x
    return tl.where((q == 0) | (q == 3), cube, 4.0 - 6.0 * x * x + 3.0 * cube) * (1.0 / 6.0)


@triton.jit
def _spline_slope(fraction, q):
    f = fraction[:, None]
    x = tl.where((q == 0) | (q == 2), 1.0 - f, f)
    slope = tl.where((q == 0) | (q == 3), 0.5 * x * x, 2.0 * x - 1.5 * x * x)
    return tl.where(q < 2, -slope, slope)


@triton.jit(do_not_specialize=["n", "n0", "n1", "n2", "stride1", "stride2", "per_node", "n_nodes"])
def _add_shares(
    positions, weights, fixed, n, n0, n1, n2, stride1, stride2, per_node, unit, n_nodes,
    AXES: tl.constexpr, STENCIL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, is_point, q, node, f0, f1, f2 = _stencil(
        positions, n, n0, n1, n2, stride1, stride2, AXES, STENCIL, BLOCK
    )
    share = _spline(f0, q % 4)
    if AXES > 1:
        share = _spline(f1, q // 4 % 4) * share
    if AXES > 2:
        share = _spline(f2, q // 16) * share
    share *= unit
    own = weights + i.to(tl.int64) * n_nodes
    at = fixed + node
    for _ in range(n_nodes):
        weight = tl.load(own, mask=is_point, other=0.0)
        # Integers: their sum is the same in any order.
        added = (share * weight[:, None]).to(tl.int64)
        tl.atomic_add(at, added, mask=is_point[:, None], sem="relaxed")
        own += 1
        at += per_node


@triton.jit(do_not_specialize=["n", "n0", "n1", "n2", "stride1", "stride2", "per_node", "n_nodes"])
def _gather(
    positions, weights, potentials, found,
    n, n0, n1, n2, stride1, stride2, per_node, n_nodes,
    AXES: tl.constexpr, STENCIL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, is_point, q, node, f0, f1, f2 = _stencil(
        positions, n, n0, n1, n2, stride1, stride2, AXES, STENCIL, BLOCK
    )
    w0 = _spline(f0, q % 4)
    g0 = _spline_slope(f0, q % 4)
    own = weights + i.to(tl.int64) * n_nodes
    at = potentials + node
    felt = tl.zeros([BLOCK, STENCIL], tl.float32)
    for _ in range(n_nodes):
        weight = tl.load(own, mask=is_point, other=0.0)
        felt += weight[:, None] * tl.load(at, mask=is_point[:, None], other=0.0)
        own += 1
        at += per_node
    # Each axis has its slope in one of the gradients, and its spline in all the rest.
    none = tl.zeros([BLOCK], tl.float32)
    to = found + i.to(tl.int64) * 4
    if AXES == 1:
        tl.store(to, tl.sum(g0 * felt, axis=1), mask=is_point)
        tl.store(to + 1, none, mask=is_point)
        tl.store(to + 2, none, mask=is_point)
        tl.store(to + 3, tl.sum(w0 * felt, axis=1), mask=is_point)
    if AXES == 2:
        w1 = _spline(f1, q // 4) * felt
        tl.store(to, tl.sum(g0 * w1, axis=1), mask=is_point)
        tl.store(to + 1, tl.sum(_spline_slope(f1, q // 4) * w0 * felt, axis=1), mask=is_point)
        tl.store(to + 2, none, mask=is_point)
        tl.store(to + 3, tl.sum(w0 * w1, axis=1), mask=is_point)
    if AXES == 3:
        w1, w2 = _spline(f1, q // 4 % 4), _spline(f2, q // 16) * felt
        tl.store(to, tl.sum(g0 * w1 * w2, axis=1), mask=is_point)
        tl.store(to + 1, tl.sum(w0 * _spline_slope(f1, q // 4 % 4) * w2, axis=1), mask=is_point)
        tl.store(to + 2, tl.sum(w0 * w1 * _spline_slope(f2, q // 16) * felt, axis=1), mask=is_point)
        tl.store(to + 3, tl.sum(w0 * w1 * w2, axis=1), mask=is_point)


@triton.jit(do_not_specialize=["size", "n_nodes"])
def _multiply(spectra, charges, felt, size, n_nodes, factor, BLOCK: tl.constexpr):
    size = size.to(tl.int64)
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    is_part = at < 2 * size
    frequency = at // 2  # of real and imaginary part
    for a in range(n_nodes):
        total = tl.zeros([BLOCK], tl.float32)
        charge = charges + at
        # The pairs (0, a), (1, a), …, (a, a), and from there on (a, a + 1), (a, a + 2), …
        pair = spectra + frequency + a * size
        for b in range(a):
            spectrum = tl.load(pair, mask=is_part, other=0.0)
            total += spectrum * tl.load(charge, mask=is_part, other=0.0)
            charge += 2 * size
            pair += (n_nodes - b - 1) * size
        for _ in range(a, n_nodes):
            spectrum = tl.load(pair, mask=is_part, other=0.0)
            total += spectrum * tl.load(charge, mask=is_part, other=0.0)
            charge += 2 * size
            pair += size
        tl.store(felt + a * 2 * size + at, total * factor, mask=is_part)
