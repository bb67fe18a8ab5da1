"""What a command says on the way: on standard error, a line for each thing."""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtsne.cli._flags import in_flags
from dtsne.cli._options import Options
from dtsne.cli._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


@dataclass(frozen=True)
class Verbosity(Options):
    """How much is said."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing but errors, and show no progress.")
    ] = False
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Say more: every ten iterations, all warnings, where an error came from.",
        ),
    ] = False

    @property
    def level(self) -> int:
        """The `verbose` of the estimator: 0, 1 or 2."""
        return 0 if self.quiet else 2 if self.verbose else 1

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.quiet and self.verbose:
            raise UsageError("--quiet and --verbose exclude each other; give one of them.")

    @contextmanager
    def configured_logging(self, *kept: object) -> Iterator[None]:
        """Write messages and warnings of the package, and of those it uses, in one way.

        `kept` are names of files, which warnings speak of as they are.
        """
        self.check()
        # At the root, as a fit clears the line of its bar before handlers there are called.
        root, logger = logging.getLogger(), logging.getLogger("dtsne")
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine())
        level_before = logger.level
        logger.setLevel(_LEVELS[self.level])
        root.addHandler(handler)
        try:
            with warnings.catch_warnings():
                # Not what PYTHONWARNINGS says, which may be meant for other programs: "error" in it
                # would end a command by what is only worth knowing.
                _choose(self.level)
                warnings.showwarning = partial(_show_warning, kept)
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


def _show_warning(
    kept: Sequence[object],
    message: Warning | str,
    category: type[Warning],
    *_: Any,
    **__: Any,
) -> None:
    kind = "" if issubclass(category, UserWarning) else f" ({category.__name__})"
    text = one_line(in_flags(str(message), kept=kept))
    with suppress(OSError):
        typer.echo(f"dtsne: warning: {text}{kind}", err=True)


def print_result(text: str) -> None:
    """Write a result to standard output."""
    try:
        typer.echo(text)
    except BrokenPipeError:  # whoever read it has enough
        raise
    except OSError as error:
        raise OSError(f"standard output cannot be written ({error.strerror}).") from error


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{record.name.partition('.')[0]}: {one_line(record.getMessage())}"


def printable(text: str) -> str:
    """Return the name of a file as text that can be drawn: it may hold bytes that are no text."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """Write a text without its breaks of lines."""
    return " ".join(line.strip() for line in text.splitlines())
