"""What can be said to a reader beyond the path."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from dtsne.io._errors import TableError
from dtsne.io._selection import Selection

if TYPE_CHECKING:
    from pathlib import Path


_EXAMPLES = {"delimiter": "';'", "decimal": "','"}


@dataclass(frozen=True)
class Options:
    """Options of the formats; see `read_table`."""

    selection: Selection = field(default_factory=Selection)
    # Columns, in lower case, that a table of text reads as they are written: 0012 is no number.
    text_names: frozenset[str] = frozenset()
    key: str | None = None
    layer: str | None = None
    use_rep: str | None = None
    transpose: bool | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        """Refuse what divides no cells, and what no number has."""
        for name, refused in (("delimiter", '"\r\n'), ("decimal", '"\r\n \t0123456789+-eE')):
            value = getattr(self, name)
            if value is not None and not (
                len(value) == 1 and value.isascii() and value not in refused
            ):
                raise TableError(
                    f"{name}={value!r} has to be one character of ASCII, such as {_EXAMPLES[name]}."
                )

    def check(self, allowed: frozenset[str], name: str, path: Path) -> None:
        """Refuse options that the format does not have."""
        for option in fields(self)[2:]:
            if getattr(self, option.name) is not None and option.name not in allowed:
                has = f"it has {', '.join(sorted(allowed))}" if allowed else "it has none"
                raise TableError(
                    f"{path}: the format {name} has no option {option.name!r} ({has}); leave it "
                    "out."
                )
