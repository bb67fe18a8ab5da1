"""The numbers of the cells that are to be mapped, by scanpy's conventions, checked."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.runtime._errors import DataError, DataTypeError, ParameterError, UserError, setting
from dtsne.runtime._memory import check_memory
from dtsne.runtime._names import listed, nearest_names
from dtsne.runtime._parameters import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData
    from pandas import DataFrame
    from scipy.sparse import csr_array

    from dtsne.runtime._typing import BoolArray, FloatArray

_LOGGER = logging.getLogger(__name__)

# To which scanpy reduces by default; DTSNE does, too.
N_PCS = 50
_PCA = "X_pca"
_N_PCS = Parameter("n_pcs", "int or None", None, "", kind=int, minimum=0, optional=True)


class MissingEntryError(UserError, KeyError):
    """An entry is not in AnnData.

    Attributes
    ----------
    place, key : str
        Where it was looked for, and under which name.
    """

    def __init__(self, place: str, key: str, available: Iterable[object], fix: str = "") -> None:
        found = nearest_names(key, available)
        super().__init__(f"{place} has no {key!r} ({found})", fix or "pass another name")
        self.place, self.key = place, key


@dataclass(frozen=True, eq=False)
class Representation:
    """The cells in a space.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
    place : str
        Where in adata it comes from, for messages.
    n_pcs : int or None
        Number of principal components that are yet to be taken of it; None for none.
    params : dict
        What was chosen, as ``uns`` has it.
    """

    X: FloatArray | csr_array
    place: str
    n_pcs: int | None
    params: dict[str, str | int | None]


def represent(
    adata: AnnData, use_rep: str | None, layer: str | None, n_pcs: int | None
) -> Representation:
    """Choose the numbers to map: an entry of obsm, a layer or X; nothing is computed yet."""
    if use_rep is not None and layer is not None:
        reason = f"{setting('use_rep')} and {setting('layer')} exclude each other"
        raise ParameterError("layer", layer, reason=reason, fix="pass one of them")
    _N_PCS.check(n_pcs)
    if layer is not None:
        if layer not in adata.layers:
            raise MissingEntryError("adata.layers", layer, adata.layers.keys())
        return _genes(adata, adata.layers[layer], f"adata.layers[{layer!r}]", n_pcs, layer=layer)
    if use_rep is None and n_pcs == 0:  # scanpy's way to ask for X
        use_rep = "X"
    if use_rep is None and _PCA not in adata.obsm:
        n_pcs = N_PCS if n_pcs is None else n_pcs
        _LOGGER.info(
            "adata.obsm has no 'X_pca'; using adata.X, reduced to %d principal components where "
            "it has more columns",
            n_pcs,
        )
        return _genes(adata, adata.X, "adata.X", n_pcs, use_rep="X")
    use_rep = _PCA if use_rep is None else use_rep
    if use_rep in adata.obsm:
        return _in_obsm(adata, use_rep, n_pcs)
    if use_rep != "X":
        how = "sc.pp.pca(adata)" if use_rep == _PCA else "use_rep='X' takes the genes themselves"
        fix = f"compute it first ({how})"
        raise MissingEntryError("adata.obsm", use_rep, adata.obsm.keys(), fix)
    return _genes(adata, adata.X, "adata.X", n_pcs, use_rep="X")


def _in_obsm(adata: AnnData, key: str, n_pcs: int | None) -> Representation:
    place = f"adata.obsm[{key!r}]"
    X = _numbers(adata, adata.obsm[key], place)
    n_columns = X.shape[1]
    if n_pcs == 0 or (n_pcs is not None and n_pcs > n_columns):
        allowed = f"an integer from 1 to {n_columns}, the number of columns of {place}, or None"
        raise ParameterError("n_pcs", n_pcs, allowed)
    used = n_columns if n_pcs is None else int(n_pcs)
    params = {"use_rep": key, "n_pcs": used}
    return Representation(_finite(adata, X[:, :used], place), place, None, params)


def _genes(
    adata: AnnData, values: Any, place: str, n_pcs: int | None, **params: str
) -> Representation:
    X = _finite(adata, _numbers(adata, values, place), place)
    reduced = int(n_pcs) if n_pcs and n_pcs < X.shape[1] else None
    return Representation(X, place, reduced, {**params, "n_pcs": reduced})


def _numbers(adata: AnnData, values: Any, place: str) -> FloatArray | csr_array:
    """Return a table of numbers in memory, dense or sparse by rows."""
    from scipy.sparse import csr_array, issparse

    if values is None:
        others = f"adata.obsm has {listed(list(adata.obsm.keys())) or 'no entries'}"
        raise DataError(f"{place} is empty", f"pass {setting('use_rep')}; {others}", argument=place)
    values = _loaded(values, place)
    if issparse(values):
        X = csr_array(values)
    elif hasattr(values, "iloc"):
        X = _from_frame(values, place)
    else:
        X = np.asarray(values)
    if X.ndim != 2:
        reason = f"{place} has {X.ndim} dimensions"
        raise DataError(reason, "pass a table of cells by columns", argument=place)
    if X.dtype.kind not in "biuf":
        raise DataTypeError(f"{place} holds {X.dtype}", "convert it to numbers", argument=place)
    return X


def _loaded(values: Any, place: str) -> Any:
    """Read an array that is in a file."""
    if hasattr(values, "to_memory"):  # anndata's own, of sparse matrices
        return values.to_memory()
    if hasattr(values, "id") and hasattr(values, "nbytes"):  # h5py's
        check_memory(2 * values.nbytes, place, "map a representation with fewer columns (use_rep)")
        return values[()]
    return values


def _from_frame(frame: DataFrame, place: str) -> FloatArray:
    try:
        numbers: FloatArray = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        kinds = {str(name): getattr(dtype, "kind", "O") for name, dtype in frame.dtypes.items()}
        other = [name for name, kind in kinds.items() if kind not in "biuf"]
        reason = f"{place} has columns that are not numeric ({listed(other, 3)})"
        raise DataTypeError(reason, "drop these columns", argument=place) from error
    return numbers


def _finite(adata: AnnData, X: FloatArray | csr_array, place: str) -> FloatArray | csr_array:
    if isinstance(X, np.ndarray):
        bad: BoolArray = np.asarray(~np.isfinite(X).all(axis=1))
    else:
        bad = np.zeros(X.shape[0], bool)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        bad[rows[~np.isfinite(X.data)]] = True
    if bad.any():
        first = adata.obs_names[int(bad.argmax())]
        raise DataError(
            f"{place} has NaN or infinite values in {int(bad.sum())} of {len(bad)} cells (the "
            f"first is {first!r})",
            "drop these cells, or compute it again",
            argument=place,
        )
    return X
