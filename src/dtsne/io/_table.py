"""What `read_table` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Text is kept as objects of str: one long text among many short ones would make numpy's own
    # type of text, whose cells are all equally wide, as large as the number of rows times it.
    TextArray: TypeAlias = NDArray[np.object_]
    Field: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)  # eq: two arrays have no single truth value
class Table:
    """The content of a data file, one point in each row.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n, d)
        The numbers, float32 or float64, all of them finite. Sparse where the file is.
    feature_names : tuple of str
        The names of the columns of X, each one once.
    ids : ndarray of str, shape (n,), or None
        The name of each row, where the file has or was said to have one.
    fields : dict of str to ndarray of shape (n,)
        What else the file says of each row: columns of text (as str objects, '' where empty), those
        left out of the numbers, the column of labels; of an AnnData the columns of `obs`.
    labels : ndarray of shape (n,) or None
        The field that was named as the labels.
    source : str
        What was read, in a sentence.
    categories : dict of str to tuple of str
        For fields of text that the file keeps as categories (AnnData, parquet and feather can): all
        of these, in their order.
    """

    X: Any
    feature_names: tuple[str, ...]
    ids: TextArray | None
    fields: dict[str, Field]
    labels: Field | None
    source: str
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
