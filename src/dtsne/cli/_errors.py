"""What the user can mend, told from what is a fault of ours.

An error is the user's if it is one of files, packages or memory, wherever it was raised; or if it
is one of values and was raised where these are the user's: while arguments are checked, a file is
read, a map is fitted or drawn. Those places say so, with :func:`user_errors`. All else is a fault.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from dtsne.cli._flags import INPUT_FLAGS, in_flags
from dtsne.cli._verbosity import one_line
from dtsne.io._errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ANYWHERE = (TableError, OSError, ImportError, MemoryError, Warning)


class UserError(Exception):
    """Something that the user can mend, said in the words of the command line."""


@contextmanager
def user_errors(*kept: object, flags: Mapping[str, str] = INPUT_FLAGS) -> Iterator[None]:
    """Take errors of values for user_errors; `kept` are names of files, which stay as they are."""
    try:
        yield
    except (ValueError, TypeError, FloatingPointError) as error:
        raise UserError(in_flags(str(error), flags, kept=kept)) from error


def is_user_error(error: Exception) -> bool:
    """Whether an error is about what the user gave, and not about what we did with it."""
    return isinstance(error, (UserError, *_ANYWHERE))


def described(error: Exception) -> str:
    """Say what went wrong in one line."""
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    if isinstance(error, Warning):
        text = f"{text} (a warning, which PYTHONWARNINGS makes an error)"
    if isinstance(error, ImportError):
        text = in_flags(text)
    if isinstance(error, MemoryError):
        # Ours are sentences that say what to do; those of Python and numpy are not.
        out = f"the memory does not suffice ({text}); take fewer rows, or a larger machine."
        text = in_flags(text) if text.endswith(".") else out
    added = " ".join(getattr(error, "__notes__", ()))
    return one_line(f"{as_sentence(text)} {added}" if added else text)


def as_sentence(text: str) -> str:
    """Return a sentence in one line, with a full stop."""
    text = one_line(text)
    return text if text.endswith((".", "?", "!")) else f"{text}."
