"""What can be said to a reader beyond the path."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from dtsne.tables._errors import TableError
from dtsne.tables._selection import Selection

if TYPE_CHECKING:
    from pathlib import Path


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

    def check(self, allowed: frozenset[str], name: str, path: Path) -> None:
        """Refuse options that the format does not have."""
        for option in fields(self)[2:]:
            if getattr(self, option.name) is not None and option.name not in allowed:
                has = f"it has {', '.join(sorted(allowed))}" if allowed else "it has none"
                raise TableError(
                    f"{path}: the format {name} has no option {option.name!r} ({has}); leave it "
                    "out."
                )
