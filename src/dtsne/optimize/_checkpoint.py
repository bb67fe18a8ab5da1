"""The descent kept in a file now and then, so that a fit that was killed goes on from there.

The file is an .npz of arrays and numbers, without pickle. It also says which data and parameters it
is of: to go on with others would give a map of neither.
"""

from __future__ import annotations

import json
import logging
import pickle
import zipfile
import zlib
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import partial
from hashlib import blake2b
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dtsne._config import PARAMETERS
from dtsne._version import __version__
from dtsne.runtime._arrays import asarray_like, is_tensor, to_host
from dtsne.runtime._atomic import atomic_write, check_writable
from dtsne.runtime._errors import ParameterError, UserNotice, setting
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from os import PathLike

    from dtsne._config import Config
    from dtsne.data._base import Data
    from dtsne.optimize._descent import State
    from dtsne.runtime._typing import FloatArray

History: TypeAlias = list[tuple[int, float]]
Arrays: TypeAlias = "dict[str, FloatArray]"

_LOGGER = logging.getLogger(__name__)

_STORED = (
    "identity", "iteration", "embedding", "velocity", "gains", "scales",
    "log_radii", "n_calibrated", "previous_kl", "history",
)  # fmt: skip
# What changes no bit of the result.
_WITHOUT_EFFECT = {"n_jobs", "verbose", "checkpoint_every"}
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class CheckpointFile:
    """A file, written at most once in so many seconds; refused at once if it cannot be used."""

    def __init__(
        self, path: str | PathLike[str], identity: dict[str, str], seconds_between: float
    ) -> None:
        self._path = Path(path)
        self._identity = identity
        self._seconds_between = seconds_between
        self._written: float | None = None
        self._found = self._read()
        check_writable(self._path)

    def resume(self, state: State) -> tuple[State, History]:
        """Return the saved state and the history until there; without one, the state itself."""
        if self._found is None:
            return state, []
        state, history = _from_arrays(self._found, state)
        self._found = None
        _LOGGER.info("resuming from iteration %d, found in %s", state.iteration, self._path)
        return state, history

    def keep(self, state: State, history: History) -> None:
        """Write the file, unless that was done a short time ago."""
        if self._written is None:  # the clock starts with the descent
            self._written = monotonic()
        elif monotonic() - self._written >= self._seconds_between:
            self.write(state, history)

    def write(self, state: State, history: History) -> None:
        """Write the file, all of it or nothing; a fit does not fail because that fails."""
        try:
            with atomic_write(self._path) as part, part.open("wb") as file:
                np.savez(file, identity=json.dumps(self._identity), **_to_arrays(state, history))
        except OSError as error:
            why = error.__cause__ or error  # without the advice: nothing has to be done about it
            reason = f"the checkpoint {self._path} was not written ({why})"
            warn(UserNotice(f"{reason}; the fit goes on without it"))
        self._written = monotonic()

    def remove(self) -> None:
        """Remove the file of a fit that succeeded."""
        with suppress(OSError):  # one that stays leads to the same map again
            self._path.unlink()

    def _read(self) -> Arrays | None:
        if not self._path.exists():
            return None
        try:
            # Only what is a whole archive: numpy would take other files for what they are not.
            with zipfile.ZipFile(self._path), np.load(self._path) as stored:
                arrays = {name: stored[name] for name in _STORED}
            identity: dict[str, str] = json.loads(str(arrays.pop("identity")))
        except _UNREADABLE as error:
            raise ParameterError(
                "checkpoint",
                str(self._path),
                reason=f"{self._path} is not a checkpoint of dtsne, or is corrupt ({error})",
                fix="name another file for the checkpoint; this one is left as it is",
            ) from error
        differing = [
            name
            for name in sorted(identity.keys() | self._identity.keys())
            if identity.get(name) != self._identity.get(name)
        ]
        if differing:
            names = (setting(name) if name in PARAMETERS else name for name in differing)
            raise ParameterError(
                "checkpoint",
                str(self._path),
                reason=f"{self._path} is the checkpoint of another fit: {', '.join(names)} differ",
                fix="delete it or name another file to start again; make them the same to resume",
            )
        return arrays


def identity_of(data: Data, config: Config) -> dict[str, str]:
    """Describe the data and each setting that has an effect, in short."""
    settings = {field.name: getattr(config, field.name) for field in fields(config)}
    settings["rule"] = config.resolved_rule
    return {
        **{name: _described(v) for name, v in settings.items() if name not in _WITHOUT_EFFECT},
        "data": _described(data),
        "version of dtsne": __version__,
    }


def _described(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_described, value))
    if isinstance(value, partial):
        return _described((*value.args, *value.keywords.values()))
    if hasattr(value, "indptr"):  # a sparse matrix
        return _described((value.indptr, value.indices, value.data))
    if isinstance(value, Real):
        return repr(float(value))  # 30, 30.0 and numpy's are the same
    if is_dataclass(value) and not isinstance(value, type):
        return _described(tuple(getattr(value, field.name) for field in fields(value)))
    if is_tensor(value):
        value = to_host(value)
    elif isinstance(value, list) or hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        digest = blake2b(np.ascontiguousarray(value).data, digest_size=16).hexdigest()
        return f"{value.dtype} {value.shape} {digest}"
    if isinstance(value, np.random.RandomState):
        return blake2b(pickle.dumps(value), digest_size=16).hexdigest()
    return repr(value)


def _to_arrays(state: State, history: History) -> dict[str, Any]:
    # Whoever goes on begins with the check that the state is of.
    before = [entry for entry in history if entry[0] < state.iteration]
    calibration = state.calibration
    return {
        "iteration": state.iteration,
        "embedding": to_host(state.embedding),
        "velocity": to_host(state.velocity),
        "gains": to_host(state.gains),
        "scales": to_host(state.scales),
        "log_radii": np.empty(0) if calibration is None else to_host(calibration.log_radii),
        "n_calibrated": state.n_calibrated,
        "previous_kl": np.nan if state.previous_kl is None else state.previous_kl,
        "history": np.array(before).reshape(-1, 2),
    }


def _from_arrays(arrays: Arrays, state: State) -> tuple[State, History]:
    """Return the state that was stored, with what does not change taken from another."""
    calibration, previous_kl = state.calibration, float(arrays["previous_kl"])
    if calibration is not None:
        log_radii = asarray_like(arrays["log_radii"], calibration.log_radii)
        calibration = replace(calibration, log_radii=log_radii)
    stored = replace(
        state,
        iteration=int(arrays["iteration"]),
        embedding=asarray_like(arrays["embedding"], state.embedding),
        velocity=asarray_like(arrays["velocity"], state.velocity),
        gains=asarray_like(arrays["gains"], state.gains),
        scales=asarray_like(arrays["scales"], state.scales),
        calibration=calibration,
        n_calibrated=int(arrays["n_calibrated"]),
        previous_kl=None if np.isnan(previous_kl) else previous_kl,
    )
    return stored, [(int(iteration), float(kl)) for iteration, kl in arrays["history"]]
