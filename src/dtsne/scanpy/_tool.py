"""The tool: from AnnData to a map in it."""

from __future__ import annotations

import inspect
import logging
import warnings
from typing import TYPE_CHECKING, Literal, TypedDict

from dtsne.labels._groups import group_by
from dtsne.report._anndata import Keys, entries_of, is_record
from dtsne.runtime._errors import (
    DataError,
    DataTypeError,
    ParameterError,
    ParameterTypeError,
    setting,
)
from dtsne.runtime._names import nearest_names
from dtsne.runtime._parameters import Parameter
from dtsne.scanpy._graph import graph_in, representation_of, usable_neighbors
from dtsne.scanpy._representation import MissingEntryError, represent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from typing import Unpack

    from anndata import AnnData
    from numpy.typing import ArrayLike

    from dtsne._config import Callback, RandomState
    from dtsne._estimator import DTSNE
    from dtsne.labels._groups import Groups
    from dtsne.report._anndata import Entries
    from dtsne.runtime._typing import Device
    from dtsne.scanpy._representation import Representation

_LOGGER = logging.getLogger(__name__)

_NEEDED = ("X", "is_view", "isbacked", "layers", "obs", "obs_names", "obsm", "obsp", "uns")
_MIN_CELLS = 4
_K = Parameter("k", "int or None", None, "", kind=int, minimum=1, optional=True)


class Parameters(TypedDict, total=False):
    """Parameters of :class:`dtsne.DTSNE` that the tool passes on."""

    n_components: int
    perplexity: float
    density_scale: float
    calibration: Literal["auto", False]
    metric: str
    init: Literal["pca", "random", "spectral"] | ArrayLike
    optimizer: Literal["scaled", "paper"]
    method: Literal["auto", "exact", "fft"]
    fft_tolerance: float
    learning_rate: float | Literal["auto"]
    early_exaggeration: float | Literal["auto"]
    max_iter: int
    tol: float | Literal["auto"]
    device: Device
    verbose: int
    callback: Callback | None
    checkpoint: str | PathLike[str] | None


def dtsne(
    adata: AnnData,
    *,
    n_pcs: int | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    neighbors_key: str | None = None,
    groupby: str | None = None,
    k: int | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    key_added: str = "dtsne",
    copy: bool = False,
    **parameters: Unpack[Parameters],
) -> AnnData | None:
    """Map cells so that cluster sizes reflect spread in the data, with reliability measures.

    Parameters
    ----------
    adata : AnnData
        In memory, backed, or a view (which becomes a copy of its own when it is written to).
    n_pcs : int or None, default=None
        Number of columns of ``obsm[use_rep]`` to use; all by default. Of X or a layer, the number
        of principal components to take: by default 50 where X stands in for a missing "X_pca", and
        none where X was asked for. 0 is ``use_rep="X"``, as in scanpy.
    use_rep : str or None, default=None
        Entry of ``obsm``, or "X". By default "X_pca", or X where that is missing.
    layer : str or None, default=None
        Entry of ``layers`` to use in place of X.
    neighbors_key : str or None, default=None
        Entry of ``uns`` in which ``sc.pp.neighbors`` left a graph. Its distances are used in place
        of a search if each cell has 3 · perplexity neighbours (``n_neighbors`` of scanpy counts the
        cell itself), with 99 % of the nearest among them; otherwise that is logged and neighbours
        are searched for. `use_rep`, `n_pcs` and `metric` are those of the graph unless given. It is
        an error if its distances are not those between the cells there. By default
        ``uns["neighbors"]`` is used if all that holds for the representation chosen above.
    groupby : str or None, default=None
        Column of ``obs`` with groups whose spreads are compared, in the order of its categories.
        Cells with a missing group label are ignored in group statistics.
    k : int or None, default=None
        The local radius of a cell is the distance to its k-th neighbour; by default the
        perplexity, as that is how far the method looks.
    random_state : int, RandomState instance or None, default=0
        Seeds a random initialisation (``init="random"``); nothing else is random.
    n_jobs : int or None, default=None
        Number of threads, None for all. It never changes the result.
    key_added : str, default="dtsne"
        Base of the names below, without "X_". A map that is there under this name is replaced;
        an entry of anything else is never overwritten.
    copy : bool, default=False
        Return a copy with the map in place of writing to `adata`; of a backed one, in memory.
    **parameters
        Those of :class:`dtsne.DTSNE`: ``perplexity``, ``metric``, ``density_scale``, ``verbose`` …

    Returns
    -------
    AnnData or None
        None, unless `copy`. The entries that are added, all at the end:

        ``obsm["X_dtsne"]``
            The map. One unit is the median σ, ``uns["dtsne"]["kernel_unit"]`` in the data; a map of
            t-SNE (``density_scale=0``) has no such unit.
        ``obs["dtsne_log_radius"]``
            Logarithm of the local radius in the data, in units of the map: large where cells are
            unlike each other.
        ``obs["dtsne_log_radius_map"]``
            The same in the map.
        ``obs["dtsne_density_residual"]``
            Log radius in the map minus log radius in the data, centred at 0: 0.69 for a cell with
            twice the space it should have. NaN where a radius does not reflect density.
        ``obs["dtsne_unreliable"]``
            Whether the local radius in the map should not be read as density.
        ``uns["dtsne"]``
            ``params``; results of the fit (``perplexity``, ``kl_divergence``, ``n_iter`` …);
            ``quality``; the same in words, ``reliability``; and with `groupby` ``groups`` and
            ``ratios``. A file can hold all of it.

    Raises
    ------
    KeyError
        If a key is not in `adata`; the message lists those that are.
    ValueError, TypeError
        For data that cannot be mapped and parameters that do not exist, before any long work.

    See Also
    --------
    dtsne.report.Report : What the columns and figures mean.

    Examples
    --------
    >>> import scanpy as sc  # doctest: +SKIP
    >>> from dtsne.scanpy import dtsne  # doctest: +SKIP
    >>> adata = sc.datasets.pbmc68k_reduced()  # doctest: +SKIP
    >>> dtsne(adata, perplexity=30, groupby="bulk_labels")  # doctest: +SKIP
    >>> sc.pl.embedding(adata, "dtsne", color="dtsne_log_radius")  # doctest: +SKIP
    """
    from dtsne.runtime._logging import shown_messages

    _check_anndata(adata, copy=copy)
    keys = _checked_keys(key_added)
    _K.check(k)
    labels = None if groupby is None else _labels(adata, groupby)
    graph = graph_in(adata, neighbors_key)
    if graph is not None and graph.named:
        parameters = {"metric": graph.metric, **parameters}
        if use_rep is None and layer is None:
            use_rep, n_pcs_of_graph = representation_of(adata, graph)
            n_pcs = n_pcs_of_graph if n_pcs is None else n_pcs
    model = _model(parameters, random_state, n_jobs)
    with shown_messages(model.verbose):
        data = represent(adata, use_rep, layer, n_pcs)
        _check_free(adata, keys, data)
        neighbors = None if graph is None else usable_neighbors(graph, data, model.config)
    model.set_params(n_pcs=data.n_pcs, neighbors=neighbors).fit(data.X)
    report = model.report(labels=labels, k=k)
    used = graph.place.removeprefix("adata.") if graph and neighbors is not None else "searched"
    source = {**data.params, "neighbors": used, "groupby": groupby}
    entries = entries_of(model._embedding, report, model.get_params(), source=source, keys=keys)
    target = adata if not copy else adata.to_memory(copy=True) if adata.isbacked else adata.copy()
    _write(target, entries)
    return target if copy else None


def _model(parameters: Parameters, random_state: RandomState, n_jobs: int | None) -> DTSNE:
    """Make the model; parameters that cannot be used are rejected before anything is read."""
    from dtsne._estimator import DTSNE

    _check_names(parameters)
    model = DTSNE(**parameters, random_state=random_state, n_jobs=n_jobs)
    if model.config.metric == "precomputed":
        reason = f"{setting('metric', 'precomputed')} is not supported here"
        fix = f"pass {setting('neighbors_key')}, or use dtsne.DTSNE directly"
        raise ParameterError("metric", "precomputed", reason=reason, fix=fix)
    return model


def _check_names(parameters: Mapping[str, object]) -> None:
    own = set(inspect.signature(dtsne).parameters) - {"adata", "parameters"}
    known = sorted(own | set(Parameters.__annotations__))
    for name, value in parameters.items():
        if name == "neighbors":
            reason = "the graph is taken from adata.obsp"
            fix = f"pass {setting('neighbors_key')}, or use dtsne.DTSNE directly"
            raise ParameterTypeError(name, value, reason=reason, fix=fix)
        if name not in known:
            reason = f"there is no parameter {name!r}"
            raise ParameterTypeError(name, value, reason=reason, fix=nearest_names(name, known))


def _check_anndata(adata: AnnData, *, copy: bool) -> None:
    # Asked of the class, as X itself may be read from a file.
    if not all(hasattr(type(adata), name) for name in _NEEDED):
        raise DataTypeError(
            f"adata is a {type(adata).__name__}, and must be AnnData",
            "pass one modality of MuData (mdata['rna']), and arrays and data frames to dtsne.DTSNE",
            argument="adata",
        )
    if adata.is_view and adata.isbacked and not copy:
        raise DataError(
            "adata is a view of a file, which cannot be written to",
            f"load it into memory first, or use {setting('copy', value=True)}",
            in_python="adata = adata.to_memory()",
            argument="adata",
        )
    if len(adata.obs_names) < _MIN_CELLS:
        reason = f"adata has {len(adata.obs_names)} cells"
        raise DataError(reason, f"pass at least {_MIN_CELLS}", argument="adata")


def _checked_keys(key_added: str) -> Keys:
    if not isinstance(key_added, str):
        raise ParameterTypeError("key_added", key_added, "a string")
    key = key_added.removeprefix("X_")
    if not key or "/" in key:
        raise ParameterError("key_added", key_added, "a name without a slash")
    return Keys(key)


def _labels(adata: AnnData, groupby: str) -> Groups:
    """Return a column as groups, in the order of its categories."""
    if groupby not in adata.obs.columns:
        raise MissingEntryError("adata.obs", groupby, adata.obs.columns)
    column = adata.obs[groupby]
    known = column.dropna()
    # Integers become decimal numbers where some are missing.
    if getattr(column.dtype, "kind", "O") == "f" and (known % 1 != 0).any():
        raise _not_groups(groupby, "it holds decimal numbers")
    try:
        return group_by(column, len(column))
    except DataError as error:
        raise _not_groups(groupby, error.message.reason) from error


def _not_groups(groupby: str, reason: str) -> DataError:
    return DataError(
        f"column {groupby!r} of adata.obs does not hold groups ({reason})",
        f"pass a column of categories, text or integers as {setting('groupby')}",
        argument="groupby",
    )


def _check_free(adata: AnnData, keys: Keys, data: Representation) -> None:
    """Raise an error if the map would take the place of another entry."""
    if data.params.get("use_rep") == keys.obsm:
        taken = f"{data.place}, which is mapped"
    elif keys.uns in adata.uns and not is_record(adata.uns[keys.uns]):
        taken = f"adata.uns[{keys.uns!r}], which is not of this tool"
    else:
        return
    reason = f"{setting('key_added', keys.uns)} would overwrite {taken}"
    raise ParameterError("key_added", keys.uns, reason=reason, fix="pass another name")


def _write(adata: AnnData, entries: Entries) -> None:
    with warnings.catch_warnings():
        # Of a view that becomes a copy of its own: to write to it is what was asked for.
        warnings.filterwarnings("ignore", message=".*view", category=UserWarning)
        for place in ("obsm", "obs", "uns"):
            for name, values in getattr(entries, place).items():
                getattr(adata, place)[name] = values
    _LOGGER.info("added %s", ", ".join([*entries.obsm, *entries.obs, *entries.uns]))
