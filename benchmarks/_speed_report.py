"""The records of speed.py's runs, and the report made of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from _peers import METHODS, N_FIRST_CALL, N_LARGE, ROWS_MEASURED, ROWS_OF_LARGE, Measured
from quality import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

# Colour-blind safe (Okabe and Ito).
COLOURS = dict(
    zip(METHODS, ("#D55E00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#000000"), strict=True)
)
SHOWN_MEASURES = ("log r", "ρ_knn", "ρ_r", "trust", "recall")
NOTHING = "–"


@dataclass(frozen=True)
class Record:
    """One run: what was measured, or the reason why nothing was."""

    method: str
    data: str
    n: int
    jobs: int
    outcome: Measured | str
    load_before: float
    load_after: float
    machine: str
    versions: dict[str, str]

    @property
    def order(self) -> tuple[bool, int, int]:
        """The place in the tables: the set of all methods first, then by size and method."""
        return self.data != "MNIST", self.n, list(METHODS).index(self.method)


def write_record(record: Record, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.data}-{record.n}-{record.method}.json"
    path.write_text(json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


def read_records(folder: Path) -> list[Record]:
    def from_json(stored: dict[str, Any]) -> Record:
        if isinstance(stored["outcome"], dict):
            stored["outcome"] = Measured(**stored["outcome"])
        return Record(**stored)

    records = [from_json(json.loads(path.read_text())) for path in folder.glob("*.json")]
    return sorted(records, key=lambda record: record.order)


def scaling_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit seconds ∝ nᵉ by least squares of the logarithms and return e."""
    if len(set(sizes)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def write_report(records: Sequence[Record], folder: Path) -> None:
    draw(records, folder / "speed.png")
    (folder / "speed.md").write_text("\n".join(report_lines(records)) + "\n")


def report_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield the report line by line."""
    jobs = _distinct(str(record.jobs) for record in records)
    yield f"""# Speed

Measured by `make bench`; `python benchmarks/speed.py --report-only` writes this page again from
`runs/`.

* Default settings, {jobs} threads, each run in a process of its own; openTSNE at perplexity 30 and
  100. UMAP, densMAP and PaCMAP are not seeded, as a seed would take threads from them.
* MNIST is reduced to 50 principal components; CyTOF is arcsinh(x/5) in 8 dimensions; smaller sizes
  are random subsets. Preparing is not counted.
* "First call" is the import and a map of {N_FIRST_CALL:,} points, the caches on disk being filled
  already: what a method compiles in every new process is counted here. Wall and CPU seconds are of
  the fit that follows it, in the same process.
* Peak memory is that of the process, with imports and data.
* The measures are those of [quality](../quality.md), around a sample of {ROWS_MEASURED:,} points at
  most, and of {ROWS_OF_LARGE:,} where there are more than {N_LARGE:,}.

![CPU seconds and peak memory against the number of points](speed.png)

## Runs

"dtsne ÷" is dtsne's CPU seconds over those of the method on the same points; "load" is the average
of the machine's last minute before and after the run, which adds its own threads to it.
"""
    yield from _runs_table(records)
    yield "\n## Scaling of dtsne\n"
    yield from _scaling_lines(records)
    yield from _phases_section(records)
    yield "\n## Machine\n"
    yield f"{_distinct(record.machine for record in records)}.\n"
    names = list(dict.fromkeys(name for record in records for name in record.versions))
    for name in names:
        found = _distinct(record.versions[name] for record in records if name in record.versions)
        yield f"* {name} {found}"


def _runs_table(records: Sequence[Record]) -> Iterator[str]:
    header = ("set", "n", "method", "wall s", "CPU s", "dtsne ÷", "peak MB", "first call s")
    last = (*SHOWN_MEASURES, "load")
    ours = {
        (record.data, record.n): record.outcome.cpu_seconds
        for record in records
        if record.method == "dtsne" and isinstance(record.outcome, Measured)
    }
    rows: list[Sequence[str]] = []
    for record in records:
        found = record.outcome
        if isinstance(found, str):
            rows.append((*_name(record), f"failed: {found}".replace("|", "\\|")))
            continue
        our_seconds = None if record.method == "dtsne" else ours.get((record.data, record.n))
        rows.append(
            (
                *_name(record),
                f"{found.wall_seconds:,.1f}",
                f"{found.cpu_seconds:,.1f}",
                NOTHING if our_seconds is None else f"{our_seconds / found.cpu_seconds:.2f}",
                f"{found.peak_mb:,.0f}",
                f"{found.first_call_seconds:.1f}",
                *(f"{found.quality[MEASURES[symbol]]:.3f}" for symbol in SHOWN_MEASURES),
                f"{record.load_before:.1f} → {record.load_after:.1f}",
            )
        )
    return _table((*header, *last), rows)


def _scaling_lines(records: Sequence[Record]) -> Iterator[str]:
    curve = _curve(records, "dtsne", "CyTOF", _cpu_seconds)
    if len(curve) < 2:
        yield "Not enough sizes of the CyTOF set were measured."
        return
    sizes, seconds = zip(*curve, strict=True)
    exponent = scaling_exponent(sizes, seconds)
    yield f"CPU seconds on the CyTOF set grow as n^{exponent:.2f} (least squares over all sizes)."
    ends = [(n, cpu) for n, cpu in curve if n in (70_000, 929_685)]
    if len(ends) == 2:
        (small, few), (large, many) = ends
        yield (
            f"From {small:,} to {large:,} points they grow {many / few:.1f}-fold, "
            f"as n^{scaling_exponent((small, large), (few, many)):.2f}."
        )


def _phases_section(records: Sequence[Record]) -> Iterator[str]:
    told = [
        (record, record.outcome, record.outcome.phases)
        for record in records
        if isinstance(record.outcome, Measured) and record.outcome.n_iter is not None
    ]
    names = list(dict.fromkeys(name for _, _, phases in told for name in phases))
    yield "\n## Iterations and phases of dtsne\n"
    if names:
        yield "CPU seconds of each phase; some are parts of others.\n"
    yield from _table(
        ("set", "n", "method", "iterations", *names),
        [
            (
                *_name(record),
                f"{found.n_iter}",
                *(f"{phases[name]:,.1f}" if name in phases else NOTHING for name in names),
            )
            for record, found, phases in told
        ],
    )


def _name(record: Record) -> tuple[str, str, str]:
    return record.data, f"{record.n:,}", record.method


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; a row may end early."""
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for row in rows:
        yield f"| {' | '.join([*row, *[''] * (len(header) - len(row))])} |"


def _distinct(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))


def _cpu_seconds(found: Measured) -> float:
    return found.cpu_seconds


def _peak_mb(found: Measured) -> float:
    return found.peak_mb


def _curve(
    records: Sequence[Record], method: str, data: str, value: Callable[[Measured], float]
) -> list[tuple[int, float]]:
    return [
        (record.n, value(record.outcome))
        for record in records
        if (record.method, record.data) == (method, data) and isinstance(record.outcome, Measured)
    ]


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw CPU seconds and memory against the number of points."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, both = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    panels = (("CPU seconds", _cpu_seconds), ("peak memory, MB", _peak_mb))
    for axes, (title, value) in zip(both, panels, strict=True):
        for data, line in (("MNIST", "-"), ("CyTOF", "--")):
            for method, colour in COLOURS.items():
                if curve := _curve(records, method, data, value):
                    label = method if data == "MNIST" else f"{method}, {data}"
                    style = {"linestyle": line, "color": colour, "linewidth": 1.8, "label": label}
                    axes.plot(*zip(*curve, strict=True), marker="o", markersize=4.5, **style)
        axes.set(xscale="log", yscale="log", xlabel="number of points")
        axes.set_title(title, fontsize=11, loc="left")
        for axis, labelled in ((axes.xaxis, (1,)), (axes.yaxis, (1, 2, 5))):
            axis.set_major_locator(LogLocator(subs=labelled))
            axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
            axis.set_minor_formatter(NullFormatter())
        axes.grid(color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = both[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
