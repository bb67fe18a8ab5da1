"""Iterations recorded and repeated: with a stand-in for CUDA's graphs, which runs them again."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from dtsne.forces._graph_torch import Recorder  # noqa: E402
from dtsne.optimize._descent import State  # noqa: E402


class Plan:
    """What a recording depends on."""


class Stream:
    def wait_stream(self, other):
        pass


class Graphs:
    """Graphs that do, when they are replayed, what was done while they were captured."""

    def __init__(self, monkeypatch):
        self.made, self.ends = 0, 0
        self.places, self.before = (), ()
        self.work = None
        outer = self

        class Graph:
            def capture_begin(self, capture_error_mode):
                assert capture_error_mode == "thread_local"
                assert not gc.isenabled()
                outer.made += 1

            def capture_end(self):
                outer.ends += 1
                # While it is recorded nothing is done.
                for place, values in zip(outer.places, outer.before, strict=True):
                    place.copy_(values)
                if outer.work == "spoilt":
                    raise RuntimeError("the capture was invalidated")

            def replay(self):
                outer.work()

        monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
        monkeypatch.setattr(torch.cuda, "Stream", Stream)
        monkeypatch.setattr(torch.cuda, "current_stream", Stream)
        monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())

    def iterate(self, state):
        """Add 1; what is added where a recording has its places is added there again."""
        self.places = state.embedding, state.velocity, state.gains
        self.before = [place.clone() for place in self.places]

        def again(places=self.places):
            for place in places:
                place.add_(1)

        self.work = again
        ahead = {name: getattr(state, name) + 1 for name in ("embedding", "velocity", "gains")}
        return replace(state, iteration=state.iteration + 1, **ahead)


@pytest.fixture
def graphs(monkeypatch):
    return Graphs(monkeypatch)


def at_rest():
    return State.at_start(torch.zeros(5, 2), torch.ones(5))


def counted(state):
    """How often each number of the state was added to; they have to agree."""
    (count,) = {*state.embedding.flatten().tolist(), *state.velocity.flatten().tolist()}
    assert state.iteration == count
    return count


def test_as_many_iterations_are_done_as_are_asked_for(graphs):
    recorder, same = Recorder(), (torch.ones(3), Plan())
    state = at_rest()
    for n, n_made in ((3, 0), (9, 1), (2, 1), (10, 1)):
        before = state
        state = recorder.repeat(graphs.iterate, state, n, same)
        assert counted(state) == before.iteration + n
        assert graphs.made == n_made
        assert before.embedding.data_ptr() != state.embedding.data_ptr()


def test_another_plan_is_another_recording_and_the_former_is_let_go(graphs):
    recorder, scales, plan = Recorder(), torch.ones(3), Plan()
    state = recorder.repeat(graphs.iterate, at_rest(), 6, (scales, plan))
    alive = weakref.ref(plan)
    del plan
    assert alive() is None
    state = recorder.repeat(graphs.iterate, state, 6, (scales, Plan()))
    assert graphs.made == 2
    assert counted(state) == 12


def test_an_error_while_recording_is_the_one_that_is_told(graphs):
    def fail(state):
        if graphs.made:
            graphs.work = "spoilt"
            raise ValueError("what happened")
        return graphs.iterate(state)

    with pytest.raises(ValueError, match="what happened"):
        Recorder().repeat(fail, at_rest(), 6, (torch.ones(3), Plan()))
    assert graphs.ends == 1
    assert gc.isenabled()
