"""Nearest neighbours of many points, by inverted lists (FAISS), with a measured recall.

The points are divided into cells around k-means centres, and a point's neighbours are looked for in
the nearest cells only. How many cells that takes is found out: the search is tried on a sample of
points whose true neighbours are known, and widened until it finds the wanted share of them.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from dtsne._compile import compiled, prange
from dtsne._neighbors import nearest_neighbors, sort_by_distance_then_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._typing import FloatArray, IntArray

_LOGGER = logging.getLogger(__name__)

_N_SAMPLED = 500
_CANDIDATES_AT_ONCE = 5_000_000
# Searched beyond what is wanted, as FAISS ranks by distances in float32.
_SPARE = 8


def approximate_neighbors(
    X: FloatArray, k: int, *, recall: float, n_jobs: int
) -> tuple[IntArray, FloatArray, float]:
    """Find most of the k nearest others of each row.

    Returns
    -------
    indices, distances : ndarray of shape (n, k)
        As from :func:`dtsne._neighbors.nearest_neighbors`; distances are exact.
    recall : float
        Share of the true neighbours found, measured on a sample of rows.
    """
    import faiss

    n, d = X.shape
    points = np.ascontiguousarray(X, dtype=np.float32)
    n_cells = int(4 * np.sqrt(n))
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _N_SAMPLED), replace=False))
    true, _ = nearest_neighbors(X, k, queries=rows)
    with _faiss_threads(n_jobs):
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_cells)
        index.cp.seed, index.cp.niter = 1, 10
        index.cp.min_points_per_centroid = 1  # otherwise FAISS prints a warning
        index.train(points)
        index.add(points)
        index.nprobe = max(8, n_cells // 32)
        while True:
            found, _ = _rank(X, rows, index.search(points[rows], k + 1 + _SPARE)[1], k)
            measured = float(
                np.mean([np.isin(t, f).mean() for t, f in zip(true, found, strict=True)])
            )
            _LOGGER.info("neighbours: %d of %d cells, recall %.4f", index.nprobe, n_cells, measured)
            if measured >= recall or index.nprobe >= n_cells:
                break
            index.nprobe = min(n_cells, int(1.5 * index.nprobe))
        indices = np.empty((n, k), np.int32)
        distances = np.empty((n, k))
        n_at_once = max(1, _CANDIDATES_AT_ONCE // k)
        for start in range(0, n, n_at_once):
            part = np.arange(start, min(start + n_at_once, n))
            candidates = index.search(points[part], k + 1 + _SPARE)[1]
            indices[part], distances[part] = _rank(X, part, candidates, k)
    # A point far from all others may find too few in the cells it looked at.
    short = np.flatnonzero(~np.isfinite(distances[:, -1]))
    if len(short):
        indices[short], distances[short] = nearest_neighbors(X, k, queries=short)
    return indices, distances, measured


def _rank(
    X: FloatArray, rows: IntArray, candidates: IntArray, k: int
) -> tuple[IntArray, FloatArray]:
    """Keep the k nearest candidates of each row, by exact distances, without the row itself."""
    squared = np.empty(candidates.shape)
    _fill_squared_distances(X, rows, candidates, squared)
    indices = candidates.astype(np.int32)
    sort_by_distance_then_index(squared, indices)
    return indices[:, :k], np.sqrt(squared[:, :k])


@compiled(parallel=True)
def _fill_squared_distances(X, rows, candidates, squared):  # type: ignore[no-untyped-def]
    for i in prange(len(rows)):
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            if j < 0 or j == rows[i]:
                squared[i, c] = np.inf
                continue
            distance = 0.0
            for f in range(X.shape[1]):
                difference = X[rows[i], f] - X[j, f]
                distance += difference * difference
            squared[i, c] = distance


@contextmanager
def _faiss_threads(n_jobs: int) -> Iterator[None]:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_jobs)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
