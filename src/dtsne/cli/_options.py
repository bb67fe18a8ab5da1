"""Options that belong together, as one argument of a command.

A command that takes an `Options` is seen by Typer as if it took each of its fields: commands share
options without repeating them, and are handed an object that knows what to do with these.
"""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, Self, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Options:
    """Some options of a command. Subclasses are dataclasses, with fields annotated for Typer."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return the options as parameters that a function could have."""
        hints = get_type_hints(cls, include_extras=True)
        return [
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(cls)  # type: ignore[arg-type]
        ]

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Make an object of the values that the options have."""
        return cls(**values)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Show Typer the fields of every `Options` that a command takes, instead of it."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, list[Parameter]] = {}
    flat: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and issubclass(kind, Options):
            groups[parameter.name] = kind.parameters()
            flat += groups[parameter.name]
        else:
            flat.append(parameter.replace(annotation=kind))

    @wraps(command)
    def run(**values: Any) -> None:
        for name, parameters in groups.items():
            values[name] = hints[name].of(**{p.name: values.pop(p.name) for p in parameters})
        command(**values)

    run.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what completes a value in the shell, for values among some words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def separated(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names that were given one by one, or with commas between them."""
    if not given:
        return None
    return tuple(name.strip() for part in given for name in part.split(",") if name.strip())
