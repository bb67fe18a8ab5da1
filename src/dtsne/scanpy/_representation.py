"""The numbers of the cells that are to be mapped, by scanpy's conventions, checked."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.runtime._memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Collection

_LOGGER = logging.getLogger(__name__)

# To which scanpy reduces where nothing else is said; DTSNE does, too.
N_PCS = 50
_PCA = "X_pca"


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

    X: Any
    place: str
    n_pcs: int | None
    params: dict[str, Any]


def represent(
    adata: Any, use_rep: str | None, layer: str | None, n_pcs: int | None
) -> Representation:
    """Choose the numbers to map: an entry of obsm, a layer or X; nothing is computed yet."""
    if use_rep is not None and layer is not None:
        raise ValueError("use_rep and layer exclude each other; give one of them.")
    _check_n_pcs(n_pcs)
    if layer is not None:
        if layer not in adata.layers:
            raise missing("adata.layers", layer, adata.layers.keys())
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
        raise missing("adata.obsm", use_rep, adata.obsm.keys(), f"compute it first ({how})")
    return _genes(adata, adata.X, "adata.X", n_pcs, use_rep="X")


def missing(place: str, key: str, there: Collection[str], fix: str = "") -> KeyError:
    """Return the error for a key that is not there, with what is, or is nearest to it."""
    names = [str(name) for name in there]
    near = get_close_matches(key, names, n=1)
    if near:
        known = f"did you mean {near[0]!r}?"
    else:
        known = f"it has {', '.join(map(repr, names))}." if names else "it is empty."
    remedy = f" {fix[0].upper()}{fix[1:]}." if fix else ""
    return KeyError(f"{place} has no {key!r}; {known}{remedy}")


def _check_n_pcs(n_pcs: int | None) -> None:
    if n_pcs is None:
        return
    if not isinstance(n_pcs, int | np.integer) or isinstance(n_pcs, bool):
        raise TypeError(f"n_pcs={n_pcs!r} has to be an integer or None.")
    if n_pcs < 0:
        raise ValueError(f"n_pcs={n_pcs} has to be at least 1, or 0 for adata.X as it is.")


def _in_obsm(adata: Any, key: str, n_pcs: int | None) -> Representation:
    place = f"adata.obsm[{key!r}]"
    X = _numbers(adata, adata.obsm[key], place)
    n_columns = X.shape[1]
    if n_pcs == 0:
        raise ValueError(f"n_pcs=0 leaves no column of {place}; leave n_pcs out to take all.")
    if n_pcs is not None and n_pcs > n_columns:
        raise ValueError(
            f"n_pcs={n_pcs} is more than the {n_columns} columns of {place}; lower it, or compute "
            "more of them."
        )
    used = n_columns if n_pcs is None else int(n_pcs)
    chosen = {"use_rep": key, "n_pcs": used}
    return Representation(_finite(adata, X[:, :used], place), place, None, chosen)


def _genes(adata: Any, values: Any, place: str, n_pcs: int | None, **chosen: str) -> Representation:
    X = _finite(adata, _numbers(adata, values, place), place)
    reduced = int(n_pcs) if n_pcs and n_pcs < X.shape[1] else None
    return Representation(X, place, reduced, {**chosen, "n_pcs": reduced})


def _numbers(adata: Any, values: Any, place: str) -> Any:
    """Return a table of numbers in memory, dense or sparse by rows."""
    from scipy.sparse import csr_array, issparse

    if values is None:
        raise ValueError(
            f"{place} is empty; name what to map (use_rep: "
            f"{', '.join(map(repr, adata.obsm.keys())) or 'adata.obsm is empty, too'})."
        )
    values = _loaded(values, place)
    if issparse(values):
        X = csr_array(values)
    elif hasattr(values, "iloc"):
        X = _from_frame(values, place)
    else:
        X = np.asarray(values)
    if X.ndim != 2:
        raise ValueError(f"{place} has {X.ndim} dimensions; a table has two.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{place} holds {X.dtype}; give real numbers.")
    return X


def _loaded(values: Any, place: str) -> Any:
    """Read what is in a file."""
    if hasattr(values, "to_memory"):  # anndata's own, of sparse matrices
        return values.to_memory()
    if hasattr(values, "id") and hasattr(values, "nbytes"):  # h5py's
        check_memory(2 * values.nbytes, place, "map a representation with fewer columns (use_rep)")
        return values[()]
    return values


def _from_frame(frame: Any, place: str) -> Any:
    try:
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        kinds = {str(name): getattr(dtype, "kind", "O") for name, dtype in frame.dtypes.items()}
        other = [name for name, kind in kinds.items() if kind not in "biuf"]
        raise ValueError(
            f"{place} has columns that are no numbers ({', '.join(map(repr, other[:3]))}); drop "
            "them."
        ) from error


def _finite(adata: Any, X: Any, place: str) -> Any:
    from scipy.sparse import issparse

    if issparse(X):
        bad = np.zeros(X.shape[0], bool)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        bad[rows[~np.isfinite(X.data)]] = True
    else:
        bad = ~np.isfinite(X).all(axis=1)
    if bad.any():
        first = adata.obs_names[int(bad.argmax())]
        raise ValueError(
            f"{place} has NaN or infinite values in {int(bad.sum())} of {len(bad)} cells (the "
            f"first is {first!r}); leave these cells out, or compute it again."
        )
    return X
