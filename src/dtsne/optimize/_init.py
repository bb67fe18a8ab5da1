"""Where the descent starts.

The kernel gives the map a length unit: one is the σ of a typical point. So the principal components
divided by that σ are already of the right size, and a start at this physical scale keeps the
arrangement of the data that a start from a tiny map would lose (docs/optimiser.md).

Where the data is on a device, so is its start; but a spectral one is found on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._arrays import asarray_like, on_host
from dtsne.runtime._errors import ParameterError, UserNotice, setting
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from dtsne.data._base import Data
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray

# The paper starts from principal components shrunk to this standard deviation.
_PAPER_STD = 1e-4
_RANDOM_STD, _SPECTRAL_STD = 0.01, 0.1
# An axis with less than the first share of the spread of the first axis is rounding error; it gets
# noise of the second share, since without any spread it would have no gradient and stay empty.
_EMPTY_SHARE, _NOISE_SHARE = 1e-6, 0.01
# Below this many points a full eigendecomposition is quick, and always succeeds.
_SMALL = 500


def check_initialisation(init: ArrayLike, n: int, n_components: int) -> FloatArray:
    """Return the user's own initialisation as floats, if it fits the data."""
    values = np.asarray(on_host(init))
    if values.shape != (n, n_components):
        raise ParameterError(
            "init", init,
            reason=f"{setting('init')} has shape {values.shape} and must be ({n}, {n_components}), "
            f"a row for each row of X and a column for each of {setting('n_components')}",
        )  # fmt: skip
    if values.dtype.kind not in "biuf":
        raise ParameterError("init", init, reason=f"{setting('init')} holds {values.dtype}",
                             fix="pass finite numbers")  # fmt: skip
    start: FloatArray = values.astype(np.float64)
    if not np.isfinite(start).all():
        raise ParameterError("init", init, reason=f"{setting('init')} has NaN or infinite values",
                             fix="pass finite coordinates")  # fmt: skip
    if not start.std(axis=0).all():
        raise ParameterError(
            "init", init, reason=f"{setting('init')} has an axis on which all points are equal",
            fix="spread them on it",
        )  # fmt: skip
    return start


def principal_start(
    data: Data, n_components: int, unit: float, threads: Threads
) -> FloatArray | None:
    """Principal components in units of σ; None for data without coordinates."""
    components: FloatArray | None = data.principal_axes(n_components, threads)  # type: ignore[assignment]
    if components is None:
        return None
    axes: FloatArray = components / unit
    spread = np.array([float(v) for v in ((axes - axes.mean(axis=0)) ** 2).mean(axis=0)]) ** 0.5
    kept = np.flatnonzero(spread > _EMPTY_SHARE * spread[0])
    if len(kept) == n_components:
        return axes
    noise: FloatArray = _noise((len(data), n_components)) * _NOISE_SHARE * spread[0]
    start = asarray_like(noise, axes)
    start[:, kept] = axes[:, kept]
    return start


def random_start(n: int, n_components: int, rng: np.random.Generator) -> FloatArray:
    """One small round cloud: points without a place find theirs only while they are close."""
    return rng.normal(scale=_RANDOM_STD, size=(n, n_components))


def spectral_start(
    P: FloatArray | csr_array, n_components: int, otherwise: FloatArray
) -> FloatArray:
    """Laplacian eigenmap of P, an array or sparse matrix, small, with noise between its points.

    Small, because its axes have no common scale (one may be a mode of a single cluster), and with
    noise, because clusters without ties between them come out as single points.
    """
    axes = _leading_eigenvectors(P, n_components)
    if axes is None:
        fallback = f"{setting('init', 'pca')}, or 'random' where there are no coordinates,"
        warn(UserNotice(f"The spectral initialisation did not converge: {fallback} is used"))
        return otherwise
    start: FloatArray = axes * (_SPECTRAL_STD / axes.std(axis=0))
    start += _RANDOM_STD * _noise(start.shape)
    return start


def shrink_as_paper(start: FloatArray) -> FloatArray:
    """Scale a start to the tiny size that the paper begins with."""
    centred = start[:, 0] - start[:, 0].mean()
    shrunk: FloatArray = start * (_PAPER_STD / (centred**2).mean() ** 0.5)
    return shrunk


def _noise(shape: tuple[int, int]) -> FloatArray:
    # Always the same: the user's seed is for what is meant to be random.
    return np.random.default_rng(0).normal(size=shape)


def _leading_eigenvectors(P: FloatArray | csr_array, n_components: int) -> FloatArray | None:
    """Eigenvectors of D^−½ P D^−½ after the first, which is known: √D."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    roots = np.sqrt(np.asarray(P.sum(axis=1, dtype=np.float64)).ravel())
    trivial = roots / np.linalg.norm(roots)
    n = len(roots)

    def apply(x: FloatArray) -> FloatArray:
        x = x.reshape(-1)
        # + x shifts the spectrum to [0, 2], which makes the wanted end the largest.
        product = (P @ (x / roots).astype(P.dtype)) / roots + x
        deflated: FloatArray = product - 2.0 * trivial * (trivial @ x)
        return deflated

    if n <= _SMALL:
        whole = np.stack([apply(column) for column in np.eye(n)])
        vectors = np.linalg.eigh((whole + whole.T) / 2)[1][:, -n_components:]
    else:
        operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        first = np.random.default_rng(0).normal(size=n)
        try:
            _, vectors = eigsh(operator, k=n_components, v0=first, tol=1e-4, maxiter=1000)
        except ArpackNoConvergence:
            return None
    axes = vectors[:, ::-1] / roots[:, np.newaxis]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(n_components)])
    oriented: FloatArray = axes * signs
    return oriented
