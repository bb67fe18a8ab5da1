"""Iterations of the descent as one launch: recorded once as a CUDA graph, and then repeated.

An iteration is some fifty small kernels, and to launch each takes the host longer than it takes the
device to do it. A graph of them all is launched at once. What it works on lies at fixed places, so
that it serves as long as plan and scales stay the same objects.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dtsne.optimize._descent import State

# To record takes as long as a few iterations, so fewer are not worth it.
_FEWEST = 4


class Recorder:
    """Repeats iterations; `same` are the objects that a recording depends on."""

    def __init__(self) -> None:
        self._graph: Any = None
        # Weakly, as a plan that is made anew is let go of first: it may take a gigabyte.
        self._same: tuple[ref[Any], ...] = ()
        self._places: tuple[Any, ...] = ()
        self._own_stream: Any = None  # recordings are not made on the default one

    @property
    def _stream(self) -> Any:
        if self._own_stream is None:
            self._own_stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        return self._own_stream

    def repeat(
        self, iterate: Callable[[State], State], state: State, n: int, same: tuple[Any, ...]
    ) -> State:
        """Do n iterations from a state."""
        is_recorded = self._graph is not None and all(
            one() is other for one, other in zip(self._same, same, strict=True)
        )
        if not is_recorded:
            if n < _FEWEST:
                for _ in range(n):
                    state = iterate(state)
                return state
            # The first one as it is: what is made at the first use must not become part of it.
            state = iterate(state)
            n -= 1
            self._record(iterate, state)
            self._same = tuple(map(ref, same))
        else:
            for place, values in zip(self._places, _moving(state), strict=True):
                place.copy_(values)
        for _ in range(n):
            self._graph.replay()
        embedding, velocity, gains = (place.clone() for place in self._places)
        return replace(
            state,
            iteration=state.iteration + n,
            embedding=embedding,
            velocity=velocity,
            gains=gains,
        )

    def _record(self, iterate: Callable[[State], State], state: State) -> None:
        self._graph = None  # and its memory, before more is asked for
        self._places = tuple(values.clone() for values in _moving(state))
        embedding, velocity, gains = self._places
        graph = torch.cuda.CUDAGraph()
        # Not by `torch.cuda.graph`, which gives all free memory back to the driver, and collects
        # garbage, at every recording: that takes longer than a hundred iterations.
        stream, current = self._stream, torch.cuda.current_stream()
        stream.wait_stream(current)
        with torch.cuda.stream(stream), _capturing(graph):
            after = iterate(replace(state, embedding=embedding, velocity=velocity, gains=gains))
            for place, values in zip(self._places, _moving(after), strict=True):
                place.copy_(values)
        current.wait_stream(stream)
        self._graph = graph


@contextmanager
def _capturing(graph: Any) -> Iterator[None]:
    """Record what is launched by this thread; what others do meanwhile is their own affair."""
    # Garbage may be another recording, and to destroy one now would spoil this.
    collects = gc.isenabled()
    gc.disable()
    try:
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            yield
        except BaseException:
            with suppress(RuntimeError):  # the error that spoilt it is the one to tell
                graph.capture_end()
            raise
        graph.capture_end()
    finally:
        if collects:
            gc.enable()


def _moving(state: State) -> tuple[Any, ...]:
    return state.embedding, state.velocity, state.gains
