"""An account in words, and on its way to other places."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from report_support import OPTIONS, blobs, close, page

from dtsne import DTSNE
from dtsne.account import Account, account_of
from dtsne.datasets import load
from dtsne.neighbors._exact import nearest_neighbors

# In words


@pytest.fixture(scope="module")
def three_gaussians():
    X, labels, _ = load("2D-density", n=450)
    model = DTSNE(perplexity=50)
    return X, labels, model, model.fit_transform(X)


def test_reading_a_map_that_keeps_densities(three_gaussians):
    X, labels, model, Y = three_gaussians
    account = account_of(
        X, Y, labels=labels, sigma=model.sigma_, perplexity=model.perplexity_, n_bootstrap=200
    )
    densities, widths, neighbours, distances = account.readings
    assert densities.startswith("Densities can be read:")
    assert widths.startswith("Widths of groups can be read:")
    assert neighbours.startswith("Neighbours can be trusted:")
    assert distances.startswith("Distances between clusters can be read:")
    assert not account.points.perplexity_too_large.any()
    assert np.abs(account.groups.drawn - 1).max() < 0.1


def test_reading_a_map_in_which_all_clusters_look_alike(three_gaussians):
    X, labels, _, _ = three_gaussians
    centres = np.array([X[labels == g].mean(axis=0) for g in range(3)])
    Y = centres[labels] + (X - centres[labels]) / np.array([1, 2, 4])[labels, None]
    account = account_of(X, Y, labels=labels, n_bootstrap=200)
    assert account.readings[0].startswith("Densities cannot be read:")
    assert account.readings[1].startswith("Widths of groups cannot be read:")
    assert "the widest beside its true width is 0, the narrowest 2." in page(account)
    np.testing.assert_allclose(account.groups.drawn, [2, 1, 0.5], rtol=0.15)
    assert "have more than twice the room they should have" in page(account)


def test_a_group_in_two_places_is_torn():
    X, Y, labels = blobs(n=150)
    moved = np.flatnonzero(labels == "B")[:20]
    Y[moved] += 200.0
    account = account_of(X, Y, labels=labels, **OPTIONS)
    close(account.groups.piece_data, 1.0)
    close(account.groups.piece_map, [1.0, 0.6, 1.0])
    assert "Torn into pieces by the map: B (60%, 100%)." in page(account)
    assert "(of 2 of 3 groups, the others being torn, too small or" in account.readings[1]
    assert account.groups.caveat.tolist() == ["", "torn", ""]
    assert "in the map. (B is torn: such widths mean nothing.)" in page(account)


def test_radii_beyond_a_cluster_say_nothing_of_density():
    X, labels, _ = load("2D-samples")
    account = account_of(X, X, labels=labels, n_bootstrap=0)
    np.testing.assert_array_equal(account.points.k_too_large, labels == 0)
    np.testing.assert_array_equal(np.isnan(account.points.density_residual), labels == 0)
    np.testing.assert_array_equal(account.points.cluster_size, np.where(labels == 0, 100, 0))
    assert not account.points.unreliable.any()  # no fault of the map
    assert "k_too_large: 100 of 800 points (12.5%)" in page(account)
    assert not account_of(X, X, k=50).points.k_too_large.any()


def test_reading_a_map_without_sense(rng):
    X, _, _ = blobs()
    readings = account_of(X, rng.normal(size=(120, 2)), **OPTIONS).readings
    assert readings[0].startswith("Densities cannot be read:")
    assert readings[1].startswith("Neighbours cannot be trusted:")
    assert readings[2].startswith("Distances between clusters cannot be read:")


def test_reading_data_of_one_density():
    angles = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reading = account_of(ring, ring, **OPTIONS).readings[0]
    assert "about equally dense everywhere" in reading


# To other places


@pytest.fixture
def account():
    X, Y, labels = blobs()
    sigma = 1 + X[:, 0] ** 2
    return account_of(X, Y, labels=labels, sigma=sigma, perplexity=10, **OPTIONS)


def test_json_and_back(account):
    read = Account.from_json(account.to_json())
    assert read.as_dict() == account.as_dict() == json.loads(account.to_json())
    assert str(read) == str(account)
    assert read.points.copy.dtype == bool
    assert read.whole.clusters.largest_error == account.whole.clusters.largest_error


def test_json_of_what_is_not_known(rng):
    X, Y, _ = blobs()
    X[:40] = X[0]
    labels = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")[np.arange(120) % 2]
    account = account_of(None, Y, neighbors=nearest_neighbors(X, 20), labels=labels, **OPTIONS)
    read = Account.from_json(account.to_json())
    assert read.as_dict() == account.as_dict()
    assert np.isnan(read.points.log_radius_data).sum() == 40
    assert np.isnan(read.whole.trustworthiness)
    assert read.points.sigma is None
    with pytest.raises(ValueError, match="no account"):
        Account.from_json("{}")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(account, library):
    pytest.importorskip(library)
    frame = getattr(account, f"to_{library}")()
    assert list(frame.columns) == list(account.points.columns())
    close(frame["density_residual"].to_numpy(), account.points.density_residual)
    assert list(frame["label"]) == account.points.label.tolist()
    assert frame["unreliable"].sum() == account.points.unreliable.sum()
    groups, ratios = (getattr(account, f"to_{library}")(table) for table in ("groups", "ratios"))
    assert list(groups["n"]) == [40, 40, 40]
    assert len(ratios) == 3
    with pytest.raises(ValueError, match="choose 'points', 'groups' or 'ratios'"):
        getattr(account, f"to_{library}")("rows")


def test_the_page_says_it_all(account):
    plain, markdown = str(account), account.to_markdown()
    for text in (page(account), markdown):
        assert all(sentence in text for sentence in (*account.readings, *account.ratios.sentences))
        assert f"{account.whole.trustworthiness:.3f}" in text
    assert max(map(len, plain.splitlines())) <= 96
    assert "| A | 40 |" in markdown


def test_labels_cannot_break_the_tables_of_markdown():
    X, Y, _ = blobs(n=60)
    labels = np.where(np.arange(60) < 30, "a|b*", "<c>")
    markdown = account_of(X, Y, labels=labels, **OPTIONS).to_markdown()
    assert "| a\\|b\\* | 30 |" in markdown
    assert "<c>" not in markdown


def test_no_label_breaks_the_lines_of_a_page():
    X, Y, _ = blobs(n=60)
    labels = np.where(np.arange(60) < 30, "a\n`b`_c_[d](e)", "\\x & y")
    account = account_of(X, Y, labels=labels, **OPTIONS)
    assert "| a \\`b\\`\\_c\\_\\[d\\](e) | 30 |" in account.to_markdown()
    assert "| \\\\x &amp; y | 30 |" in account.to_markdown()
    assert any(line.startswith("a `b`_c_[d](e) ") for line in str(account).splitlines())


def test_labels_of_dates_are_text_everywhere():
    X, Y, _ = blobs()
    days = np.array(["2024-01-09", "2024-01-10"], "datetime64[ns]")[np.arange(120) % 2]
    days[:3] = np.datetime64("NaT")
    account = account_of(X, Y, labels=days, **OPTIONS)
    expected = ["2024-01-09", "2024-01-10"]
    assert account.groups.label.tolist() == expected
    assert json.loads(account.to_json())["groups"]["label"] == expected
    assert account.to_polars("groups")["label"].to_list() == expected
    assert account.points.label[:4].tolist() == [None, None, None, "2024-01-10"]


@pytest.mark.parametrize("missing", [False, True])
def test_labels_keep_their_kind_and_order(missing):
    import pandas as pd

    X, Y, _ = blobs()
    numbers = pd.Series(np.arange(120) % 12)
    codes = numbers.where(numbers > 0) if missing else numbers  # floats where some are missing
    expected = list(range(1 if missing else 0, 12))
    text = codes.map(lambda c: f"c{c:.0f}", na_action="ignore")
    ordered = pd.Categorical(text, categories=["empty", *(f"c{c}" for c in reversed(range(12)))])
    given = {
        "float": (codes, expected),
        "Int64": (codes.astype("Int64"), expected),
        "categories of numbers": (pd.Categorical(codes), expected),
        "text": (text, [f"c{c}" for c in expected]),
        "categories": (ordered, [f"c{c}" for c in reversed(expected)]),
        "a column of them": (pd.Series(ordered), [f"c{c}" for c in reversed(expected)]),
    }
    for labels, names in given.values():
        account = account_of(X, Y, labels=labels, **OPTIONS)
        assert account.groups.label.tolist() == names
        assert (account.points.label[0] is None) == missing
        read = Account.from_json(account.to_json())
        assert read.points.label.tolist() == account.points.label.tolist()
        assert read.groups.label.tolist() == names


def test_words_are_among_the_plain_values(account):
    values = account.as_dict()
    assert values["readings"] == list(account.readings)
    assert values["comparisons"] == list(account.ratios.sentences)
    assert "drawn" in values["groups"]
    assert "drawn" in account.to_pandas("groups")
    assert account.to_polars("ratios")["drawn_low"].len() == 3


def test_what_a_verdict_leaves_out_is_said():
    X, labels, _ = load("2D-samples")
    said = page(account_of(X, X, labels=labels, n_bootstrap=0))
    assert "(of the 88% of points whose room is known)" in said
    assert "These figures are of all points" in said
    said = page(account_of(X, X, labels=labels, n_bootstrap=0, k=50))
    assert "whose room is known" not in said
    assert "These figures are of all points" not in said


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (["a"] * 120, "there is only one group"),
        (["a"] + ["b"] * 119, "fewer than two groups have more than one point"),
    ],
)
def test_widths_that_cannot_be_compared_are_said_not_to_be(labels, why):
    X, Y, _ = blobs()
    reading = account_of(X, Y, labels=labels, **OPTIONS).readings[1]
    assert reading.startswith(f"Widths of groups: nothing can be said, as {why}")


def test_tables_of_groups_need_labels():
    X, Y, _ = blobs()
    account = account_of(X, Y, **OPTIONS)
    assert account.groups is None
    with pytest.raises(ValueError, match="no labels were given"):
        account.to_pandas("groups")


def test_many_groups_do_not_fill_the_page():
    X, Y, _ = blobs(n=160)
    account = account_of(X, Y, labels=np.arange(160) // 4, **OPTIONS)
    assert len(account.groups) == 40
    assert "10 more groups" in page(account)
    assert len(str(account).splitlines()) < 130


@pytest.mark.parametrize("missing", [None, np.nan])
def test_points_without_a_label_are_in_no_group(missing):
    X, Y, labels = blobs()
    some = np.array([str(label) for label in labels], object)
    some[:5] = missing
    options = {**OPTIONS, "perplexity": 8.0}
    account, without = account_of(X, Y, labels=some, **options), account_of(X, Y, **options)
    rest = account_of(X[5:], Y[5:], labels=some[5:].astype(str), **options)
    assert account.groups.label.tolist() == rest.groups.label.tolist()
    assert account.groups.n.tolist() == rest.groups.n.tolist()
    close(account.groups.spread_data, rest.groups.spread_data)
    close(account.ratios.map, rest.ratios.map)
    # They have no cluster by name, and are no less reliable for it.
    assert account.points.unreliable[:5].tolist() == without.points.unreliable[:5].tolist()
    assert account.points.label[:5].tolist() == [None] * 5
    assert account.whole.clusters.sizes.sum() == len(X) - 5
    again = Account.from_json(account.to_json())
    assert again.points.label.tolist() == account.points.label.tolist()
    assert account.to_pandas()["label"].isna().sum() == 5
    assert account.to_polars()["label"].null_count() == 5


def test_a_table_in_markdown_stands_apart_from_a_list():
    X, Y, labels = blobs()
    lines = account_of(X, Y, labels=labels, **OPTIONS).to_markdown().splitlines()
    for before, line in itertools.pairwise(lines):
        if line.startswith("|") and not before.startswith("|"):
            assert before == ""
