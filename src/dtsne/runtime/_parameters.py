"""The description of a parameter, from which validation, documentation and options are made."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Group: TypeAlias = Literal["Method", "Input", "Optimisation", "Running"]
Kind: TypeAlias = type  # within the class, `type` is an attribute


@dataclass(frozen=True)
class Parameter:
    """One parameter: its values, its documentation and its option on the command line.

    Attributes
    ----------
    name : str
    type : str
        As in a docstring: ``"float or 'auto'"``.
    default : object
    doc : str
        Sentences in reStructuredText, the first of which is the help of the command line.
    group : {"Method", "Input", "Optimisation", "Running"}
    flag : str or None
        The option, such as ``"--perplexity"``; None where the command line has none.
    choices : tuple
        All values, or those besides numbers.
    kind : type
        int, float, str, bool, tuple (of str), or object for anything.
    minimum, above, maximum : float or None
        Bounds of a number: at least, more than, and at most.
    optional : bool
        Whether None is a value.
    metavar : str
        What the help of the command line writes for the value, such as "COLUMN".
    """

    name: str
    type: str
    default: object
    doc: str
    group: Group = "Method"
    flag: str | None = None
    choices: tuple[object, ...] = ()
    kind: Kind = object
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    optional: bool = False
    metavar: str = ""

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        return self.doc.split(". ", 1)[0].removesuffix(".") + "."


def numpydoc(parameters: Iterable[Parameter], indent: str = "    ", width: int = 96) -> str:
    """Return the entries of a numpydoc section."""
    lines: list[str] = []
    for parameter in parameters:
        default = ", optional" if parameter.default is None else f", default={parameter.default!r}"
        lines.append(f"{indent}{parameter.name} : {parameter.type}{default}")
        inside = f"{indent}    "
        lines += textwrap.wrap(
            parameter.doc, width, initial_indent=inside, subsequent_indent=inside
        )
    return "\n".join(lines)
