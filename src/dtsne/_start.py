"""Where the descent starts.

The kernel gives the map a length unit: one is the σ of a typical point. So the principal components
divided by that σ are already of the right size, and a start at this physical scale keeps the
arrangement of the data that a start from a tiny map would lose (docs/optimiser.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne._affinities import DenseAffinities

if TYPE_CHECKING:
    from dtsne._affinities import Affinities
    from dtsne._input import Data
    from dtsne._typing import FloatArray

# The paper starts from principal components shrunk to this standard deviation.
_PAPER_STD = 1e-4
_RANDOM_STD = 0.01
# An axis without spread has no gradient either, and would stay empty: it gets noise of this share.
_NOISE_SHARE = 0.01


def principal_start(
    data: Data, n_components: int, unit: float, rng: np.random.Generator
) -> FloatArray:
    """Principal components in units of σ."""
    axes = data.principal_axes(n_components) / unit
    return _fill_empty_axes(axes, n_components, rng)


def random_start(n: int, n_components: int, rng: np.random.Generator) -> FloatArray:
    """One small round cloud: points without a place find theirs only while they are close."""
    return rng.normal(scale=_RANDOM_STD, size=(n, n_components))


def spectral_start(
    affinities: Affinities, n_components: int, spread: float, rng: np.random.Generator
) -> FloatArray:
    """Laplacian eigenmap of P, scaled to a given standard deviation."""
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import eigsh

    matrix = (
        csr_array(affinities.values.astype(np.float64))
        if isinstance(affinities, DenseAffinities)
        else csr_array((affinities.values, affinities.columns, affinities.row_starts))
    )
    n = matrix.shape[0]
    inverse_roots = 1.0 / np.sqrt(np.asarray(matrix.sum(axis=1)).ravel())
    normalised = diags_array(inverse_roots) @ matrix @ diags_array(inverse_roots)
    # Shifted by 1 to make the wanted end of the spectrum the one of largest size.
    _, vectors = eigsh(
        normalised + diags_array(np.ones(n)), k=n_components + 1, v0=np.ones(n), which="LM"
    )
    axes = vectors[:, -2::-1] * inverse_roots[:, np.newaxis]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(n_components)])
    return _fill_empty_axes(axes * (spread / axes.std(axis=0)), n_components, rng)


def shrink_as_paper(start: FloatArray) -> FloatArray:
    """Scale a start to the tiny size that the paper begins with."""
    shrunk: FloatArray = start * (_PAPER_STD / start[:, 0].std())
    return shrunk


def _fill_empty_axes(axes: FloatArray, n_components: int, rng: np.random.Generator) -> FloatArray:
    noise = _NOISE_SHARE * axes[:, 0].std()
    filled = np.zeros((len(axes), n_components))
    filled[:, : axes.shape[1]] = axes
    for axis in np.flatnonzero(filled.std(axis=0) < noise):
        filled[:, axis] = rng.normal(scale=noise, size=len(filled))
    return filled
