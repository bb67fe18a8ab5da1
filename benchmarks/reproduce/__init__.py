"""The paper's comparison, from one call: every method on every set, as tables and figures.

``make reproduce`` on the command line, or, with the folder `benchmarks` in PYTHONPATH::

    from reproduce import reproduce

    if __name__ == "__main__":  # in a script: methods run in processes that import it
        report, page = reproduce("reproduction")
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["N_QUICK", "N_SEEDS", "method_names", "reproduce", "set_names"]

N_QUICK = 1000
N_SEEDS = 3


def set_names() -> tuple[str, ...]:
    """Return the names of the sets."""
    from reproduce._sets import SETS

    return tuple(SETS)


def method_names() -> tuple[str, ...]:
    """Return the names of the methods."""
    from reproduce.methods import METHODS

    return tuple(METHODS)


def reproduce(
    folder: str | Path,
    *,
    sets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    seeds: int = N_SEEDS,
    n: int | None = None,
    quiet: bool = False,
) -> tuple[Path, Path]:
    """Run the comparison and write its report.

    Maps and measures are kept in ``folder/results`` as soon as they are there, named by what they
    are made of: an interrupted run goes on from there, and a second one does only what changed.

    Parameters
    ----------
    folder : str or path
        Where to write ``report.md``, ``report.html``, ``figures`` and ``results``.
    sets, methods : sequence of str, optional
        Which of `set_names` and of `method_names`; all by default.
    seeds : int, default 3
        How often each set is drawn, and each method run on it.
    n : int, optional
        Most points of a set; by default as many as in the paper.
    quiet : bool, default False
        Show no progress.

    Returns
    -------
    report, page : path
        Of the report in Markdown and in HTML. Where the run is interrupted (Ctrl-C), they are
        written too, with what there is.
    """
    from tqdm.auto import tqdm

    from dtsne.plots._axes import new_figure
    from reproduce._report import write_report
    from reproduce._results import Job, Store
    from reproduce._run import Outcomes, Scope, run
    from reproduce._sets import SETS
    from reproduce.methods import METHODS

    if seeds < 1:
        raise ValueError(f"seeds={seeds} is too few; choose at least 1.")
    scope = Scope(_chosen("set", sets, SETS), _chosen("method", methods, METHODS), seeds, n)
    new_figure((1, 1))  # where matplotlib is missing, this says so, before any long work
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    outcomes = Outcomes(scope)
    with tqdm(total=len(scope.jobs()), unit="map", disable=quiet) as bar:

        def show(job: Job) -> None:
            bar.update(len(outcomes.found) - bar.n)
            bar.set_description(f"{job.method} on {job.set_name}")

        try:
            run(outcomes, Store(where / "results"), show)
            bar.update(len(outcomes.found) - bar.n)
        finally:
            written = write_report(outcomes, where)
    return written


def _chosen(kind: str, asked: Sequence[str] | None, known: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names asked for, in the order of those known."""
    if asked is None:
        return tuple(known)
    if not asked:
        raise ValueError(f"no {kind} is chosen; choose from {', '.join(known)}.")
    for name in asked:
        if name not in known:
            raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(known)}.")
    return tuple(name for name in known if name in asked)
