"""Options of tables of text, of INPUT and of EMBEDDING alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtsne.cli._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TEXT_HELP = {
    "header": "csv, tsv: whether the first line holds names; seen in the file by default.",
    "delimiter": "csv, tsv: what divides the cells, such as ';' or tab.",
    "decimal": "csv, tsv: the decimal point, such as ','.",
}


def check_text(delimiter: str | None, decimal: str | None, flags: Mapping[str, str]) -> None:
    """Refuse what divides no cells, and what no number has."""
    from dtsne.cli._flags import in_flags
    from dtsne.io._options import ReadOptions
    from dtsne.runtime._errors import ParameterError

    try:
        ReadOptions(delimiter=delimiter, decimal=decimal)
    except ParameterError as error:
        raise UsageError(in_flags(str(error), flags)) from error


def check_format(given: str | None, known: Sequence[str], flag: str) -> None:
    """Refuse a format that is not known."""
    if given is not None and given not in known:
        raise UsageError(f"{flag} {given} is not known; choose {', '.join(known)}.")
