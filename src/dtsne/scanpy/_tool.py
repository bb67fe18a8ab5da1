"""The tool: from AnnData to a map in it."""

from __future__ import annotations

import inspect
import logging
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from dtsne.labels._groups import group_by
from dtsne.scanpy._graph import graph_in, representation_of, usable_neighbors
from dtsne.scanpy._layout import entries_of, is_ours
from dtsne.scanpy._representation import missing, represent

if TYPE_CHECKING:
    import numpy as np

    from dtsne._estimator import DTSNE
    from dtsne.labels._groups import Groups
    from dtsne.scanpy._layout import Entries
    from dtsne.scanpy._representation import Representation

_LOGGER = logging.getLogger(__name__)

AnnData: TypeAlias = Any  # which has no types, and need not be installed to check ours

_NEEDED = ("X", "is_view", "isbacked", "layers", "obs", "obs_names", "obsm", "obsp", "uns")
_FEWEST_CELLS = 4


def dtsne(
    adata: AnnData,
    *,
    n_pcs: int | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    neighbors_key: str | None = None,
    groupby: str | None = None,
    k: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    key_added: str = "dtsne",
    copy: bool = False,
    **parameters: Any,
) -> AnnData | None:
    """Map cells so that the size of a cluster means its spread, and say how far to believe it.

    Parameters
    ----------
    adata : AnnData
        In memory, backed, or a view (which becomes a copy of its own when it is written to).
    n_pcs : int or None, default=None
        Number of columns of ``obsm[use_rep]`` to use; all by default. Of X or a layer, the number
        of principal components to take: by default 50 where X stands in for a missing "X_pca", and
        none where it was asked for. 0 is ``use_rep="X"``, as in scanpy.
    use_rep : str or None, default=None
        Entry of ``obsm``, or "X". By default "X_pca", or X where that is missing.
    layer : str or None, default=None
        Entry of ``layers`` to use in place of X.
    neighbors_key : str or None, default=None
        Entry of ``uns`` by which ``sc.pp.neighbors`` left a graph. Its distances are used, and
        nothing is searched for, if each cell has 3·perplexity neighbours (``n_neighbors`` of
        scanpy counts the cell itself), and 99 % of the nearest are among them; else that is said
        and neighbours are searched for. `use_rep`, `n_pcs` and `metric` are those of the graph
        unless given; if its distances are not those between the cells there, it is an error. By
        default ``uns["neighbors"]`` is used where all that holds for the representation chosen
        above, and not mentioned but to ``logging`` where it does not.
    groupby : str or None, default=None
        Column of ``obs`` with groups whose widths are compared, in the order of its categories;
        cells without one are in no group.
    k : int or None, default=None
        Number of neighbours that the radius of a cell reaches to; by default the perplexity, as
        that is how far the method looks.
    random_state : int, RandomState instance or None, default=0
        Seeds a start that is random (``init="random"``); nothing else is.
    n_jobs : int or None, default=None
        Number of threads, None for all. It never changes the result.
    key_added : str, default="dtsne"
        What the names below are made of; "X_" before it is left away. A map that is there under it
        is replaced; one that would take the place of anything else is refused.
    copy : bool, default=False
        Return a copy with the map in place of writing to `adata`; of a backed one, in memory.
    **parameters
        Those of :class:`dtsne.DTSNE`: ``perplexity``, ``metric``, ``density_scale``, ``verbose`` …

    Returns
    -------
    AnnData or None
        None, unless `copy`. What is added, all of it once everything is done:

        ``obsm["X_dtsne"]``
            The map. One unit is the median σ, ``uns["dtsne"]["kernel_unit"]`` in the data; that of
            t-SNE (``density_scale=0``) has no such unit.
        ``obs["dtsne_log_radius"]``
            Logarithm of the distance to the k-th neighbour in the data, in units of the map: large
            where cells are unlike each other.
        ``obs["dtsne_log_radius_map"]``
            The same in the map.
        ``obs["dtsne_density_residual"]``
            The difference of the two, less its median: .69 for a cell with twice the room it should
            have. NaN where a radius says nothing of density.
        ``obs["dtsne_unreliable"]``
            Whether the room around the cell in the map should not be read as density.
        ``uns["dtsne"]``
            ``params``; what came of the fit (``perplexity``, ``kl_divergence``, ``n_iter`` …);
            ``quality``; the same in words, ``reliability``; and with `groupby` ``groups`` and
            ``ratios``. All of it can be kept in a file.

    Raises
    ------
    KeyError
        If a key is not in `adata`; it names those that are.
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
    from dtsne.quality._inputs import check_integer
    from dtsne.runtime._logging import shown_messages

    _check_anndata(adata, copy=copy)
    key = _checked_key(key_added)
    if k is not None:
        check_integer("k", k, 1)
    labels = None if groupby is None else _labels(adata, groupby)
    graph = graph_in(adata, neighbors_key)
    if graph is not None and graph.named:
        parameters = {"metric": graph.metric, **parameters}
        if use_rep is None and layer is None:
            use_rep, said_n_pcs = representation_of(adata, graph)
            n_pcs = said_n_pcs if n_pcs is None else n_pcs
    model = _model(parameters, random_state=random_state, n_jobs=n_jobs)
    with shown_messages(model.verbose):
        data = represent(adata, use_rep, layer, n_pcs)
        _check_free(adata, key, data)
        neighbors = None if graph is None else usable_neighbors(graph, data, model)
    model.set_params(n_pcs=data.n_pcs, neighbors=neighbors).fit(data.X)
    report = model.report(labels=labels, k=k)
    used = graph.place.removeprefix("adata.") if graph and neighbors is not None else "searched"
    chosen = {**data.params, "neighbors": used, "groupby": groupby}
    target = adata if not copy else _copied(adata)
    _write(target, entries_of(model, report, key=key, params=chosen))
    return target if copy else None


def _model(parameters: dict[str, Any], *, random_state: Any, n_jobs: int | None) -> DTSNE:
    """Make the model, refusing parameters that cannot be used."""
    from dtsne._config import check_parameters
    from dtsne._estimator import DTSNE

    _check_names(parameters, set(DTSNE().get_params()))
    model = DTSNE(**parameters, random_state=random_state, n_jobs=n_jobs)
    check_parameters(model)
    if model.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' has no place here; name a graph (neighbors_key), or use "
            "dtsne.DTSNE on the distances."
        )
    return model


def _check_names(parameters: dict[str, Any], of_model: set[str]) -> None:
    if "neighbors" in parameters:
        raise TypeError(
            "neighbors is not a parameter here: the graph is taken from adata.obsp, by "
            "neighbors_key; one from elsewhere goes to dtsne.DTSNE(neighbors=…)."
        )
    own = set(inspect.signature(dtsne).parameters) - {"adata", "parameters"}
    known = sorted((own | of_model) - {"neighbors"})
    for name in parameters:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
            raise TypeError(f"There is no parameter {name!r}; {fix}")


def _check_anndata(adata: Any, *, copy: bool) -> None:
    # Asked of the class, as X itself may be read from a file.
    if not all(hasattr(type(adata), name) for name in _NEEDED):
        raise TypeError(
            f"This is a tool for AnnData, and {type(adata).__name__} was given; of MuData give one "
            "modality (mdata['rna']), and use dtsne.DTSNE for arrays and data frames."
        )
    if adata.is_view and adata.isbacked and not copy:
        raise ValueError(
            "adata is a view of a file, which cannot be written to; take it into memory first "
            "(adata = adata.to_memory()), or use copy=True."
        )
    if len(adata.obs_names) < _FEWEST_CELLS:
        raise ValueError(
            f"adata has {len(adata.obs_names)} cells; a map needs at least {_FEWEST_CELLS}."
        )


def _checked_key(key_added: str) -> str:
    if not isinstance(key_added, str):
        raise TypeError(f"key_added={key_added!r} has to be a string.")
    key = key_added.removeprefix("X_")
    if not key or "/" in key:
        raise ValueError(f"key_added={key_added!r} has to be a name, without a slash.")
    return key


def _labels(adata: Any, groupby: str) -> Groups:
    """Return a column as groups, in the order of its categories; what is none is refused here."""
    if groupby not in adata.obs.columns:
        raise missing("adata.obs", groupby, adata.obs.columns)
    column = adata.obs[groupby]
    known = column.dropna()
    if not len(known):
        raise ValueError(f"adata.obs[{groupby!r}] says nothing of any cell; name another column.")
    # Whole numbers become decimal ones where some are missing.
    if getattr(column.dtype, "kind", "O") == "f" and (known % 1 != 0).any():
        raise ValueError(
            f"adata.obs[{groupby!r}] holds decimal numbers, which are no groups; name a column of "
            "categories, text or whole numbers."
        )
    return group_by(column, len(column))


def _check_free(adata: Any, key: str, data: Representation) -> None:
    """Refuse a name under which something lies that is not ours, or that is being mapped."""
    if data.params.get("use_rep") == f"X_{key}":
        raise ValueError(
            f"key_added={key!r} would put the map in the place of what is mapped, {data.place}; "
            "choose another."
        )
    if key in adata.uns and not is_ours(adata.uns[key]):
        raise ValueError(
            f"key_added={key!r} would overwrite adata.uns[{key!r}], which is not of this tool; "
            "choose another, or remove it."
        )


def _copied(adata: AnnData) -> AnnData:
    return adata.to_memory(copy=True) if adata.isbacked else adata.copy()


def _write(adata: AnnData, entries: Entries) -> None:
    with warnings.catch_warnings():
        # Of a view that becomes a copy of its own: to write to it is what was asked for.
        warnings.filterwarnings("ignore", message=".*view", category=UserWarning)
        for name, values in entries.obsm.items():
            adata.obsm[name] = values
        for name, values in entries.obs.items():
            adata.obs[name] = values
        for name, values in entries.uns.items():
            adata.uns[name] = values
    added = [*entries.obsm, *entries.obs, *entries.uns]
    _LOGGER.info("added %s", ", ".join(added))
