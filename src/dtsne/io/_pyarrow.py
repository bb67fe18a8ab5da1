"""pyarrow, which reads csv, parquet and feather."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from types import ModuleType


def arrow(module: str = "pyarrow") -> ModuleType:
    """Import pyarrow or a module of it.

    One package for all three: strict where pandas fills in (a row that is too short is an error, an
    empty cell is not NaN before we count it), typed column by column, and without pandas' objects.
    pandas would need it for parquet and feather in any case.
    """
    return optional(module, extra="tables", purpose="reading or writing tables")
