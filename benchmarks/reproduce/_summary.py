"""Means over seeds, beside what the paper prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduce._paper import printed
from reproduce._sets import SETS

if TYPE_CHECKING:
    from reproduce._run import MethodResult, Outcomes

# Differences up to this are those of another draw of the same set.
TOLERANCE = 0.02


@dataclass(frozen=True)
class Cell:
    """A mean over seeds with its standard deviation, or the reason why there is none."""

    mean: float
    spread: float
    paper: float | None
    n_seeds: int  # that it is the mean of
    reason: str | None = None  # why seeds are missing, all of them if there are none

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, which has two digits."""
        defined = self.paper is not None and np.isfinite(self.mean)
        return self.mean - self.paper if defined else None  # type: ignore[operator]

    @property
    def mark(self) -> str:
        """▲ above the paper's, = as the paper's, ▼ below it; nothing where there is none."""
        if self.difference is None:
            return ""
        # Half a digit more, by which the paper's numbers are rounded.
        if abs(self.difference) <= TOLERANCE + 0.005:
            return "="
        return "▲" if self.difference > 0 else "▼"


def cell(outcomes: Outcomes, measure: str, method: str, set_name: str) -> Cell:
    """Average a measure over the seeds."""
    values = [done.measures[measure] for done in outcomes.of(method, set_name)]
    return _cell(values, outcomes, method, set_name, measure)


def cpu_seconds(outcomes: Outcomes, method: str, set_name: str) -> Cell:
    """Average the CPU seconds of the maps."""
    values = [done.embedded.cpu_seconds for done in outcomes.of(method, set_name)]
    return _cell(values, outcomes, method, set_name)


def radius_error(outcomes: Outcomes, method: str, set_name: str) -> Cell:
    """Average the largest error of a cluster's radius relative to the first cluster's."""

    def largest(done: MethodResult) -> float:
        true, drawn = (np.array(done.measures[f"radii_{space}"]) for space in ("data", "map"))
        errors = np.abs(drawn / true - 1)
        return float(np.nanmax(errors)) if np.isfinite(errors).any() else float("nan")

    values = [largest(done) for done in outcomes.of(method, set_name)]
    return _cell(values, outcomes, method, set_name)


def theory(outcomes: Outcomes, where: str, figure: str, method: str, set_name: str) -> Cell:
    """Average a figure of the check of the theorem."""
    values = [done.measures[f"theory, {where}"][figure] for done in outcomes.of(method, set_name)]
    return _cell(values, outcomes, method, set_name)


def radii(outcomes: Outcomes, method: str, set_name: str) -> tuple[list[float], list[float]] | None:
    """Return the mean radii of the clusters in the data and in the map; None without a map."""
    done = outcomes.of(method, set_name)
    if not done:
        return None
    in_data, in_map = (
        np.mean([found.measures[f"radii_{space}"] for found in done], axis=0).tolist()
        for space in ("data", "map")
    )
    return in_data, in_map


def _cell(
    values: list[float], outcomes: Outcomes, method: str, set_name: str, measure: str = ""
) -> Cell:
    paper = printed(measure, method, SETS[set_name].column)
    reason = outcomes.reason(method, set_name)
    if not values:
        return Cell(float("nan"), float("nan"), paper, 0, reason)
    return Cell(float(np.mean(values)), float(np.std(values)), paper, len(values), reason)
