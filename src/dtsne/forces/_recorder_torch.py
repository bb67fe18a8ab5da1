"""Iterations of the descent as one launch: recorded once as a CUDA graph, and then repeated.

An iteration is some fifty small kernels, and to launch each takes the host longer than it takes the
device to do it. A graph of them all is launched at once. What it works on lies at fixed places, so
that it serves as long as plan and scales stay the same.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import torch

from dtsne.forces._step import Motion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

# To record takes as long as a few iterations, so fewer are not worth it.
_MIN_RECORDED = 4


class Recorder:
    """Repeats iterations by what it recorded of one, as long as the key stays the same."""

    def __init__(self) -> None:
        self._graph: torch.cuda.CUDAGraph | None = None
        self._key: tuple[object, ...] = ()
        self._places: Motion[Tensor] | None = None
        self._read: tuple[Tensor, ...] = ()
        self._own_stream: torch.cuda.Stream | None = None  # none is recorded on the default one

    def repeat(
        self,
        iterate: Callable[[Motion[Tensor]], Motion[Tensor]],
        motion: Motion[Tensor],
        n: int,
        key: tuple[object, ...],
        *read: Tensor,
    ) -> Motion[Tensor]:
        """Do n iterations.

        All that an iteration depends on, but for the motion, is numbered by the key. The tensors
        `read` are kept with a recording, which reads their memory.
        """
        if self._graph is None or self._places is None or key != self._key:
            if n < _MIN_RECORDED:
                for _ in range(n):
                    motion = iterate(motion)
                return motion
            # The first one as it is: what is made at the first use must not become part of it.
            motion = iterate(motion)
            n -= 1
            graph, places = self._record(iterate, motion)
            self._key, self._read = key, read
        else:
            graph, places = self._graph, self._places
            _copy(motion, places)
        for _ in range(n):
            graph.replay()
        return _cloned(places)

    def _record(
        self, iterate: Callable[[Motion[Tensor]], Motion[Tensor]], motion: Motion[Tensor]
    ) -> tuple[torch.cuda.CUDAGraph, Motion[Tensor]]:
        self._graph = None  # and its memory, before more is asked for
        places = _cloned(motion)
        graph = torch.cuda.CUDAGraph()
        # Not by `torch.cuda.graph`, which gives all free memory back to the driver, and collects
        # garbage, at every recording: that takes longer than a hundred iterations.
        if self._own_stream is None:
            self._own_stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream, current = self._own_stream, torch.cuda.current_stream()
        stream.wait_stream(current)
        with torch.cuda.stream(stream), _capturing(graph):
            _copy(iterate(places), places)
        current.wait_stream(stream)
        self._graph, self._places = graph, places
        return graph, places


@contextmanager
def _capturing(graph: torch.cuda.CUDAGraph) -> Iterator[None]:
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


def _cloned(motion: Motion[Tensor]) -> Motion[Tensor]:
    return Motion(motion.embedding.clone(), motion.velocity.clone(), motion.gains.clone())


def _copy(motion: Motion[Tensor], places: Motion[Tensor]) -> None:
    places.embedding.copy_(motion.embedding)
    places.velocity.copy_(motion.velocity)
    places.gains.copy_(motion.gains)
