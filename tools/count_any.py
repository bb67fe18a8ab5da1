"""Print how often `Any` stands in the package, by folder: ``python tools/count_any.py``.

It is bare where it is the whole annotation of an argument, a result or a variable, so that nothing
of it is checked. The exit code is 1 where more than `MAX_BARE` of them are.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "dtsne"
MAX_BARE = 60


def count_any(source: str) -> tuple[int, int]:
    """Return how many annotations are a bare `Any`, and how often the name is used in all."""
    bare = names = 0
    for node in ast.walk(ast.parse(source)):
        names += _is_any(node)
        match node:
            case ast.arg() | ast.AnnAssign():
                bare += _is_any(node.annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                bare += _is_any(node.returns)
    return bare, names


def _is_any(node: ast.AST | None) -> bool:
    return ast.unparse(node) in ("Any", "typing.Any") if isinstance(node, ast.expr) else False


def main() -> int:
    """Print the numbers of each folder, and their sums."""
    bare: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        folder = path.relative_to(SOURCE).parent.as_posix()
        found = count_any(path.read_text(encoding="utf-8"))
        bare[folder] += found[0]
        names[folder] += found[1]
    print(" bare   all")
    for folder, number in bare.most_common():
        print(f"{number:5} {names[folder]:5}  {folder}")
    print(f"{bare.total():5} {names.total():5}  in all; bare at most {MAX_BARE}")
    return int(bare.total() > MAX_BARE)


if __name__ == "__main__":
    sys.exit(main())
