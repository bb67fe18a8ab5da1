"""The report: the paper's table and figures, ours beside the paper's, in Markdown and in HTML."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._document import Block, Document, Figure, Items, Section, Table
from reproduce import _figures, _summary
from reproduce._measures import PAPER, SYMBOLS, THEORY
from reproduce._page import to_page
from reproduce._results import Failed
from reproduce._run import drawn_set
from reproduce._sets import N_COMPONENTS, SETS
from reproduce._summary import Cell, cell
from reproduce.methods import METHODS, OF_FIGURES, OF_MNIST, OF_THEORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reproduce._run import Outcomes

TITLE = "dtSNE: the paper's comparison, run again"
_MISSING, _UNDEFINED = "missing", "undefined"
_READINGS = (
    "ρ is Pearson's correlation of the distances of all pairs, as in the paper's text; the caption "
    "of its table says Spearman's.",
    "ρ_knn is Pearson's correlation of the sorted distances to the 100 nearest neighbours, each "
    "space with its own.",
    "ρ_r is Pearson's correlation of the ratios r_i/r_j of all pairs, r being the distance to the "
    "100th neighbour, each space with its own; log r is that of their logarithms.",
    "Trust and recall are of the 15 nearest neighbours.",
    "dtSNE is ours with its defaults: the paper's objective, minimised to convergence, with the "
    "kernel corrected five times by the radii found in the map (calibration). “Plain” leaves the "
    "correction out; “paper's descent” is also minimised as in the paper, for 1000 iterations, as "
    "it names no number. All three stand beside the paper's row for dtSNE.",
    "The paper prints .100 for t-SNE's ρ on G3-s, which is taken for 1.00.",
    "LargeVis is TorchDR's, unless a program of its authors is named; LLE has scikit-learn's 5 "
    "neighbours, since the paper does not say how many it took, and its maps of separate clusters "
    "are mostly a matter of chance.",
)


def write_report(outcomes: Outcomes, folder: Path) -> tuple[Path, Path]:
    """Draw the figures and write ``report.md`` and ``report.html``; return where these are."""
    pictures = Section("Figures", _pictures(outcomes, folder))
    sections = [*_head(outcomes), *_tables(outcomes), pictures, *_tail(outcomes)]
    document = Document(TITLE, sections)
    markdown, page = folder / "report.md", folder / "report.html"
    markdown.write_text(document.markdown(folder), encoding="utf-8")
    page.write_text(to_page(document, folder), encoding="utf-8")
    return markdown, page


def _head(outcomes: Outcomes) -> list[Section]:
    scope = outcomes.scope
    about = [
        "Fischer, Burkholz and Vreeken, Preserving local densities in low-dimensional "
        f"embeddings (2023). Means over {scope.seeds} seed(s), each of which draws the set "
        "anew (its points, or the subset of a larger set) and seeds the method, where it takes "
        f"a seed. All methods get the first {N_COMPONENTS} principal components, and are "
        "measured against them."
    ]
    if scope.n is not None:
        about.append(
            f"A quick run, with at most {scope.n} points of each set: its figures are not those "
            "of the paper's sizes."
        )
    return [Section("", about), Section("How the paper was read", [Items(_READINGS)], level=3)]


def _tables(outcomes: Outcomes) -> list[Section]:
    scope = outcomes.scope
    in_table = [name for name in scope.sets if SETS[name].column]
    sections = []
    if in_table:
        marks = (
            "In brackets what the paper prints; ▲ ours is higher, = within "
            f"{_summary.TOLERANCE}, ▼ lower."
        )
        tables = [_paper_table(outcomes, measure, in_table) for measure in PAPER]
        sections.append(Section("The paper's table", [marks, *tables]))
    measures = [_measures_table(outcomes, name) for name in scope.sets]
    sections.append(Section("More measures", measures))
    synthetic = [name for name in scope.sets if SETS[name].synthetic]
    if synthetic:
        meaning = (
            "Relative to the first cluster's; means over the seeds. A cluster that a map draws "
            f"as one point has no radius ({_UNDEFINED}); where it is the first, the next one "
            "takes its place."
        )
        tables = [_radii_table(outcomes, name) for name in synthetic]
        sections.append(Section("Radii of the clusters", [meaning, *tables]))
    return [*sections, *_theory_tables(outcomes)]


def _paper_table(outcomes: Outcomes, measure: str, sets: Sequence[str]) -> Table:
    def text(found: Cell) -> str:
        paper = "" if found.paper is None else f" ({found.paper:.2f})"
        if not found.n_seeds:  # the word last, as it is what the cell is marked by
            return f"{paper} {_MISSING}".strip()
        return f"{_value(found, '.2f', outcomes)}{paper} {found.mark}".strip()

    rows = [
        [METHODS[method].title, *(text(cell(outcomes, measure, method, name)) for name in sets)]
        for method in outcomes.scope.methods
    ]
    header = [SYMBOLS[measure], *(_column_title(name) for name in sets)]
    return Table(rows, header)


def _value(found: Cell, digits: str, outcomes: Outcomes) -> str:
    """Write a mean; where it is missing, undefined, or not of all seeds, say so."""
    if not found.n_seeds:
        return _MISSING
    if not np.isfinite(found.mean):
        return _UNDEFINED
    of = outcomes.scope.seeds
    few = "" if found.n_seeds == of else f" [{found.n_seeds} of {of} seeds]"
    return f"{found.mean:{digits}}{few}"


def _column_title(name: str) -> str:
    found = SETS[name]
    return found.title if found.column == found.title else f"{found.title} (for {found.column})"


def _measures_table(outcomes: Outcomes, set_name: str) -> Table:
    synthetic = SETS[set_name].synthetic
    rows = []
    for method in outcomes.scope.methods:
        texts = []
        for measure in SYMBOLS:
            found = cell(outcomes, measure, method, set_name)
            spread = f" ± {found.spread:.3f}" if found.n_seeds > 1 else ""
            texts.append(_value(found, ".3f", outcomes) + spread)
        if synthetic:
            error = _summary.radius_error(outcomes, method, set_name)
            texts.append(_value(error, ".1%", outcomes))
        seconds = _summary.cpu_seconds(outcomes, method, set_name)
        texts.append(_value(seconds, ".1f", outcomes))
        rows.append([METHODS[method].title, *texts])
    header = [set_name, *SYMBOLS.values(), *(["radius error"] if synthetic else []), "CPU s"]
    return Table(rows, header)


def _radii_table(outcomes: Outcomes, set_name: str) -> Table:
    rows: list[list[str]] = []
    n_clusters = len(drawn_set(outcomes, set_name).label_names)
    for method in outcomes.scope.methods:
        found = _summary.radii(outcomes, method, set_name)
        if found is None:
            rows.append([METHODS[method].title, *[_MISSING] * n_clusters])
            continue
        true, drawn = found
        if not rows or rows[0][0] != "the data":
            rows.insert(0, ["the data", *(f"{radius:.2f}" for radius in true)])
        rows.append([METHODS[method].title, *(
            f"{radius:.2f}" if np.isfinite(radius) else _UNDEFINED for radius in drawn
        )])  # fmt: skip
    return Table(rows, [set_name, *(f"cluster {i + 1}" for i in range(n_clusters))])


def _theory_tables(outcomes: Outcomes) -> list[Section]:
    methods = [method for method in OF_THEORY if method in outcomes.scope.methods]
    if not methods:
        return []
    header = [
        "set", "pairs", *(f"{METHODS[m].title}: {figure}" for m in methods
                          for figure in ("r", "slope", "off by"))
    ]  # fmt: skip
    rows = []
    for set_name in outcomes.scope.sets:
        for where in THEORY:
            texts = []
            for method in methods:
                r, slope, factor = (
                    _summary.theory(outcomes, where, figure, method, set_name)
                    for figure in ("correlation", "slope", "factor")
                )
                texts += (
                    [_MISSING] * 3
                    if not r.n_seeds
                    else [f"{r.mean:.2f}", f"{slope.mean:.2f}", f"{factor.mean:.2f} ×"]
                )
            rows.append([SETS[set_name].title, where, *texts])
    meaning = (
        "How well the ratio of the squared distances of two close pairs (a point and one of "
        "its 15 nearest), taken anywhere in the data or around the same point, is that of the "
        "map: correlation and slope of the logarithms (both 1 at best), and the factor by "
        "which the map is off in the median."
    )
    return [Section("The theory, checked", [meaning, Table(rows, header)])]


def _pictures(outcomes: Outcomes, folder: Path) -> list[Block]:
    sets, methods = outcomes.scope.sets, outcomes.scope.methods
    of_paper = [method for method in OF_FIGURES if method in methods]
    blocks: list[Block] = []

    def gallery(name: str, caption: str, shown: Sequence[str], *, original: bool = False) -> None:
        if name in sets and shown and not isinstance(outcomes.drawn(name), Failed):
            path = folder / "figures" / f"{name}.png"
            _figures.draw_gallery(outcomes, name, shown, path, original=original)
            blocks.append(Figure(path, caption))

    gallery("2D-density", "Three Gaussians of different spread, 300 points each: the data, and "
            "maps of it.", of_paper, original=True)  # fmt: skip
    gallery("2D-samples", "Three Gaussians of the same spread, 100, 200 and 500 points: the data, "
            "and maps of it.", of_paper, original=True)  # fmt: skip
    gallery("G10-d", "G10-d: ten Gaussians in 50 dimensions, of spread 1 to 10.", methods)
    gallery("U5-d", "U5-d: five uniform clusters in 150 dimensions, of spread 1 to 5.", methods)
    in_table = [name for name in sets if SETS[name].column]
    if in_table:
        path = folder / "figures" / "measures.png"
        _figures.draw_bars(outcomes, in_table, methods, path)
        blocks.append(Figure(path, "The three measures; black lines are what the paper prints."))
    with_images = [method for method in OF_MNIST if method in methods]
    if "mnist" in sets and with_images and not isinstance(outcomes.drawn("mnist"), Failed):
        path = folder / "figures" / "mnist.png"
        _figures.draw_digits(outcomes, with_images, path)
        blocks.append(Figure(path, "MNIST, drawn with its images."))
    gallery("samusik", "Samusik, coloured by cell type.", methods)
    gallery("amazon", "Amazon, coloured by category.", methods)
    theory_methods = [method for method in OF_THEORY if method in methods]
    with_spreads = next((name for name in ("G10-d", "G3-d", "2D-density") if name in sets), None)
    if theory_methods and with_spreads:
        path = folder / "figures" / "theory.png"
        _figures.draw_theory(outcomes, with_spreads, theory_methods, path)
        blocks.append(
            Figure(path, f"Ratios of the squared distances of two close pairs of {with_spreads}.")
        )
    return blocks


def _tail(outcomes: Outcomes) -> list[Section]:
    scope = outcomes.scope
    rows = []
    for method in scope.methods:
        settings = ", ".join(f"{name}={value}" for name, value in METHODS[method].settings.items())
        version = outcomes.versions.get(method, _MISSING)
        rows.append([METHODS[method].title, settings or "its defaults", version])
    notes = [f"{SETS[name].title}: {SETS[name].note or 'as in the paper'}." for name in scope.sets]
    sections = [
        Section("Methods", [Table(rows, ["method", "settings", "version"])]),
        Section("Sets", [Items(notes)]),
    ]
    if missing := _missing(outcomes):
        sections.append(Section("What is missing, and why", [Items(missing)]))
    host = f"Python {platform.python_version()}, {platform.system()}."
    return [*sections, Section("", [host])]


def _missing(outcomes: Outcomes) -> list[str]:
    """Return a line for each reason why maps of a method are missing."""
    scope = outcomes.scope
    lines = []
    for method in scope.methods:
        reasons = {name: outcomes.reason(method, name) for name in scope.sets}
        for reason in dict.fromkeys(filter(None, reasons.values())):
            concerned = [name for name in scope.sets if reasons[name] == reason]
            where = (
                "all sets"
                if len(concerned) == len(scope.sets)
                else ", ".join(SETS[name].title for name in concerned)
            )
            lines.append(f"{METHODS[method].title}, {where}: {reason}")
    return lines
