"""What kernels of several files share."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def inverse_of(x, APPROXIMATE: tl.constexpr):
    """Invert by one instruction, right to one unit in the last place; a division takes eight."""
    if APPROXIMATE:
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return 1.0 / x
