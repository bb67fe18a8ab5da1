"""Names for the kinds of array that travel through the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch
    from torch import Tensor

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# One code for numpy and PyTorch: what comes in as one comes out as the same.
Array = TypeVar("Array", FloatArray, "Tensor", "FloatArray | Tensor")
AnyArray: TypeAlias = "FloatArray | Tensor"
AnyIntArray: TypeAlias = "IntArray | Tensor"
HostArray: TypeAlias = npt.NDArray[Any]  # of any numbers


class SparseMatrix(Protocol):
    """A `scipy.sparse.csr_matrix`, as far as it is used; scipy has no types."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    data: FloatArray
    indices: IntArray
    indptr: IntArray

    def __getitem__(self, key: tuple[slice, list[int]]) -> SparseMatrix: ...

    def astype(self, dtype: np.dtype[np.generic]) -> SparseMatrix:
        """Return it with numbers of another type."""

    def toarray(self) -> FloatArray:
        """Return it as a dense array."""


MatrixLike: TypeAlias = "npt.ArrayLike | SparseMatrix"  # a table of numbers, as users pass it

Device: TypeAlias = Union[Literal["cpu", "cuda", "auto"], str, "torch.device"]
