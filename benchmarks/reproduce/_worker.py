"""Maps made in a process of their own.

A peer may crash, leak or change global settings without harm to the rest, and its CPU seconds are
its own. One process serves all sets of a method, as some compile for a minute in each process.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from reproduce._results import Embedded, Failed
from reproduce.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.runtime._typing import FloatArray

# The rehearsal that imports and compiles, which is not counted.
_N_AXES_REHEARSED = 10
_rehearsed: set[str] = set()


class Worker:
    """Makes maps, one after the other; after a crash of its process, in a new one."""

    def __init__(self) -> None:
        self._process = self._new_process()

    def embed(self, method: str, X: FloatArray, seed: int) -> Embedded | Failed:
        """Make one map, or say why not."""
        try:
            return self._process.submit(embed_here, method, X, seed).result()
        except BrokenProcessPool:
            self._process.shutdown()
            self._process = self._new_process()
            return Failed("its process died")

    def close(self) -> None:
        """End the process, which has nothing to do, and let it tidy up."""
        self._process.shutdown()

    def stop(self) -> None:
        """End the process in the midst of a map."""
        for process in list((self._process._processes or {}).values()):
            if process.pid and hasattr(os, "killpg"):  # with the programs it called
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGTERM)
            process.terminate()
        self._process.shutdown(cancel_futures=True)

    @staticmethod
    def _new_process() -> ProcessPoolExecutor:
        # Spawned, not forked: a fork would inherit threads that no longer run.
        return ProcessPoolExecutor(1, get_context("spawn"), initializer=_leave_the_terminal)


def _leave_the_terminal() -> None:
    """Let Ctrl-C reach the main process only, which then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgrp"):
        os.setpgrp()


@contextmanager
def started_worker() -> Iterator[Worker]:
    """Give a worker, whose process ends with the block."""
    worker = Worker()
    try:
        yield worker
    except BaseException:
        worker.stop()
        raise
    worker.close()


def embed_here(name: str, X: FloatArray, seed: int) -> Embedded | Failed:
    """Make a map in this process, timed, after a rehearsal if it is the first of its method."""
    method = METHODS[name]
    try:
        if name not in _rehearsed:
            method.embed(_blobs(method.n_rehearsed), seed)
            _rehearsed.add(name)
        before = _cpu_seconds()
        embedding = np.asarray(method.embed(X, seed), np.float64)
        taken = Embedded(embedding, _cpu_seconds() - before)
    except Exception as error:  # whatever a peer raises is its result
        return Failed(f"{type(error).__name__}: {str(error).strip() or 'no message'}")
    if embedding.shape != (len(X), 2):
        return Failed(f"it gave an array of shape {embedding.shape}")
    if not np.isfinite(embedding).all():
        return Failed("its map has NaN or infinite values")
    return taken


def _blobs(n: int) -> FloatArray:
    rng = np.random.default_rng(0)
    centres = 8.0 * rng.normal(size=(4, _N_AXES_REHEARSED))
    return centres[rng.integers(4, size=n)] + rng.normal(size=(n, _N_AXES_REHEARSED))


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the programs it called."""
    return sum(os.times()[:4])
