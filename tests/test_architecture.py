"""docs/architecture.md and its picture are true to the tree."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dtsne"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = (ROOT / "docs" / "pictures" / "stations.svg").read_text(encoding="utf-8")
BOXES = re.findall(r'class="n"[^>]*>([\w]+)<', PICTURE)


def test_every_file_and_folder_of_the_page_exists():
    named = re.findall(r"`([\w/]+\.(?:py|toml)|\w+/[\w/]*)`", PAGE)
    assert len(named) > 20
    for name in named:
        assert (PACKAGE / name).exists() or (ROOT / name).exists(), name


def test_every_contract_is_where_the_page_says():
    rows = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \| (.*?) \|", PAGE.partition("## Contracts")[2], re.M
    )
    assert len(rows) > 5
    for names, files in rows:
        trees = [ast.parse((PACKAGE / file).read_text()) for file in re.findall(r"`(.*?)`", files)]
        classes = {n.name for tree in trees for n in tree.body if isinstance(n, ast.ClassDef)}
        assert set(re.findall(r"\w+", names)) <= classes


def test_the_picture_has_every_package():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= set(BOXES)
    for name in BOXES:
        assert (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file(), name


def test_the_picture_has_the_order_of_the_layers():
    """From top to bottom, but for the stations in the frame, through which data flows."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contract["contracts"][0]["layers"]
    order = [name for layer in layers for name in re.findall(r"\w+", layer) if name in BOXES]
    flow = ["data", "neighbors", "affinity", "optimize", "forces"]
    assert [name for name in BOXES if name in flow] == flow
    assert [name for name in order if name in flow] == ["optimize", "forces", *flow[2::-1]]
    assert [name for name in order if name not in flow] == [n for n in BOXES if n not in flow]
