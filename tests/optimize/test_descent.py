from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dtsne._config import PAPER, SCALED, CalibrationPlan
from dtsne.forces._base import Engine, Evaluation
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.optimize._calibration import Calibration
from dtsne.optimize._descent import CHECK_EVERY, Schedule, State, descend


class Bowl(Engine):
    """KL = offset + ½ Σ‖y_i‖²/n: an objective whose descent can be followed by hand."""

    def __init__(self, offset: float = 1.0) -> None:
        self.offset = offset
        self.exaggerations: list[float] = []

    def evaluate(self, embedding, scales, *, epoch=None, exaggeration=1.0, with_kl=False):
        self.exaggerations.append(exaggeration)
        kl = self.offset + 0.5 * float((embedding**2).sum()) / len(embedding)
        return Evaluation(embedding / len(embedding), kl if with_kl else None)


FLAT = State.at_start(np.ones((4, 2)), np.ones(4))


def schedule(**changes) -> Schedule:
    return replace(Schedule(learning_rate=1.0, exaggeration=1.0, max_iter=100, tol=0.0), **changes)


def test_paper_is_momentum_descent_as_written():
    start = np.array([[1.0, -2.0], [3.0, 0.5]])
    *_, last = descend(Bowl(), State.at_start(start, np.ones(2)), PAPER, schedule(max_iter=30))
    y, previous = start, start
    for iteration in range(30):
        momentum = 0.5 if iteration < 20 else 0.8
        y, previous = y - 1.0 * (y / 2) + momentum * (y - previous), y
    np.testing.assert_allclose(last.state.embedding, y, rtol=1e-12)


# Two pairs of opposite points, so that steps cancel and the centre stays where it is.
OPPOSITES = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
SCALES = np.array([1.0, 1.0, 3.0, 3.0])


def test_scaled_moves_each_point_in_units_of_its_own_scale():
    # One step from rest, before gains or momentum can matter.
    *_, last = descend(
        Bowl(), State.at_start(OPPOSITES, SCALES), replace(SCALED, gains=False),
        schedule(learning_rate=0.1, max_iter=1),
    )  # fmt: skip
    moved = np.abs(last.state.embedding - OPPOSITES)
    np.testing.assert_allclose(moved[2:], 9 * moved[:2])
    np.testing.assert_allclose(moved[0], 0.1 / 4)


def test_no_step_is_longer_than_a_few_scales():
    start = 1e6 * OPPOSITES
    *_, last = descend(
        Bowl(), State.at_start(start, SCALES), SCALED, schedule(learning_rate=1e3, max_iter=1)
    )
    np.testing.assert_allclose(np.linalg.norm(last.state.embedding - start, axis=1), 5 * SCALES)


def test_map_does_not_wander_off(rng):
    start = rng.normal(size=(20, 2))
    state = State.at_start(start, rng.uniform(0.5, 2, size=20))
    *_, last = descend(Bowl(), state, SCALED, schedule(max_iter=50))
    np.testing.assert_allclose(last.state.embedding.mean(axis=0), start.mean(axis=0), atol=1e-9)


def test_stops_when_kl_has_settled_and_says_so():
    checkpoints = list(
        descend(
            Bowl(), FLAT, SCALED,
            schedule(learning_rate=0.5, tol=1e-3, max_iter=5000),
        )
    )  # fmt: skip
    assert checkpoints[-1].settled
    assert checkpoints[-1].state.iteration < 5000
    assert not any(c.settled for c in checkpoints[:-1])
    last, before = checkpoints[-1].kl, checkpoints[-2].kl
    assert (before - last) / CHECK_EVERY < 1e-3 * last


def test_tol_0_runs_to_the_end_and_checks_there():
    iterations = [c.state.iteration for c in descend(Bowl(), FLAT, PAPER, schedule(max_iter=33))]
    assert iterations == [0, 10, 20, 30, 33]


def test_exaggeration_falls_to_one():
    bowl = Bowl()
    list(descend(bowl, FLAT, SCALED, schedule(exaggeration=3.0, max_iter=60)))
    given = np.array(bowl.exaggerations)
    assert given[0] == 3.0
    assert (np.diff(given[:41]) < 0).all()
    assert (given[40:] == 1.0).all()


def calibration_of(points: np.ndarray, scales: np.ndarray, **changes) -> Calibration:
    indices, distances = nearest_neighbors(points, 30)
    return Calibration.from_neighbors(
        replace(CalibrationPlan(), **changes), indices, distances, scales,
        perplexity=10, density_scale=1.0,
    )  # fmt: skip


def test_calibration_is_silent_for_a_map_that_is_right(rng):
    points = rng.normal(size=(200, 2))
    scales = rng.uniform(0.5, 2, size=200)
    calibration = calibration_of(points, scales)
    adjusted = calibration.adjust(calibration.log_radii_in(7 * points), scales)
    relative = adjusted / scales
    np.testing.assert_allclose(relative, relative[0], rtol=1e-9)


def test_calibration_widens_what_is_drawn_too_tight(rng):
    points = rng.normal(size=(200, 2))
    points[100:] += 100
    drawn = points.copy()
    drawn[100:] = 100 + (points[100:] - 100) / 3
    calibration = calibration_of(points, np.ones(200))
    adjusted = calibration.adjust(calibration.log_radii_in(drawn), np.ones(200))
    assert np.median(adjusted[100:]) / np.median(adjusted[:100]) == pytest.approx(
        np.sqrt(3), rel=1e-6
    )


def test_calibration_stays_within_its_bound(rng):
    points = rng.normal(size=(200, 2))
    drawn = points * np.exp(3 * rng.normal(size=(200, 1)))
    base = rng.uniform(0.5, 2, size=200)
    calibration = calibration_of(points, base)
    scales = base
    for _ in range(20):
        scales = calibration.adjust(calibration.log_radii_in(drawn), scales)
    relative = scales / base
    # Twice up and twice down around a common factor.
    assert relative.max() / relative.min() <= 4 + 1e-9


def test_calibration_keeps_the_unit_where_most_points_are_copies(rng):
    points = np.vstack([rng.normal(size=(40, 2)), np.full((60, 2), 9.0)])
    base = np.r_[np.ones(40), np.full(60, 0.01)]
    calibration = calibration_of(points, base)
    in_map = calibration.log_radii_in(points + 1e-3 * rng.normal(size=(100, 2)))
    adjusted = calibration.adjust(in_map, base)
    assert np.median(adjusted) == pytest.approx(0.01, rel=0.05)


def test_rounds_of_calibration_are_all_made_before_the_end(rng):
    points = rng.normal(size=(50, 2))
    state = State.at_start(points, np.ones(50), calibration_of(points, np.ones(50)))
    checkpoints = list(descend(Bowl(), state, SCALED, schedule(tol=0.1, max_iter=500)))
    assert checkpoints[-1].state.n_calibrated == CalibrationPlan().n_rounds
    assert checkpoints[-1].settled


def test_calibration_follows_a_map_that_exaggerates(rng):
    """Radii in the map that are those of the data squared are no mismatch, once followed."""
    points = rng.normal(size=(400, 2)) * np.repeat([1.0, 3.0, 9.0, 27.0], 100)[:, None]
    points += 1e4 * np.repeat(np.arange(4), 100)[:, None]
    drawn = points.copy()
    for part in np.split(np.arange(400), 4):
        centre = points[part].mean(axis=0)
        drawn[part] = centre + (points[part] - centre) * points[part].std()
    plan = {"slope_tolerance": 0.0, "n_smoothing": 0}
    calibration = calibration_of(points, np.ones(400), **plan)
    in_map = calibration.log_radii_in(drawn)
    insisting = calibration.adjust(in_map, np.ones(400))
    followed = calibration.following(in_map).adjust(in_map, np.ones(400))
    before, after = (np.ptp(np.log(np.split(s, 4)).mean(axis=1)) for s in (insisting, followed))
    assert after < 0.2 * before
    # A map that is right, or too even, is asked for what the data has.
    followed = calibration.following(calibration.log_radii_in(5 * points))
    np.testing.assert_allclose(followed.log_radii, calibration.log_radii)
