"""Data sets as `load` returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne.runtime._typing import FloatArray, IntArray


class LabelledPoints(NamedTuple):
    """Points, their labels, and the names of the labels."""

    X: FloatArray
    labels: IntArray
    label_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)  # eq: two arrays have no single truth value
class Dataset:
    """A data set, unpackable as ``X, labels, description = load(...)``.

    Attributes
    ----------
    name : str
        The name by which it was loaded.
    X : ndarray of shape (n, d)
        The points, one in each row: float64 for synthetic sets and ``"digits"``, float32 for
        the other real ones, whatever their type on disk.
    labels : ndarray of shape (n,) or None
        The cluster of each point, an index into `label_names`; None for a set without labels.
    label_names : tuple of str
        The names of the clusters.
    description : str
        Content, n × d, origin, preprocessing, and licence where known.

    See Also
    --------
    load : Loads one by name.
    """

    name: str
    X: FloatArray
    labels: IntArray | None
    label_names: tuple[str, ...]
    description: str

    def __iter__(self) -> Iterator[Any]:
        """Yield the points, the labels and the description."""
        yield self.X
        yield self.labels
        yield self.description
