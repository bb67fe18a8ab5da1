"""A step of the descent in three launches, by Triton; see `_step`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.forces._step import GAIN_RULE, MAX_STEP, Motion

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.forces._step import StepSettings

_BLOCK = 512


def gradient_step(
    motion: Motion[Tensor], scales: Tensor, gradient: Tensor, settings: StepSettings
) -> Motion[Tensor]:
    """See :func:`dtsne.forces._step.gradient_step`; for scaled steps with gains."""
    embedding = motion.embedding
    n, n_axes = embedding.shape
    # Row by row, as the kernels write, whatever the strides of what came in.
    ahead, faster, stronger = (
        torch.empty((n, n_axes), dtype=embedding.dtype, device=embedding.device) for _ in range(3)
    )
    n_blocks = triton.cdiv(n, _BLOCK)
    sums = torch.empty((n_axes, n_blocks), dtype=embedding.dtype, device=embedding.device)
    _push[(n_blocks,)](
        motion.velocity.contiguous(), motion.gains.contiguous(), scales, gradient.contiguous(),
        faster, stronger, sums, n, n_blocks, settings.momentum, settings.learning_rate,
        *GAIN_RULE, MAX_STEP, AXES=n_axes, BLOCK=_BLOCK,
    )  # fmt: skip
    total = sums.sum(dim=1)
    _move[(n_blocks,)](
        embedding.contiguous(), faster, total, ahead, n, AXES=n_axes, BLOCK=_BLOCK
    )  # fmt: skip
    return Motion(ahead, faster, stronger)


@triton.jit
def _velocity(
    velocity, gains, gradient, at, inside, scale, momentum, step, added, decay, least, most
):
    before = tl.load(velocity + at, mask=inside, other=0.0)
    slope = tl.load(gradient + at, mask=inside, other=0.0)
    gain = tl.load(gains + at, mask=inside, other=1.0)
    gain = tl.where(before * slope < 0, gain + added, gain * decay)
    gain = tl.minimum(tl.maximum(gain, least), most)
    return momentum * before - step * (scale * scale) * gain * slope, gain


# Single precision is enough for the numbers of the rule; what they are multiplied by is in double.
@triton.jit(do_not_specialize=["n", "n_blocks", "momentum", "step"])
def _push(
    velocity, gains, scales, gradient, faster, stronger, sums, n, n_blocks,
    momentum, step, added, decay, least, most, longest,
    AXES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    inside = i < n
    scale = tl.load(scales + i, mask=inside, other=1.0)
    squared = tl.zeros([BLOCK], scale.dtype)
    for axis in tl.static_range(AXES):
        now, gain = _velocity(
            velocity, gains, gradient, i * AXES + axis, inside, scale, momentum, step, added,
            decay, least, most,
        )  # fmt: skip
        tl.store(stronger + i * AXES + axis, gain, mask=inside)
        squared += now * now
    reach = longest * scale
    share = reach / tl.maximum(tl.sqrt(squared), reach)
    for axis in tl.static_range(AXES):
        now, gain = _velocity(
            velocity, gains, gradient, i * AXES + axis, inside, scale, momentum, step, added,
            decay, least, most,
        )  # fmt: skip
        now *= share
        tl.store(faster + i * AXES + axis, now, mask=inside)
        tl.store(sums + axis * n_blocks + tl.program_id(0), tl.sum(now, axis=0))


@triton.jit(do_not_specialize=["n"])
def _move(embedding, faster, sums, ahead, n, AXES: tl.constexpr, BLOCK: tl.constexpr):
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    inside = i < n
    for axis in tl.static_range(AXES):
        at = i * AXES + axis
        now = tl.load(faster + at, mask=inside) - tl.load(sums + axis) / n
        tl.store(faster + at, now, mask=inside)
        tl.store(ahead + at, tl.load(embedding + at, mask=inside) + now, mask=inside)
