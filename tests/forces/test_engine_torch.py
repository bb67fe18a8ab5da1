"""Iterations that the engine of a device repeats with a frozen plan, without a look at the map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from force_ways import on_device, some_affinities
from gpu_ways import torch

from dtsne._config import SCALED
from dtsne.forces._engine_torch import TorchEngine
from dtsne.forces._recorder_torch import Recorder
from dtsne.forces._step import Motion, StepSettings
from dtsne.forces.fft._repulsion_torch import TorchFftRepulsion

SETTINGS = StepSettings(SCALED, momentum=0.5, learning_rate=1.0)
N = 400


def settled(by_fft=True):
    """An engine whose plan has been in use for a while, and the motion it has come to."""
    rng = np.random.default_rng(0)
    repulsion = TorchFftRepulsion(2, 0.01) if by_fft else None
    engine = TorchEngine(on_device(some_affinities(N, 0, dense=True), torch.float32), repulsion)
    motion = Motion(
        torch.tensor(20 * rng.normal(size=(N, 2))),
        torch.zeros(N, 2, dtype=torch.float64),
        torch.ones(N, 2, dtype=torch.float64),
    )
    scales = torch.tensor(np.exp(0.3 * rng.normal(size=N)))
    return engine, engine.run(14, motion, scales, SETTINGS, epoch=0), scales


@pytest.fixture
def recorded(monkeypatch):
    """Keys of what would be recorded, and how often it would be repeated."""
    calls = []

    def repeat(_, iterate, motion, n, key, *read):
        assert read
        calls.append((key, n))
        for _ in range(n):
            motion = iterate(motion)
        return motion

    monkeypatch.setattr("dtsne.forces._engine_torch.runs_triton", lambda _: True)
    monkeypatch.setattr(Recorder, "repeat", repeat)
    return calls


@pytest.mark.parametrize("by_fft", [False, True])
def test_a_run_is_that_of_the_base(recorded, by_fft):
    engine, motion, scales = settled(by_fft)
    n_before = len(recorded)
    found = engine.run(5, motion, scales, SETTINGS, epoch=0)
    assert [n for _, n in recorded[n_before:]] == [5]
    other, motion, scales = settled(by_fft)
    expected = super(TorchEngine, other).run(5, motion, scales, SETTINGS, epoch=0)
    size = float(expected.embedding.abs().max())
    np.testing.assert_allclose(found.embedding, expected.embedding, atol=1e-4 * size)


def test_recordings_are_of_one_epoch_one_plan_and_the_same_numbers(recorded):
    engine, motion, scales = settled()
    recorded.clear()
    engine.run(2, motion, scales, SETTINGS, epoch=0)
    engine.run(2, motion, scales.clone(), SETTINGS, epoch=0)  # the same scales in other memory
    engine.run(2, motion, scales, replace(SETTINGS, momentum=0.6), epoch=0)
    (first, _), (again, _), (other, _) = recorded
    assert first == again != other
    engine.run(2, motion, 2.0 * scales, SETTINGS, epoch=1)  # whose plan is young
    assert len(recorded) == 3
    engine.run(2, motion, scales, SETTINGS)  # scales without a number
    assert len(recorded) == 3


def test_a_map_that_leaves_the_grid_is_done_once_more(recorded):
    engine, motion, scales = settled()
    recorded.clear()
    n_plans = engine._repulsion.n_plans
    wide = replace(motion, embedding=4.0 * motion.embedding)
    found = engine.run(3, wide, scales, SETTINGS, epoch=0)
    assert [n for _, n in recorded] == [3]
    assert engine._repulsion.n_plans > n_plans
    # From where it was, and not from where it had gone.
    other, _, _ = settled()
    expected = super(TorchEngine, other).run(3, wide, scales, SETTINGS, epoch=0)
    np.testing.assert_array_equal(found.embedding, expected.embedding)
