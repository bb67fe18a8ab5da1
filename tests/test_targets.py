"""The figures of docs/quality.md: means over seeds 0-4, on the paper's sets."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from quality import Measured, measure, with_densmap, with_dtsne

pytestmark = pytest.mark.slow

CALIBRATED, PLAIN = with_dtsne(), with_dtsne(calibration=False)


@cache
def measured(name: str, *, calibrated: bool) -> Measured:
    return measure(name, CALIBRATED if calibrated else PLAIN)


@pytest.mark.parametrize(
    ("name", "least", "largest_radius_error"),
    [
        ("G3-d", {"ρ": 0.93, "ρ_knn": 0.80, "ρ_r": 0.92}, 0.04),
        ("G10-d", {"ρ": 0.65, "ρ_knn": 0.80, "ρ_r": 0.94}, 0.04),
        ("U5-d", {"ρ": 0.82, "ρ_knn": 0.80, "ρ_r": 0.94}, 0.06),
        ("G3-s", {"ρ": 0.95, "ρ_knn": 0.71, "ρ_r": 0.45}, float("inf")),
    ],
)
@pytest.mark.parametrize("calibrated", [True, False], ids=["calibrated", "plain"])
def test_synthetic_sets(name, calibrated, least, largest_radius_error):
    found = measured(name, calibrated=calibrated)
    for measure_name, bound in least.items():
        assert found.means[measure_name] >= bound, measure_name
    assert found.radius_error <= largest_radius_error


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    ("calibrated", "least"),
    [
        (False, {"ρ": 0.49, "ρ_knn": 0.67, "ρ_r": 0.74}),
        (True, {"ρ": 0.49, "ρ_knn": 0.70, "ρ_r": 0.88}),
    ],
    ids=["plain", "calibrated"],
)
def test_mnist(calibrated, least):
    found = measured("mnist", calibrated=calibrated)
    for measure_name, bound in least.items():
        assert found.means[measure_name] >= bound, measure_name


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", ["mnist", "samusik"])
def test_calibration_costs_next_to_no_neighbors(name):
    calibrated, plain = measured(name, calibrated=True), measured(name, calibrated=False)
    assert calibrated.means["trust"] >= plain.means["trust"] - 0.005
    assert calibrated.means["recall"] >= plain.means["recall"] - 0.02


@pytest.mark.usefixtures("real_data")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mnist", "samusik"])
def test_densities_are_better_than_densmaps(name):
    pytest.importorskip("umap", reason="umap-learn is needed: pip install 'dtsne[dev]'")
    seeds = [0]
    ours, theirs = measure(name, CALIBRATED, seeds), measure(name, with_densmap, seeds)
    assert ours.means["log r"] > theirs.means["log r"]
    assert ours.means["trust"] > theirs.means["trust"]


@pytest.mark.parametrize(
    ("name", "iterations", "expected_kl"),
    # METHOD of the project: the paper's descent at n/12, seeds 0-2, from std 1e-4.
    [("G3-d", 500, 0.981), ("G3-d", 1000, 0.920), ("U5-d", 500, 0.856), ("U5-d", 1000, 0.747),
     ("G10-d", 1000, 1.06)],
)  # fmt: skip
def test_paper_descent_is_the_one_we_measured_before(name, iterations, expected_kl):
    from quality import prepared

    from dtsne import DTSNE

    found = [
        DTSNE(optimizer="paper", max_iter=iterations).fit(prepared(name, seed)[0]).kl_divergence_
        for seed in range(3)
    ]
    assert sum(found) / 3 == pytest.approx(expected_kl, rel=0.03)
