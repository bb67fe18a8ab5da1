"""What the package says: warnings that point at the user's line, and progress for those who ask."""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = ("dtsne", "sklearn")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package, and scikit-learn's wrappers, that led here."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _OURS:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _package(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]


@contextmanager
def shown_messages(verbose: int) -> Iterator[None]:
    """Let the package's messages through, to standard error where nobody else handles them."""
    if not verbose:
        yield
        return
    logger = logging.getLogger("dtsne")
    level_before = logger.level
    handler = None if logger.hasHandlers() else logging.StreamHandler()
    logger.setLevel(logging.INFO)
    if handler is not None:
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.setLevel(level_before)
        if handler is not None:
            logger.removeHandler(handler)
