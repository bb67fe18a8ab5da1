"""How a command ends: its exit code, and one line for a mistake of the user's.

0 all is well; 1 the data, a file or the machine is at fault, or a package is missing; 2 the command
was called wrongly; 130 it was stopped by Ctrl-C; 141 standard output was closed, as by `head`; 143
it was ended from outside (SIGTERM).
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from dtsne.cli._errors import as_sentence, described, is_user_error
from dtsne.cli._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FAULT, WRONG_USAGE, STOPPED, CLOSED, TERMINATED = 1, 2, 130, 141, 143


class Terminated(KeyboardInterrupt):
    """The end of a batch job (SIGTERM), taken for a Ctrl-C: there may be something to keep."""


def stop_code(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped."""
    return TERMINATED if isinstance(stop, Terminated) else STOPPED


class OneLineGroup(TyperGroup):
    """The commands, with errors that are one line."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and exit."""
        run: Any = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        given = args[0] if args else extra.get("args")
        arguments = sys.argv[1:] if given is None else given
        code = _exit_code(lambda: run(*args, standalone_mode=False, **extra), arguments)
        sys.exit(code if _all_is_printed() else code or FAULT)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the arguments before the name of the command."""
        with _ended_from_outside():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _ended_from_outside():
            return super().invoke(ctx)


@contextmanager
def _ended_from_outside() -> Iterator[None]:
    """Take Ctrl-C, and a closed output, before Typer does, which says nothing of them."""
    try:
        yield
    except KeyboardInterrupt as stop:
        print_error(
            f"stopped; {' '.join(getattr(stop, '__notes__', ())) or 'nothing more was written.'}"
        )
        raise typer.Exit(stop_code(stop)) from None
    except BrokenPipeError:
        raise typer.Exit(CLOSED) from None


def _exit_code(run: Callable[[], Any], arguments: Sequence[str]) -> int:
    try:
        code = run()
    except UsageError as error:
        print_error(f"{as_sentence(error.format_message())}{_where_to_look(error)}")
        return WRONG_USAGE
    except Exception as error:
        is_ours = not is_user_error(error)
        if is_ours or _wants_traceback(arguments):
            with suppress(OSError):
                traceback.print_exception(error)
        print_error(
            "this is a fault of dtsne, not of yours; please report it, with the lines above and "
            "with what `dtsne info` prints."
            if is_ours
            else described(error)
        )
        return FAULT
    return code if isinstance(code, int) else 0


def _wants_traceback(arguments: Sequence[str]) -> bool:
    """Whether it was asked for, where an error is a mistake: by -v, or in the environment."""
    return bool(os.environ.get("DTSNE_TRACEBACK")) or not {"-v", "--verbose"}.isdisjoint(arguments)


def _all_is_printed() -> bool:
    """Whether standard output took everything; what it did not take goes nowhere."""
    try:
        if sys.stdout is not None:  # as it is where it was closed from the start
            sys.stdout.flush()
    except OSError:
        # Python would try once more at its end, and complain.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return False
    return True


def _where_to_look(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return "" if context is None else f" See {context.command_path} --help."


def print_error(text: str) -> None:
    """Say something on standard error, if anybody listens there."""
    with suppress(OSError):
        typer.echo(f"dtsne: {text}", err=True)


@contextmanager
def stoppable() -> Iterator[None]:
    """Have SIGTERM raise what Ctrl-C does."""

    def terminate(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
