"""What the tests share."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import settings

from _browser import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

# Compiling on first use makes single examples slow; that is no failure.
settings.register_profile("dtsne", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("dtsne")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests that open a browser."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.integration)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def two_clusters(rng: np.random.Generator) -> np.ndarray:
    """A tight and a wide cluster of 60 points each, in 5 dimensions."""
    centre = np.full(5, 20.0)
    return np.vstack([rng.normal(size=(60, 5)), centre + 4 * rng.normal(size=(60, 5))])


@pytest.fixture
def real_data() -> None:
    """Skip where the real sets are not at hand."""
    if not os.environ.get("DTSNE_DATA"):
        pytest.skip("the real sets are needed: set DTSNE_DATA to their folder")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Give a real browser to open pages in; skip where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="pages are opened by playwright")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("pages are opened in Chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=ARGUMENTS,
        )
        yield browser
        browser.close()
