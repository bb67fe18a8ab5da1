"""Decisions about the plan of the FFT repulsion, as tables: nothing is computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dtsne.forces.fft._controller import (
    Action,
    Arrival,
    Choice,
    Controller,
    ControllerState,
    evaluations_before_check,
    plan_still_fits,
    used,
)

TOLERANCE = 0.01
QUICK, SLOW = Controller(TOLERANCE), Controller(TOLERANCE, cell_counts_are_expensive=True)
EXTENT = np.array([10.0, 8.0])
# A plan of long standing, of which three uses are left.
PLANNED = ControllerState(
    epoch=4, extent=EXTENT, cutoff=2.0, interval=16, uses_left=3, n_uses=100, error=0.3
)
EARLY = ControllerState()  # before the first call
ARRIVED = Arrival(4, EXTENT, min_scale=0.5, max_scale=2.0, is_held=True)


@pytest.mark.parametrize(
    ("state", "changes", "quick", "slow"),
    [
        (EARLY, {}, Action.CHOOSE, Action.CHOOSE),
        (PLANNED, {}, Action.USE, Action.USE),
        (PLANNED, {"is_held": False, "could_be_held": True}, Action.ENLARGE, Action.ENLARGE),
        (PLANNED, {"is_held": False}, Action.CHOOSE, Action.CHOOSE),
        # Other scales, or scales without a number.
        (PLANNED, {"epoch": 5}, Action.CHOOSE, Action.CHOOSE),
        (PLANNED, {"epoch": None}, Action.CHOOSE, Action.CHOOSE),
        (replace(PLANNED, epoch=None), {"epoch": None}, Action.CHOOSE, Action.CHOOSE),
        # To be tried, of a map that is much as it was and of others.
        (replace(PLANNED, uses_left=0), {}, Action.CHOOSE, Action.CHECK),
        (replace(PLANNED, uses_left=0), {"extent": 1.2 * EXTENT}, Action.CHOOSE, Action.CHOOSE),
        (replace(PLANNED, uses_left=0), {"extent": EXTENT / 1.2}, Action.CHOOSE, Action.CHOOSE),
        # Maps that no grid is for.
        (PLANNED, {"extent": 0.0 * EXTENT}, Action.EXACT, Action.EXACT),
        (PLANNED, {"extent": 1e9 * EXTENT}, Action.EXACT, Action.EXACT),
    ],
)  # fmt: skip
def test_what_a_map_needs(state, changes, quick, slow):
    for controller, expected in ((QUICK, quick), (SLOW, slow)):
        action, after = controller.begin(state, replace(ARRIVED, **changes))
        assert action is expected
        n_used = int(action in (Action.USE, Action.ENLARGE))
        assert after.n_uses == state.n_uses + n_used
        assert after.uses_left == state.uses_left - n_used
        if action is Action.CHOOSE:
            # Only where it is expensive is a cutoff that was good before the place to look at.
            assert after.near == (state.cutoff if controller is SLOW else 0.0)
            is_planned = state.epoch is not None and after.arrival.epoch == state.epoch
            assert after.has_candidate == is_planned


def begun(controller=QUICK, state=EARLY, **changes):
    return controller.begin(state, replace(ARRIVED, **changes))[1]


@pytest.mark.parametrize(
    ("work", "work_of_plan", "has_candidate", "expected"),
    [
        (1.0, 1.2, True, Action.KEEP),
        (1.0, 1.21, True, Action.MAKE),
        (1.0, float("inf"), True, Action.MAKE),
        (1.0, 1.0, False, Action.MAKE),  # the plan is of other scales
        (float("inf"), 1.0, True, Action.CHOOSE),
    ],
)
def test_the_plan_there_is_or_another(work, work_of_plan, has_candidate, expected):
    state = replace(begun(SLOW, PLANNED, epoch=5), has_candidate=has_candidate, refinement=2.0)
    action, after = SLOW.choose(state, Choice(3.0, work, work_of_plan))
    assert action is expected
    if action is Action.MAKE:
        assert (after.cutoff, after.plan_refinement) == (3.0, 2.0)
        assert after.extent is state.arrival.extent
        assert not after.has_candidate
    elif action is Action.KEEP:
        assert (after.cutoff, after.plan_refinement) == (PLANNED.cutoff, PLANNED.plan_refinement)
    else:  # no room for a grid as fine: a coarser one, of any cutoff
        assert after.is_finest
        assert (after.refinement, after.near) == (2.0 / 1.25, 0.0)


def made(**changes):
    """A plan on trial that was made for this map."""
    _, state = QUICK.choose(replace(begun(), **changes), Choice(1.0, 1.0))
    return state


# The error may take a quarter of the tolerance at first, half of it later.
@pytest.mark.parametrize(
    ("state", "error", "expected", "refinement"),
    [
        (made(), 0.0025, Action.ACCEPT, 1.0),
        (made(), 0.0026, Action.CHOOSE, 1.25),
        (made(n_uses=50), 0.005, Action.ACCEPT, 1.0),
        (made(n_uses=50), 0.0051, Action.CHOOSE, 1.25),
        # It is of no use to go on where it does not get better, or nothing finer is there.
        (made(refinement=1.25, former_error=0.0111), 0.01, Action.ACCEPT, 1.0),
        (made(refinement=1.25, former_error=0.0112), 0.01, Action.CHOOSE, 1.25**2),
        (made(refinement=1.0, former_error=0.001), 0.01, Action.CHOOSE, 1.25),
        (made(refinement=5.0), 0.01, Action.ACCEPT, 4.0),
        (made(is_finest=True), 0.01, Action.ACCEPT, 0.8),
        # That is said where the tolerance is missed by far, and only once.
        (made(is_finest=True), 0.021, Action.WARN, 0.8),
        (made(is_finest=True, has_warned=True), 0.021, Action.ACCEPT, 0.8),
        (made(arrival=replace(ARRIVED, extent=4e-5 * EXTENT), is_finest=True),
         0.021, Action.ACCEPT, 0.8),
        # What is no number is never good enough.
        (made(), float("nan"), Action.CHOOSE, 1.25),
    ],
)  # fmt: skip
def test_error_of_a_new_plan(state, error, expected, refinement):
    action, after = QUICK.judge(state, error)
    assert action is expected
    assert after.refinement == pytest.approx(refinement)
    if action is Action.CHOOSE:
        assert after.former_error == pytest.approx(error, nan_ok=True)
        assert after.n_uses == state.n_uses
    else:
        assert after.epoch == ARRIVED.epoch
        assert after.n_uses == state.n_uses + 1
        assert after.has_warned == (action is Action.WARN or state.has_warned)


def test_a_plan_that_is_no_longer_exact_enough_is_not_kept():
    state = replace(PLANNED, uses_left=0, plan_refinement=1.5)
    # On trial because its map is much as it was: it may still be kept, for its work.
    action, state = SLOW.begin(state, ARRIVED)
    assert action is Action.CHECK
    action, state = SLOW.judge(state, 0.02)
    assert action is Action.CHOOSE
    assert state.has_candidate
    assert state.near == PLANNED.cutoff
    # On trial because no other is much cheaper: the next is at least as fine.
    action, state = SLOW.choose(state, Choice(2.0, 1.0, 1.0))
    assert action is Action.KEEP
    action, state = SLOW.judge(state, 0.02)
    assert action is Action.CHOOSE
    assert not state.has_candidate
    assert state.refinement == 1.5
    action, state = SLOW.choose(state, Choice(2.0, 1.0, 1.0))
    assert action is Action.MAKE


@pytest.mark.parametrize(
    ("interval", "error_before", "error", "expected"),
    [
        (2, 0.3, 0.3, 4),
        (8, 0.3, 0.3, 16),
        (16, 0.3, 0.3, 20),
        (20, 0.3, 0.3, 20),
        # It grows, and is not small any more.
        (16, 0.2, 0.31, 2),
        (16, 0.2, 0.29, 20),
        (16, 0.01, 0.14, 20),
    ],
)
def test_when_a_plan_is_tried_next(interval, error_before, error, expected):
    state = made(n_uses=60, interval=interval, error=error_before)
    _, after = QUICK.judge(state, error * TOLERANCE)
    assert after.interval == expected
    assert after.uses_left == expected - 1  # one of them is this one
    assert after.error == pytest.approx(error)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (0.35, 1.0),  # as much as is aimed at
        (0.35 / 2, 0.5**0.4),
        (0.001, 0.7),  # not all at once
        (0.0, 0.7),
    ],
)
def test_the_next_plan_may_be_coarser(error, expected):
    _, after = QUICK.judge(made(n_uses=60), error * TOLERANCE)
    assert after.refinement == pytest.approx(expected)
    assert after.plan_refinement == 1.0
    _, after = QUICK.judge(made(n_uses=60, refinement=0.5), error * TOLERANCE)
    assert after.refinement == pytest.approx(max(0.4, 0.5 * expected))


def test_room_that_was_needed_early_is_given_back():
    state = replace(PLANNED, made_early=True, n_uses=49)
    assert plan_still_fits(state, ARRIVED)
    assert not plan_still_fits(replace(state, n_uses=50), ARRIVED)
    assert plan_still_fits(replace(state, n_uses=50, made_early=False), ARRIVED)
    # A grid that is made larger later needs less room, too.
    outgrown = replace(ARRIVED, is_held=False, could_be_held=True)
    assert SLOW.begin(state, outgrown)[1].made_early
    assert not SLOW.begin(replace(state, n_uses=50), outgrown)[1].made_early


def test_evaluations_without_a_decision():
    assert evaluations_before_check(PLANNED, 4) == 3
    assert evaluations_before_check(PLANNED, 5) == 0
    assert evaluations_before_check(replace(PLANNED, epoch=None), None) == 0
    assert evaluations_before_check(replace(PLANNED, interval=4), 4) == 0
    after = used(PLANNED, 3)
    assert evaluations_before_check(after, 4) == 0
    assert after.n_uses == 103
    assert SLOW.begin(after, ARRIVED)[0] is Action.CHECK


def test_refinement_goes_on_until_it_is_enough_or_ends():
    """As a driver does it; the error falls with the third power of the spacing."""
    for start, expected in ((0.0048, 1.25), (0.02, 1.25**4), (1e3, 1.25**7)):
        action, state = QUICK.begin(EARLY, ARRIVED)
        n_made = 0
        while action is Action.CHOOSE:
            action, state = QUICK.choose(state, Choice(1.0, 1.0))
            assert action is Action.MAKE
            n_made += 1
            action, state = QUICK.judge(state, start / state.refinement**3)
        assert state.plan_refinement == pytest.approx(expected)
        assert n_made == round(np.log(expected) / np.log(1.25)) + 1
        assert (action is Action.WARN) == (start > 1)
