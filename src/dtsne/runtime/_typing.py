"""Names for the kinds of array that travel through the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# One code for numpy and PyTorch: what comes in as one comes out as the same.
Array = TypeVar("Array", FloatArray, "Tensor")
AnyArray: TypeAlias = "FloatArray | Tensor"
HostArray: TypeAlias = npt.NDArray[Any]  # of any numbers
