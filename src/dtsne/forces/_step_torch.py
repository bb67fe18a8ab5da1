"""A step of the descent on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtsne.optimize import _descent as _optimizer
from dtsne.runtime._triton import runs_triton

if TYPE_CHECKING:
    from dtsne._config import Rule


def moved(*state: Any, rule: Rule, momentum: float, step: float) -> Any:
    """Do what :func:`dtsne.optimize._descent.moved` does, its twin, in fewer launches."""
    if rule.scaled and rule.gains and runs_triton(state[0]):
        from dtsne.forces._step_triton import moved_triton

        return moved_triton(
            *state,
            momentum=momentum,
            step=step,
            gain_rule=_optimizer.GAIN_RULE,
            longest=_optimizer.LONGEST_STEP,
        )
    return _optimizer.moved(*state, rule=rule, momentum=momentum, step=step)
