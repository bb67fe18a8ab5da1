"""The page of the command line: what of the data is on it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from dtsne.account import account_of
from dtsne.cli._pages import page_of
from dtsne.tables import Table

N = 400


def a_table(d):
    X = np.random.default_rng(0).normal(size=(N, d))
    return Table(X, tuple(f"m{i}" for i in range(d)), None, {}, None, "made up")


@pytest.fixture(scope="module")
def account():
    X = np.random.default_rng(0).normal(size=(N, 3))
    return account_of(X, X[:, :2], k=20)


def shown(account, d, **options):
    maps = {"map": np.random.default_rng(1).normal(size=(N, 2))}
    page = page_of(maps, {"map": account}, a_table(d), None, "title", **options)
    header = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S)[1])
    return page, [c["name"] for c in header["columns"]], header["notes"]


def test_all_numbers_of_the_data_are_on_the_page_where_they_fit(account):
    _, names, notes = shown(account, 50)
    assert {f"m{i}" for i in range(50)} <= set(names)
    assert notes == []


def test_numbers_that_would_make_the_file_too_large_are_left_out_and_that_is_said(
    account,
):
    without, _, _ = shown(account, 0)
    limit = len(without) + 10 * (4 * N * 4 / 3 + 500) + 1
    page, names, notes = shown(account, 50, max_bytes=limit)
    assert len(page) <= limit
    assert [name for name in names if name.startswith("m")] == [f"m{i}" for i in range(10)]
    assert notes == ["Left out to keep this page small: 40 of 50 numeric columns of the data."]


def test_more_columns_than_anybody_chooses_from_are_left_out(account):
    _, names, notes = shown(account, 51)
    assert "m0" not in names
    assert notes == ["Left out to keep this page small: the 51 numeric columns of the data."]
