"""A step of the descent: numpy, PyTorch and Triton take the same one."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_ways import both_ways, going, torch

from dtsne._config import PAPER, SCALED
from dtsne.forces import _step
from dtsne.forces._engine_torch import gradient_step
from dtsne.forces._step import Motion, StepSettings

N = 300


@both_ways
@pytest.mark.parametrize("by_columns", [False, True], ids=["by rows", "by columns"])
@pytest.mark.parametrize("rule", [SCALED, PAPER], ids=["scaled", "paper"])
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_a_step_is_that_of_numpy(rng, way, n_axes, rule, by_columns):
    """In whatever order the numbers are in memory: pandas has them by columns."""
    embedding, velocity, gains, gradient = (rng.normal(size=(N, n_axes)) for _ in range(4))
    gains, scales = np.abs(gains) + 0.01, np.abs(rng.normal(size=N)) + 0.1
    settings = StepSettings(rule, momentum=0.9, learning_rate=0.7)
    expected = _step.gradient_step(Motion(embedding, velocity, gains), scales, gradient, settings)

    with going(way) as device:

        def tensor(array):
            there = torch.tensor(array, device=device)
            return there.T.contiguous().T if by_columns else there

        motion = Motion(tensor(embedding), tensor(velocity), tensor(gains))
        scales = torch.tensor(scales, device=device)
        found = gradient_step(motion, scales, tensor(gradient), settings)
    for name in ("embedding", "velocity", "gains"):
        array, other = getattr(found, name).cpu(), getattr(expected, name)
        np.testing.assert_allclose(array, other, rtol=1e-6, atol=1e-7)
    if rule is SCALED:
        assert abs(float(found.velocity.mean())) < 1e-12
