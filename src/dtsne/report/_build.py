"""From data and map to a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from dtsne.labels._groups import group_by
from dtsne.quality._inputs import (
    RandomState,
    check_integer,
    check_random_state,
    choose_rows,
    clip_neighbors,
)
from dtsne.quality._neighborhoods import Neighborhoods, map_neighbors
from dtsne.quality._summary import measure
from dtsne.report._groups import compare_groups, shares_of_own, tabulate_groups
from dtsne.report._islands import smallest_size
from dtsne.report._points import MapMetadata, NeighborTables, tabulate_points
from dtsne.report._report import Report
from dtsne.report._sources import open_source, source_of
from dtsne.runtime._arrays import to_host
from dtsne.runtime._devices import device_for, working_on
from dtsne.runtime._digest import fingerprint, same_data
from dtsne.runtime._errors import DataError
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne._config import NeighborGraph
    from dtsne._embedding import Embedding
    from dtsne.data._base import Data
    from dtsne.labels._groups import Groups, Labels
    from dtsne.report._sources import Source
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import Device, IntArray, MatrixLike

# Rows that the measures are taken around, half as many as in `evaluate`: a report looks at all
# points besides. Trustworthiness compares each with all points; the values of a sample of this size
# are those of all points to two digits or three.
MAX_ROWS = 5_000
# Ends of a 95 % interval from fewer resamples would be the outermost two or three.
MIN_RESAMPLES, MAX_RESAMPLES = 100, 10**6


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """What a report should contain; :func:`report_of` describes the fields."""

    labels: Labels | Groups | None = None
    k: int = 100
    k_neighborhood: int = 15
    max_rows: int = MAX_ROWS
    random_state: RandomState = 0
    n_bootstrap: int = 1000

    def __post_init__(self) -> None:
        check_random_state(self.random_state)
        if self.n_bootstrap != 0:
            check_integer("n_bootstrap", self.n_bootstrap, MIN_RESAMPLES, MAX_RESAMPLES)


def report_of(
    X: MatrixLike | None,
    Y: ArrayLike,
    *,
    labels: Labels | None = None,
    k: int = 100,
    k_neighborhood: int = 15,
    sigma: ArrayLike | None = None,
    perplexity: float | None = None,
    metric: str = "euclidean",
    neighbors: NeighborGraph | None = None,
    max_rows: int = MAX_ROWS,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
    device: Device = "cpu",
    n_jobs: int | None = None,
) -> Report:
    """Report how faithful a map is: for each point, for each labelled group, and as a whole.

    Parameters
    ----------
    X : array-like of shape (n, d) or None
        The data that the map was made of. Where the method reduced it first, as
        :class:`dtsne.DTSNE` does to 50 principal components, pass the reduced data to measure the
        map alone. None if only the distances to `neighbors` are known: the report then has no
        distances between far points and no spreads in the data.
    Y : array-like of shape (n, 2 or 3)
        Its map, by any method, row by row the same points.
    labels : array-like of shape (n,), optional
        Groups to compare: numbers, texts, or a categorical column, whose order is kept. Points
        whose label is missing (None, NaN) are in no group.
    k : int, default 100
        The local radius of a point is the distance to its k-th nearest neighbour.
    k_neighborhood : int, default 15
        Number of neighbours that the map should keep. Both are clipped to (n − 1) // 2 and to the
        number of precomputed `neighbors`, which the report states.
    sigma : array-like of shape (n,), optional
        ``sigma_`` of the fitted :class:`dtsne.DTSNE`, by which the map has a unit of length.
    perplexity : float, optional
        The perplexity of the map, ``perplexity_`` of a fitted :class:`dtsne.DTSNE`. Without it
        clusters that are too small for the perplexity are not detected.
    metric : str, default "euclidean"
        Distance in the data, by the names of :class:`dtsne.DTSNE`. Spreads of groups are known for
        "euclidean", "cosine" and "correlation" only.
    neighbors : (indices, distances) or sparse matrix of shape (n, n), optional
        Precomputed neighbours, as for :class:`dtsne.DTSNE`, in place of a search.
    max_rows : int, default 5,000
        With more rows, the measures are taken around a sample of this many. All tables are of all
        points.
    n_bootstrap : int, default 1000
        Number of resamples for the intervals, at least 100; 0 for no intervals.
    random_state : int or Generator, default 0
        Seeds the samples and the bootstrap.
    device : {"cpu", "cuda", "auto"} or torch.device, default "cpu"
        Where to compute, as for :mod:`dtsne.quality`.
    n_jobs : int or None, default None
        Number of threads; None or -1 for all. It never changes the result.

    Returns
    -------
    Report
        Print it, or use its tables.

    See Also
    --------
    dtsne.DTSNE.report : The report on the map of a fitted model.
    dtsne.quality.evaluate : The measures alone.

    Notes
    -----
    Up to 20,000 points neighbours in the data are exact; beyond, 99 % of them are found.
    """
    options = ReportOptions(labels, k, k_neighborhood, max_rows, random_state, n_bootstrap)
    source = open_source(X, Y, metric, neighbors, device)
    metadata = MapMetadata.checked(source.n, sigma, perplexity)
    with open_threads(n_jobs) as threads:
        return make_report(source, options, metadata, threads)


class ReportSettings(TypedDict, total=False):
    """What the report on a fit leaves to the user; :func:`report_of` describes the fields."""

    k_neighborhood: int
    max_rows: int
    random_state: RandomState
    n_bootstrap: int


def report_of_embedding(
    embedding: Embedding,
    labels: Labels | Groups | None = None,
    *,
    X: MatrixLike | None = None,
    k: int | None = None,
    device: Device = "cpu",
    n_jobs: int | None = None,
    **settings: Unpack[ReportSettings],
) -> Report:
    """Report how faithful the map of a fit is.

    The map is compared with the data as the method saw it, after the reduction to `n_pcs` principal
    components.

    Parameters
    ----------
    embedding : Embedding
        The result of :func:`dtsne.embed`.
    labels : array-like of shape (n,), optional
        Groups to compare; points whose label is missing are in no group.
    X : array-like or sparse matrix of shape (n, d), optional
        The data of the fit. Only needed by an embedding that was copied or loaded from a file, as
        these leave out the data; any other data is rejected.
    k : int, optional
        The local radius of a point is the distance to its k-th nearest neighbour; by default the
        perplexity, which is the scale that the map preserves.
    device, n_jobs
        See :func:`report_of`. Without X the device is that of the data.
    **settings
        `k_neighborhood`, `max_rows`, `n_bootstrap` and `random_state`; see :func:`report_of`.

    Returns
    -------
    Report
        Print it, or use its tables.
    """
    from dtsne._cost import needed_neighbors

    perplexity, artifacts = embedding.perplexity, embedding.artifacts
    k = round(perplexity) if k is None else k
    options = ReportOptions(labels, k, **settings)
    # A t-SNE map does not preserve radii, and so has no unit of the data.
    metadata = MapMetadata(
        sigma=None if embedding.is_tsne else to_host(embedding.sigma),
        kernel_unit=None if embedding.is_tsne else embedding.kernel_scales.unit,
        at_floor=artifacts.at_floor,
        perplexity=perplexity,
    )
    with open_threads(n_jobs) as threads:
        data = artifacts.data if X is None else _prepare_again(X, embedding, device)
        if data is None:
            raise DataError(
                "the embedding was copied or loaded from a file, which leaves out the data",
                "pass the data that it was fitted on",
                in_python="report(X=X)",
            )
        source = source_of(
            data,
            to_host(embedding.coordinates).astype(float),
            artifacts.lists if X is None else None,
            needed_neighbors(perplexity, len(data)),
        )
        return make_report(source, options, metadata, threads)


def _prepare_again(X: MatrixLike, embedding: Embedding, device: Device) -> Data:
    """Prepare the data of the fit once more, in the same way."""
    from dtsne._embed import check_data
    from dtsne.data._prepare import prepare

    artifacts = embedding.artifacts
    checked = check_data(X, artifacts.preparation.metric)
    if checked.shape[0] != len(embedding.coordinates):
        raise DataError(
            f"X has {checked.shape[0]} rows and the map has {len(embedding.coordinates)}",
            "pass the data that the embedding was fitted on",
        )
    if not same_data(fingerprint(checked), artifacts.fingerprint):
        raise DataError(
            "X differs from the data of the fit in its values, or in the order of its rows or "
            "columns",
            "pass the data that the embedding was fitted on",
        )
    resolved = device_for(device, X=X)
    with working_on(resolved):
        return prepare(checked, **artifacts.preparation._asdict(), device=resolved)


def make_report(
    source: Source, options: ReportOptions, metadata: MapMetadata, threads: Threads
) -> Report:
    """Make the report on checked data and its map."""
    # All checks come before the long work.
    groups = None if options.labels is None else group_by(options.labels, source.n)
    rows = choose_rows(source.n, options.max_rows, options.random_state)
    numbers = {"k": options.k, "k_neighborhood": options.k_neighborhood}
    counts, clipped = clip_neighbors(numbers, source.n, source.data.max_neighbors)
    table = ratios = None
    found = _search(source, metadata, counts, threads)
    own = None if groups is None else shares_of_own(found, groups)
    points = tabulate_points(found, metadata, source.spaces, groups, own, threads)
    quality = measure(
        source.spaces,
        _around(rows, found, source, threads),
        groups,
        **counts,
        random_state=options.random_state,
        clipped=clipped,
        threads=threads,
    )
    if groups is not None and own is not None:
        table = tabulate_groups(groups, own, points, found, source, metadata.perplexity)
        seed = int(np.random.default_rng(options.random_state).integers(2**62))
        ratios = compare_groups(groups, table, source, options.n_bootstrap, seed)
    return Report(
        points,
        groups=table,
        ratios=ratios,
        quality=quality,
        perplexity=metadata.perplexity,
        kernel_unit=metadata.kernel_unit,
        search_recall=found.recall,
    )


def _search(
    source: Source, metadata: MapMetadata, counts: dict[str, int], threads: Threads
) -> NeighborTables:
    """Find all neighbours that will be needed, in one search."""
    n_wanted = max(counts["k"] + 1, counts["k_neighborhood"])
    if metadata.perplexity is not None:
        n_wanted = max(n_wanted, smallest_size(metadata.perplexity))
    indices, distances, recall = source.search(min(n_wanted, source.data.max_neighbors), threads)
    map_indices, _ = map_neighbors(source.spaces.map, counts["k_neighborhood"], threads)
    return NeighborTables(indices, distances, map_indices, recall, **counts)


def _around(
    rows: IntArray, found: NeighborTables, source: Source, threads: Threads
) -> Neighborhoods:
    """Return the neighbourhoods of some rows, as the measures take them."""
    n_found = max(found.k, found.k_neighborhood)
    in_map = map_neighbors(source.spaces.map, n_found, threads, queries=rows)
    return Neighborhoods(rows, found.indices[rows], found.distances[rows], *in_map)
