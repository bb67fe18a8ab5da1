"""The parameters of `DTSNE` as options: names, types, defaults and help as its source has them.

The source is parsed, not imported: that would take a second, which nobody should wait for help.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from dtsne.cli._options import Options, completing
from dtsne.cli._usage import UsageError

if TYPE_CHECKING:
    from dtsne import DTSNE

# Python objects, which a command line has no words for, and what -q and -v stand for.
LEFT_OUT = ("neighbors", "callback", "verbose")
_PANEL = "The method"
_NUMBERS = {"int": int, "float": float}
_NONE = "none"
# Choices that fit beside the name of an option.
_MOST_SHOWN = 4


@dataclass(frozen=True)
class FitParameter:
    """A parameter of the estimator, as far as a command line can give it.

    Attributes
    ----------
    name : str
    default : object
    number : type or None
        int or float, if it may be a number.
    words : tuple
        What else it may be: texts, False, or None.
    text : str
        Its documentation.
    others : bool
        Whether it may be still other texts, which the estimator checks.
    """

    name: str
    default: Any
    number: type[int] | type[float] | None
    words: tuple[Any, ...]
    text: str
    others: bool = False

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether it is only there to be turned off."""
        return False in self.words

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be."""
        return tuple(_NONE if word is None else str(word) for word in self.words)

    @property
    def help(self) -> str:
        """The first sentence of its documentation."""
        from dtsne.cli._flags import in_flags

        sentence = re.split(r"(?<=[.])\s", self.text, maxsplit=1)[0]
        plain = re.sub(r"\bNone\b", _NONE, sentence.replace("`", ""))
        if len(self.choices) > _MOST_SHOWN:
            plain = f"{plain.rstrip('.')}: {', '.join(self.choices)}."
        return in_flags(plain)

    @property
    def values(self) -> str:
        """What it may be, for a help page."""
        if len(self.choices) > _MOST_SHOWN:
            return self.name.upper()
        kinds = {int: "INT", float: "FLOAT", None: "" if self.choices else "FILE"}
        return "|".join(filter(None, (*self.choices, kinds[self.number])))

    def parse(self, text: Any) -> Any:
        """Turn what was typed into a value; `none` stays a word, as for Typer None is no value."""
        if not isinstance(text, str) or text in self.choices:
            return text
        if self.others or (self.number is None and not self.choices):  # a file
            return text
        if self.number is not None:
            try:
                return self.number(text)
            except ValueError:
                pass
        number = {int: "an integer", float: "a number", None: ""}[self.number]
        known = " or ".join(filter(None, (", ".join(self.choices), number)))
        raise typer.BadParameter(f"{text!r} is not known; choose {known}.")

    def option(self, panel: str) -> Parameter:
        """Return the parameter of a command that stands for it."""
        common: dict[str, Any] = {"help": self.help, "rich_help_panel": panel}
        if self.is_switch:
            names = f"{self.flag}/--no-{self.flag.removeprefix('--')}"
            annotation: Any = Annotated[bool, typer.Option(names, **common)]
            return Parameter(self.name, Parameter.KEYWORD_ONLY, default=True, annotation=annotation)
        if self.choices:
            common["autocompletion"] = completing(self.choices)
        option = typer.Option(self.flag, parser=self.parse, metavar=self.values, **common)
        return Parameter(
            self.name,
            Parameter.KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated[str | None, option],
        )

    def value(self, parsed: Any) -> Any:
        """Turn the value of the option into that of the parameter."""
        if self.is_switch:
            return self.default if parsed else False
        return None if parsed == _NONE and None in self.words else parsed


class FitOptions(Options):
    """The parameters of a fit; subclasses have some of them."""

    panel = _PANEL
    names: tuple[str, ...] | None = None

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    @classmethod
    def chosen(cls) -> list[FitParameter]:
        """Return the parameters that are options."""
        return [p for p in fit_parameters() if cls.names is None or p.name in cls.names]

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """See :class:`Options`."""
        return [parameter.option(cls.panel) for parameter in cls.chosen()]

    @classmethod
    def of(cls, **values: Any) -> Self:
        """See :class:`Options`."""
        return cls({p.name: p.value(values[p.name]) for p in cls.chosen()})

    def model(self, **others: Any) -> DTSNE:
        """Return the estimator, if all that was asked for can be used."""
        from dtsne import DTSNE
        from dtsne._config import check_parameters
        from dtsne.cli._flags import in_flags
        from dtsne.runtime._threads import resolve_n_jobs

        model = DTSNE(**{**self.values, **others})
        try:
            check_parameters(model)
            resolve_n_jobs(model.n_jobs)
        except (ValueError, TypeError) as error:
            raise UsageError(in_flags(str(error))) from error
        return model


@cache
def fit_parameters() -> tuple[FitParameter, ...]:
    """Return the parameters of the estimator that are options, in their order."""
    tree = _class("dtsne._estimator", "DTSNE")
    init = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )
    texts = _documentation(ast.get_docstring(tree) or "")
    found = zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
    return tuple(
        _parameter(argument.arg, argument.annotation, default, texts[argument.arg])
        for argument, default in found
        if argument.arg not in LEFT_OUT
    )


def _class(module: str, name: str) -> ast.ClassDef:
    spec = find_spec(module)
    assert spec is not None
    assert spec.loader is not None
    source = spec.loader.get_source(module)  # type: ignore[attr-defined]
    return next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )


def _parameter(name: str, annotation: Any, default: Any, text: str) -> FitParameter:
    parts = list(_members(annotation))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    value = ast.literal_eval(default)
    words = [word for part in parts for word in _words(part)]
    is_any = names == ["Any"]
    if (names == ["str"] or is_any) and value is not None:
        # One of those that its documentation has in quotes.
        words = list(dict.fromkeys([value, *re.findall(r'"(\w+)"', text)]))
    number = next((_NUMBERS[kind] for kind in names if kind in _NUMBERS), None)
    if number is None and words == [None]:  # the absence of a file needs no word
        words = []
    return FitParameter(name, value, number, tuple(words), text, others=is_any)


def _members(annotation: ast.expr) -> list[ast.expr]:
    """Return the members of a union."""
    if isinstance(annotation, ast.BinOp):
        return [*_members(annotation.left), *_members(annotation.right)]
    return [annotation]


def _words(annotation: ast.expr) -> list[Any]:
    if isinstance(annotation, ast.Constant):  # None
        return [annotation.value]
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
        found = ast.literal_eval(annotation.slice)
        return list(found) if isinstance(found, tuple) else [found]
    return []


def _documentation(docstring: str) -> dict[str, str]:
    """Return the text of each parameter of a docstring in numpy's style."""
    section = docstring.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = re.split(r"^(\w+) : .*\n", section, flags=re.MULTILINE)[1:]
    return {
        name: " ".join(text.split()) for name, text in zip(entries[::2], entries[1::2], strict=True)
    }
