"""The digests under which the comparison keeps its results change with all the code behind them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reproduce._digest import (
    PACKAGES,
    digest_of_closure,
    digest_of_code,
    import_closure,
)
from reproduce._run import MEASURES
from reproduce.methods._dtsne import FIT

X = "import numpy; X = numpy.random.default_rng(0).normal(size=(60, 5));"
SHORT = (
    f"{X} from dtsne import Config, embed;"
    "embed(X, Config(perplexity=5, max_iter=30, tol=0, device={}))"
)
# What runs, and the module whose imports are to cover it.
LOADED = {
    "fit": (SHORT.format("'cpu'"), FIT),
    "fit by torch": ("import torch; " + SHORT.format("torch.device('cpu')"), FIT),
    "measures": (
        f"{X} from types import SimpleNamespace as N; from reproduce._measures import measure;"
        "measure(N(X=X, labels=numpy.arange(60) % 2), X[:, :2], synthetic=True)", MEASURES,
    ),
}  # fmt: skip


@pytest.fixture
def copied(tmp_path) -> dict[str, Path]:
    """Copy both packages, to be changed."""
    copies = {}
    for name, folder in PACKAGES.items():
        ignored = shutil.ignore_patterns("__pycache__", "vendor")
        copies[name] = Path(shutil.copytree(folder, tmp_path / name, ignore=ignored))
    return copies


@pytest.mark.parametrize("root", [FIT, MEASURES])
def test_a_change_of_any_module_behind_a_result_is_noticed(root, copied):
    closure = import_closure(root, copied)
    before = digest_of_closure(closure)
    assert before == digest_of_code(root)
    for path in closure.values():
        content = path.read_bytes()
        path.write_bytes(content + b"\n# another line\n")
        assert digest_of_closure(import_closure(root, copied)) != before, path
        path.write_bytes(content)
    assert digest_of_closure(import_closure(root, copied)) == before


@pytest.mark.parametrize("root", [FIT, MEASURES])
def test_a_change_of_any_other_module_is_not(root, copied):
    closure = import_closure(root, copied)
    others = {path for folder in copied.values() for path in folder.rglob("*.py")}
    others -= set(closure.values())
    folders = {path.parent.name for path in others}
    assert {"cli", "io", "datasets", "page", "plots", "report"} <= folders
    for path in others:
        path.write_text("import nothing")
    assert digest_of_closure(import_closure(root, copied)) == digest_of_code(root)


@pytest.mark.integration
@pytest.mark.parametrize("what", LOADED)
def test_every_module_that_is_loaded_is_covered(what):
    code, root = LOADED[what]
    path = [str(folder.parent) for folder in PACKAGES.values()]
    script = f"import sys; sys.path[:0] = {path}; {code}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if name.partition(".")[0] in PACKAGES}
    assert len(loaded) > 15
    assert loaded <= set(import_closure(root))


def test_all_kinds_of_imports_are_followed(tmp_path):
    (tmp_path / "inner").mkdir()
    for name, text in {
        "__init__": "from top.at_top import x\ndef f(): import top.unused_in_function",
        "root": """
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from top import for_types
            else:
                from top import otherwise
            import top.plain, json
            from . import sibling
            from .inner import deep, not_a_module
            from top.star import *
            class C:
                def method(self):
                    from top.in_function import y
            def later():
                return import_module("top.in_string"), dispatch("_named"), "top.nothing", "a b.c"
            """,
        "inner/__init__": "",
        "inner/deep": "from ..above import z",
    }.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    for name in ("at_top", "unused_in_function", "for_types", "otherwise", "plain", "sibling",
                 "star", "in_function", "in_string", "_named", "above"):  # fmt: skip
        (tmp_path / f"{name}.py").write_text("")
    closure = import_closure("top.root", {"top": tmp_path})
    assert set(closure) == {
        "top", "top.root", "top.at_top", "top.otherwise", "top.plain", "top.sibling", "top.inner",
        "top.inner.deep", "top.above", "top.star", "top.in_function", "top.in_string", "top._named",
    }  # fmt: skip
