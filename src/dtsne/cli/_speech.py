"""What a command says on the way: on standard error, a line for each thing."""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtsne.cli._flags import in_flags
from dtsne.cli._options import Options

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


@dataclass(frozen=True)
class Speech(Options):
    """How much is said."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing but errors, and show no progress.")
    ] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say more: every ten iterations, all warnings.")
    ] = False

    @property
    def level(self) -> int:
        """The `verbose` of the estimator: 0, 1 or 2."""
        return 0 if self.quiet else 2 if self.verbose else 1

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Write messages and warnings of the package, and of those it uses, in one way."""
        # At the root, as a fit clears the line of its bar before handlers there are called.
        root, logger = logging.getLogger(), logging.getLogger("dtsne")
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine())
        level_before = logger.level
        logger.setLevel(_LEVELS[self.level])
        root.addHandler(handler)
        try:
            with warnings.catch_warnings():
                if not sys.warnoptions:  # else the user has said what to show
                    _choose(self.level)
                warnings.showwarning = _show_warning
                yield
        finally:
            root.removeHandler(handler)
            logger.setLevel(level_before)


def _choose(level: int) -> None:
    """Show warnings that are meant for users; those of libraries to programmers only if asked."""
    warnings.simplefilter("ignore")
    if level == 1:
        warnings.simplefilter("default", UserWarning)
    elif level > 1:
        warnings.simplefilter("default")


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    kind = "" if issubclass(category, UserWarning) else f" ({category.__name__})"
    typer.echo(f"dtsne: warning: {one_line(in_flags(str(message)))}{kind}", err=True)


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{record.name.partition('.')[0]}: {one_line(record.getMessage())}"


def one_line(text: str) -> str:
    """Write a text without its breaks of lines."""
    return " ".join(line.strip() for line in text.splitlines())
