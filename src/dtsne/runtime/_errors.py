"""Errors and warnings with fields, which each interface words in its own way.

A message has a reason and a fix. Where it mentions a parameter, it does so by :func:`setting`: the
Python interface writes ``metric='cosine'``, the command line ``--metric cosine``. What only helps
somebody who writes Python is a field of its own. ``str(error)`` is the Python wording; another
interface calls ``error.text(face)``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGIN, _END = "\x01", "\x02"
_MENTION = re.compile(f"{_BEGIN}(.*?){_END}", re.DOTALL)
_MAX_WRITTEN = 80


class _Unset:
    """Stands for a parameter that is mentioned without a value."""


UNSET = _Unset()


def setting(name: str, value: object = UNSET) -> str:
    """Mention a parameter, perhaps with a value, in the text of a message.

    Values are strings, numbers, booleans and None; of others the beginning of `repr` is shown.
    """
    mention: dict[str, object] = {"name": name}
    if isinstance(value, str | bool | int | float | None):
        mention["value"] = value
    elif not isinstance(value, _Unset):
        mention["written"] = repr(value)[:_MAX_WRITTEN]
    return f"{_BEGIN}{json.dumps(mention)}{_END}"


@dataclass(frozen=True)
class Face:
    """How an interface writes a parameter, and whether its users write Python.

    Attributes
    ----------
    write : callable
        From a name and a value (`UNSET` for none) to text.
    shows_python : bool
    """

    write: Callable[[str, object], str]
    shows_python: bool

    def word(self, text: str) -> str:
        """Write out the parameters that a text mentions."""

        def written(mention: re.Match[str]) -> str:
            found = json.loads(mention[1])
            if "written" in found:
                return f"{self.write(found['name'], UNSET)}={found['written']}"
            return self.write(found["name"], found.get("value", UNSET))

        return _MENTION.sub(written, text)


def _write_python(name: str, value: object) -> str:
    return name if isinstance(value, _Unset) else f"{name}={value!r}"


PYTHON = Face(_write_python, shows_python=True)


@dataclass(frozen=True)
class Message:
    """What is wrong, and what to do about it.

    Attributes
    ----------
    reason : str
        A clause without a full stop: what is wrong, and where.
    fix : str
        A clause without a full stop: what to do; empty where nothing can be done.
    in_python : str
        An expression that does it, shown to users of Python alone.
    """

    reason: str
    fix: str = ""
    in_python: str = ""

    def text(self, face: Face = PYTHON) -> str:
        """Return the sentence that an interface shows."""
        sentence = self.reason
        if self.fix:
            sentence += f"; {self.fix}"
        if self.in_python and face.shows_python:
            sentence += f" ({self.in_python})"
        return face.word(sentence) + "."


class UserError(Exception):
    """An error that the user can do something about. Subclasses are also built-in exceptions."""

    def __init__(self, reason: str, fix: str = "", *, in_python: str = "") -> None:
        super().__init__(reason, fix, in_python)
        self.message: Message = Message(reason, fix, in_python)

    def text(self, face: Face = PYTHON) -> str:
        """Return the error in the words of an interface."""
        return self.message.text(face)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text()!r})"

    def __reduce__(self) -> tuple[object, ...]:
        # Without calling __init__, whose arguments differ from class to class.
        return _rebuild, (type(self), self.args), self.__dict__


def _rebuild(cls: type[UserError], arguments: tuple[object, ...]) -> UserError:
    error = cls.__new__(cls)
    error.args = arguments
    return error


class ParameterError(UserError, ValueError):
    """A parameter has a value that cannot be used.

    Attributes
    ----------
    parameter : str
    value : object
    allowed : str
        What the parameter must be, as in "a number above 1"; empty where `reason` says it.
    """

    def __init__(
        self,
        parameter: str,
        value: object,
        allowed: str = "",
        *,
        reason: str = "",
        fix: str = "",
        in_python: str = "",
    ) -> None:
        written = reason or f"{setting(parameter, value)} must be {allowed}"
        super().__init__(written, fix, in_python=in_python)
        self.parameter, self.value, self.allowed = parameter, value, allowed


class ParameterTypeError(ParameterError, TypeError):
    """A parameter is of a type that cannot be used."""


class DataError(UserError, ValueError):
    """The data, or another array that was passed in, cannot be used.

    Attributes
    ----------
    argument : str
        The array, as the Python interface names it.
    """

    def __init__(
        self, reason: str, fix: str = "", *, in_python: str = "", argument: str = "X"
    ) -> None:
        super().__init__(reason, fix, in_python=in_python)
        self.argument = argument


class DataTypeError(DataError, TypeError):
    """An array, or what was passed in its place, is of a type that cannot be used."""


class OutOfMemoryError(UserError, MemoryError):
    """The work would not fit into memory.

    Attributes
    ----------
    needed, available : int or None
        Bytes.
    """

    def __init__(
        self, reason: str, fix: str, *, needed: int | None = None, available: int | None = None
    ) -> None:
        super().__init__(reason, fix)
        self.needed, self.available = needed, available


class MissingPackageError(UserError, ImportError):
    """A package of an extra is not installed.

    Attributes
    ----------
    package : str
    """

    def __init__(self, reason: str, fix: str, *, package: str) -> None:
        super().__init__(reason, fix)
        self.package = package


class DeviceError(UserError, RuntimeError):
    """The device that was asked for cannot be used."""


class DivergedError(UserError, FloatingPointError):
    """The descent left the range of numbers."""


class UserNotice(UserError, UserWarning):  # noqa: N818  (a warning)
    """A warning that the user can do something about."""
