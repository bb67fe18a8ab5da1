"""What the package says: warnings that point at the user's line, and messages for those who ask."""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OURS = ("dtsne", "sklearn")
# Called before anything is written, to clear the line that it is written on.
_make_way: ContextVar[Callable[[], None] | None] = ContextVar("make_way", default=None)


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package, and scikit-learn's wrappers, that led here."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _OURS:
        frame = frame.f_back
        level += 1
    _clear_line()
    kind = category if isinstance(message, str) else type(message)
    warnings.warn(message, kind, stacklevel=level)


def _package(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]


@contextmanager
def shown_messages(verbose: int) -> Iterator[None]:
    """Let the package's messages through, to standard error where nobody else handles them.

    1 is for what is worth knowing once, 2 for what happens on the way.
    """
    if not verbose:
        yield
        return
    logger = logging.getLogger("dtsne")
    level_before = logger.level
    # Called in this order, and before the handlers of the root.
    handlers: list[logging.Handler] = [_LineClearer()]
    if not logger.hasHandlers():
        handlers.append(logging.StreamHandler())
        handlers[-1].setFormatter(logging.Formatter("dtsne: %(message)s"))
    level = logging.INFO if verbose == 1 else logging.DEBUG
    logger.setLevel(min(level, logger.getEffectiveLevel()))
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.setLevel(level_before)
        for handler in handlers:
            logger.removeHandler(handler)


@contextmanager
def making_way(clear: Callable[[], None]) -> Iterator[None]:
    """Have `clear` called before each message of this thread, as a bar may stand in its place."""
    token = _make_way.set(clear)
    try:
        yield
    finally:
        _make_way.reset(token)


class _LineClearer(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        _clear_line()


def _clear_line() -> None:
    clear = _make_way.get()
    if clear is not None:
        clear()
