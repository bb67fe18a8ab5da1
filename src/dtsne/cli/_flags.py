"""Messages of the library in the words of the command line: `max_iter` is `--max-iter` here."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from dtsne.cli._parameters import fit_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of `read_table`, where the name differs or is an ordinary word that only stands for the option
# where it is in brackets: "leave such columns out (exclude)".
INPUT_FLAGS = {
    "id_column": "--id",
    "label_column": "--label",
    "use_rep": "--use-rep",
    "columns": "--columns",
    "exclude": "--exclude",
    "format": "--format",
    "key": "--key",
    "transpose": "--transpose",
    "decimal": "--decimal",
    "delimiter": "--delimiter",
}
# Of `read_embedding`, where a command reads data too.
MAP_FLAGS = {
    "id_column": "--map-id",
    "columns": "--map-columns",
    "format": "--map-format",
    "key": "--map-key",
}
# No words of English, though without an underscore.
_UNMISTAKABLE = ("tol",)


def in_flags(message: str, flags: Mapping[str, str] = INPUT_FLAGS) -> str:
    """Write the parameters that a message speaks of as options."""
    names = {**_flags_of_fit(), **flags}
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    # Not where it is part of a path, the name of a column, or an option already.
    begin, end = r"(?<![\w/.'\"-])", r"(?![\w/-]|\.\w)"
    value = r"'[^']*'|\"[^\"]*\"|[\w.+-]*\w"
    message = re.sub(
        rf"{begin}({known})=({value})", lambda m: f"{names[m[1]]} {_bare(m[2])}", message
    )
    message = re.sub(rf"\(({known})\)", lambda m: f"({names[m[1]]})", message)

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        return names[name] if "_" in name or name in _UNMISTAKABLE else name

    return re.sub(rf"{begin}({known}){end}", replaced, message)


@cache
def _flags_of_fit() -> dict[str, str]:
    return {parameter.name: parameter.flag for parameter in fit_parameters()}


def _bare(value: str) -> str:
    """Write a value as it is typed: without quotes, if the shell can do without."""
    inside = value.strip("'\"")
    if inside == "None":
        return "none"
    return inside if re.fullmatch(r"[\w.+-]+", inside) else value
