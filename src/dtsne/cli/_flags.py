"""Messages of the library in the words of the command line: `max_iter` is `--max-iter` here."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from dtsne.cli._parameters import fit_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    "header": "--header",
}
# No words of English, though without an underscore.
_UNMISTAKABLE = ("tol",)
# Not where it is part of a path, the name of a column, or an option already.
_BEGIN, _END = r"(?<![\w/.'\"-])", r"(?![\w/-]|\.\w)"
_QUOTED = r"(?<!\w)(?:'[^']*'|\"[^\"]*\")"


def in_flags(
    message: str, flags: Mapping[str, str] = INPUT_FLAGS, *, kept: Iterable[object] = ()
) -> str:
    """Write the parameters that a message speaks of as options.

    What stands in quotes is the user's and stays as it is, and so do the texts of `kept`, such as
    the names of files.
    """
    names = {**_flags_of_fit(), **flags}
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    texts = (str(text) for text in kept if text is not None)
    own = sorted((re.escape(text) for text in texts if text), key=len, reverse=True)
    untouched = "|".join([*(rf"(?<!\w){text}(?!\w)" for text in own), _QUOTED])
    # In one pass, so that nothing that is passed over is looked at again.
    pattern = re.compile(
        rf"(?P<untouched>{untouched})"
        rf"|{_BEGIN}(?P<name>{known})=(?P<value>'[^']*'|\"[^\"]*\"|[\w.+-]*\w)"
        rf"|{_BEGIN}(?P<listed>{known})(?=(?:, [\w ]+)* differ\b)"
        rf"|\((?P<bracketed>{known})\)"
        rf"|{_BEGIN}(?P<bare>{known}|None){_END}"
    )

    def replaced(match: re.Match[str]) -> str:
        if match["untouched"]:
            return match[0]
        if match["name"]:
            return f"{names[match['name']]} {_bare(match['value'])}"
        if match["bracketed"]:
            return f"({names[match['bracketed']]})"
        if match["listed"]:
            return names[match["listed"]]
        name = match["bare"]
        if name == "None":
            return "none"
        return names[name] if "_" in name or name in _UNMISTAKABLE else name

    return pattern.sub(replaced, message)


@cache
def _flags_of_fit() -> dict[str, str]:
    return {parameter.name: parameter.flag for parameter in fit_parameters()}


def _bare(value: str) -> str:
    """Write a value as it is typed: without quotes, if the shell can do without."""
    inside = value.strip("'\"")
    if inside == "None":
        return "none"
    return inside if re.fullmatch(r"[\w.+-]+", inside) else value
