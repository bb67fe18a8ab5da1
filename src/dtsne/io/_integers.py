"""Integers with gaps: floats in memory, where numpy has nothing else for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.labels._format import MAX_WHOLE

if TYPE_CHECKING:
    from dtsne.io._table import Field


def has_gaps(column: Field) -> bool:
    """Whether a column is of integers, some of which are missing."""
    if column.dtype.kind != "f":
        return False
    known = column[~np.isnan(column)]
    if not 0 < len(known) < len(column):
        return False
    return bool((np.abs(known) < MAX_WHOLE).all() and (known == np.trunc(known)).all())
