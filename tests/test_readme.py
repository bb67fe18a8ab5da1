"""The README's examples run, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")  # scanpy's
@pytest.mark.filterwarnings("ignore:The '.*' option is deprecated")  # pandas' own, by scanpy
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_python_examples_run_one_after_the_other(capsys, tmp_path, monkeypatch):
    for package in ("pandas", "matplotlib", "scanpy"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 2
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    printed = capsys.readouterr().out
    assert "dtsne0" in printed
    sentences = re.findall(r"^> (.*)$", README, flags=re.MULTILINE)
    assert sentences
    assert all(sentence in printed for sentence in sentences)
    assert (tmp_path / "map.png").stat().st_size > 10_000
    assert "</html>" in (tmp_path / "map.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))],
)
def test_links_lead_somewhere(page):
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        if not target.startswith("http"):
            assert (folder / target).exists(), target


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"make ([a-z-]+)", README)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
