"""The page as people use it, in a real Chromium."""

from __future__ import annotations

import csv
import io
import itertools
import re

import numpy as np
import pytest
from make_palette import min_distance

from dtsne.page import make_page, write_page
from dtsne.plots._palette import DARK

COLOUR = {"a": (0, 114, 178), "b": (230, 159, 0), "c": (0, 158, 115)}
NASTY = '</script><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


@pytest.fixture
def open_page(chromium, tmp_path):
    """Open a page from its file, and see at the end that the browser had nothing to object to."""
    context = chromium.new_context(viewport={"width": 900, "height": 560}, color_scheme="light")
    context.set_default_timeout(10_000)
    errors = []

    def opened(maps, columns, **options):
        path = write_page(tmp_path / "map.html", maps, columns, **options)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    context.close()
    assert errors == []


def three_groups() -> tuple[dict, dict, list[str]]:
    """Three groups of nine points on grids, far apart in both maps, the second map turned."""
    grid = np.stack(np.meshgrid([-1.0, 0, 1], [-1.0, 0, 1]), axis=-1).reshape(-1, 2)
    near = np.concatenate([grid + centre for centre in ([-12, 0], [0, 4], [9, -5])])
    wide = np.concatenate(
        [s * grid + c for s, c in zip((1, 2, 3), ([-12, 0], [0, 4], [9, -5]), strict=True)]
    )
    columns = {
        "group": np.repeat(["a", "b", "c"], 9),
        "density residual": np.linspace(-1, 1, 27),
        "recall": np.linspace(0, 1, 27),
        "suspect": np.arange(27) == 4,
    }
    return {"t-SNE": near, "dtSNE": wide @ [[0, 1], [-1, 0]]}, columns, [f"p{i}" for i in range(27)]


@pytest.fixture
def page(open_page):
    maps, columns, ids = three_groups()
    report = {"unit": {"dtSNE": 2.5}, "correlation of log radii": 0.912}
    return open_page(maps, columns, ids=ids, title="Three groups", report=report, notes="A note.")


def screen(page, i) -> tuple[float, float]:
    box = page.locator("#canvas").bounding_box()
    x, y = page.evaluate("i => dtsnePage.screenPosition(i)", i)
    return box["x"] + x, box["y"] + y


def places(page, points) -> np.ndarray:
    """Where points are on the canvas, all at one moment."""
    return np.array(page.evaluate("a => a.map((i) => dtsnePage.screenPosition(i))", [*points]))


def selected(page) -> list[int]:
    return page.evaluate("dtsnePage.selected()")


COUNT_PIXELS = """([r, g, b]) => {
    const { width, height } = document.getElementById("canvas");
    const drawing = document.getElementById("canvas").getContext("2d");
    const data = drawing.getImageData(0, 0, width, height).data;
    const off = (k, value) => Math.abs(data[k] - value);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
        if (data[k + 3] > 128 && off(k, r) + off(k + 1, g) + off(k + 2, b) < 24) count++;
    }
    return count;
}"""


def pixels_of(page, colour) -> int:
    """How many pixels of the drawing have about this colour, once it is drawn."""
    for _ in range(4):
        page.evaluate("new Promise(requestAnimationFrame)")
    return page.evaluate(COUNT_PIXELS, list(colour))


def search(page, query: str, scope: str = "ids and categories") -> list[int]:
    page.get_by_label("in", exact=True).select_option(scope)
    page.get_by_label("Search", exact=True).fill(query)
    page.keyboard.press("Enter")
    return selected(page)


def slide(page, to: float) -> None:
    page.evaluate(
        """to => {
            const slider = document.getElementById("between");
            slider.value = to;
            slider.dispatchEvent(new Event("input"));
            slider.dispatchEvent(new Event("change"));
        }""",
        to,
    )


# The map


def test_it_draws_every_group_in_its_colour(page):
    assert page.locator("#status").inner_text() == "27 points"
    assert page.title() == "Three groups"
    for colour in COLOUR.values():
        assert pixels_of(page, colour) > 50
    assert page.locator("#report-rows").inner_text().split("\n") == [
        *("correlation of log radii", "0.912"),
    ]
    assert page.locator("#notes").inner_text() == "A note."


def test_hover_shows_the_fields_of_the_point(page):
    for i, shown in [
        (4, ["p4", "a", "−0.6923", "0.1538", "yes"]),
        (26, ["p26", "c", "1", "1", "no"]),
    ]:
        page.mouse.move(*screen(page, i))
        page.wait_for_selector("#tooltip:visible")
        page.wait_for_function(
            "id => document.querySelector('#tooltip .name').textContent === id", arg=f"p{i}"
        )
        assert page.locator("#tooltip .name, #tooltip dd").all_inner_texts() == shown
    page.mouse.move(*np.add(screen(page, 13), (60, 60)))
    page.wait_for_selector("#tooltip", state="hidden")


def test_both_axes_have_one_scale_whatever_the_window(page):
    near = three_groups()[0]["t-SNE"]
    for width, height in [(900, 560), (1100, 400), (500, 800)]:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            "(({ width, clientWidth }) => width === clientWidth)(document.getElementById('canvas'))"
        )
        page.wait_for_timeout(100)
        found = places(page, range(27))
        scale = (found[26, 0] - found[0, 0]) / (near[26, 0] - near[0, 0])
        np.testing.assert_allclose(found - found[0], scale * (near - near[0]) * [1, -1], atol=0.1)
        canvas = page.locator("#canvas").bounding_box()
        assert (found > 0).all()
        assert (found < [canvas["width"], canvas["height"]]).all()


def test_the_slider_moves_the_points_between_the_maps(page):
    maps = three_groups()[0]
    first = maps["t-SNE"] - maps["t-SNE"].mean(axis=0)
    turned = maps["dtSNE"] @ [[0, -1], [1, 0]]  # back again
    last = turned - turned.mean(axis=0)
    names = page.locator("#map-names button")
    pixels = None
    for to, pressed in [(0, ["true", "false"]), (0.5, ["false", "false"]), (1, ["false", "true"])]:
        slide(page, to)
        page.wait_for_timeout(100)
        found = places(page, range(27))
        found = (found - found.mean(axis=0)) * [1, -1]
        expected = (1 - to) * first + to * last
        pixels = pixels or np.linalg.norm(found) / np.linalg.norm(expected)
        np.testing.assert_allclose(found, pixels * expected, atol=2)
        assert [names.nth(k).get_attribute("aria-pressed") for k in (0, 1)] == pressed
    # The points are found where they now are.
    page.mouse.move(*screen(page, 20))
    page.wait_for_selector("#tooltip:visible")
    assert page.locator("#tooltip .name").inner_text() == "p20"
    # A click on its name leads back to the first map.
    names.nth(0).click()
    page.wait_for_selector("#map-names button:first-child[aria-pressed=true]")


def test_the_scale_bar_is_a_distance_in_the_data_where_the_map_has_one(page):
    assert page.locator("#scale-label").inner_text().endswith("map units")
    slide(page, 1)
    page.wait_for_timeout(100)
    label = page.locator("#scale-label").inner_text()
    length = float(re.fullmatch(r"([\d.]+) in the data", label)[1])
    assert "1 map unit is 2.5 in the data" in page.locator("#scale-note").inner_text()
    # Points 18 and 20 are 6 units of the second map apart.
    pixels = np.linalg.norm(np.subtract(*places(page, [18, 20]))) / 6
    width = page.locator("#scale-bar").evaluate("bar => bar.getBoundingClientRect().width")
    assert width == pytest.approx(length / 2.5 * pixels, rel=0.02)


# Colours and filters


def test_the_legend_filters(page):
    button = page.locator("#legend li .toggle").nth(1)
    assert button.inner_text().split() == ["b", "9"]
    button.click()
    assert page.evaluate("dtsnePage.shown()") == [*range(9), *range(18, 27)]
    assert page.locator("#showing-text").inner_text() == "18 of 27 points shown, by group"
    assert pixels_of(page, COLOUR["b"]) == 0
    assert pixels_of(page, COLOUR["a"]) > 50
    page.mouse.move(*screen(page, 13))
    page.wait_for_timeout(150)
    assert page.locator("#tooltip").is_hidden()

    page.locator("#legend li .toggle").nth(1).click(modifiers=["Shift"])
    assert page.evaluate("dtsnePage.shown()") == list(range(9, 18))
    page.get_by_role("button", name="Show all").click()
    assert page.evaluate("dtsnePage.shown()") is None
    assert pixels_of(page, COLOUR["a"]) > 50


def test_filters_of_several_columns_hold_together(page):
    page.locator("#legend li .toggle").first.click()
    page.get_by_label("Colour by").select_option("recall")
    page.get_by_label("Show values from").fill("0.75")
    page.keyboard.press("Enter")
    assert page.evaluate("dtsnePage.shown()") == list(range(20, 27))
    page.get_by_label("Show values up to").fill("-1")
    page.keyboard.press("Enter")
    assert page.evaluate("dtsnePage.shown()") == []
    page.get_by_role("button", name="Show all").click()
    assert page.evaluate("dtsnePage.shown()") is None


def test_colour_by_another_column(page):
    page.get_by_label("Colour by").select_option("recall")
    assert page.locator("#legend .ticks").inner_text().split() == ["0", "0.5", "1"]
    assert pixels_of(page, COLOUR["a"]) == 0
    assert pixels_of(page, (253, 231, 37)) > 5  # the yellow end of viridis
    page.get_by_label("Colour by").select_option("density residual")
    assert pixels_of(page, (153, 0, 13)) > 5  # the red end
    page.get_by_label("Colour by").select_option("suspect")
    assert page.locator("#legend li").all_inner_texts() == ["no\n26", "yes\n1"]
    page.get_by_label("Colour by").select_option("nothing")
    assert pixels_of(page, COLOUR["a"]) > 150


def test_many_categories_share_a_colour_but_keep_their_names(open_page):
    rng = np.random.default_rng(0)
    names = [f"k{i}" for i in range(60)] + ["k59", "missing one"]
    page = open_page({"map": rng.normal(size=(63, 2))}, {"kind": [*names, None]})
    texts = page.locator("#legend li").all_inner_texts()
    assert len(texts) == 52
    assert texts[0] == "k59\n2"
    assert texts[-2:] == ["other (11 categories)\n11", "missing\n1"]
    assert search(page, "k55") == [55]
    assert page.locator("#selected-details dd").inner_text() == "k55"
    page.locator("#legend li .toggle").nth(50).click()
    assert len(page.evaluate("dtsnePage.shown()")) == 52
    assert selected(page) == []


def test_dark_and_light(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) == "rgb(20, 23, 26)"
    assert pixels_of(page, COLOUR["a"]) > 50


# Selection


def test_search_selects(page):
    for query, scope, expected in [
        ("p7", "ids and categories", [7]),
        ("P2", "id", [2]),
        ("B", "group", range(9, 18)),
        ("yes", "ids and categories", [4]),
        ("p1", "group", []),
        (">= 0.9", "recall", [24, 25, 26]),
        ("0.1..0.2", "recall", [3, 4, 5]),
        ("−0.6923", "density residual", [4]),
        ("nothing like it", "ids and categories", []),
        ("2", "id", [2, 12, *range(20, 27)]),  # none equals it: all that contain it
    ]:
        assert search(page, query, scope) == list(expected), (query, scope)
        count = len(expected)
        assert page.locator("#status").inner_text() == f"{count} match{'' if count == 1 else 'es'}"
    search(page, "many", "recall")
    assert "no number" in page.locator("#status").inner_text()


def test_a_lasso_selects_and_the_export_holds_exactly_those_ids(page):
    page.get_by_role("button", name="Lasso").click()
    centre = np.array(screen(page, 13))
    radius = 1.25 * np.abs(np.array(screen(page, 9)) - centre).max()
    corners = centre + radius * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -0.8]])
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=3)
        page.wait_for_timeout(20)  # the lasso takes no point sooner after the last than 8 ms
    page.mouse.up()
    page.wait_for_function("dtsnePage.selected().length > 0")
    assert selected(page) == list(range(9, 18))
    assert page.locator("#selected-text").inner_text() == "9 points selected"
    rows = page.locator("#selected-details tbody tr").all_inner_texts()
    assert rows[0].split("\t") == ["group", "b (100 %)", "a (33 %)"]
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "Three-groups-selection.csv"
    text = download.value.path().read_text(encoding="utf-8")
    assert text.split() == ["id", *(f"p{i}" for i in range(9, 18))]


def test_copy(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    search(page, "c", "group")
    page.get_by_role("button", name="Copy ids").click()
    page.wait_for_function("document.getElementById('status').textContent === '9 ids copied'")
    assert page.evaluate("navigator.clipboard.readText()").split() == [
        f"p{i}" for i in range(18, 27)
    ]


def test_a_click_selects_and_keys_lead_through_the_selection(page):
    page.mouse.click(*screen(page, 22))
    page.wait_for_function("dtsnePage.selected().length === 1")
    assert page.locator("#selected-details .name").inner_text() == "p22"
    search(page, "a", "group")
    page.locator("#plot").focus()
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.locator("#selected-details .name").inner_text() == "p1"
    page.keyboard.press("Escape")
    page.wait_for_function("dtsnePage.selected().length === 0")


def test_keys_move_the_view(page):
    def apart():
        return screen(page, 26)[0] - screen(page, 0)[0]

    before, left = apart(), screen(page, 0)[0]
    page.locator("#plot").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    assert screen(page, 0)[0] < left
    page.keyboard.press("+")
    page.wait_for_timeout(500)
    assert apart() == pytest.approx(1.5 * before, rel=0.01)
    page.keyboard.press("0")
    page.wait_for_timeout(500)
    found = places(page, range(27))  # which now fill the canvas
    canvas = page.locator("#canvas").bounding_box()
    filled = np.ptp(found, axis=0) / [canvas["width"], canvas["height"]]
    assert 0.85 < filled.max() < 1


def test_every_control_has_a_name_and_can_be_reached_by_key(page):
    controls = page.locator("button:visible, select:visible, input:visible")
    for control in controls.all():
        assert control.evaluate("e => e.tabIndex") == 0
        label = "e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent"
        assert control.evaluate(f"e => ({label}).trim()")


# What must not happen


def test_hostile_texts_are_shown_and_never_run(open_page):
    ids = [f"{NASTY}{i}" for i in range(3)] + ['q"uo,te\n漢']
    page = open_page(
        {NASTY: np.array([[0.0, 0], [5, 0], [0, 5], [5, 5]]), "<!--<script>": np.eye(4)[:, :2]},
        {NASTY: [NASTY, "<!--<script>", "b", None], "<b>number": np.arange(4.0)},
        ids=ids, title=NASTY, report={NASTY: NASTY, "unit": {NASTY: 1.0}}, notes=[NASTY],
    )  # fmt: skip
    assert page.title() == NASTY
    assert page.locator("h1").inner_text() == NASTY
    page.mouse.move(*screen(page, 0))
    page.wait_for_selector("#tooltip:visible")
    assert page.locator("#tooltip .name").inner_text() == ids[0]
    assert page.locator("#tooltip dt").first.inner_text() == NASTY
    assert search(page, "onerror", "id") == [0, 1, 2]
    assert search(page, "漢", "id") == [3]
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = csv.reader(io.StringIO(download.value.path().read_bytes().decode("utf-8"), newline=""))
    assert list(rows) == [["id"], [ids[3]]]
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0


def test_no_webgl_is_said_on_the_page(chromium, tmp_path):
    path = write_page(tmp_path / "map.html", {"map": np.eye(2)}, {})
    page = chromium.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(path.as_uri())
    page.wait_for_selector("#message:visible")
    assert "WebGL" in page.locator("#message").inner_text()
    page.close()


@pytest.mark.parametrize("n", [1, 2])
def test_few_points_and_no_columns(open_page, n):
    page = open_page({"map": np.zeros((n, 2))}, {})
    assert page.locator("#status").inner_text() == ("1 point" if n == 1 else "2 points")
    assert search(page, "0") == [0]


def test_in_a_notebook(chromium, tmp_path):
    maps, columns, ids = three_groups()
    notebook = tmp_path / "notebook.html"
    shown = make_page(maps, columns, ids=ids)._repr_html_()
    notebook.write_text(f"<!doctype html><meta charset=utf-8><body>{shown}", encoding="utf-8")
    page = chromium.new_page()
    page.goto(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    frame.get_by_label("Search", exact=True).fill("p3")
    page.keyboard.press("Enter")
    frame.locator("#selected-details .name").wait_for()
    with page.expect_download() as download:
        frame.get_by_role("button", name="CSV").click()
    assert download.value.path().read_text(encoding="utf-8").split() == ["id", "p3"]
    page.close()


# A report for each map


def report_rows(page) -> list[str]:
    return page.locator("#report-rows").inner_text().split("\n")


def two_maps(report, residuals):
    maps, columns, ids = three_groups()
    maps = {"dtSNE": maps["dtSNE"], "t-SNE": maps["t-SNE"]}
    columns = {"group": columns["group"], "density residual": residuals}
    return maps, columns, {"ids": ids, "report": report}


def test_the_report_is_that_of_the_map_shown(open_page):
    residuals = {"dtSNE": np.full(27, 0.25), "t-SNE": np.linspace(-1, 1, 27)}
    report = {"dtSNE": {"r": 0.9, "notes": ["Good."]}, "t-SNE": {"r": 0.3, "notes": ["Poor."]}}
    maps, columns, options = two_maps(report, residuals)
    page = open_page(maps, columns, **options)
    page.get_by_label("Colour by").select_option("density residual in dtSNE")
    for to, name, rows, note in [(0, "dtSNE", "0.9", "Good."), (1, "t-SNE", "0.3", "Poor.")]:
        slide(page, to)
        assert page.locator("#report-title").inner_text() == f"Report on {name}"
        assert page.locator("#report-other").is_hidden()
        assert report_rows(page) == ["r", rows]
        assert page.locator("#notes").inner_text() == note
        chosen = page.locator("#colour option:checked").inner_text()
        assert chosen == f"density residual in {name}"
        page.wait_for_timeout(100)
        page.mouse.move(*screen(page, 26))
        page.wait_for_selector("#tooltip:visible")
        fields = page.locator("#tooltip dt").all_inner_texts()
        assert fields == ["group", f"density residual in {name}"]
        values = page.locator("#tooltip dd").all_inner_texts()
        assert values == ["c", "0.25" if to == 0 else "1"]
        page.mouse.move(5, 5)


def test_a_report_of_another_map_says_so(open_page):
    maps, columns, options = two_maps({"dtSNE": {"r": 0.9}}, {"dtSNE": np.full(27, 0.25)})
    page = open_page(maps, columns, **options)
    assert page.locator("#report-other").is_hidden()
    slide(page, 1)
    said = page.locator("#report-other").inner_text()
    assert said == "t-SNE is shown; this report is on dtSNE."
    assert page.locator("#report-title").inner_text() == "Report on dtSNE"
    assert "density residual in dtSNE" in page.locator("#colour").inner_text()


# What is selected is seen

ACCENT = (228, 0, 127)


def test_a_point_that_is_found_is_seen(page):
    assert pixels_of(page, ACCENT) == 0
    search(page, "p7")
    page.wait_for_selector("#tooltip:visible")
    assert page.locator("#tooltip .name").inner_text() == "p7"
    assert pixels_of(page, ACCENT) > 60
    page.keyboard.press("Escape")


def test_a_point_that_is_found_out_of_view_is_brought_there(page):
    for _ in range(5):
        page.get_by_role("button", name="Zoom in").click()
        page.wait_for_timeout(300)
    canvas = page.locator("#canvas").bounding_box()

    def inside() -> bool:
        x, y = places(page, [0])[0]
        return 0 < x < canvas["width"] and 0 < y < canvas["height"]

    assert not inside()
    search(page, "p0")
    page.wait_for_selector("#tooltip:visible")
    assert inside()


# Numbers, dates and what is missing


def test_missing_numbers_are_listed_and_filtered(open_page):
    values = np.where(np.arange(27) < 5, np.nan, np.linspace(0, 1, 27))
    page = open_page(three_groups()[0], {"depth": values, "nothing known": np.full(27, np.nan)})
    row = page.locator("#legend li .toggle")
    assert row.inner_text().split() == ["missing", "5"]
    row.click()
    assert page.evaluate("dtsnePage.shown()") == list(range(5, 27))
    page.locator("#legend li .only").click()
    assert page.evaluate("dtsnePage.shown()") == list(range(5))
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Colour by").select_option("nothing known")
    assert page.locator("#legend .bar").count() == 0
    assert page.locator("#legend li .toggle").inner_text().split() == ["missing", "27"]


def test_dates_are_written_as_dates_and_filtered(open_page):
    days = np.datetime64("2024-01-01") + np.arange(27)
    page = open_page(three_groups()[0], {"day": days})
    ticks = page.locator("#legend .ticks span").all_inner_texts()
    assert ticks == ["2024-01-01", "2024-01-14", "2024-01-27"]
    page.get_by_label("Show values from").fill("2024-01-20")
    page.keyboard.press("Enter")
    assert page.evaluate("dtsnePage.shown()") == list(range(19, 27))
    search(page, "25", "id")
    assert page.locator("#selected-details dd").inner_text() == "2024-01-26"


def test_one_button_shows_a_category_alone(page):
    page.locator("#legend li").nth(2).hover()
    page.get_by_role("button", name="Show c alone").click()
    assert page.evaluate("dtsnePage.shown()") == list(range(18, 27))


def test_a_long_legend_says_that_there_is_more(open_page):
    names = [f"a rather long name of a type of cells, {i}" for i in range(40)]
    page = open_page({"map": np.random.default_rng(0).normal(size=(40, 2))}, {"kind": names})
    assert page.locator("#legend .total").inner_text() == "40 categories"
    shown = page.locator("#legend .text").all_inner_texts()
    assert len(set(shown)) == 40
    page.wait_for_selector("#legend ul.more")
    page.locator("#legend ul").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    page.wait_for_selector("#legend ul:not(.more)")
    page.set_viewport_size({"width": 390, "height": 700})
    overflow = "list => list.scrollHeight - list.clientHeight"
    assert page.locator("#legend ul").evaluate(overflow) <= 1


def test_the_tooltip_is_short_and_the_selection_has_all(open_page):
    columns = {f"column {i}": np.arange(27.0) for i in range(40)}
    ids = [f"{i}-{'long ' * 100}" for i in range(27)]
    page = open_page(three_groups()[0], columns, ids=ids)
    page.mouse.move(*screen(page, 13))
    page.wait_for_selector("#tooltip:visible")
    assert page.locator("#tooltip small").inner_text() == "… 28 more: click the point"
    height = page.locator("#tooltip .name").evaluate("e => e.getBoundingClientRect().height")
    assert height < 70
    page.mouse.click(*screen(page, 13))
    page.wait_for_function("dtsnePage.selected().length === 1")
    assert page.locator("#selected-details dt").count() == 40


def test_every_colour_is_seen_on_a_dark_page(open_page):
    rng = np.random.default_rng(0)
    columns = {"kind": [f"k{i}" for i in range(30)], "depth": np.arange(30.0)}
    page = open_page({"map": rng.normal(size=(30, 2))}, columns)
    page.get_by_role("button", name="Dark").click()
    swatches = "rows => rows.map((row) => getComputedStyle(row).backgroundColor)"
    found = page.locator("#legend .swatch").evaluate_all(swatches)
    page.get_by_label("Colour by").select_option("depth")
    bar = page.locator("#legend .bar").evaluate("bar => bar.style.background")
    for text in [*found, *re.findall(r"rgb\([^)]*\)", bar)]:
        colour = "#{:02X}{:02X}{:02X}".format(*map(int, re.findall(r"\d+", text)))
        assert min_distance([colour, DARK.color]) > 25


# Movement


def test_of_two_glides_the_last_one_wins(page):
    names = page.locator("#map-names button")
    names.nth(1).click()
    page.wait_for_timeout(150)
    names.nth(0).click()
    seen = page.evaluate(
        """async () => {
            const seen = [];
            const end = performance.now() + 1000;
            while (performance.now() < end) {
                await new Promise(requestAnimationFrame);
                seen.push(Number(document.getElementById("between").value));
            }
            return seen;
        }"""
    )
    assert (np.diff(seen) <= 0.011).all()  # back, and never forth again
    assert seen[-1] == 0


def test_the_slider_ends_a_glide(page):
    page.locator("#map-names button").nth(1).click()
    page.wait_for_timeout(100)
    slide(page, 0.25)
    page.wait_for_timeout(900)
    assert page.locator("#between").input_value() == "0.25"


def touch(page, *steps) -> None:
    """Put fingers down, move them, and lift them: the places of all of them in each step."""
    browser = page.context.new_cdp_session(page)
    for k, fingers in enumerate(steps):
        points = [{"x": float(x), "y": float(y), "id": i} for i, (x, y) in enumerate(fingers)]
        kind = "touchMove" if k else "touchStart"
        browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(40)
    browser.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(150)


@pytest.fixture
def phone(chromium, tmp_path):
    size = {"width": 390, "height": 800}
    context = chromium.new_context(viewport=size, has_touch=True, color_scheme="light")
    context.set_default_timeout(10_000)
    maps, columns, ids = three_groups()
    page = context.new_page()
    page.goto(write_page(tmp_path / "map.html", maps, columns, ids=ids).as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    context.close()


def test_one_finger_moves_the_map(phone):
    before = places(phone, range(27))
    x, y = screen(phone, 13)
    touch(phone, *([(x + k, y + k / 2)] for k in (0, 20, 40, 60)))
    moved = places(phone, range(27)) - before
    np.testing.assert_allclose(moved, np.tile(moved[0], (27, 1)), atol=0.5)
    np.testing.assert_allclose(moved[0], [60, 30], atol=12)


def test_two_fingers_zoom_about_what_is_between_them(phone):
    before = places(phone, [0, 13, 26])
    x, y = screen(phone, 13)
    touch(phone, *([(x - k, y), (x + k, y)] for k in (30, 40, 50, 60)))
    after = places(phone, [0, 13, 26])
    assert after[2, 0] - after[0, 0] == pytest.approx(2 * (before[2, 0] - before[0, 0]), rel=0.05)
    np.testing.assert_allclose(after[1], before[1], atol=8)


def test_one_finger_draws_the_lasso(phone):
    phone.get_by_role("button", name="Lasso").click()
    centre = np.array(screen(phone, 13))
    radius = 1.4 * np.abs(np.array(screen(phone, 9)) - centre).max()
    corners = radius * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -0.8]])
    path = np.concatenate([np.linspace(a, b, 4) for a, b in itertools.pairwise(corners)])
    touch(phone, *([tuple(centre + place)] for place in path))
    phone.wait_for_function("dtsnePage.selected().length > 0")
    assert selected(phone) == list(range(9, 18))


def test_a_tap_selects(phone):
    phone.touchscreen.tap(*screen(phone, 22))
    phone.wait_for_function("dtsnePage.selected().length === 1")
    assert selected(phone) == [22]
