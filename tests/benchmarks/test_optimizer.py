"""The experiments of docs/optimiser.md vary a `Config`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dtsne import Config
from optimizer import TABLES, print_table

TRIED = {
    "paper": "optimizer", "descent": "rule", "start": "init", "calibration": "calibration_plan",
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_variant_is_a_config_of_its_own(name):
    variants = dict(TABLES[name][0]())
    assert all(isinstance(config, Config) for config in variants.values())
    assert len({id(getattr(config, TRIED[name])) for config in variants.values()}) > 1


def test_a_table_has_a_row_for_each_variant(monkeypatch, capsys, rng):
    """Of few points and iterations."""
    X = np.vstack([rng.normal(size=(150, 5)), 20 + 3 * rng.normal(size=(150, 5))])
    monkeypatch.setattr("optimizer.prepared", lambda *_: (X, np.repeat([0, 1], 150)))
    short = [
        (label, replace(config, perplexity=30.0, max_iter=60, tol=0.0))
        for label, config in list(TABLES["calibration"][0]())[:3]
    ]
    monkeypatch.setitem(TABLES, "calibration", (lambda: iter(short), []))
    print_table("calibration", ["G3-d"], 1)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[5:]]
    assert [row[1] for row in rows] == [label for label, _ in short]
    assert len({row[2] for row in rows}) == 3  # KL
