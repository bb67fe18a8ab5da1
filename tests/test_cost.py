"""What a fit will take, and what is there."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dtsne import DTSNE
from dtsne._cost import (
    Job,
    check_job,
    cpu_seconds_by_phase,
    description,
    memory_by_phase,
    peak_memory,
    seconds,
)
from dtsne.runtime._memory import available_memory

GIB = 2**30
MILLION = Job(
    n=1_000_000, d=50, n_components=2, perplexity=100.0,
    max_dense=10_000, max_exact=5_000, method="auto", n_iter=200, n_threads=2,
)  # fmt: skip


# --- estimates ---

jobs = st.builds(
    Job,
    n=st.integers(4, 10**7),
    d=st.none() | st.integers(1, 3000),
    n_components=st.integers(1, 3),
    perplexity=st.floats(1.5, 1000),
    max_dense=st.sampled_from([0, 10**8]),  # P is sparse, or dense, whatever n is
    method=st.sampled_from(["auto", "exact", "fft"]),
    n_iter=st.integers(1, 10_000),
    n_threads=st.integers(1, 64),
)


@given(jobs, st.sampled_from(["n", "d", "n_components", "perplexity", "n_iter"]), st.integers(1, 9))
def test_more_takes_more(job, name, difference):
    job = replace(job, d=job.d or 10)
    larger = replace(job, **{name: getattr(job, name) + difference})
    assert peak_memory(larger) >= peak_memory(job)
    less, more = cpu_seconds_by_phase(job), cpu_seconds_by_phase(larger)
    if larger.searches_cells != job.searches_cells:  # which is to take less
        less["neighbours"] = 0.0
    assert all(less[phase] <= more[phase] for phase in less)


@given(jobs)
def test_threads_divide_time_and_not_memory(job):
    more = replace(job, n_threads=job.n_threads + 1)
    assert peak_memory(more) == peak_memory(job)
    assert seconds(job) / 2 <= seconds(more) < seconds(job)


def test_known_parts():
    parts = memory_by_phase(MILLION)["descent"]
    assert parts["points"] == 8 * 50e6
    assert "lists" not in parts
    assert memory_by_phase(MILLION)["neighbours"]["lists"] == 2 * 12 * 300e6
    assert parts["P"] == pytest.approx(8 * 1.4 * 300e6)
    dense = memory_by_phase(replace(MILLION, n=10_000))["affinities"]
    assert 12 * 10_000**2 <= dense["P"] + dense["making of P"] <= 16 * 10_000**2
    assert memory_by_phase(replace(MILLION, n=1000, d=None))["descent"]["points"] == 8e6


def test_description():
    assert re.fullmatch(
        r"200,000 points: about \d+ (s|min) on 2 threads and \d+\.\d GiB",
        description(replace(MILLION, n=200_000)),
    )
    small = replace(MILLION, n=500, n_threads=1)
    assert re.fullmatch(r"500 points: about 1 s on 1 thread and \d+ MiB", description(small))
    assert re.search(r"about \d+ h", description(replace(MILLION, method="exact")))


def test_estimate_is_logged(two_clusters, caplog):
    with caplog.at_level("INFO", logger="dtsne"):
        DTSNE(perplexity=15.0, max_iter=10, tol=0.0, n_jobs=1).fit(two_clusters)
    assert any(m.startswith("120 points: about 1 s on 1 thread and") for m in caplog.messages)


def test_given_neighbors_need_no_search():
    given_ones = replace(MILLION, d=450, searches=False, max_dense=0)
    assert memory_by_phase(given_ones)["neighbours"]["search"] == 0
    assert not replace(given_ones, n=1000).is_dense


# --- what does not fit ---


def suggested(job: Job, free: int) -> dict[str, int]:
    """Figures that the error names."""
    with pytest.raises(MemoryError) as caught:
        check_job(job, free)
    message = str(caught.value)
    assert f"{free / GIB:.1f} GiB are free" in message
    assert message.endswith("free some memory.")
    found = {
        "perplexity": re.search(r"lower the perplexity to (\d+)", message),
        "n": re.search(r"map no more than ([\d,]+) points", message),
    }
    return {name: int(m[1].replace(",", "")) for name, m in found.items() if m}


def test_error_names_both_figures_and_what_would_fit():
    fixes = suggested(MILLION, 5 * GIB)
    assert 20 < fixes["perplexity"] < 100
    assert 100_000 < fixes["n"] < 1_000_000
    with pytest.raises(MemoryError, match=r"1,000,000 points at perplexity 100 needs \d+.\d GiB"):
        check_job(MILLION, 5 * GIB)


@given(n=st.integers(200, 5 * 10**6), perplexity=st.integers(2, 300), share=st.floats(0.01, 0.99))
def test_what_the_error_names_does_fit(n, perplexity, share):
    job = replace(MILLION, n=n, perplexity=float(perplexity))
    to_come = peak_memory(job) - memory_by_phase(job)["descent"]["points"]
    free = int(share * to_come)
    for name, value in suggested(job, free).items():
        assert value < getattr(job, name)
        check_job(replace(job, **{name: value}), free)  # raises where it does not fit


def test_points_that_are_there_already_are_not_asked_for_again():
    wide = replace(MILLION, d=3000)
    assert peak_memory(wide) > peak_memory(MILLION) + 20 * GIB
    check_job(replace(wide, n=10_000), 2 * GIB)


def test_nothing_is_refused_where_memory_is_unknown():
    check_job(MILLION, None)


def test_refused_before_the_long_work(two_clusters, monkeypatch):
    def fail(*args):
        raise AssertionError

    monkeypatch.setattr("dtsne.neighbors._exact.ExactIndex.neighbors", fail)
    monkeypatch.setattr("dtsne._cost.available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"A map of 120 points at perplexity 15 needs 0\.0 GiB"):
        DTSNE(perplexity=15.0).fit(two_clusters)


def test_sparse_data_made_dense(monkeypatch):
    monkeypatch.setattr("dtsne.runtime._memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="set n_pcs"):
        DTSNE(n_pcs=None).fit(csr_array(np.eye(50)))


# --- what is there ---


@pytest.fixture
def machine(tmp_path):
    """A root of files; 8 GiB are free on the machine."""

    def write(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    write("proc/meminfo", f"MemTotal: 99999999 kB\nMemAvailable:   {8 * 2**20} kB\n")
    return tmp_path, write


def test_free_memory_of_the_machine(machine):
    root, _ = machine
    assert available_memory(root) == 8 * GIB
    assert available_memory(root / "nothing") > 0


def test_limit_of_a_container(machine):
    root, write = machine
    write("proc/self/cgroup", "0::/\n")
    write("sys/fs/cgroup/memory.max", "max\n")
    write("sys/fs/cgroup/memory.current", f"{3 * GIB}\n")
    write("sys/fs/cgroup/memory.stat", f"anon 5\ninactive_file {GIB}\n")
    assert available_memory(root) == 8 * GIB
    write("sys/fs/cgroup/memory.max", f"{4 * GIB}\n")
    assert available_memory(root) == 2 * GIB
    write("sys/fs/cgroup/memory.max", f"{GIB}\n")
    assert available_memory(root) == 0


def test_limit_of_a_group_around(machine):
    root, write = machine
    write("proc/self/cgroup", "0::/jobs/17/step\n")
    for group, limit in (("jobs/17/step", "max"), ("jobs/17", f"{5 * GIB}"), ("jobs", "max")):
        write(f"sys/fs/cgroup/{group}/memory.max", f"{limit}\n")
        write(f"sys/fs/cgroup/{group}/memory.current", f"{GIB}\n")
        write(f"sys/fs/cgroup/{group}/memory.stat", "inactive_file 0\n")
    assert available_memory(root) == 4 * GIB


@pytest.mark.parametrize("folder", ["", "docker/abc/"])
def test_limit_of_version_1(machine, folder):
    root, write = machine
    write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n")
    write(f"sys/fs/cgroup/memory/{folder}memory.limit_in_bytes", f"{6 * GIB}\n")
    write(f"sys/fs/cgroup/memory/{folder}memory.usage_in_bytes", f"{5 * GIB}\n")
    write(f"sys/fs/cgroup/memory/{folder}memory.stat", f"cache 1\ntotal_inactive_file {2 * GIB}\n")
    assert available_memory(root) == 3 * GIB
