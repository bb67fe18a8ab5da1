"""What a fit under way shows of itself: a bar where somebody looks on, lines in a log elsewhere.

The estimator tells `Progress` where it stands, and knows nothing of how that is shown. It has no
occasion to tell while a library works for minutes, so a thread keeps the clock going meanwhile.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, RLock, Thread
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from dtsne.runtime._logging import making_way, shown_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOGGER = logging.getLogger(__name__)

# All in seconds. Work that takes less than the first of them needs no bar, which would flash by.
_BAR_AFTER = 2.0
_DRAW_EVERY = 0.1
_LINE_EVERY = 5.0
_TICK_EVERY = 0.5


class Timings:
    """Seconds of all processors together, by name of the phase.

    A phase may come more than once, which adds up, and may lie within another, which counts in
    both. Measuring takes a few microseconds.
    """

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what is done within."""
        # Named at once, so that a phase stands before those within it.
        self.cpu.setdefault(name, 0.0)
        cpu = process_time()
        try:
            yield
        finally:
            self.cpu[name] += process_time() - cpu


class Progress:
    """Where a fit stands, told phase by phase, and the time that each phase took."""

    def __init__(self, display: _Display | None = None) -> None:
        self.timings = Timings()
        self._display = _Display() if display is None else display
        self._status = _Status(fit_began=perf_counter())
        self._phase_began: float | None = None  # in CPU seconds
        self._lock = RLock()  # the thread of the clock shows, too

    def begin(self, phase: str) -> None:
        """Show the name of a phase, and measure it until the next one begins."""
        self._measure()
        self.timings.cpu.setdefault(phase, 0.0)
        self._now_at(_Status(self._status.fit_began, phase))

    def end(self) -> None:
        """End the last phase."""
        self._measure()
        self._phase_began = None

    def advance(self, done: int, total: int, *, kl: float | None = None) -> None:
        """Say how much of the phase is done, as often as you like; and in the descent, KL."""
        now = perf_counter()
        first = self._status.first or (done, now)
        self._now_at(replace(self._status, done=done, total=total, kl=kl, first=first, latest=now))

    def refresh(self) -> None:
        """Show how time goes by."""
        with self._lock:
            self._display.show(self._status, perf_counter())

    def clear(self) -> None:
        """Make way for a message."""
        with self._lock:
            self._display.clear()

    def close(self, *, finished: bool) -> None:
        """Leave on display how it ended."""
        with self._lock:
            if finished:
                last = replace(self._status, phase=_FINISHED, first=None)
                self._display.show(last, perf_counter(), last=True)
            self._display.close()

    def _measure(self) -> None:
        now = process_time()
        if self._phase_began is not None:
            self.timings.cpu[self._status.phase] += now - self._phase_began
        self._phase_began = now

    def _now_at(self, status: _Status) -> None:
        self._status = status
        self.refresh()


@contextmanager
def shown_progress(verbose: int) -> Iterator[Progress]:
    """Show progress and messages of what is done within to those who asked for it."""
    if not verbose:
        yield Progress()
        return
    progress = Progress(_Bar() if _is_watched() else _Lines())
    finished = False
    with shown_messages(verbose):
        try:
            with making_way(progress.clear), _ticking(progress):
                yield progress
            finished = True
        finally:
            progress.close(finished=finished)


# --- how it is shown ---

_FINISHED = "finished"


@dataclass(frozen=True)
class _Status:
    """Where a fit stands; times are those of the clock."""

    fit_began: float
    phase: str = ""
    done: int = 0
    total: int = 0  # 0 where nobody knows
    kl: float | None = None
    first: tuple[int, float] | None = None  # what was done when the phase first said so, and when
    latest: float = 0.0  # when it last did

    @property
    def share_done(self) -> float:
        if self.phase == _FINISHED:
            return 1.0
        return min(1.0, self.done / self.total) if self.total else 0.0

    def text(self, now: float) -> str:
        parts = []
        if self.kl is not None:
            parts += [f"iteration {self.done}", f"KL {self.kl:.4f}"]
        elif self.total:
            parts.append(f"{self.share_done:.0%}")
        parts.append(_clock(now - self.fit_began))
        left = self._seconds_left(now)
        if left is not None:
            parts.append(f"about {_clock(left)} left")
        return ", ".join(parts)

    def _seconds_left(self, now: float) -> float | None:
        """Only the descent, which comes last, can tell when all will be done."""
        if self.kl is None or self.first is None or self.done <= self.first[0]:
            return None
        seconds_each = (self.latest - self.first[1]) / (self.done - self.first[0])
        return max(0.0, (self.total - self.done) * seconds_each - (now - self.latest))


class _Display:
    """Shows nothing."""

    def show(self, status: _Status, now: float, *, last: bool = False) -> None:
        """Show where the fit stands, unless it is too soon to."""

    def clear(self) -> None:
        """Make way for a message."""

    def close(self) -> None:
        """Leave what is shown as it is."""


class _Lines(_Display):
    """Now and then a line through `logging`."""

    def __init__(self) -> None:
        self._shown = perf_counter()

    def show(self, status: _Status, now: float, *, last: bool = False) -> None:
        if last or now - self._shown >= _LINE_EVERY:
            self._shown = now
            _LOGGER.info("%s, %s", status.phase, status.text(now))


class _Bar(_Display):
    """A bar on the terminal or in the notebook."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self._tqdm = tqdm
        self._bar: Any = None
        self._shown = float("-inf")

    def show(self, status: _Status, now: float, *, last: bool = False) -> None:
        if self._bar is None and (last or now - status.fit_began < _BAR_AFTER):
            return
        if not last and now - self._shown < _DRAW_EVERY:
            return
        self._shown = now
        share, looks = status.share_done, f"dtsne {status.phase:10} |{{bar}}| {status.text(now)}"
        if self._bar is None:
            self._bar = self._tqdm(total=1.0, initial=share, bar_format=looks, dynamic_ncols=True)
        else:
            self._bar.n, self._bar.bar_format = share, looks
            # Without tqdm's own lock, which a Ctrl-C at this point would never give back.
            self._bar.refresh(nolock=True)

    def clear(self) -> None:
        if self._bar is not None:
            self._bar.clear(nolock=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def _ticking(progress: Progress) -> Iterator[None]:
    """Show how time goes by while the caller is busy."""
    ended = Event()

    def tick() -> None:
        while not ended.wait(_TICK_EVERY):
            progress.refresh()

    thread = Thread(target=tick, name="dtsne-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _is_watched() -> bool:
    """Whether standard error is a terminal or a notebook, where a line can be written over."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    in_notebook = hasattr(shell, "kernel")
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty())


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
