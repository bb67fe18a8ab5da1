"""Arrays as text: what a browser can take back out of a page."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

# Integers take the first of these that holds them all; beyond, float64 is exact to 2**53.
_INTEGERS = ("u1", "u2", "i2", "i4")
# Compression has to pay for the decompression: coordinates, which are noise to gzip, do not.
_WORTH_IT = 0.85


def packed(array: np.ndarray[Any, Any], dtype: str) -> dict[str, Any]:
    """Pack an array as little-endian numbers of the given type, in base64."""
    values = np.ascontiguousarray(array, dtype=f"<{dtype}")
    return {"dtype": dtype, **_packed_bytes(values.tobytes())}


def packed_texts(texts: Sequence[str]) -> dict[str, Any]:
    """Pack many strings, as JSON."""
    return {"dtype": "json", **_packed_bytes(json.dumps(list(texts)).encode("ascii"))}


def integer_type(low: int, high: int) -> str:
    """Choose the smallest type that holds all integers from low to high."""
    for name in _INTEGERS:
        info = np.iinfo(name)
        if info.min <= low and high <= info.max:
            return name
    return "f8"


def float_type(values: np.ndarray[Any, Any]) -> str:
    """Choose float32, or float64 where float32 cannot tell the values apart (dates in seconds)."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "f4"
    if np.abs(finite).max() > np.finfo(np.float32).max:
        return "f8"
    error = np.abs(finite - finite.astype(np.float32)).max()
    return "f8" if error > 1e-5 * np.ptp(finite) else "f4"


def _packed_bytes(raw: bytes) -> dict[str, Any]:
    small = gzip.compress(raw, 6, mtime=0)
    zipped = len(small) < _WORTH_IT * len(raw)
    data = base64.b64encode(small if zipped else raw).decode("ascii")
    return {"gzip": zipped, "data": data}
