from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from fit_support import fitted
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from dtsne import DTSNE
from dtsne.runtime._threads import _SINGLE_THREADED_BLAS, Threads, resolve_n_jobs


@given(n_rows=st.integers(0, 1000), n_threads=st.integers(1, 4), least=st.integers(1, 50))
def test_every_row_is_done_once(n_rows, n_threads, least):
    done = np.zeros(n_rows, int)

    def kernel(begin, end, by):
        done[begin:end] += by

    with Threads(n_threads) as threads:
        threads.for_rows(kernel, n_rows, 2, min_rows=least)
    assert (done == 2).all()


def test_all_threads_work_and_no_more():
    met = set()
    barrier = threading.Barrier(3)

    def kernel(begin, end):
        met.add(threading.get_ident())
        if begin < 3:  # the first parts wait for each other, so that they cannot be one thread's
            barrier.wait(timeout=10)

    with Threads(3) as threads:
        threads.for_rows(kernel, 24, min_rows=1)  # in 24 parts
    assert len(met) == 3


def test_errors_of_other_threads_are_raised():
    own = threading.get_ident()
    barrier = threading.Barrier(2)

    def kernel(begin, end):
        if begin < 2:  # one part for each of the two threads
            barrier.wait(timeout=10)
        if threading.get_ident() != own:
            raise ArithmeticError(begin)

    with Threads(2) as threads, pytest.raises(ArithmeticError):
        threads.for_rows(kernel, 16, min_rows=1)


def test_number_of_threads():
    assert resolve_n_jobs(None) == resolve_n_jobs(-1) >= 1
    assert resolve_n_jobs(1) == 1
    with pytest.raises(ValueError, match="n_jobs=0"):
        resolve_n_jobs(0)


def test_fits_at_the_same_time_do_not_disturb_each_other(rng):
    X = rng.normal(size=(300, 5))
    alone = DTSNE(perplexity=10.0, max_iter=60, tol=0.0, method="fft").fit_transform(X)
    maps = [None] * 4

    def fit(which):
        model = DTSNE(perplexity=10.0, max_iter=60, tol=0.0, method="fft", n_jobs=2)
        maps[which] = model.fit_transform(X)

    before = [pool["num_threads"] for pool in threadpool_info()]
    threads = [threading.Thread(target=fit, args=[which]) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found in maps:
        np.testing.assert_array_equal(found, alone)
    assert before == [pool["num_threads"] for pool in threadpool_info()]


def test_limit_of_blas_lasts_until_the_last_of_overlapping_fits():
    def blas():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = blas()
    for _ in range(2):
        _SINGLE_THREADED_BLAS.__enter__()
    _SINGLE_THREADED_BLAS.__exit__()
    assert set(blas()) == {1}
    _SINGLE_THREADED_BLAS.__exit__()
    assert blas() == before


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_same_bits_for_any_n_jobs_on_the_fast_path(rng, n_components, monkeypatch):
    """Cells, order, sparse P, FFT and calibration, with enough rows for all threads."""
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    X = rng.normal(size=(1500, 5)) * rng.choice([1.0, 3.0], size=(1500, 1))
    one, three = (
        fitted(
            X,
            perplexity=15.0,
            n_components=n_components,
            n_jobs=n_jobs,
            max_dense=100,
            max_exact=100,
            max_exact_neighbors=100,
        )
        for n_jobs in (1, 3)
    )
    assert one.n_calibrations_ > 0
    np.testing.assert_array_equal(one.embedding_, three.embedding_)
    np.testing.assert_array_equal(one.kernel_scale_, three.kernel_scale_)
    assert one.neighbor_recall_ == three.neighbor_recall_


SCRIPT = """
import hashlib, warnings
import numpy as np
from dtsne import Config, embed
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(500, 6)) * np.geomspace(1, 3, 500)[:, None]
few = Config(perplexity=10.0, max_iter=90)
few_at_once = dict(max_dense=100, max_exact=100, max_exact_neighbors=100)
many = Config(perplexity=10.0, max_iter=90, **few_at_once)
maps = [embed(X, config).coordinates for config in (few, many)]
print([hashlib.md5(one.tobytes()).hexdigest() for one in maps])
"""


@pytest.mark.integration
def test_same_bits_whether_just_compiled_or_from_the_cache(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT]
    compiled, cached = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc"))
    assert compiled == cached


def test_an_error_of_a_helper_is_raised_and_ends_the_others(monkeypatch):
    monkeypatch.setattr("dtsne.runtime._threads._PARTS_PER_THREAD", 1000)
    failed, done = threading.Event(), []

    def kernel(begin, end):
        if threading.current_thread() is threading.main_thread():
            failed.wait(10)
        elif not failed.is_set():
            failed.set()
            raise ValueError("in a helper")
        time.sleep(0.001)
        done.append(begin)

    with Threads(3) as threads, pytest.raises(ValueError, match="in a helper"):
        threads.for_rows(kernel, 300_000, min_rows=100)
    assert len(done) < 1000  # of 3000


INTERRUPTED = """
import sys
import numpy as np
from dtsne.runtime._threads import Threads

def kernel(begin, end, x):
    x[begin:end] += 1

x = np.zeros(2000)
for n in range(int(sys.argv[1])):
    try:
        with Threads(2) as threads:
            print(n, flush=True)
            while True:
                threads.for_rows(kernel, len(x), x, min_rows=100)
    except KeyboardInterrupt:
        pass
print("all", flush=True)
"""


@pytest.mark.integration
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_threads_work_leaves_no_lock_taken():
    """A pool of concurrent.futures waits for ever after some dozens."""
    n = 300
    command = [sys.executable, "-c", INTERRUPTED, str(n)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watchdog = threading.Timer(100, process.kill)
        watchdog.start()
        for line in process.stdout:
            if line == "all\n":
                break
            time.sleep(0.001 * (1 + int(line) % 7))
            process.send_signal(signal.SIGINT)
        watchdog.cancel()
        assert line == "all\n"
