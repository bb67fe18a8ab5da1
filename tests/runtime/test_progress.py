"""What a fit shows of itself, where, and how long its phases took."""

from __future__ import annotations

import io
import logging
import sys
import threading
import time
import warnings
from contextlib import redirect_stderr
from dataclasses import replace

import pytest

from dtsne import DTSNE
from dtsne.optimize._descent import Schedule
from dtsne.runtime._progress import Timings, shown_progress

PHASES = ["preparing", "neighbours", "affinities", "start", "descent"]
QUICK = {"perplexity": 15.0, "max_iter": 40, "tol": 0.0}
WITHIN_DESCENT = ["attraction", "repulsion", "calibration"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What somebody sees: text after a carriage return covers what was there."""
        seen = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            seen.append(shown.rstrip())
        return seen


@pytest.fixture
def intervals(monkeypatch):
    """Set what `_progress` waits for; by default nothing, and no ticking."""

    def set_intervals(**changes: float) -> None:
        waits = {"_BAR_AFTER": 0.0, "_DRAW_EVERY": 0.0, "_LINE_EVERY": 0.0, "_TICK_EVERY": 1e6}
        for name, seconds in {**waits, **changes}.items():
            monkeypatch.setattr(f"dtsne.runtime._progress.{name}", seconds)

    set_intervals()
    return set_intervals


@pytest.fixture
def terminal(intervals):
    return Terminal()


def fit(X, stream: io.StringIO, **parameters) -> None:
    with redirect_stderr(stream):
        DTSNE(**{**QUICK, **parameters}).fit(X)


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on only when told to."""
    seconds = [1000.0]
    monkeypatch.setattr("dtsne.runtime._progress.perf_counter", lambda: seconds[0])

    def wait(duration: float) -> None:
        seconds[0] += duration

    return wait


# --- timings ---


def test_phases_add_up_and_may_lie_within_others(monkeypatch):
    seconds = iter([0.0, 1.0, 3.0, 10.0, 20.0, 25.0])
    monkeypatch.setattr("dtsne.runtime._progress.process_time", lambda: next(seconds))
    timings = Timings()
    with timings.phase("outer"), timings.phase("inner"):
        pass
    with timings.phase("inner"):
        pass
    assert list(timings.cpu.items()) == [("outer", 10.0), ("inner", 7.0)]


def test_a_phase_that_fails_is_measured_all_the_same(monkeypatch):
    seconds = iter([1.0, 4.0])
    monkeypatch.setattr("dtsne.runtime._progress.process_time", lambda: next(seconds))
    timings = Timings()
    with pytest.raises(RuntimeError), timings.phase("failing"):
        raise RuntimeError
    assert timings.cpu == {"failing": 3.0}


def test_timings_of_a_fit(two_clusters):
    DTSNE(perplexity=15.0).fit(two_clusters)  # compiles
    before = time.process_time()
    model = DTSNE(perplexity=15.0).fit(two_clusters)
    whole = time.process_time() - before
    assert set(model.timings_) == {*PHASES, *WITHIN_DESCENT}
    assert [name for name in model.timings_ if name in PHASES] == PHASES
    assert 0.5 * whole < sum(model.timings_[name] for name in PHASES) <= whole
    within = sum(model.timings_[name] for name in WITHIN_DESCENT)
    assert 0 < within <= model.timings_["descent"]


def test_ctrl_c_leaves_timings_of_the_whole_descent(two_clusters):
    def interrupt(iteration, kl, embedding):
        raise KeyboardInterrupt

    model = DTSNE(callback=interrupt, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(two_clusters)
    assert model.timings_["descent"] > 0


# --- where it is shown ---


def test_bar_on_a_terminal(two_clusters, terminal):
    fit(two_clusters, terminal, verbose=1)
    everything = terminal.getvalue()
    for shown in (*PHASES, "iteration 20", "KL ", "about 0:00 left"):
        assert shown in everything
    *bar, end = terminal.lines()
    assert end == ""
    assert len(bar) == 1
    assert bar[0].startswith("dtsne finished")
    assert "|##########| iteration 40, KL " in bar[0]
    assert "left" not in bar[0]


def test_bar_ends_full_whenever_the_descent_does(two_clusters, terminal):
    fit(two_clusters, terminal, verbose=1, callback=lambda i, kl, y: i == 0)
    assert "|##########| iteration 0" in terminal.lines()[-2]


def test_no_bar_for_short_work(two_clusters, terminal, intervals):
    intervals(_BAR_AFTER=1e6)
    fit(two_clusters, terminal, verbose=1)
    assert terminal.getvalue() == ""


def test_silent_unless_asked(two_clusters, terminal, caplog):
    fit(two_clusters, terminal)
    assert terminal.getvalue() == ""
    assert not caplog.messages


def test_bar_appears_while_the_caller_is_busy(terminal, intervals):
    """The clock's thread shows what the fit, in the middle of something long, cannot."""
    drawn = threading.Event()
    intervals(_BAR_AFTER=1e-3, _TICK_EVERY=1e-3)
    terminal.flush = drawn.set  # what tqdm calls after every drawing
    with redirect_stderr(terminal), shown_progress(1) as progress:
        progress.begin("neighbours")
        assert drawn.wait(timeout=60)
    assert "neighbours" in terminal.getvalue()


def test_lines_in_a_log_file(two_clusters, intervals, monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(logging.getLogger("dtsne"), "hasHandlers", lambda: False)
    fit(two_clusters, log, verbose=1)
    assert "\r" not in log.getvalue()
    lines = log.getvalue().splitlines()
    assert all(line.startswith("dtsne: ") for line in lines)
    assert any(line.startswith("dtsne: descent, iteration 20, KL ") for line in lines)
    assert lines[-1].startswith("dtsne: finished, iteration 40, KL ")


def test_lines_are_few(two_clusters, intervals, caplog):
    intervals(_LINE_EVERY=1e6)
    DTSNE(verbose=1, **QUICK).fit(two_clusters)
    assert [m.split(",")[0] for m in caplog.messages if "KL" in m] == ["finished"]


def test_every_check_is_logged_for_those_who_ask(two_clusters, intervals, caplog):
    intervals(_LINE_EVERY=1e6)
    DTSNE(verbose=2, **QUICK).fit(two_clusters)
    iterations = [m.split()[1] for m in caplog.messages if m.startswith("iteration")]
    assert iterations == ["0", "10", "20", "30", "40"]


def test_logging_is_put_back(two_clusters):
    logger = logging.getLogger("dtsne")
    before = logger.level, list(logger.handlers)
    DTSNE(verbose=2, **QUICK).fit(two_clusters)
    assert (logger.level, logger.handlers) == before


def test_notebooks_have_a_bar(monkeypatch):
    from dtsne.runtime._progress import _is_watched

    class Notebook:
        kernel = object()

    class IPython:
        shell = None

        def get_ipython(self):
            return self.shell

    ipython = IPython()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert not _is_watched()
    ipython.shell = Notebook()
    assert _is_watched()
    monkeypatch.setattr("sys.stderr", None)  # as in a program without a console
    ipython.shell = None
    assert not _is_watched()


# --- nothing breaks the bar ---


def test_warnings_stand_on_lines_of_their_own(two_clusters, terminal, monkeypatch):
    def show(message, category, filename, lineno, file=None, line=None):
        terminal.write(f"{category.__name__}: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr("warnings.showwarning", show)
        fit(two_clusters, terminal, verbose=1, perplexity=60.0, max_iter=20, tol="auto")
    lowered, unsettled, bar, _ = terminal.lines()
    assert lowered.startswith("UserNotice: perplexity=60")
    assert unsettled.startswith("NotConverged")
    assert bar.startswith("dtsne finished")


def test_messages_stand_on_lines_of_their_own(two_clusters, terminal, monkeypatch):
    monkeypatch.setattr(logging.getLogger("dtsne"), "hasHandlers", lambda: False)
    fit(two_clusters, terminal, verbose=2)
    *messages, bar, _ = terminal.lines()
    assert sum(m.startswith("dtsne: iteration") for m in messages) == 5
    assert all(m.startswith("dtsne: ") for m in messages)
    assert bar.startswith("dtsne finished")


def test_ctrl_c_leaves_a_clean_line(two_clusters, terminal):
    def interrupt(iteration, kl, embedding):
        if iteration == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(two_clusters, terminal, verbose=1, callback=interrupt)
    bar, end = terminal.lines()
    assert "descent" in bar
    assert "iteration 20" in bar
    assert end == ""
    assert "dtsne-progress" not in [thread.name for thread in threading.enumerate()]


# --- what it says ---


def test_share_done_and_time_left(terminal, clock):
    with redirect_stderr(terminal), shown_progress(1) as progress:
        progress.begin("neighbours")
        clock(5)
        progress.advance(30, 100)
        assert terminal.lines()[-1].endswith("| 30%, 0:05")
        progress.begin("descent")
        clock(3600)
        progress.advance(0, 200, kl=2.0)
        assert terminal.lines()[-1].endswith("| iteration 0, KL 2.0000, 1:00:05")
        clock(20)
        progress.advance(50, 200, kl=1.5)
        assert terminal.lines()[-1].endswith("KL 1.5000, 1:00:25, about 1:00 left")
        clock(15)
        progress.refresh()
        assert terminal.lines()[-1].endswith("KL 1.5000, 1:00:40, about 0:45 left")


def test_expected_end_of_the_descent():
    schedule = Schedule(learning_rate=1.0, exaggeration=1.0, max_iter=1000, tol=5e-4)
    assert schedule.expected_end() == 200
    assert schedule.expected_end(150) == 200
    assert 400 < schedule.expected_end(400) < 500
    assert schedule.expected_end(1000) == 1000
    assert replace(schedule, max_iter=50).expected_end() == 50
    assert replace(schedule, tol=0.0).expected_end(10) == 1000
