"""How benchmarks and tests start Chromium: without a graphics card, and without a network."""

from __future__ import annotations

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader"),
    *("--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
]
