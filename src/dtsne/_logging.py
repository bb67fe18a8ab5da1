"""Messages for people who asked for them without having set up logging."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def shown_messages(verbose: int) -> Iterator[None]:
    """Show the package's messages on standard error, unless the user handles them already."""
    logger = logging.getLogger("dtsne")
    if not verbose or logger.handlers or logging.getLogger().handlers:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    level_before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level_before)
