"""A report in words, and on its way to other places."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from report_support import OPTIONS, blobs, close, page

from dtsne import DTSNE
from dtsne.datasets import load
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.report import Report, report_of

# In words


@pytest.fixture(scope="module")
def three_gaussians():
    X, labels, _ = load("2D-density", n=450)
    model = DTSNE(perplexity=50)
    return X, labels, model, model.fit_transform(X)


def test_reading_a_map_that_keeps_densities(three_gaussians):
    X, labels, model, Y = three_gaussians
    report = report_of(
        X, Y, labels=labels, sigma=model.sigma_, perplexity=model.perplexity_, n_bootstrap=200
    )
    densities, widths, neighbours, distances = report.reliability
    assert densities.startswith("Densities are reliable:")
    assert widths.startswith("Group spreads are reliable:")
    assert neighbours.startswith("Neighbours are reliable:")
    assert distances.startswith("Distances between clusters are reliable:")
    assert not report.points.perplexity_too_large.any()
    assert np.abs(report.groups.map_over_data - 1).max() < 0.1


def test_reading_a_map_in_which_all_clusters_look_alike(three_gaussians):
    X, labels, _, _ = three_gaussians
    centres = np.array([X[labels == g].mean(axis=0) for g in range(3)])
    Y = centres[labels] + (X - centres[labels]) / np.array([1, 2, 4])[labels, None]
    report = report_of(X, Y, labels=labels, n_bootstrap=200)
    assert report.reliability[0].startswith("Densities are not reliable:")
    assert report.reliability[1].startswith("Group spreads are not reliable:")
    assert (
        "The group with the largest map/data ratio is 0, the one with the smallest is 2."
        in page(report)
    )
    np.testing.assert_allclose(report.groups.map_over_data, [2, 1, 0.5], rtol=0.15)
    assert "the local radius they should have" in page(report)


def test_a_group_in_two_places_is_split():
    X, Y, labels = blobs(n=150)
    moved = np.flatnonzero(labels == "B")[:20]
    Y[moved] += 200.0
    report = report_of(X, Y, labels=labels, **OPTIONS)
    close(report.groups.largest_component_data, 1.0)
    close(report.groups.largest_component_map, [1.0, 0.6, 1.0])
    assert "Split by the map: B (60%, 100%)." in page(report)
    assert "(for 2 of 3 groups; the others are split, too small or" in report.reliability[1]
    assert report.groups.caveat.tolist() == ["", "split", ""]
    assert "in the map. (B is split: such spreads have no meaning.)" in page(report)


def test_radii_beyond_a_cluster_say_nothing_of_density():
    X, labels, _ = load("2D-samples")
    report = report_of(X, X, labels=labels, n_bootstrap=0)
    np.testing.assert_array_equal(report.points.k_too_large, labels == 0)
    np.testing.assert_array_equal(np.isnan(report.points.density_residual), labels == 0)
    np.testing.assert_array_equal(report.points.cluster_size, np.where(labels == 0, 100, 0))
    assert not report.points.unreliable.any()  # no fault of the map
    assert "k_too_large: 100 of 800 points (12.5%)" in page(report)
    assert not report_of(X, X, k=50).points.k_too_large.any()


def test_reading_a_map_without_sense(rng):
    X, _, _ = blobs()
    reliability = report_of(X, rng.normal(size=(120, 2)), **OPTIONS).reliability
    assert reliability[0].startswith("Densities are not reliable:")
    assert reliability[1].startswith("Neighbours are not reliable:")
    assert reliability[2].startswith("Distances between clusters are not reliable:")


def test_reading_data_of_one_density():
    angles = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reading = report_of(ring, ring, **OPTIONS).reliability[0]
    assert "about equally dense everywhere" in reading


# To other places


@pytest.fixture
def report():
    X, Y, labels = blobs()
    sigma = 1 + X[:, 0] ** 2
    return report_of(X, Y, labels=labels, sigma=sigma, perplexity=10, **OPTIONS)


def test_json_and_back(report):
    read = Report.from_json(report.to_json())
    assert read.as_dict() == report.as_dict() == json.loads(report.to_json())
    assert str(read) == str(report)
    assert read.points.is_duplicate.dtype == bool
    assert read.quality.clusters.largest_error == report.quality.clusters.largest_error


def test_reports_in_the_former_format_are_read():
    text = (Path(__file__).parent / "account_2.json").read_text(encoding="utf-8")
    former, report = json.loads(text), Report.from_json(text)
    assert former["format"] == "dtsne account 2"
    assert json.loads(report.to_json())["format"] == "dtsne report 3"
    assert report.points.is_duplicate.tolist() == former["points"]["copy"]
    assert report.groups.map_over_data.tolist() == former["groups"]["drawn"]
    assert report.groups.largest_component_map.tolist() == former["groups"]["piece_map"]
    assert report.groups.caveat.tolist() == ["", "split"]
    assert report.ratios.map_over_data_low.tolist() == former["ratios"]["drawn_low"]
    assert report.kernel_unit == former["map_unit"] == 2.0
    assert report.quality.trustworthiness == former["whole"]["trustworthiness"]
    assert report.quality.clipped == former["whole"]["lowered"]
    assert Report.from_json(report.to_json()).as_dict() == report.as_dict()
    assert "B is split" in page(report)


def test_the_former_names_stay():
    from dtsne import account

    assert account.Account is Report
    assert account.account_of is report_of


def test_json_of_what_is_not_known(rng):
    X, Y, _ = blobs()
    X[:40] = X[0]
    labels = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")[np.arange(120) % 2]
    report = report_of(None, Y, neighbors=nearest_neighbors(X, 20), labels=labels, **OPTIONS)
    read = Report.from_json(report.to_json())
    assert read.as_dict() == report.as_dict()
    assert np.isnan(read.points.log_radius_data).sum() == 40
    assert np.isnan(read.quality.trustworthiness)
    assert read.points.sigma is None
    with pytest.raises(ValueError, match="not a dtsne report"):
        Report.from_json("{}")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(report, library):
    pytest.importorskip(library)
    frame = getattr(report, f"to_{library}")()
    assert list(frame.columns) == list(report.points.columns())
    close(frame["density_residual"].to_numpy(), report.points.density_residual)
    assert list(frame["label"]) == report.points.label.tolist()
    assert frame["unreliable"].sum() == report.points.unreliable.sum()
    groups, ratios = (getattr(report, f"to_{library}")(table) for table in ("groups", "ratios"))
    assert list(groups["n"]) == [40, 40, 40]
    assert len(ratios) == 3
    with pytest.raises(ValueError, match="must be one of 'points', 'groups', 'ratios'"):
        getattr(report, f"to_{library}")("rows")


def test_the_page_says_it_all(report):
    plain, markdown = str(report), report.to_markdown()
    for text in (page(report), markdown):
        assert all(sentence in text for sentence in (*report.reliability, *report.ratios.sentences))
        assert f"{report.quality.trustworthiness:.3f}" in text
    assert max(map(len, plain.splitlines())) <= 96
    assert "| A | 40 |" in markdown


def test_labels_cannot_break_the_tables_of_markdown():
    X, Y, _ = blobs(n=60)
    labels = np.where(np.arange(60) < 30, "a|b*", "<c>")
    markdown = report_of(X, Y, labels=labels, **OPTIONS).to_markdown()
    assert "| a\\|b\\* | 30 |" in markdown
    assert "<c>" not in markdown


def test_no_label_breaks_the_lines_of_a_page():
    X, Y, _ = blobs(n=60)
    labels = np.where(np.arange(60) < 30, "a\n`b`_c_[d](e)", "\\x & y")
    report = report_of(X, Y, labels=labels, **OPTIONS)
    assert "| a \\`b\\`\\_c\\_\\[d\\](e) | 30 |" in report.to_markdown()
    assert "| \\\\x &amp; y | 30 |" in report.to_markdown()
    assert any(line.startswith("a `b`_c_[d](e) ") for line in str(report).splitlines())


def test_labels_of_dates_are_text_everywhere():
    X, Y, _ = blobs()
    days = np.array(["2024-01-09", "2024-01-10"], "datetime64[ns]")[np.arange(120) % 2]
    days[:3] = np.datetime64("NaT")
    report = report_of(X, Y, labels=days, **OPTIONS)
    expected = ["2024-01-09", "2024-01-10"]
    assert report.groups.label.tolist() == expected
    assert json.loads(report.to_json())["groups"]["label"] == expected
    assert report.to_polars("groups")["label"].to_list() == expected
    assert report.points.label[:4].tolist() == [None, None, None, "2024-01-10"]


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
        report = report_of(X, Y, labels=labels, **OPTIONS)
        assert report.groups.label.tolist() == names
        assert (report.points.label[0] is None) == missing
        read = Report.from_json(report.to_json())
        assert read.points.label.tolist() == report.points.label.tolist()
        assert read.groups.label.tolist() == names


def test_words_are_among_the_plain_values(report):
    values = report.as_dict()
    assert values["reliability"] == list(report.reliability)
    assert values["comparisons"] == list(report.ratios.sentences)
    assert "map_over_data" in values["groups"]
    assert "map_over_data" in report.to_pandas("groups")
    assert report.to_polars("ratios")["map_over_data_low"].len() == 3


def test_what_a_verdict_leaves_out_is_said():
    X, labels, _ = load("2D-samples")
    said = page(report_of(X, X, labels=labels, n_bootstrap=0))
    assert "(for the 88% of points with a known radius)" in said
    assert "The measures are of all points" in said
    said = page(report_of(X, X, labels=labels, n_bootstrap=0, k=50))
    assert "with a known radius" not in said
    assert "The measures are of all points" not in said


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (["a"] * 120, "there is only one group"),
        (["a"] + ["b"] * 119, "fewer than two groups have more than one point"),
    ],
)
def test_widths_that_cannot_be_compared_are_said_not_to_be(labels, why):
    X, Y, _ = blobs()
    reading = report_of(X, Y, labels=labels, **OPTIONS).reliability[1]
    assert reading.startswith(f"Group spreads: no statement is possible, because {why}")


def test_tables_of_groups_need_labels():
    X, Y, _ = blobs()
    report = report_of(X, Y, **OPTIONS)
    assert report.groups is None
    with pytest.raises(ValueError, match="a report without labels has no table of groups"):
        report.to_pandas("groups")


def test_many_groups_do_not_fill_the_page():
    X, Y, _ = blobs(n=160)
    report = report_of(X, Y, labels=np.arange(160) // 4, **OPTIONS)
    assert len(report.groups) == 40
    assert "10 more groups" in page(report)
    assert len(str(report).splitlines()) < 130


@pytest.mark.parametrize("missing", [None, np.nan])
def test_points_without_a_label_are_in_no_group(missing):
    X, Y, labels = blobs()
    some = np.array([str(label) for label in labels], object)
    some[:5] = missing
    options = {**OPTIONS, "perplexity": 8.0}
    report, without = report_of(X, Y, labels=some, **options), report_of(X, Y, **options)
    rest = report_of(X[5:], Y[5:], labels=some[5:].astype(str), **options)
    assert report.groups.label.tolist() == rest.groups.label.tolist()
    assert report.groups.n.tolist() == rest.groups.n.tolist()
    close(report.groups.spread_data, rest.groups.spread_data)
    close(report.ratios.map, rest.ratios.map)
    # They have no cluster by name, and are no less reliable for it.
    assert report.points.unreliable[:5].tolist() == without.points.unreliable[:5].tolist()
    assert report.points.label[:5].tolist() == [None] * 5
    assert report.quality.clusters.sizes.sum() == len(X) - 5
    again = Report.from_json(report.to_json())
    assert again.points.label.tolist() == report.points.label.tolist()
    assert report.to_pandas()["label"].isna().sum() == 5
    assert report.to_polars()["label"].null_count() == 5


def test_a_table_in_markdown_stands_apart_from_a_list():
    X, Y, labels = blobs()
    lines = report_of(X, Y, labels=labels, **OPTIONS).to_markdown().splitlines()
    for before, line in itertools.pairwise(lines):
        if line.startswith("|") and not before.startswith("|"):
            assert before == ""
