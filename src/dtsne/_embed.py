"""One fit: from data to a problem, a start and a descent, whose result the model is given."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dtsne._cost import Job
from dtsne._embedding import Kept
from dtsne._problem import state_problem
from dtsne.data._duplicates import spread_initial_duplicates
from dtsne.data._prepare import clip_perplexity
from dtsne.optimize import _init as _start
from dtsne.optimize._checkpoint import open_checkpoints
from dtsne.optimize._descent import Schedule, State, descend
from dtsne.runtime._arrays import to_host
from dtsne.runtime._logging import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtsne._backend import Backend
    from dtsne._config import Rule
    from dtsne._problem import Problem
    from dtsne.data._base import Data
    from dtsne.optimize._checkpoint import History, NoCheckpoints
    from dtsne.optimize._descent import Checkpoint
    from dtsne.runtime._kinds import Kind
    from dtsne.runtime._progress import Progress
    from dtsne.runtime._typing import FloatArray

_LOGGER = logging.getLogger(__name__)

# Up to this many points P is kept over all pairs, as the paper defines it; beyond, over the nearest
# neighbours, which changes σ by a few percent (docs/optimiser.md) and needs 20 times less memory.
MAX_DENSE = 10_000
# A map that keeps densities is done before clusters drift apart (docs/optimiser.md); one that does
# not is better the lower KL is, and at the second tolerance it is about where openTSNE's ends.
_DEFAULT_TOL, _TSNE_TOL = 5e-4, 1e-4
# A map that starts without any order needs more of a pull to find one.
_RANDOM_EXAGGERATION = 4.0


@dataclass(frozen=True)
class Given:
    """What came in, checked and prepared."""

    data: Data
    start: FloatArray | None  # the user's own
    kind: Kind
    fingerprint: FloatArray


def fit(model: Any, given: Given, backend: Backend, n_threads: int, progress: Progress) -> None:
    """Fit a :class:`dtsne.DTSNE`, whose parameters are checked, and set its attributes."""
    data = given.data
    n = len(data)
    perplexity = clip_perplexity(model.perplexity, n)
    rule = model._rules[model.optimizer]
    schedule = _schedule(model, rule, n)
    backend.check_job(_job(model, data, perplexity, schedule, n_threads, backend.max_exact))
    checkpoints = open_checkpoints(model, data)
    paper = model.optimizer == "paper"
    calibrated = model.calibration == "auto" and model.density_scale > 0 and not paper
    problem = state_problem(
        data,
        perplexity,
        dense=data.has_all_distances and n <= MAX_DENSE,
        density_scale=model.density_scale,
        plan=model._calibration_plan if calibrated else None,
        progress=progress,
        backend=backend,
    )
    scales = problem.scales
    if paper:
        # γ of the paper is 1/(σ_i + σ_j)² over its maximum: with s = σ/σ_min the same.
        scales = scales / scales.min()
    with progress.phase("start"):
        start = _first_map(model, given, problem, scales, perplexity, backend)
    by_fft = model.method == "fft" or (model.method == "auto" and n > backend.max_exact)
    tolerance = model.fft_tolerance if by_fft else None
    timings = progress.timings
    engine = backend.engine(problem.affinities, model.n_components, tolerance, timings)
    state, history = checkpoints.resume(State.at_start(start, scales, problem.calibration))
    sigma = given.kind.of(problem.in_order_of_rows(problem.sigmas) * data.unit, exact=True)
    known = {
        "sigma_": sigma,
        "perplexity_": perplexity,
        "neighbor_recall_": problem.recall,
        "timings_": timings.cpu,
        "map_unit_": problem.unit * data.unit,
        "_kept": Kept(
            data=data,
            lists=problem.lists,
            prepared_with=model._preparation(),
            fingerprint=given.fingerprint,
            at_bound=problem.in_order_of_rows(problem.at_bound),
        ),
    }
    descent = _Descent(model, problem, given.kind, schedule, checkpoints, known, history)
    with progress.phase("descent"):
        descent.follow(descend(engine, state, rule, schedule, timings), progress)


def _job(
    model: Any, data: Data, perplexity: float, schedule: Schedule, n_threads: int, max_exact: int
) -> Job:
    return Job(
        n=len(data),
        d=data.n_dimensions,
        n_components=model.n_components,
        perplexity=perplexity,
        max_dense=MAX_DENSE if data.has_all_distances else 0,
        max_exact=max_exact,
        method=model.method,
        n_iter=schedule.expected_end(),
        n_threads=n_threads,
        searches=data.has_all_distances,
    )


def _schedule(model: Any, rule: Rule, n: int) -> Schedule:
    exaggeration = model.early_exaggeration
    if exaggeration == "auto":
        unordered = isinstance(model.init, str) and model.init == "random" and rule.scaled
        exaggeration = _RANDOM_EXAGGERATION if unordered else rule.exaggeration
    tol = model.tol
    if tol == "auto":
        tol = _DEFAULT_TOL if model.density_scale > 0 else _TSNE_TOL
    step = rule.step_share * n if model.learning_rate == "auto" else model.learning_rate
    return Schedule(
        learning_rate=step,
        exaggeration=exaggeration,
        max_iter=model.max_iter,
        tol=tol if rule.settles else 0.0,
    )


def _first_map(
    model: Any, given: Given, problem: Problem, scales: Any, perplexity: float, backend: Backend
) -> Any:
    if given.start is not None:
        return backend.array(problem.in_own_order(given.start))
    start = None
    if model.init != "random":
        start = _start.principal_start(problem.data, model.n_components, problem.unit)
    spectral = model.init == "spectral" or (model.init == "pca" and start is None)
    if start is None:
        rng = _generator(model.random_state)
        start = _start.random_start(len(problem.data), model.n_components, rng)
    start = problem.in_own_order(start)
    if spectral:
        start = _start.spectral_start(problem.affinities.as_matrix(), model.n_components, start)
    if model.optimizer == "paper":
        return backend.array(_start.shrink_as_paper(start))
    return spread_initial_duplicates(backend.array(start), scales, perplexity)


def _generator(random_state: int | np.random.RandomState | None) -> np.random.Generator:
    """Turn scikit-learn's random_state into a generator of our own."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


@dataclass
class _Descent:
    """Whoever consumes the checkpoints of a descent: keeps, tells, and may end it."""

    model: Any
    problem: Problem
    kind: Kind
    schedule: Schedule
    checkpoints: NoCheckpoints
    known: dict[str, Any]  # attributes of the model that the descent does not change
    history: History
    best: Checkpoint | None = field(default=None)

    def follow(self, steps: Iterator[Checkpoint], progress: Progress) -> None:
        """Go through the descent, and keep its last map, or the best if it is interrupted."""
        stopped = False
        try:
            for last in steps:
                self._take(last, progress)
                stopped = self._is_stopped(last)
                if stopped:
                    break
        except KeyboardInterrupt:
            if self.best is not None:
                self._keep(self.best)
                self.checkpoints.write(last.state, self.history)
            raise
        self._keep(last)
        self.checkpoints.remove()
        if self.schedule.tol > 0 and not (last.settled or stopped):
            warn(
                f"KL had not settled after max_iter={self.model.max_iter} iterations; "
                "raise max_iter, or tol, if the map is good enough.",
                ConvergenceWarning,
            )

    def _take(self, last: Checkpoint, progress: Progress) -> None:
        iteration = last.state.iteration
        self.history.append((iteration, last.kl))
        if not np.isfinite(last.kl):
            raise FloatingPointError(
                f"The descent diverged by iteration {iteration}; "
                "use learning_rate='auto' or a smaller one."
            )
        self.best = last if last.improves(self.best) else self.best
        self.checkpoints.keep(last.state, self.history)
        progress.advance(iteration, self.schedule.expected_end(iteration), kl=last.kl)
        _LOGGER.debug("iteration %4d  KL %.4f", iteration, last.kl)

    def _is_stopped(self, last: Checkpoint) -> bool:
        """Whether the user's callback ends the descent."""
        if self.model.callback is None:
            return False
        shown = to_host(self.problem.in_order_of_rows(last.state.embedding))
        shown.flags.writeable = False
        return bool(self.model.callback(last.state.iteration, last.kl, shown))

    def _keep(self, checkpoint: Checkpoint) -> None:
        state, in_order = checkpoint.state, self.problem.in_order_of_rows
        found = {
            "embedding_": self.kind.of(in_order(state.embedding)),
            "kl_divergence_": checkpoint.kl,
            "kernel_scale_": self.kind.of(in_order(state.scales), exact=True),
            "n_iter_": state.iteration,
            "n_calibrations_": state.n_calibrated,
            "converged_": checkpoint.settled,
            "history_": np.array(self.history),
        }
        for name, value in (found | self.known).items():
            setattr(self.model, name, value)
