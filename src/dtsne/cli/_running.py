"""How a command ends: its exit code, and one line for a mistake of the user's.

0 all is well; 1 the data, a file or the machine is at fault, or a package is missing; 2 the command
was called wrongly; 130 it was stopped by Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
import traceback
from contextlib import contextmanager
from functools import wraps
from opcode import opmap
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from dtsne.cli._flags import in_flags
from dtsne.cli._speech import one_line
from dtsne.cli._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAULT, WRONG_USAGE, STOPPED = 1, 2, 130

# Whose checks are about what the user gave.
_CHECKING = ("dtsne", "sklearn")


class OneLineGroup(TyperGroup):
    """The commands, with errors that are one line."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and exit."""
        run: Any = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        sys.exit(_exit_code(lambda: run(*args, standalone_mode=False, **extra)))


def stops(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command say that Ctrl-C was heard, if it does nothing about it itself."""

    @wraps(command)
    def run(**values: Any) -> None:
        try:
            command(**values)
        except KeyboardInterrupt:
            _tell("stopped; nothing more was written.")
            raise typer.Exit(STOPPED) from None

    return run


def _exit_code(run: Callable[[], Any]) -> int:
    try:
        code = run()
    except UsageError as error:
        _tell(f"{_ended(error.format_message())}{_where_to_look(error)}")
        return WRONG_USAGE
    except Exception as error:
        if is_mistake(error):
            _tell(described(error))
        else:
            traceback.print_exception(error)
            _tell(
                "this is a fault of dtsne, not of yours; please report it, with the lines above "
                "and with what `dtsne info` prints."
            )
        return FAULT
    return code if isinstance(code, int) else 0


def is_mistake(error: Exception) -> bool:
    """Whether an error is about what the user gave, and not about what we did with it."""
    if isinstance(error, OSError | ImportError | MemoryError):
        return True
    return isinstance(error, ValueError | TypeError | ArithmeticError) and _was_found(error)


def described(error: Exception) -> str:
    """Say what went wrong in one line."""
    text = in_flags(str(error)) or type(error).__name__
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError) and not _was_found(error):
        text = f"the memory does not suffice ({text}); take fewer rows, or a larger machine."
    return one_line(text)


def _was_found(error: Exception) -> bool:
    """Whether it was raised by a check, with ``raise``, rather than by what did not work."""
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
    instruction = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return package in _CHECKING and instruction == opmap["RAISE_VARARGS"]


def _where_to_look(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return "" if context is None else f" See {context.command_path} --help."


def _ended(text: str) -> str:
    text = one_line(text)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _tell(text: str) -> None:
    typer.echo(f"dtsne: {text}", err=True)


@contextmanager
def stoppable() -> Iterator[None]:
    """Take the end of a batch job (SIGTERM) for a Ctrl-C: there may be something to keep."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
