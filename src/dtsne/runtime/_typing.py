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
Array = TypeVar("Array", FloatArray, "Tensor")
AnyArray: TypeAlias = "FloatArray | Tensor"
HostArray: TypeAlias = npt.NDArray[Any]  # of any numbers


class SparseMatrix(Protocol):
    """A sparse matrix or array of scipy, whose own classes have no types."""

    data: FloatArray
    indices: IntArray
    indptr: IntArray

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def __getitem__(self, key: object) -> SparseMatrix: ...

    def astype(self, dtype: npt.DTypeLike) -> SparseMatrix: ...

    def toarray(self) -> FloatArray: ...

    def tocsr(self) -> SparseMatrix: ...


MatrixLike: TypeAlias = npt.ArrayLike | SparseMatrix
Device: TypeAlias = Union[Literal["cpu", "cuda", "auto"], str, "torch.device"]
