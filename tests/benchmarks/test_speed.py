"""benchmarks/speed.py: its runs, its records and its report. Nothing here is about time."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pytest

import speed
from _peers import METHODS, Measured
from _speed_report import (
    Record,
    read_records,
    report_lines,
    scaling_exponent,
    write_record,
    write_report,
)
from quality import MEASURES


def made_up(method: str, data: str, n: int, cpu_seconds: float, **phases: float) -> Record:
    measured = Measured(
        wall_seconds=cpu_seconds / 2,
        cpu_seconds=cpu_seconds,
        first_call_seconds=3.0,
        peak_mb=1234.0,
        n_iter=150 if method == "dtsne" else None,
        phases=phases,
        quality=dict.fromkeys(MEASURES.values(), 0.75),
    )
    return Record(method, data, n, 2, measured, 0.1, 1.9, "a machine", {"numpy": "2.0"})


RECORDS = [
    made_up("dtsne", "MNIST", 5_000, 10.0, neighbours=1.0, descent=8.5),
    made_up("UMAP", "MNIST", 5_000, 4.0),
    replace(made_up("PaCMAP", "MNIST", 5_000, 0.0), outcome="ModuleNotFoundError: no pacmap"),
    made_up("dtsne", "CyTOF", 70_000, 100.0, neighbours=30.0),
    made_up("dtsne", "CyTOF", 929_685, 2000.0),
]


def section(heading: str) -> str:
    report = "\n".join(report_lines(RECORDS))
    return report.partition(heading)[2].partition("\n## ")[0]


def row(*cells: str) -> str:
    """Return the beginning of a row of a table."""
    return f"\n| {' | '.join(cells)} |"


def test_exponent_of_a_power_law():
    sizes = np.array([1e3, 1e4, 7e4, 1e6])
    assert scaling_exponent(sizes, 0.3 * sizes**1.25) == pytest.approx(1.25)
    assert np.isnan(scaling_exponent([1e3], [1.0]))


def test_runs_are_compared_with_dtsne():
    runs = section("## Runs")
    assert row("MNIST", "5,000", "UMAP", "2.0", "4.0", "2.50", "1,234", "3.0", "0.750") in runs
    assert row("MNIST", "5,000", "dtsne", "5.0", "10.0", "–") in runs


def test_failed_run_shows_its_reason():
    reason = "failed: ModuleNotFoundError: no pacmap"
    assert row("MNIST", "5,000", "PaCMAP", reason) in section("## Runs")


def test_scaling_is_of_the_single_set():
    scaling = section("## Scaling")
    expected = np.log(20) / np.log(929_685 / 70_000)
    assert f"n^{expected:.2f} (least squares" in scaling
    assert f"20.0-fold, as n^{expected:.2f}" in scaling


def test_phases_are_whatever_dtsne_told():
    phases = section("## Iterations and phases")
    assert row("set", "n", "method", "iterations", "neighbours", "descent") in phases
    assert row("MNIST", "5,000", "dtsne", "150", "1.0", "8.5") in phases
    assert row("CyTOF", "70,000", "dtsne", "150", "30.0", "–") in phases


@pytest.mark.parametrize("records", [RECORDS, RECORDS[2:3], []], ids=["some", "failed", "none"])
def test_report_of_stored_records(records, tmp_path):
    for record in records:
        write_record(record, tmp_path / "runs")
    stored = read_records(tmp_path / "runs")
    assert stored == records
    write_report(stored, tmp_path)
    assert (tmp_path / "speed.md").read_text().startswith("# Speed")
    assert (tmp_path / "speed.png").stat().st_size > 0


def test_a_run_of_dtsne(tmp_path, monkeypatch, rng):
    points = rng.normal(size=(400, 6)).astype(np.float32)
    monkeypatch.setattr(speed, "whole", lambda data: points)
    record = speed.measure(speed.Run("dtsne", "MNIST", 300), tmp_path, jobs=1)
    assert isinstance(record.outcome, Measured), record.outcome
    assert record.outcome.cpu_seconds > 0
    assert record.outcome.peak_mb > 50
    assert record.outcome.n_iter > 0
    assert 0.5 < record.outcome.quality["trustworthiness"] <= 1
    assert np.load(tmp_path / "MNIST-300.npy").shape == (300, 6)


def test_missing_data_is_a_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("DTSNE_DATA", str(tmp_path))
    record = speed.measure(speed.Run("dtsne", "CyTOF", 20_000), tmp_path, jobs=1)
    assert record.outcome == "set DTSNE_DATA to a folder that holds multicenter_cytof.npz"


def test_crash_of_a_method_is_a_reason(tmp_path):
    np.save(tmp_path / "text.npy", np.array([["no"], ["number"]]))
    outcome = speed.fit_in_new_process("dtsne", tmp_path / "text.npy", jobs=1)
    assert isinstance(outcome, str)
    assert outcome.startswith("dtsne.runtime._errors.DataError: X holds text")


def test_plan_has_every_method_at_every_size_of_mnist():
    planned = {(run.method, run.n) for run in speed.PLAN if run.data == "MNIST"}
    assert planned == {(method, n) for method in METHODS for n in (5_000, 20_000, 70_000)}
    assert {run.method for run in speed.PLAN if run.data == "CyTOF"} == {"dtsne"}


def test_names_are_separated_by_commas():
    read = speed.several_of(METHODS)
    assert read("dtsne,UMAP") == ["dtsne", "UMAP"]
    with pytest.raises(argparse.ArgumentTypeError, match="'MDS' is not one of dtsne, "):
        read("dtsne,MDS")
