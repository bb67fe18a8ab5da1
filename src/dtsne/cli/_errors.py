"""User errors, in the words of the command line and in one line; everything else is a bug.

An error is the user's if it carries its own explanation (:class:`dtsne.runtime._errors.UserError`)
or concerns files, packages or memory, wherever it was raised; or if it concerns values and was
raised where these are the user's: while a file is read, data is fitted or a map is drawn. Such
places are marked with :func:`user_errors`.
"""

from __future__ import annotations

import os
import shlex
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from dtsne._config import PARAMETERS
from dtsne.cli._signals import stop_code
from dtsne.io._options import READ_OPTIONS
from dtsne.runtime._errors import UNSET, Face, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dtsne.runtime._parameters import Parameter

FAILED, WRONG_USAGE, CLOSED = 1, 2, 141
NONE = "none"  # None on the command line
_ALWAYS_USER = (UserError, OSError, ImportError, MemoryError, Warning)
_VALUES = (ValueError, TypeError, FloatingPointError)


def flag_of(parameter: Parameter, prefix: str = "") -> str:
    """Return the flag of an option, whose name may begin with a prefix."""
    return str(parameter.flag).replace("--", f"--{prefix}", 1)


def face_of(*tables: Mapping[str, Parameter], prefix: str = "") -> Face:
    """Return how parameters are written where these tables are the options."""
    parameters = (parameter for table in tables for parameter in table.values())
    flags = {p.name: flag_of(p, prefix) for p in parameters if p.flag is not None}

    def write(name: str, value: object) -> str:
        flag = flags.get(name, name)
        if value is UNSET or value is True:
            return flag
        if value is False:
            return flag.replace("--", "--no-", 1)
        return f"{flag} {NONE if value is None else shlex.quote(str(value))}"

    return Face(write, shows_python=False)


COMMAND_LINE = face_of(PARAMETERS, READ_OPTIONS)


class CommandError(Exception):
    """A user error in the words of the command line."""


@contextmanager
def user_errors(face: Face = COMMAND_LINE) -> Iterator[None]:
    """Take errors of values for user errors, and write their parameters as options."""
    try:
        yield
    except (*_VALUES, UserError) as error:
        raise CommandError(_text(error, face)) from error


@contextmanager
def usage_errors(face: Face) -> Iterator[None]:
    """Take errors about parameters for a wrong call of the command."""
    try:
        yield
    except UserError as error:
        raise click.UsageError(error.text(face)) from error


def exit_code(run: Callable[[], None], arguments: Sequence[str]) -> int:
    """Run a command, report its errors and return its exit code.

    0 success; 1 an error in the data, a file or the system, or a missing package; 2 a wrong call;
    130 stopped by Ctrl-C; 141 standard output was closed, as by `head`; 143 stopped by SIGTERM.
    """
    try:
        run()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        more = "" if context is None else f" See {context.command_path} --help."
        print_error(f"{as_sentence(error.format_message())}{more}")
        return WRONG_USAGE
    except KeyboardInterrupt as stop:
        notes = " ".join(getattr(stop, "__notes__", ()))
        print_error(f"stopped; {notes or 'nothing more was written.'}")
        return stop_code(stop)
    except BrokenPipeError:
        return CLOSED
    except Exception as error:
        _print_failure(error, arguments)
        return FAILED
    return 0


def _print_failure(error: Exception, arguments: Sequence[str]) -> None:
    is_bug = not isinstance(error, (CommandError, *_ALWAYS_USER))
    if is_bug or os.environ.get("DTSNE_TRACEBACK") or {"-v", "--verbose"} & {*arguments}:
        with suppress(OSError):
            traceback.print_exception(error)
    print_error(
        "this is a bug in dtsne. Please report it with the output above and that of `dtsne info`."
        if is_bug
        else describe(error)
    )


def describe(error: Exception) -> str:
    """Return what went wrong, in one line."""
    text = _text(error, COMMAND_LINE) or type(error).__name__
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    if isinstance(error, Warning):
        text = f"{text} (a warning, which PYTHONWARNINGS makes an error)"
    if isinstance(error, MemoryError) and not isinstance(error, UserError):
        text = f"out of memory ({text}); use fewer rows or a machine with more memory"
    return " ".join([as_sentence(text), *getattr(error, "__notes__", ())])


def _text(error: Exception, face: Face) -> str:
    return error.text(face) if isinstance(error, UserError) else str(error)


def print_error(text: str) -> None:
    """Write a line to standard error, unless that is closed."""
    with suppress(OSError):
        click.echo(f"dtsne: {text}", err=True)


def as_sentence(text: str) -> str:
    """Return a text in one line, with a full stop."""
    text = one_line(text)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def one_line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(line.strip() for line in text.splitlines())
