"""Integers with gaps: floats in memory, where numpy has nothing else for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne.tables._table import Field

# Beyond, floats are whole because they have no digits left for more.
_LARGEST = 2**53


def has_gaps(column: Field) -> bool:
    """Whether a column is of integers, some of which are missing."""
    if column.dtype.kind != "f":
        return False
    known = column[~np.isnan(column)]
    if not 0 < len(known) < len(column):
        return False
    return bool((np.abs(known) < _LARGEST).all() and (known == np.trunc(known)).all())
