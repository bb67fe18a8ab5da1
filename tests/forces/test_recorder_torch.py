"""Iterations recorded and repeated: with a stand-in for CUDA's graphs, which runs them again."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext

import pytest

torch = pytest.importorskip("torch")
from dtsne.forces._recorder_torch import Recorder  # noqa: E402
from dtsne.forces._step import Motion  # noqa: E402


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

    def iterate(self, motion):
        """Add 1; what is added where a recording has its places is added there again."""
        self.places = motion.embedding, motion.velocity, motion.gains
        self.before = [place.clone() for place in self.places]

        def again(places=self.places):
            for place in places:
                place.add_(1)

        self.work = again
        return Motion(*(place + 1 for place in self.places))


@pytest.fixture
def graphs(monkeypatch):
    return Graphs(monkeypatch)


def at_rest():
    return Motion(torch.zeros(5, 2), torch.zeros(5, 2), torch.ones(5, 2))


def counted(motion):
    """How often each number was added to; they have to agree."""
    (count,) = {*motion.embedding.flatten().tolist(), *motion.velocity.flatten().tolist()}
    assert (motion.gains == count + 1).all()
    return count


def test_as_many_iterations_are_done_as_are_asked_for(graphs):
    recorder, motion, done = Recorder(), at_rest(), 0
    for n, n_made in ((3, 0), (9, 1), (2, 1), (10, 1)):
        before = motion
        motion = recorder.repeat(graphs.iterate, motion, n, (0, 1), torch.ones(3))
        done += n
        assert counted(motion) == done
        assert graphs.made == n_made
        assert before.embedding.data_ptr() != motion.embedding.data_ptr()


def test_another_key_is_another_recording_and_what_the_former_read_is_let_go(graphs):
    recorder, scales = Recorder(), torch.ones(3)
    alive = weakref.ref(scales)
    motion = recorder.repeat(graphs.iterate, at_rest(), 6, (0, 1), scales)
    del scales
    # Other memory of the same numbers: the recording goes on to read what it was made with.
    motion = recorder.repeat(graphs.iterate, motion, 6, (0, 1), torch.ones(3))
    assert alive() is not None
    assert graphs.made == 1
    motion = recorder.repeat(graphs.iterate, motion, 6, (0, 2), torch.ones(3))
    assert alive() is None
    assert graphs.made == 2
    assert counted(motion) == 18


def test_an_error_while_recording_is_the_one_that_is_told(graphs):
    def fail(motion):
        if graphs.made:
            graphs.work = "spoilt"
            raise ValueError("what happened")
        return graphs.iterate(motion)

    with pytest.raises(ValueError, match="what happened"):
        Recorder().repeat(fail, at_rest(), 6, (0, 1), torch.ones(3))
    assert graphs.ends == 1
    assert gc.isenabled()
