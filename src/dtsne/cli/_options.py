"""Commands and their options, made from tables of parameters and from fields of dataclasses."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import click
from click.shell_completion import CompletionItem

from dtsne.cli._errors import COMMAND_LINE, NONE, flag_of
from dtsne.runtime._errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dtsne.runtime._parameters import Parameter

# As the help writes them: FILE and INT.
FILE, POSITIVE = click.Path(path_type=Path), click.IntRange(min=1)
FILE.name, POSITIVE.name = "file", "int"
_OTHERS = "Options"
# Choices that fit next to the name of an option.
_MAX_SHOWN = 4
_TYPE_NAMES = {int: "INT", float: "FLOAT"}


class Option(click.Option):
    """An option with the heading under which the help page lists it."""

    def __init__(self, flags: str, panel: str, attributes: Mapping[str, Any]) -> None:
        super().__init__(flags.split(), show_default=True, **attributes)
        self.panel = panel


class Argument(click.Argument):
    """The path of a file or folder, with help."""

    panel = "Arguments"

    def __init__(self, name: str, metavar: str, text: str, default: Path | None = None) -> None:
        more: dict[str, Any] = {} if default is None else {"default": default}
        super().__init__([name], metavar=metavar, type=FILE, **more)
        self.text = text if default is None else f"{text}  [default: {default}]"


def option(
    flags: str, text: str, default: Any = None, *, panel: str | None = None, **attributes: object
) -> Any:
    """Declare a field of an :class:`Options` dataclass, with its help.

    Flags are such as ``"--output -o"``, after a name that is not the flag's. A default that is a
    bool makes a switch. The panel is by default that of the class; attributes are click's.
    """
    attributes |= {"help": text, "default": default}
    if isinstance(default, bool):
        attributes["is_flag"] = True
    return field(
        default=default, metadata={"flags": flags, "panel": panel, "attributes": attributes}
    )


class Options:
    """Options that belong together, as one argument of a command; subclasses are dataclasses."""

    panel: ClassVar[str] = _OTHERS

    @classmethod
    def options(cls) -> list[Option]:
        """Return the options in the order of the help page."""
        declared = (field.metadata for field in fields(cls))  # type: ignore[arg-type]
        return [
            Option(found["flags"], found["panel"] or cls.panel, found["attributes"])
            for found in declared
            if found
        ]

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the object that has the values of the options."""
        return cls(**values)


class Command(click.Command):
    """A command whose options are listed by heading, those without one last."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the command to every error, which then refers to its help."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, Argument):
                record = (parameter.make_metavar(ctx), parameter.text)
            if record is not None:
                panels.setdefault(getattr(parameter, "panel", _OTHERS), []).append(record)
        for panel in sorted(panels, key=lambda panel: panel == _OTHERS):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


def command(
    *arguments: Argument,
    cls: type[Command] = Command,
    epilog: str | None = None,
    **groups: type[Options],
) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command, whose groups of options arrive as one object each."""
    options = {name: group.options() for name, group in groups.items()}
    parameters = [*arguments, *(option for listed in options.values() for option in listed)]

    def make(function: Callable[..., None]) -> Command:
        def run(**values: object) -> None:
            for name, group in groups.items():
                given = {str(option.name): values.pop(str(option.name)) for option in options[name]}
                values[name] = group.from_values(given)
            function(**values)

        name, text = function.__name__, function.__doc__
        return cls(name, callback=run, params=list(parameters), help=text, epilog=epilog)

    return make


def options_from(
    parameters: Iterable[Parameter], panel: str | None = None, *, prefix: str = ""
) -> list[Option]:
    """Return the options that a table of parameters describes.

    Names and flags begin with `prefix`. Without a panel, options are listed under their group.
    """
    return [_option_from(p, panel or p.group, prefix) for p in parameters if p.flag is not None]


def _option_from(parameter: Parameter, panel: str, prefix: str) -> Option:
    flag, name = flag_of(parameter, prefix), f"{prefix}{parameter.name}".replace("-", "_")
    attributes: dict[str, Any] = {"help": _help(parameter), "default": parameter.default}
    if parameter.kind is bool or False in parameter.choices:
        flag = f"{flag}/{flag.replace('--', '--no-', 1)}"
        if parameter.kind is not bool:  # there to be turned off
            attributes["default"] = True
            attributes["callback"] = lambda *given: given[2] and parameter.default
    else:
        attributes["type"] = Values(parameter)
        if parameter.kind is tuple:
            attributes |= {"multiple": True, "callback": lambda *given: _separated(given[2])}
    return Option(f"{name} {flag}", panel, attributes)


def _help(parameter: Parameter) -> str:
    text = COMMAND_LINE.word(parameter.summary).replace("`", "")
    if len(parameter.choices) <= _MAX_SHOWN or parameter.metavar:
        return text
    return f"{text.removesuffix('.')}: {', '.join(map(str, parameter.choices))}."


def _separated(given: Sequence[str]) -> tuple[str, ...] | None:
    """Return names that were given one by one, or with commas between them."""
    names = tuple(name.strip() for part in given for name in part.split(",") if name.strip())
    return names or None


class Values(click.ParamType):  # type: ignore[type-arg]
    """The values of a parameter: words, numbers, `none`, or any text."""

    name = "value"

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        self.words = [str(choice) for choice in parameter.choices]
        if parameter.optional and parameter.is_number:
            self.words.append(NONE)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return what the help writes for the value."""
        if self.parameter.metavar:
            return self.parameter.metavar
        if len(self.words) > _MAX_SHOWN:
            return self.parameter.name.upper()
        return "|".join(filter(None, (*self.words, _TYPE_NAMES.get(self.parameter.kind)))) or "FILE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Turn what was typed into a value, and check it."""
        if not isinstance(value, str):
            return value
        found = self._parsed(value)
        try:
            self.parameter.check(found)
        except ParameterError as error:
            flag = self.parameter.flag if param is None else param.opts[0]
            allowed = self.parameter.allowed_in(COMMAND_LINE)
            raise click.UsageError(f"{flag} {shlex.quote(value)} must be {allowed}", ctx) from error
        return found

    def _parsed(self, text: str) -> object:
        if text == NONE in self.words:
            return None
        if self.parameter.is_number:
            with suppress(ValueError):
                return self.parameter.kind(text)
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete words; the shell completes files."""
        del ctx, param
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]
