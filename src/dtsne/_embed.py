"""The functional core: from data and a `Config` to an `Embedding`.

Arrays are typed as those of numpy; where the data is on a device, they are tensors of PyTorch.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from dtsne._config import NEIGHBORS_PER_PERPLEXITY, PARAMETERS, Config
from dtsne._cost import Job, check_cost
from dtsne._embedding import (
    Embedding,
    FitArtifacts,
    FitInterrupted,
    KernelScales,
    Preparation,
    Result,
)
from dtsne._problem import state_problem
from dtsne.data._duplicates import spread_initial_duplicates
from dtsne.data._prepare import prepare
from dtsne.forces._engine import engine_for
from dtsne.optimize import _init
from dtsne.optimize._checkpoint import CheckpointFile, identity_of
from dtsne.optimize._descent import Schedule, State, descend
from dtsne.runtime._arrays import asarray_like, is_tensor, output_format, to_host
from dtsne.runtime._devices import device_for, working_on
from dtsne.runtime._digest import fingerprint
from dtsne.runtime._errors import DataError, DivergedError, UserNotice, setting
from dtsne.runtime._logging import warn
from dtsne.runtime._progress import shown_progress
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    import torch

    from dtsne._config import Callback, RandomState, Rule
    from dtsne._problem import Problem
    from dtsne.data._base import Data
    from dtsne.optimize._checkpoint import History
    from dtsne.optimize._descent import Checkpoint
    from dtsne.runtime._arrays import OutputFormat
    from dtsne.runtime._progress import Progress
    from dtsne.runtime._threads import Threads
    from dtsne.runtime._typing import FloatArray, MatrixLike

_LOGGER = logging.getLogger(__name__)

_MIN_POINTS = 4
# Up to this many points, sums over all pairs take no longer than those by FFT, or little.
MAX_EXACT, MAX_EXACT_GPU = 5_000, 10_000
# A map that keeps densities is done before clusters drift apart (docs/optimiser.md); one that does
# not is better the lower KL is, and at the second tolerance it is about where openTSNE's ends.
_DEFAULT_TOL, _TSNE_TOL = 5e-4, 1e-4
# A map that begins without any order needs more of a pull to find one.
_RANDOM_EXAGGERATION = 4.0


class NotConverged(UserNotice, ConvergenceWarning):  # type: ignore[misc]
    """The descent ended before KL had settled."""


def embed(
    data: MatrixLike,
    config: Config | None = None,
    *,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Embedding:
    """Map data.

    Parameters
    ----------
    data : array-like or sparse matrix of shape (n, d)
        As for :meth:`dtsne.DTSNE.fit`.
    config : Config, optional
        What to do; the defaults are those of :class:`dtsne.DTSNE`.
    callback, checkpoint
        As for :class:`dtsne.DTSNE`.

    Returns
    -------
    Embedding

    Raises
    ------
    FitInterrupted
        At Ctrl-C during the descent; it has the best map so far.

    See Also
    --------
    dtsne.DTSNE : The same as an estimator of scikit-learn.

    Examples
    --------
    >>> from dtsne import Config, embed
    >>> from dtsne.datasets import load
    >>> X, labels, _ = load("G3-d")
    >>> embed(X, Config(perplexity=50)).coordinates.shape
    (900, 2)
    """
    config = Config() if config is None else config
    for name, value in (("callback", callback), ("checkpoint", checkpoint)):
        if value is not None:
            PARAMETERS[name].check(value)
    device = device_for(config.device, X=data)
    with (
        open_threads(config.n_jobs) as threads,
        shown_progress(config.verbose) as progress,
        nullcontext() if device is None else working_on(device),
    ):
        # Everything that can be rejected is rejected before the long work.
        progress.begin("preparing")
        given = _prepare(data, config, device)
        return _fit(given, config, callback, checkpoint, threads, progress)


def check_data(X: MatrixLike, metric: str = "euclidean") -> FloatArray:
    """Return an array, sparse matrix or tensor of real numbers, or raise an error."""
    if is_tensor(X):
        from dtsne.data._points_torch import check_tensor

        tensor: FloatArray = check_tensor(X, _MIN_POINTS)  # type: ignore[assignment]
        return tensor
    try:
        checked: FloatArray = check_array(
            X,
            accept_sparse="csr" if metric == "precomputed" else ("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_min_samples=_MIN_POINTS,
            estimator="DTSNE",
            input_name="X",
        )
    except ValueError:
        text = _first_text(X)
        if text is None:
            raise
        raise DataError(
            f"X holds text ({text!r})",
            "leave such columns out or encode them as numbers",
            in_python="e.g. with sklearn.preprocessing.OneHotEncoder",
        ) from None
    return checked


def _first_text(X: MatrixLike) -> str | None:
    for value in np.asarray(X, dtype=object).ravel():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return value
    return None


@dataclass(frozen=True)
class _PreparedInput:
    """What came in, checked and prepared."""

    data: Data
    init: FloatArray | None  # the user's own
    output: OutputFormat
    fingerprint: FloatArray
    preparation: Preparation


def _prepare(X: MatrixLike, config: Config, device: torch.device | None) -> _PreparedInput:
    checked = check_data(X, config.metric)
    output = output_format(X, checked)
    init = None
    if not isinstance(config.init, str):
        init = _init.check_initialisation(config.init, checked.shape[0], config.n_components)
    preparation = Preparation(config.metric, config.n_pcs, config.neighbors)
    data = prepare(checked, **preparation._asdict(), device=device)
    return _PreparedInput(data, init, output, fingerprint(checked), preparation)


def _fit(
    given: _PreparedInput,
    config: Config,
    callback: Callback | None,
    checkpoint: str | PathLike[str] | None,
    threads: Threads,
    progress: Progress,
) -> Embedding:
    data, rule = given.data, config.resolved_rule
    n, device, searches = len(data), data.device, data.has_all_distances
    perplexity = clip_perplexity(config.perplexity, n)
    schedule = _schedule(config, rule, n)
    max_exact = config.max_exact
    if max_exact is None:
        max_exact = MAX_EXACT if device is None else MAX_EXACT_GPU
    job = Job(
        n=n,
        d=data.n_dimensions,
        n_components=config.n_components,
        perplexity=perplexity,
        max_dense=config.max_dense if searches else 0,
        max_exact=max_exact,
        method=config.method,
        n_iter=schedule.expected_end(),
        n_threads=threads.number,
        searches=searches,
    )
    exact = job.is_exact
    check_cost(job, device)
    file = None
    if checkpoint is not None:
        file = CheckpointFile(checkpoint, identity_of(data, config), config.checkpoint_every)
    problem = state_problem(data, job, config, progress, threads)
    progress.begin("start")
    start = _initialise(config, given.init, problem, perplexity, threads)
    timings = progress.timings
    engine = engine_for(
        problem.affinities,
        config.n_components,
        None if exact else config.fft_tolerance,
        threads=threads,
        timings=timings,
        device=device,
    )
    state = State.at_start(start, problem.scales.values, problem.calibration)
    history: History = []
    if file is not None:
        state, history = file.resume(state)
    run = _Run(given, config, perplexity, problem, timings.cpu, history)
    progress.begin("descent")
    steps = descend(engine, state, rule, schedule, timings, threads)
    return run.follow(steps, schedule, file, callback, progress)


def clip_perplexity(perplexity: float, n: int) -> float:
    """Return the perplexity, clipped with a warning to what n points can have."""
    largest = max((n - 1) / NEIGHBORS_PER_PERPLEXITY, 1.5)  # 1.5: 4 points, the fewest we take
    if perplexity < largest:
        return perplexity
    whole = int(perplexity)
    asked = whole if whole == perplexity else perplexity
    warn(
        UserNotice(
            f"{setting('perplexity', asked)} is too large for {n} points and was clipped to "
            f"{largest:.4g}",
            f"set {setting('perplexity')} below (n - 1) / {NEIGHBORS_PER_PERPLEXITY} to choose it "
            "yourself",
        )
    )
    return largest


def _schedule(config: Config, rule: Rule, n: int) -> Schedule:
    exaggeration = config.early_exaggeration
    if exaggeration == "auto":
        unordered = isinstance(config.init, str) and config.init == "random" and rule.scaled
        exaggeration = _RANDOM_EXAGGERATION if unordered else rule.exaggeration
    tol = config.tol
    if tol == "auto":
        tol = _DEFAULT_TOL if config.density_scale > 0 else _TSNE_TOL
    step = rule.step_share * n if config.learning_rate == "auto" else config.learning_rate
    return Schedule(
        learning_rate=step,
        exaggeration=exaggeration,
        max_iter=config.max_iter,
        tol=tol if rule.settles else 0.0,
    )


def _initialise(
    config: Config, init: FloatArray | None, problem: Problem, perplexity: float, threads: Threads
) -> FloatArray:
    """Return the first map, in internal order and on the device of the data."""
    scales = problem.scales.values
    if init is not None:
        return asarray_like(problem.to_internal_order(init), scales)
    start = None
    if config.init != "random":
        start = _init.principal_start(problem.data, config.n_components, problem.unit, threads)
    spectral = config.init == "spectral" or (config.init == "pca" and start is None)
    if start is None:
        rng = _generator(config.random_state)
        start = _init.random_start(len(problem.data), config.n_components, rng)
    start = problem.to_internal_order(start)
    if spectral:
        start = _init.spectral_start(problem.affinities.as_matrix(), config.n_components, start)
    if config.is_paper:
        start = _init.shrink_as_paper(start)
    if problem.device is not None:
        start = asarray_like(start, scales)
    return start if config.is_paper else spread_initial_duplicates(start, scales, perplexity)


def _generator(random_state: RandomState) -> np.random.Generator:
    """Turn the random_state of scikit-learn into a generator of our own."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


@dataclass
class _Run:
    """What consumes the checkpoints of a descent: records, shows, and may end it."""

    given: _PreparedInput
    config: Config
    perplexity: float
    problem: Problem
    timings: dict[str, float]
    history: History
    best: Checkpoint | None = field(default=None)

    def follow(
        self,
        steps: Iterator[Checkpoint],
        schedule: Schedule,
        file: CheckpointFile | None,
        callback: Callback | None,
        progress: Progress,
    ) -> Embedding:
        """Go through the descent and return its last map; if it is interrupted, raise the best."""
        stopped = False
        try:
            for last in steps:
                self._record(last, file)
                iteration = last.state.iteration
                progress.advance(iteration, schedule.expected_end(iteration), kl=last.kl)
                if callback is not None:
                    stopped = bool(callback(iteration, last.kl, self._shown(last)))
                    if stopped:
                        break
        except KeyboardInterrupt:
            if self.best is None:
                raise
            if file is not None:
                file.write(last.state, self.history)
            progress.end()
            raise FitInterrupted(self._embedding(self.best, Result.INTERRUPTED)) from None
        if file is not None:
            file.remove()
        progress.end()
        if last.settled:
            result = Result.CONVERGED
        else:
            result = Result.STOPPED if stopped else Result.MAX_ITER
        if schedule.tol > 0 and result is Result.MAX_ITER:
            reason = f"KL had not settled after {setting('max_iter', schedule.max_iter)} iterations"
            fix = f"raise {setting('max_iter')}, or {setting('tol')} if the map is good enough"
            warn(NotConverged(reason, fix))
        return self._embedding(last, result)

    def _record(self, last: Checkpoint, file: CheckpointFile | None) -> None:
        iteration = last.state.iteration
        self.history.append((iteration, last.kl))
        if not np.isfinite(last.kl):
            raise DivergedError(
                f"The descent diverged by iteration {iteration}",
                f"use {setting('learning_rate', 'auto')} or a smaller one",
            )
        self.best = last if last.improves(self.best) else self.best
        if file is not None:
            file.keep(last.state, self.history)
        _LOGGER.debug("iteration %4d  KL %.4f", iteration, last.kl)

    def _shown(self, last: Checkpoint) -> FloatArray:
        """Return the map as a callback sees it."""
        shown: FloatArray = to_host(self.problem.to_input_order(last.state.embedding))
        shown.flags.writeable = False
        return shown

    def _embedding(self, checkpoint: Checkpoint, result: Result) -> Embedding:
        state, in_order, given = checkpoint.state, self.problem.to_input_order, self.given
        convert = given.output.convert
        sigma = in_order(self.problem.sigmas) * given.data.unit
        scales = convert(in_order(state.scales), keep_float64=True)
        return Embedding(
            coordinates=convert(in_order(state.embedding)),
            kernel_scales=KernelScales(scales, self.problem.scales.unit),
            sigma=convert(sigma, keep_float64=True),
            kl_divergence=checkpoint.kl,
            history=np.array(self.history),
            n_iter=state.iteration,
            n_calibrations=state.n_calibrated,
            result=result,
            perplexity=self.perplexity,
            density_scale=self.config.density_scale,
            neighbor_recall=self.problem.recall,
            timings=self.timings,
            artifacts=FitArtifacts(
                data=given.data,
                lists=self.problem.lists,
                preparation=given.preparation,
                fingerprint=given.fingerprint,
                at_floor=in_order(self.problem.at_floor),
            ),
        )
