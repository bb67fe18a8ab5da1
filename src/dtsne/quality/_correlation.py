"""Pearson's correlation, nan where it is not defined."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray

# Values that vary by less than this share of their size vary by rounding alone.
_ROUNDING = 1e-13


def pearson(a: FloatArray, b: FloatArray) -> float:
    """Correlate two arrays of the same shape."""
    a, b = a.ravel(), b.ravel()
    mean_a, mean_b = float(a.mean()), float(b.mean())
    a, b = a - mean_a, b - mean_b
    sums = np.array([a.sum(), b.sum(), a @ a, b @ b, a @ b])
    return pearson_of_sums(sums, len(a), mean_a, mean_b)


def pearson_of_sums(sums: FloatArray, count: int, shift_a: float, shift_b: float) -> float:
    """Correlate a and b from the sums of α, β, α², β², αβ, where α = a − shift_a, β = b − shift_b.

    The shifts keep the digits of the variances; they have to be near the means.
    """
    mean_a, mean_b, square_a, square_b, product = (float(value) / count for value in sums)
    variance_a = square_a - mean_a**2
    variance_b = square_b - mean_b**2
    if variance_a <= (_ROUNDING * (shift_a + mean_a)) ** 2:
        return float("nan")
    if variance_b <= (_ROUNDING * (shift_b + mean_b)) ** 2:
        return float("nan")
    correlation = (product - mean_a * mean_b) / (math.sqrt(variance_a) * math.sqrt(variance_b))
    return min(1.0, max(-1.0, correlation))


def is_constant(values: FloatArray) -> bool:
    """Say whether values differ by rounding alone."""
    return bool(np.ptp(values) <= _ROUNDING * np.abs(values).max())
