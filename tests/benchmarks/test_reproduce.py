"""The paper's comparison, on tiny sets: what is run, kept, and written."""

from __future__ import annotations

import html
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import dtsne
import reproduce as reproduce_package
from reproduce import _paper, reproduce
from reproduce.__main__ import main
from reproduce._measures import PAPER, SYMBOLS
from reproduce._report import TITLE, write_report
from reproduce._results import Embedded, Failed, Job, Store
from reproduce._run import MethodResult, Outcomes, Scope, run
from reproduce._sets import N_COMPONENTS, SETS, DatasetSample, draw
from reproduce._summary import Cell, cell, radii, radius_error
from reproduce._theory import compare_ratios
from reproduce._worker import Worker, embed_here, started_worker
from reproduce.methods import METHODS

PACKAGES_AT = [Path(package.__file__).parents[1] for package in (dtsne, reproduce_package)]
# What installs with the tests, and one that cannot be there.
TINY = Scope(
    sets=("2D-density", "G3-d", "G10-d"),
    methods=("dtsne", "lle", "tsne", "densne", "dtsne-plain", "dtsne-paper"),
    seeds=1,
    n=240,
)
THERE = [name for name in TINY.methods if name != "densne"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> tuple[Path, str, str]:
    """Return the folder, the Markdown and the page of a run."""
    folder = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DENSNE", raising=False)
        report, page = reproduce(
            folder, sets=TINY.sets, methods=TINY.methods, seeds=1, n=TINY.n, quiet=True
        )
    return folder, report.read_text(encoding="utf-8"), page.read_text(encoding="utf-8")


def rows_of(report: str, first: str) -> dict[str, list[str]]:
    """Return the rows of the table whose header starts with a word, by their first cell."""
    first = re.escape(first.replace("_", "\\_"))
    table = re.search(rf"^\| {first} \|.*(?:\n\|.*)*", report, flags=re.MULTILINE)
    assert table, first
    plain = table[0].replace("\\", "")
    lines = [[part.strip() for part in line.split("|")[1:-1]] for line in plain.splitlines()]
    assert all(len(line) == len(lines[0]) for line in lines)
    return {line[0]: line[1:] for line in lines[2:]}


@pytest.mark.parametrize("measure", PAPER)
def test_the_table_has_every_cell_beside_the_papers(tiny, measure):
    rows = rows_of(tiny[1], SYMBOLS[measure])
    assert list(rows) == [METHODS[name].title for name in TINY.methods]
    for method in THERE:
        for name, text in zip(("G3-d", "G10-d"), rows[METHODS[method].title], strict=True):
            printed = _paper.printed(measure, method, name)
            assert printed is not None
            paper = rf"\({printed:.2f}\) [▲=▼]"
            assert re.fullmatch(rf"-?\d\.\d\d {paper}", text), (method, name, text)
    assert rows["den-SNE"] == ["missing", "missing"]  # which the paper does not have


def test_a_missing_method_has_its_reason_and_no_number(tiny):
    reasons = tiny[1].partition("## What is missing, and why")[2]
    assert re.search(r"\* den-SNE, all sets: DENSNE is not set", reasons)


@pytest.mark.parametrize("name", TINY.sets)
def test_every_set_has_its_measures_and_radii(tiny, name):
    measures, spreads = rows_of(tiny[1], name), rows_of(tiny[1].partition("## Radii")[2], name)
    for method in THERE:
        assert all(re.match(r"-?\d", text) for text in measures[METHODS[method].title])
        drawn = spreads[METHODS[method].title]
        # LLE draws clusters as single points, which have no radius; nothing else does.
        assert method == "lle" or "undefined" not in drawn
        assert float(next(text for text in drawn if text != "undefined")) == 1.0
    n_clusters = len(draw(name, 0).label_names)
    assert all(len(row) == n_clusters for row in spreads.values())
    assert "the data" in spreads


def test_every_figure_is_there_in_both_reports(tiny):
    folder, report, page = tiny
    linked = re.findall(r"!\[.*\]\((figures/.*)\)", report)
    assert linked == [f"figures/{name}.png" for name in
                      ("2D-density", "G10-d", "measures", "theory")]  # fmt: skip
    assert all((folder / path).read_bytes()[:4] == b"\x89PNG" for path in linked)
    assert page.count("data:image/png;base64,") == len(linked)
    assert "http" not in page.replace('xmlns="http', "")  # it needs nothing from elsewhere


def test_the_page_opens_without_an_error(tiny, chromium):
    folder, _, _ = tiny
    page = chromium.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((folder / "report.html").as_uri())
    assert page.title() == TITLE
    assert page.locator("table").count() == tiny[1].count("\n|---")  # one such line for each
    widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(widths) == 4
    assert min(widths) > 300
    assert page.locator("td.missing").count() > 0
    assert complaints == []


def test_a_second_run_makes_no_map_again(tiny, monkeypatch):
    folder, report, _ = tiny
    monkeypatch.setattr(Worker, "embed", lambda *_: pytest.fail("made again"))
    monkeypatch.delenv("DENSNE", raising=False)
    again, _ = reproduce(
        folder, sets=TINY.sets, methods=TINY.methods, seeds=1, n=TINY.n, quiet=True
    )
    assert again.read_text(encoding="utf-8") == report


def test_what_changed_is_made_again(tmp_path, monkeypatch):
    made = []

    def embed(_, method, X, seed):
        made.append((method, seed))
        return Embedded(X[:, :2], 1.0)

    monkeypatch.setattr(Worker, "embed", embed)

    def once(seeds: int) -> list[tuple[str, int]]:
        made.clear()
        outcomes = Outcomes(Scope(("2D-density",), ("lle", "dtsne"), seeds, 120))
        run(outcomes, Store(tmp_path), lambda _: None)
        return list(made)

    assert once(1) == [("lle", 0), ("dtsne", 0)]
    assert once(2) == [("lle", 1), ("dtsne", 1)]
    monkeypatch.setitem(METHODS["lle"].settings, "n_neighbors", 7)
    assert once(2) == [("lle", 0), ("lle", 1)]
    monkeypatch.setattr("reproduce.methods._dtsne.digest_of_code", lambda _: "other")
    assert once(2) == [("dtsne", 0), ("dtsne", 1)]
    for path in tmp_path.glob("map-*.npz"):
        path.write_bytes(path.read_bytes()[:100])
    assert once(1) == [("lle", 0), ("dtsne", 0)]


def test_an_interrupted_run_reports_what_it_has_and_goes_on(tmp_path, monkeypatch):
    n_made = 0

    def embed(_, method, X, seed):
        nonlocal n_made
        n_made += 1
        if n_made == 2:
            raise KeyboardInterrupt
        return Embedded(X[:, :2], 1.0)

    monkeypatch.setattr(Worker, "embed", embed)
    asked = {"sets": ["2D-density"], "methods": ["lle", "tsne"], "seeds": 1, "n": 120}
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, **asked, quiet=True)
    assert "* t-SNE, all sets: not run" in (tmp_path / "report.md").read_text(encoding="utf-8")
    report, _ = reproduce(tmp_path, **asked, quiet=True)
    assert n_made == 3  # the first of the methods was not run again
    assert "missing" not in report.read_text(encoding="utf-8")


@pytest.mark.integration
def test_a_worker_survives_the_death_of_its_process():
    X = draw("2D-density", 0, 60).X
    with started_worker() as worker:
        future = worker._process.submit(os._exit, 3)
        assert future.exception() is not None
        assert worker.embed("lle", X, 0) == Failed("its process died")
        found = worker.embed("lle", X, 0)
        assert isinstance(found, Embedded)
        assert found.embedding.shape == (60, 2)
        refused = worker.embed("lle", X[:4], 0)
        assert isinstance(refused, Failed)  # 4 points have no 5 neighbours
        assert "n_neighbors" in refused.reason


@pytest.mark.parametrize(
    ("given", "said"),
    [(np.zeros((5, 2)), "shape"), (np.full((60, 2), np.nan), "NaN"), (None, "ValueError: no")],
)
def test_what_is_no_map_is_not_taken_for_one(monkeypatch, given, said):
    class Bad:
        n_rehearsed = 60

        def embed(self, X, seed):
            if given is None:
                raise ValueError("no")
            return given

    monkeypatch.setitem(METHODS, "bad", Bad())
    found = embed_here("bad", np.zeros((60, 2)), 0)
    assert isinstance(found, Failed)
    assert said in found.reason


def test_sets_are_those_of_the_paper():
    assert {found.column for found in SETS.values()} == {*_paper.SETS, None}
    assert draw("U5-d", 0).X.shape == (1000, N_COMPONENTS)
    assert draw("U10-d", 1, 300).raw.shape == (300, 150)
    assert (draw("G3-d", 0).X != draw("G3-d", 1).X).any()


def test_real_sets_are_cut_to_the_papers_size(real_data):
    drawn = draw("samusik", 0)
    assert drawn.X.shape[0] == 5000
    assert drawn.raw.shape[1] == 39


def test_a_real_set_that_is_not_here_is_missing_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.delenv("DTSNE_DATA", raising=False)
    report, _ = reproduce(
        tmp_path, sets=["amazon", "2D-density"], methods=["lle"], seeds=1, n=240, quiet=True
    )
    text = report.read_text(encoding="utf-8")
    assert rows_of(text, "ρ")["LLE"] == ["(0.00) missing"]
    assert re.search(r"\* LLE, Amazon: .*DTSNE\\_DATA", text)
    assert re.match(r"0\.\d", rows_of(text, "2D-density")["LLE"][0])


def test_marks_tell_ours_from_the_papers():
    assert Cell(0.93, 0.0, 0.95, 3).mark == "="
    assert Cell(0.92, 0.0, 0.95, 3).mark == "▼"
    assert Cell(0.98, 0.0, 0.95, 3).mark == "▲"
    assert Cell(0.98, 0.0, None, 3).mark == ""
    assert Cell(float("nan"), 0.0, 0.95, 0, "no").mark == ""
    assert Cell(float("nan"), 0.0, 0.95, 3).mark == ""


def test_cells_are_means_over_seeds():
    outcomes = Outcomes(Scope(("G3-d",), ("dtsne",), 3))
    for seed, value in enumerate((0.7, 0.9)):
        measures = dict.fromkeys(SYMBOLS, value) | {
            "radii_data": [1.0, 2.0], "radii_map": [1.0, 2.0 + seed],
        }  # fmt: skip
        done = MethodResult(Embedded(np.zeros((2, 2)), 1.0), measures)
        outcomes.found[Job("dtsne", "G3-d", seed)] = done
    outcomes.found[Job("dtsne", "G3-d", 2)] = Failed("no")
    found = cell(outcomes, "distance_correlation", "dtsne", "G3-d")
    assert found.mean == pytest.approx(0.8)
    assert found.spread == pytest.approx(0.1)
    assert found.paper == 0.95
    assert found.n_seeds == 2
    assert found.reason == "no"
    assert radius_error(outcomes, "dtsne", "G3-d").mean == pytest.approx(0.25)
    assert radii(outcomes, "dtsne", "G3-d") == ([1.0, 2.0], [1.0, 2.5])
    assert cell(outcomes, "trustworthiness", "lle", "G3-d").reason == "not run"


def test_ratios_of_a_map_that_is_the_data():
    X = draw("2D-density", 0).X
    X[1] = X[0]  # a copy, which has no ratio
    for anywhere in (True, False):
        found = compare_ratios(X, 3 * X, anywhere=anywhere)
        assert found.correlation == pytest.approx(1)
        assert found.slope == pytest.approx(1)
        assert found.typical_factor == pytest.approx(1)


def test_ratios_notice_clusters_drawn_alike():
    """t-SNE's failure: right around each point, wrong between clusters."""
    drawn = draw("2D-density", 0)
    spreads = np.array([1.0, 2.0, 4.0])[drawn.labels]
    alike = drawn.X / spreads[:, np.newaxis]
    assert compare_ratios(drawn.X, alike, anywhere=False).correlation > 0.99
    anywhere = compare_ratios(drawn.X, alike, anywhere=True)
    assert anywhere.correlation < 0.9
    assert anywhere.typical_factor > 2


def test_the_papers_numbers_are_all_there():
    """Sums over its table, by measure: no number is missing, or has another sign."""
    for measure, total in zip(PAPER, (30.08, 20.74, 9.17), strict=True):
        rows = _paper.RESULTS[measure]
        assert set(rows) == {"dtsne", "largevis", "lle", "ncvis", "tsne", "umap"}
        assert all(len(row) == len(_paper.SETS) for row in rows.values())
        assert sum(map(sum, rows.values())) == pytest.approx(total)


@pytest.fixture
def made_up(monkeypatch) -> Outcomes:
    """Maps of all methods on all sets, the real ones made up, with one that failed for a seed."""

    def draw_anything(name, seed, n):
        rng = np.random.default_rng(seed)
        raw = np.abs(rng.normal(size=(n, 784 if name == "mnist" else 60))) * 99
        labels = np.arange(n) % 10
        d = 2 if name.startswith("2D") else 50
        return DatasetSample(raw[:, :d], labels, tuple(f"type {i}" for i in range(10)), raw)

    monkeypatch.setattr("reproduce._run.draw", draw_anything)
    outcomes = Outcomes(Scope(tuple(SETS), tuple(METHODS), 2, 60))
    rng = np.random.default_rng(0)
    theory = {"correlation": 0.5, "slope": 0.5, "factor": 2.0}
    for job in outcomes.scope.jobs():
        measures = dict.fromkeys(SYMBOLS, 0.5) | {
            "radii_data": [1.0] * 10, "radii_map": [1.0] * 10,
            "theory, anywhere": theory, "theory, same region": theory,
        }  # fmt: skip
        outcomes.found[job] = MethodResult(Embedded(rng.normal(size=(60, 2)), 1.0), measures)
    outcomes.found[Job("lle", "mnist", 1)] = Failed("no luck")
    outcomes.found[Job("lle", "G3-d", 0)].measures["distance_correlation"] = float("nan")
    return outcomes


def test_the_whole_report_has_every_cell_and_figure(made_up, tmp_path):
    markdown, page = write_report(made_up, tmp_path)
    report = markdown.read_text(encoding="utf-8")
    for measure in PAPER:
        rows = rows_of(report, SYMBOLS[measure])
        assert len(rows) == len(METHODS)
        assert all(len(row) == len(_paper.SETS) for row in rows.values())
        for method, printed in _paper.RESULTS[measure].items():
            for text, number in zip(rows[METHODS[method].title], printed, strict=True):
                assert f"({number:.2f})" in text
    assert rows_of(report, "ρ")["LLE"][5] == "0.50 [1 of 2 seeds] (-0.18) ▲"
    assert rows_of(report, "ρ")["LLE"][1] == "undefined (0.93)"
    assert "* LLE, MNIST: no luck" in report
    figures = ["2D-density", "2D-samples", "G10-d", "U5-d", "measures", "mnist", "samusik",
               "amazon", "theory"]  # fmt: skip
    assert re.findall(r"\(figures/(.*)\.png\)", report) == figures
    text = page.read_text(encoding="utf-8")
    assert all(f'<figure id="{name}">' in text for name in figures)
    for method in METHODS.values():
        assert f"<td>{method.title}</td>" in html.unescape(text)


def test_unknown_names_are_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match="unknown set 'G4'; choose from G3-s"):
        reproduce(tmp_path, sets=["G4"])
    with pytest.raises(ValueError, match="unknown method 'sne'"):
        reproduce(tmp_path, methods=["sne"])
    with pytest.raises(ValueError, match="no method is chosen"):
        reproduce(tmp_path, methods=[])
    with pytest.raises(ValueError, match="seeds=0"):
        reproduce(tmp_path, seeds=0)


@pytest.mark.parametrize(
    ("options", "printed"),
    [(["--only", "G4"], "'G4' (choose from"), (["--methods", "sne"], "'sne' is not one of dtsne"),
     (["--seeds", "0"], "at least 1")],
)  # fmt: skip
def test_the_command_rejects_what_it_does_not_know(options, printed, capsys):
    with pytest.raises(SystemExit) as stop:
        main(options)
    assert stop.value.code == 2
    assert printed in capsys.readouterr().err


def test_the_command_passes_on_what_it_is_asked(monkeypatch, tmp_path, capsys):
    asked = {}

    def run(folder, **options):
        asked.update(options, folder=folder)
        return folder / "report.md", folder / "report.html"

    monkeypatch.setattr("reproduce.reproduce", run)
    code = main([str(tmp_path), "--quick", "--only", "G3-d", "--methods", "dtsne,lle", "-q"])
    assert code == 0
    assert str(tmp_path / "report.html") in capsys.readouterr().out
    assert asked == {"folder": tmp_path, "sets": ["G3-d"], "methods": ["dtsne", "lle"],
                     "seeds": 1, "n": 1000, "quiet": True}  # fmt: skip
    main([str(tmp_path)])
    assert asked == {"folder": tmp_path, "sets": None, "methods": None,
                     "seeds": 3, "n": None, "quiet": False}  # fmt: skip


def test_the_commands_of_the_readme_are_understood(monkeypatch):
    asked = []
    monkeypatch.setattr("reproduce.reproduce", lambda *_, **o: (asked.append(o), "page"))
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for options in re.findall(r"^\$ make reproduce(?: ARGS=\"(.*?)\")?", readme, re.MULTILINE):
        assert main(options.split()) == 0
    assert [found["n"] for found in asked] == [None, 1000, None]
    assert asked[-1]["sets"] == ["G3-d"]


@pytest.mark.integration
def test_the_module_runs_and_its_peers_have_processes_of_their_own(tmp_path):
    path = os.pathsep.join([*map(str, PACKAGES_AT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "reproduce", tmp_path, "--quick", "--only", "2D-density",
         "--methods", "lle", "--quiet"],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"see {tmp_path / 'report.html'}\n"
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert re.match(r"0\.\d", rows_of(report, "2D-density")["LLE"][0])
    assert "missing" not in report


def test_text_of_a_report_is_escaped(tmp_path):
    outcomes = Outcomes(Scope(("2D-density",), ("lle",), 1, 60))
    outcomes.found[Job("lle", "2D-density", 0)] = Failed("<script>alert(1)</script> | and")
    markdown, page = write_report(outcomes, tmp_path)
    assert "<script>" not in page.read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page.read_text(encoding="utf-8")
    assert "missing" in markdown.read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_stopped_says_how_to_go_on(monkeypatch, tmp_path, capsys, kind, code):
    monkeypatch.setattr("reproduce.reproduce", lambda *_, **__: os.kill(os.getpid(), kind))
    before = signal.getsignal(signal.SIGTERM)
    assert main([str(tmp_path)]) == code
    assert signal.getsignal(signal.SIGTERM) == before
    assert "the same command resumes" in capsys.readouterr().err
