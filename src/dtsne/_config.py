"""Checks of the estimator's parameters, each with an error that names the fix."""

from __future__ import annotations

import re
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.data._metrics import METRICS
from dtsne.runtime._arrays import to_host
from dtsne.runtime._kinds import is_tensor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._estimator import DTSNE
    from dtsne.runtime._typing import FloatArray

_CHOICES = {
    "metric": ("euclidean", "cosine", "correlation", *METRICS, "precomputed"),
    "optimizer": ("scaled", "paper"),
    "method": ("auto", "exact", "fft"),
}
_STARTS = ("pca", "random", "spectral")


def check_parameters(model: DTSNE) -> None:
    """Raise a clear error for any parameter that cannot be used."""
    for name, choices in _CHOICES.items():
        _check_choice(name, getattr(model, name), choices)
    _check_device(model.device)
    if model.neighbors is not None and model.metric == "precomputed":
        raise ValueError(
            "neighbors cannot be given beside metric='precomputed', where X is the distances "
            "already; leave out one of the two."
        )
    _check_number("n_components", model.n_components, Integral, least=1, most=3)
    _check_number("perplexity", model.perplexity, Real, above=1)
    _check_number("density_scale", model.density_scale, Real, least=0)
    _check_number("max_iter", model.max_iter, Integral, least=1)
    _check_number("verbose", model.verbose, Integral, least=0)
    if model.n_pcs is not None:
        _check_number("n_pcs", model.n_pcs, Integral, least=1)
    if model.n_jobs is not None:
        _check_number("n_jobs", model.n_jobs, Integral)
    _check_number("fft_tolerance", model.fft_tolerance, Real, above=0, most=0.1)
    _check_auto_or_number("learning_rate", model.learning_rate, above=0)
    _check_auto_or_number("early_exaggeration", model.early_exaggeration, least=1)
    _check_auto_or_number("tol", model.tol, least=0)
    if model.calibration is not False:
        _check_choice("calibration", model.calibration, ("auto", False))
    if isinstance(model.init, str):
        _check_choice("init", model.init, _STARTS, or_else="an array of shape (n, n_components)")
    if model.callback is not None and not callable(model.callback):
        raise TypeError(
            f"callback={model.callback!r} cannot be called; give a function of "
            "(iteration, kl, embedding) or None."
        )
    if model.checkpoint is not None and not isinstance(model.checkpoint, str | PathLike):
        raise TypeError(f"checkpoint={model.checkpoint!r} has to be the path of a file or None.")


def _check_device(device: Any) -> None:
    """Refuse names of no device; whether it is there is seen when it is used."""
    known = type(device).__module__.partition(".")[0] == "torch" or (
        isinstance(device, str) and re.fullmatch(r"cpu|auto|cuda(:\d+)?", device)
    )
    if not known:
        raise ValueError(
            f"device={device!r} is not known; choose from 'cpu', 'cuda', 'cuda:1' (the second "
            "GPU), 'auto' or a torch.device."
        )


def check_start(init: ArrayLike, n: int, n_components: int) -> FloatArray:
    """Return the user's own start as floats, if it fits the data."""
    init = to_host(init) if is_tensor(init) else np.asarray(init)
    if init.shape != (n, n_components):
        raise ValueError(
            f"init has shape {init.shape}; it has to be ({n}, {n_components}), "
            "a row for each row of X and a column for each of n_components."
        )
    if init.dtype.kind not in "biuf":
        raise ValueError(f"init holds {init.dtype}; give finite numbers.")
    start: FloatArray = init.astype(np.float64)
    if not np.isfinite(start).all():
        raise ValueError("init has NaN or infinite values; give finite coordinates.")
    if not start.std(axis=0).all():
        raise ValueError("init has an axis on which all points are equal; spread them on it.")
    return start


def _check_choice(
    name: str, value: Any, choices: tuple[Any, ...], *, or_else: str | None = None
) -> None:
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        alternatives = ", ".join(map(repr, choices)) + (f" or {or_else}" if or_else else "")
        raise ValueError(f"{name}={value!r} is not known; choose from {alternatives}.")


def _check_auto_or_number(name: str, value: Any, **bounds: float) -> None:
    if not (isinstance(value, str) and value == "auto"):
        _check_number(name, value, Real, hint=" or 'auto'", **bounds)


def _check_number(
    name: str,
    value: Any,
    kind: type,
    *,
    least: float = -np.inf,
    above: float = -np.inf,
    most: float = np.inf,
    hint: str = "",
) -> None:
    expected = "an integer" if kind is Integral else "a number"
    if least > -np.inf:
        expected += f" of at least {least:g}"
    if above > -np.inf:
        expected += f" above {above:g}"
    if most < np.inf:
        expected += f" and at most {most:g}"
    if not isinstance(value, kind) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} has to be {expected}{hint}.")
    number = float(value)  # type: ignore[arg-type]
    if not (np.isfinite(number) and least <= number <= most and number > above):
        raise ValueError(f"{name}={value!r} has to be {expected}{hint}.")
