"""How large a page is, how soon it is painted, how smoothly it moves: the tables of docs/page.md.

Run with ``python benchmarks/page.py``; it needs playwright and the command ``chromium``. Drawing
is done without a graphics card here, which is the worst case: "CPU ms" of a frame, of all processes
of the browser together, is mostly what the card would do, and "script ms" what it would not. Both
depend less on what else the machine does than frames per second.

With ``--libraries FOLDER``, a folder of bundles, it measures what else a page could be built on:
the least page of each that draws points in ten colours and moves them (``page_libraries/``).
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright

from _browser import ARGUMENTS
from dtsne.page import write_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, CDPSession, Page

    from dtsne.runtime._typing import FloatArray, IntArray

SIZE = {"width": 1280, "height": 800}
RUNS = 3
FRAME = ("fps", "CPU ms", "script ms")
SECONDS = 4.0  # the longest action
LIBRARIES = ("regl-scatterplot", "deck", "plotly-gl2d", "by-hand")


def clusters(n: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Ten clusters of different width, the same clusters of one width, and their labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, n)
    centres = 25 * rng.normal(size=(10, 2))
    noise = rng.normal(size=(n, 2))
    return centres[labels] + noise * (1 + labels[:, None]), centres[labels] + 5 * noise, labels


def written(path: Path, n: int) -> float:
    """Write a page of two maps and six columns, and return the seconds it took."""
    wide, even, labels = clusters(n)
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "cluster": np.array([f"cluster {label}" for label in labels]),
        "suspect": rng.random(n) < 0.05,
        "density residual": 0.2 * rng.normal(size=n),
        "recall": rng.random(n),
        "log radius in the data": np.log(1 + labels) + 0.1 * rng.normal(size=n),
        "log radius in the map": np.log(1 + labels) + 0.2 * rng.normal(size=n),
    }
    ids = [f"point-{i:06d}" for i in range(n)]
    begin = perf_counter()
    maps, report = {"t-SNE": even, "dtSNE": wide}, {"unit": {"dtSNE": 1.0}}
    write_page(path, maps, columns, ids=ids, report=report)
    return perf_counter() - begin


def drag(page: Page) -> None:
    """Move the map to and fro by the mouse."""
    end = perf_counter() + SECONDS
    page.mouse.move(500, 400)
    page.mouse.down()
    for k in range(60):
        page.mouse.move(500 + 4 * (30 - abs(30 - k)), 400 + (k % 20))
        if perf_counter() > end:
            break
    page.mouse.up()


def slide(page: Page) -> None:
    """Move the slider between the maps, step by step, as fast as frames come."""
    page.evaluate(
        """async (end) => {
            const slider = document.getElementById("between");
            for (let k = 0; k <= 60 && performance.now() < end; k++) {
                slider.value = k / 60;
                slider.dispatchEvent(new Event("input"));
                await new Promise(requestAnimationFrame);
            }
            slider.dispatchEvent(new Event("change"));
        }""",
        page.evaluate("performance.now()") + 1000 * SECONDS,
    )


def cpu_seconds(browser: Browser) -> float:
    """CPU time of all processes of the browser so far."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return float(sum(process["cpuTime"] for process in processes))


def script_seconds(session: CDPSession) -> float:
    """Time of the page's own script so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "ScriptDuration"))


def frames(browser: Browser, page: Page, action: Callable[[Page], None]) -> list[float]:
    """Frames in a second during an action, and what one takes: CPU ms, and ms of script."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.evaluate("""() => {
        window.frames_ = [];
        const tick = (t) => { frames_.push(t); window.ticking = requestAnimationFrame(tick); };
        window.ticking = requestAnimationFrame(tick);
    }""")
    before = cpu_seconds(browser), script_seconds(session)
    action(page)
    after = cpu_seconds(browser), script_seconds(session)
    times = np.diff(page.evaluate("(cancelAnimationFrame(ticking), frames_)"))
    session.detach()
    return [1000 / times.mean(), *(1000 * np.subtract(after, before) / len(times))]


def opened(browser: Browser, path: Path) -> tuple[Page, float]:
    """Open a page, and say after how many seconds it was painted."""
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
    page.on("pageerror", lambda error: print(f"  error in {path.name}: {error}"))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=60_000)
    painted = page.evaluate("performance.getEntriesByName('dtsne-painted')[0].startTime")
    return page, float(painted) / 1000


def measured(browser: Browser, path: Path, actions: list[Callable[[Page], None]]) -> list[str]:
    """Measure a file: MB, first paint, and frames during each action; the median of some runs."""
    rows = []
    for _ in range(RUNS):
        page, painted = opened(browser, path)
        rows.append(
            [painted, *(number for act in actions for number in frames(browser, page, act))]
        )
        page.close()
    painted, *numbers = np.median(rows, axis=0)
    return [f"{path.stat().st_size / 1e6:.2f}", f"{painted:.2f}", *(f"{x:.0f}" for x in numbers)]


def print_row(*cells: object) -> None:
    print("|", *(f"{cell} |" for cell in cells), flush=True)


def measure_pages(browser: Browser, folder: Path, sizes: list[int]) -> None:
    actions = [f"{action}: {what}" for action in ("drag", "slide") for what in FRAME]
    print_row("points", "write s", "MB", "first paint s", *actions)
    print_row(*["---"] * 10)
    for n in sizes:
        path = folder / f"{n}.html"
        seconds = written(path, n)
        print_row(f"{n:,}", f"{seconds:.2f}", *measured(browser, path, [drag, slide]))


def library_page(name: str, bundle: str, Y: FloatArray, labels: IntArray) -> str:
    """Fill the page of one library."""
    folder = Path(__file__).parent / "page_libraries"
    scaled = (Y / np.abs(Y).max()).astype("<f4")
    arrays = {"x": scaled[:, 0], "y": scaled[:, 1], "code": labels.astype("u1")}
    parts = {key: base64.b64encode(array.tobytes()).decode() for key, array in arrays.items()}
    parts |= {"bundle": bundle, "script": (folder / f"{name}.js").read_text(encoding="utf-8")}
    template = (folder / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def measure_libraries(browser: Browser, folder: Path, n: int, builds: Path) -> None:
    Y, _, labels = clusters(n)
    print_row("library", "bundle kB", "page MB", "first paint s", *FRAME)
    print_row(*["---"] * 7)
    for name in LIBRARIES:
        file = builds / f"{name}.min.js"
        bundle = "" if name == "by-hand" else file.read_text(encoding="utf-8")
        path = folder / f"{name}.html"
        path.write_text(library_page(name, bundle, Y, labels), encoding="utf-8")
        print_row(name, f"{len(bundle) / 1000:.0f}", *measured(browser, path, [drag]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--libraries", type=Path, help="a folder of bundles")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        if options.libraries:
            measure_libraries(browser, Path(folder), options.n[-1], options.libraries)
        else:
            measure_pages(browser, Path(folder), options.n)
        browser.close()


if __name__ == "__main__":
    main()
