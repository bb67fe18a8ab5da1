"""Peers that are Python libraries, with the paper's settings, or else their own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduce.methods._method import LibraryMethod

if TYPE_CHECKING:
    from dtsne.runtime._typing import FloatArray


def _tsne(X: FloatArray, seed: int, *, perplexity: float, step_divisor: float) -> FloatArray:
    """Descend as openTSNE does, with the step, n/12, and the momenta of the paper."""
    from openTSNE import TSNEEmbedding, affinity, initialization

    P = affinity.PerplexityBasedNN(X, perplexity, n_jobs=-1, random_state=seed)
    start = initialization.pca(X, random_state=seed)
    step = len(X) / step_divisor
    embedding = TSNEEmbedding(start, P, learning_rate=step, n_jobs=-1, random_state=seed)
    embedding.optimize(20, exaggeration=12, momentum=0.5, inplace=True)
    embedding.optimize(230, exaggeration=12, momentum=0.8, inplace=True)
    embedding.optimize(500, momentum=0.8, inplace=True)
    return np.array(embedding)


def _umap(X: FloatArray, seed: int, **settings: Any) -> FloatArray:
    from umap import UMAP

    # On one thread, to which a seed would take it anyway, with a warning.
    return np.asarray(UMAP(random_state=seed, n_jobs=1, **settings).fit_transform(X))


def _lle(X: FloatArray, seed: int, **settings: Any) -> FloatArray:
    from sklearn.manifold import LocallyLinearEmbedding

    # The iterative solver fails on the singular matrices that separate clusters make.
    method = LocallyLinearEmbedding(random_state=seed, eigen_solver="dense", n_jobs=-1, **settings)
    return np.asarray(method.fit_transform(X))


def _pacmap(X: FloatArray, seed: int) -> FloatArray:
    from pacmap import PaCMAP

    logging.getLogger("pacmap").setLevel(logging.ERROR)  # it warns of every seed
    return np.asarray(PaCMAP(random_state=int(seed)).fit_transform(X.astype(np.float32)))


TSNE = LibraryMethod("t-SNE", ["openTSNE"], _tsne, {"perplexity": 100, "step_divisor": 12})
# From 4096 points on UMAP searches for neighbours, by code that it first compiles.
_UMAP_PACKAGES, _N_SEARCHED = ("umap-learn", "pynndescent", "numba"), 4200
UMAP = LibraryMethod("UMAP", _UMAP_PACKAGES, _umap, n_rehearsed=_N_SEARCHED)
DENSMAP = LibraryMethod(
    "densMAP", _UMAP_PACKAGES, _umap, {"densmap": True}, n_rehearsed=_N_SEARCHED
)
LLE = LibraryMethod("LLE", ["scikit-learn"], _lle)
PACMAP = LibraryMethod("PaCMAP", ["pacmap"], _pacmap)
