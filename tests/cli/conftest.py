"""Data and files that the tests of commands share."""

from __future__ import annotations

import pytest
from cli_support import N, three_groups, write_csv


@pytest.fixture(scope="module")
def data():
    return three_groups(N)


@pytest.fixture(scope="module")
def ids():
    return [f"c{i}" for i in range(N)]


@pytest.fixture
def table(tmp_path, data):
    return write_csv(tmp_path / "cells.csv", *data)
