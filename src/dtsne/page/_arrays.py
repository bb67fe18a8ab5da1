"""Arrays as text, in a form that a browser can unpack."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtsne.runtime._typing import FloatArray

NumpyArray: TypeAlias = npt.NDArray[np.generic]
# Integers take the first of these that holds them all; beyond, float64 is exact to 2**53.
_INTEGERS = ("u1", "u2", "i2", "i4")
# Decompression must pay off: coordinates, which are noise to gzip, stay uncompressed.
_MAX_RATIO = 0.85


class Packed(TypedDict):
    """Values in base64, perhaps compressed; the type is one of numpy or "json"."""

    dtype: str
    gzip: bool
    data: str


def packed(array: NumpyArray, dtype: str) -> Packed:
    """Pack an array as little-endian numbers of a type."""
    return _packed(np.ascontiguousarray(array, dtype=f"<{dtype}").tobytes(), dtype)


def packed_texts(texts: Sequence[str]) -> Packed:
    """Pack strings, as JSON."""
    return _packed(json.dumps(list(texts)).encode("ascii"), "json")


def integer_type(low: int, high: int) -> str:
    """Return the smallest type that holds all integers from low to high."""
    for name in _INTEGERS:
        info = np.iinfo(name)
        if info.min <= low and high <= info.max:
            return name
    return "f8"


def float_type(values: FloatArray) -> str:
    """Return float32, or float64 where float32 cannot tell the values apart (dates in seconds)."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "f4"
    if np.abs(finite).max() > np.finfo(np.float32).max:
        return "f8"
    error = np.abs(finite - finite.astype(np.float32)).max()
    return "f8" if error > 1e-5 * np.ptp(finite) else "f4"


def _packed(raw: bytes, dtype: str) -> Packed:
    small = gzip.compress(raw, 6, mtime=0)
    zipped = len(small) < _MAX_RATIO * len(raw)
    data = base64.b64encode(small if zipped else raw).decode("ascii")
    return {"dtype": dtype, "gzip": zipped, "data": data}
