"""A parameter: its name, its values, its default and its documentation, written down once."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from textwrap import indent, wrap
from typing import TYPE_CHECKING, TypeAlias

from dtsne.runtime._errors import PYTHON, ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dtsne.runtime._errors import Face

_DOC_WIDTH = 92
_Kind: TypeAlias = type


@dataclass(frozen=True)
class Parameter:
    """What validation, docstrings and the command line know of a parameter.

    Attributes
    ----------
    name : str
    type : str
        As a docstring writes it.
    default : object
    doc : str
        Sentences, the first of which can stand alone as the help of an option; other parameters
        are mentioned in it by `setting`.
    group : str
        Heading under which help and reference list it.
    flag : str or None
        Name on the command line; None where it has none.
    kind : type
        int, float, str, bool, or tuple (of str); object where only `choices` and `accepts` decide.
    choices : tuple
        Values that are allowed as they are, besides the numbers of `kind`.
    minimum, above, maximum : float or None
        Bounds of a number; `above` is exclusive.
    optional : bool
        Whether None is allowed.
    others : str
        What else is allowed, in words.
    accepts : callable or None
        Decides for values that are none of the choices and no numbers in bounds.
    metavar : str
        What the help of the command line writes for the value, such as "COLUMN".
    """

    name: str
    type: str
    default: object
    doc: str
    group: str = ""
    flag: str | None = None
    kind: _Kind = object
    choices: tuple[object, ...] = ()
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    optional: bool = False
    others: str = ""
    accepts: Callable[[object], bool] | None = None
    metavar: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it may be a number."""
        return self.kind in (int, float)

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        return f"{self.doc.split('. ', 1)[0].removesuffix('.')}."

    @property
    def allowed(self) -> str:
        """What it must be, in words."""
        return self.allowed_in(PYTHON)

    def allowed_in(self, face: Face) -> str:
        """Return what it must be in the words of an interface."""
        write = repr if face.shows_python else _typed
        parts = []
        if self.is_number:
            parts.append(self._allowed_number())
        if self.choices:
            listed = ", ".join(map(write, self.choices))
            parts.append(listed if parts or len(self.choices) == 1 else f"one of {listed}")
        if self.others and face.shows_python:
            parts.append(self.others)
        if self.optional and (face.shows_python or self.is_number):
            parts.append(write(None))
        return " or ".join(parts)

    def check(self, value: object) -> None:
        """Raise an error that says what is allowed, unless the value is."""
        if value is None and self.optional:
            return
        if any(type(value) is type(choice) and value == choice for choice in self.choices):
            return
        if self.accepts is not None and self.accepts(value):
            return
        if self.is_number:
            self._check_number(value)
        elif self.choices or self.accepts is not None:
            error = ParameterError if self.choices else ParameterTypeError
            raise error(self.name, value, self.allowed)

    def _check_number(self, value: object) -> None:
        number = Integral if self.kind is int else Real
        if isinstance(value, bool) or not isinstance(value, number):
            raise ParameterTypeError(self.name, value, self.allowed)
        found = float(value)
        below = self.minimum is not None and found < self.minimum
        not_above = self.above is not None and found <= self.above
        too_large = self.maximum is not None and found > self.maximum
        if not isfinite(found) or below or not_above or too_large:
            raise ParameterError(self.name, value, self.allowed)

    def _allowed_number(self) -> str:
        bounds = [
            f"{words} {bound:g}"
            for words, bound in (
                ("of at least", self.minimum),
                ("above", self.above),
                ("at most", self.maximum),
            )
            if bound is not None
        ]
        number = "an integer" if self.kind is int else "a number"
        return " ".join([number, " and ".join(bounds)]).rstrip()


def documented(parameters: Mapping[str, Parameter], indentation: int = 4) -> str:
    """Return the Parameters section of a docstring, without its heading.

    The first line is not indented, as it follows the indentation of the template.
    """
    blocks = []
    for parameter in parameters.values():
        # The default of an option that has no better word is part of the type.
        head = f"{parameter.name} : {parameter.type}, default={_written(parameter.default)}"
        body = "\n".join(wrap(PYTHON.word(parameter.doc), _DOC_WIDTH - indentation))
        blocks.append(f"{head}\n{indent(body, '    ')}")
    return indent("\n".join(blocks), " " * indentation).lstrip()


def _typed(value: object) -> str:
    return "none" if value is None else str(value)


def _written(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)
