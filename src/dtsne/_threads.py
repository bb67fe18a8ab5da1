"""The number of threads, set for the length of a call and put back after it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Turn the n_jobs of scikit-learn into a number of threads, None into all of them.

    All rather than scikit-learn's one, as the result is the same for any number.
    """
    import numba
    from joblib import cpu_count

    available: int = min(cpu_count(), numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if n_jobs is None:
        return available
    if n_jobs == 0:
        raise ValueError("n_jobs=0 leaves no thread; use None for all, or a positive number.")
    return max(1, available + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, available)


@contextmanager
def limited_threads(n_threads: int) -> Iterator[None]:
    """Run numba on n_threads threads, and BLAS on one.

    BLAS splits its sums differently for different numbers of threads, and so rounds differently:
    on one thread the same data gives the same bits everywhere.
    """
    import numba
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    numba.set_num_threads(n_threads)
    try:
        with threadpool_limits(limits=1, user_api="blas"):
            yield
    finally:
        numba.set_num_threads(before)
