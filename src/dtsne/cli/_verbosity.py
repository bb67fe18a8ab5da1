"""What a command prints: results on standard output, messages and warnings on standard error."""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dtsne.cli._errors import COMMAND_LINE, one_line, print_error
from dtsne.cli._options import Options, option
from dtsne.runtime._errors import UserNotice

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


@dataclass(frozen=True)
class Verbosity(Options):
    """How much is printed."""

    quiet: bool = option("--quiet -q", "Print errors only, and no progress.", default=False)
    verbose: bool = option(
        "--verbose -v",
        "Print more: every ten iterations, all warnings, the traceback of an error.",
        default=False,
    )

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise click.UsageError("--quiet and --verbose cannot be combined; remove one of them")

    @property
    def level(self) -> int:
        """The `verbose` of the estimator: 0, 1 or 2."""
        return 0 if self.quiet else 2 if self.verbose else 1

    @contextmanager
    def configured_logging(self) -> Iterator[None]:
        """Print messages and warnings, also those of other packages, as one line each."""
        # At the root, as a fit clears the line of its bar before handlers there are called.
        root, logger = logging.getLogger(), logging.getLogger("dtsne")
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine())
        level_before = logger.level
        logger.setLevel(_LEVELS[self.level])
        root.addHandler(handler)
        try:
            with warnings.catch_warnings():
                # PYTHONWARNINGS, which may be meant for other programs, is ignored: "error" in it
                # would end a command with a warning.
                _filter_warnings(self.level)
                warnings.showwarning = _print_warning
                yield
        finally:
            root.removeHandler(handler)
            logger.setLevel(level_before)


def _filter_warnings(level: int) -> None:
    """Show warnings for users, and those of libraries to programmers only at level 2."""
    warnings.simplefilter("ignore")
    if level == 1:
        warnings.simplefilter("default", UserWarning)
    elif level > 1:
        warnings.simplefilter("default")


def _print_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    text = message.text(COMMAND_LINE) if isinstance(message, UserNotice) else str(message)
    kind = "" if issubclass(category, UserWarning) else f" ({category.__name__})"
    print_error(f"warning: {one_line(text)}{kind}")


def print_result(text: str) -> None:
    """Write a result to standard output."""
    try:
        click.echo(text)
    except BrokenPipeError:  # the reader has enough
        raise
    except OSError as error:
        raise OSError(f"standard output cannot be written ({error.strerror}).") from error


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{record.name.partition('.')[0]}: {one_line(record.getMessage())}"
