"""The threads of a fit, handed down to whatever runs kernels.

Kernels release Python's lock and work on a range of rows each, so that plain threads can share
them. Threads of our own rather than numba's: those spin while they wait, which is CPU time too,
cannot run in two fits at once, and give what was just compiled other last bits than what comes from
the cache.
"""

from __future__ import annotations

from _thread import start_new_thread
from collections import deque
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from dtsne.runtime._errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from threadpoolctl import threadpool_limits

# More parts than threads, as some rows take longer than others; but none too small to be worth it.
_PARTS_PER_THREAD, _MIN_ROWS = 8, 128

_Outcomes: TypeAlias = "SimpleQueue[BaseException | None]"


class Threads:
    """Threads that share the rows of a kernel, one of them the caller's.

    They live within ``with``; outside of it, the calling thread does all the work. Everything goes
    by queues: Ctrl-C may come at any time, and within a pool or a thread of the standard library it
    can leave a lock taken, for which the others then wait for ever.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._n_helpers = 0
        self._asked: SimpleQueue[tuple[Callable[[], None], _Outcomes] | None] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()

    def __enter__(self) -> Threads:
        for _ in range(self.number - 1):
            start_new_thread(self._help, ())
            self._n_helpers += 1
        return self

    def __exit__(self, *exception: object) -> None:
        for _ in range(self._n_helpers):
            self._asked.put(None)
        for _ in range(self._n_helpers):
            self._ended.get()
        self._n_helpers = 0

    def for_rows(
        self,
        kernel: Callable[..., object],
        n_rows: int,
        *arguments: object,
        min_rows: int = _MIN_ROWS,
    ) -> None:
        """Call ``kernel(begin, end, *arguments)`` for parts of ``range(n_rows)``, on all threads.

        No part may depend on another: which thread takes it, and when, is left open.
        """
        if self._n_helpers == 0 or n_rows <= min_rows:
            kernel(0, n_rows, *arguments)
            return
        size = max(min_rows, -(-n_rows // (_PARTS_PER_THREAD * self.number)))
        parts = deque((begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size))

        def work() -> None:
            while parts:
                try:
                    begin, end = parts.popleft()
                except IndexError:  # another thread was faster
                    return
                kernel(begin, end, *arguments)

        self._run(work, len(parts), parts.clear)

    def _run(self, work: Callable[[], None], n_threads: int, stop: Callable[[], None]) -> None:
        """Have some threads do the same; where one of them fails, `stop` has the others end."""
        done: _Outcomes = SimpleQueue()
        n_asked = 0

        def work_or_stop() -> None:
            try:
                work()
            except BaseException:
                stop()
                raise

        try:
            for _ in range(min(n_threads, self.number) - 1):
                self._asked.put((work_or_stop, done))
                n_asked += 1
            work()
        finally:
            stop()
            outcomes = [done.get() for _ in range(n_asked)]
        for outcome in outcomes:
            if outcome is not None:
                raise outcome

    def _help(self) -> None:
        while (asked := self._asked.get()) is not None:
            work, done = asked
            outcome = None
            try:
                work()
            except BaseException as error:
                outcome = error
            del asked, work  # and the arrays that it works on
            done.put(outcome)
            del done, outcome
        self._ended.put(None)


# For work too small to share, and for tests: it starts nothing and needs no `with`.
ONE_THREAD = Threads(1)


class _SingleThreadedBlas:
    """Limits BLAS while any fit needs it: the limit is the process's, and fits may overlap."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._limits: threadpool_limits | None = None

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            if self._n_inside == 0:
                self._limits = threadpool_limits(limits=1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0 and self._limits is not None:
                self._limits.restore_original_limits()


_SINGLE_THREADED_BLAS = _SingleThreadedBlas()


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Turn the n_jobs of scikit-learn into a number of threads, None into all of them.

    All rather than scikit-learn's one, as the result is the same for any number.
    """
    from joblib import cpu_count

    available: int = cpu_count()
    if n_jobs is None:
        return available
    if n_jobs == 0:
        raise ParameterError("n_jobs", 0, "a number of threads, or None for all")
    return max(1, available + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, available)


@contextmanager
def open_threads(n_jobs: int | None) -> Iterator[Threads]:
    """Start as many threads as `n_jobs` asks for, and limit BLAS to one.

    BLAS splits its sums differently for different numbers of threads, and so rounds differently:
    on one thread the same data gives the same bits everywhere.
    """
    with Threads(resolve_n_jobs(n_jobs)) as threads, _SINGLE_THREADED_BLAS:
        yield threads
