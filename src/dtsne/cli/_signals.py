"""Ctrl-C and the end of a batch job, after which the best map so far is still written."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STOPPED, TERMINATED = 130, 143


class Terminated(KeyboardInterrupt):
    """The end of a batch job (SIGTERM), handled like Ctrl-C."""


def stop_code(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped."""
    # A fit raises its own exception, which carries the map, while it handles this one.
    terminated = isinstance(stop, Terminated) or isinstance(stop.__context__, Terminated)
    return TERMINATED if terminated else STOPPED


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Have SIGTERM raise what Ctrl-C raises."""

    def terminate(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
