"""The plan of the repulsion on a device: its room to grow, and how it is frozen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from gpu_ways import torch

from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion, TorchNumerics


def test_room_to_grow_is_given_back(rng, monkeypatch):
    """A map that has grown up needs none, and every iteration pays for it."""
    monkeypatch.setattr(TorchNumerics, "work", replace(TorchNumerics.work, launched=0.0))
    y = torch.tensor(50.0 * rng.uniform(size=(2000, 2)), dtype=torch.float32)
    scales = torch.ones(2000)
    repulsion = TorchFftRepulsion(2, 0.01)
    sizes = []
    for _ in range(100):
        repulsion(y, scales, epoch=0)
        sizes.append(math.prod(repulsion.plan.grid_shape))
    assert sizes[-1] < 0.8 * sizes[0]
    # Once is enough.
    assert len(set(sizes[80:])) == 1


def test_a_plan_that_is_frozen_tells_whether_all_maps_stayed_within_its_grid(rng):
    y = torch.tensor(rng.normal(size=(500, 2)), dtype=torch.float32)
    scales = torch.ones(500)
    repulsion = TorchFftRepulsion(2, 0.01)
    assert repulsion.evaluations_before_check(7) == 0
    for _ in range(14):
        expected = repulsion(y, scales, epoch=7)
    left = repulsion.evaluations_before_check(7)
    assert left > 0
    assert repulsion.evaluations_before_check(8) == 0
    assert repulsion.evaluations_before_check(None) == 0
    with repulsion.frozen_plan(1):
        found = repulsion(y, scales)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-4)
    assert repulsion.stayed_within_grid()
    assert repulsion.evaluations_before_check(7) == left - 1
    with repulsion.frozen_plan(2):
        repulsion(20.0 * y, scales)
        repulsion(y, scales)  # back in time, but too late
    assert not repulsion.stayed_within_grid()
