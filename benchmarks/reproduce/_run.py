"""Every method on every set, with every seed: what is asked for, and what has come of it."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from reproduce._digest import digest_of, digest_of_code
from reproduce._measures import measure
from reproduce._results import Embedded, Failed, Job, Store, as_key
from reproduce._sets import SETS, DatasetSample, draw
from reproduce._worker import Worker, started_worker
from reproduce.methods import METHODS, Missing, digest_of_adapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtsne.runtime._typing import FloatArray

# The module whose code, with all that it imports, measures a map.
MEASURES = "reproduce._measures"

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scope:
    """What to run. `n` caps the points of every set; None takes as many as the paper does."""

    sets: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: int
    n: int | None = None

    def jobs(self) -> list[Job]:
        """Return all of it, method by method, as a method's process serves all its sets."""
        return [
            Job(method, set_name, seed)
            for method in self.methods
            for set_name in self.sets
            for seed in range(self.seeds)
        ]


@dataclass(frozen=True, eq=False)
class MethodResult:
    """A map, what it took, and what was measured."""

    embedded: Embedded
    measures: dict[str, Any]


@dataclass
class Outcomes:
    """What has come of each job so far, and which code each method ran with."""

    scope: Scope
    found: dict[Job, MethodResult | Failed] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    _drawn: dict[tuple[str, int], DatasetSample | Failed] = field(default_factory=dict, repr=False)

    def drawn(self, set_name: str, seed: int = 0) -> DatasetSample | Failed:
        """Return a set, or why it is not here; it is looked for once."""
        key = (set_name, seed)
        if key not in self._drawn:
            try:
                self._drawn[key] = draw(set_name, seed, self.scope.n)
            except (OSError, ImportError, ValueError) as error:
                self._drawn[key] = Failed(str(error))
        return self._drawn[key]

    def of(self, method: str, set_name: str) -> list[MethodResult]:
        """Return the maps of a method on a set, by seed."""
        jobs = (Job(method, set_name, seed) for seed in range(self.scope.seeds))
        return [done for job in jobs if isinstance(done := self.found.get(job), MethodResult)]

    def reason(self, method: str, set_name: str) -> str | None:
        """Say why a map of a method on a set is missing, None if all are there."""
        for seed in range(self.scope.seeds):
            found = self.found.get(Job(method, set_name, seed), Failed("not run"))
            if isinstance(found, Failed):
                return " ".join(found.reason.split())
        return None

    def embedding(self, method: str, set_name: str) -> FloatArray | None:
        """Return the map of the first seed, the one that is drawn."""
        found = self.found.get(Job(method, set_name, 0))
        return found.embedded.embedding if isinstance(found, MethodResult) else None


def drawn_set(outcomes: Outcomes, set_name: str) -> DatasetSample:
    """Return the set of the first seed, which has to be there."""
    drawn = outcomes.drawn(set_name)
    if isinstance(drawn, Failed):
        raise LookupError(f"{set_name}: {drawn.reason}")  # noqa: TRY004
    return drawn


def run(outcomes: Outcomes, store: Store, started: Callable[[Job], None]) -> None:
    """Do what is not in the store yet; `started` is told of each job.

    Outcomes are filled in as they come, so that an interrupted run leaves those it has.
    """
    for method in outcomes.scope.methods:
        jobs = [job for job in outcomes.scope.jobs() if job.method == method]
        try:
            outcomes.versions[method] = METHODS[method].version()
        except Missing as why:
            _LOGGER.info("%s is missing: %s", method, why)
            for job in jobs:
                started(job)
                outcomes.found[job] = Failed(str(why))
            continue
        with ExitStack() as stack:
            worker = cache(lambda stack=stack: stack.enter_context(started_worker()))
            for job in jobs:
                started(job)
                outcomes.found[job] = _outcome(job, outcomes, store, worker)


def _outcome(
    job: Job, outcomes: Outcomes, store: Store, worker: Callable[[], Worker]
) -> MethodResult | Failed:
    drawn = outcomes.drawn(job.set_name, job.seed)
    if isinstance(drawn, Failed):
        return drawn
    key = as_key(
        job,
        version=outcomes.versions[job.method],
        settings=METHODS[job.method].settings,
        adapter=digest_of_adapter(METHODS[job.method]),
        data=digest_of(drawn.X),
    )
    embedded = store.map_of(key)
    if embedded is None:
        made = worker().embed(job.method, drawn.X, job.seed)
        if isinstance(made, Failed):
            _LOGGER.warning("%s on %s: %s", job.method, job.set_name, made.reason)
            return made
        store.keep_map(key, made)
        embedded = made
    synthetic = SETS[job.set_name].synthetic
    measured_by = {
        "data": digest_of(drawn.X, drawn.labels),
        "synthetic": synthetic,
        "map": digest_of(embedded.embedding),
        "code": digest_of_code(MEASURES),
    }
    measures = store.measures_of(measured_by)
    if measures is None:
        measures = measure(drawn, embedded.embedding, synthetic=synthetic)
        store.keep_measures(measured_by, measures)
    return MethodResult(embedded, measures)
