"""Print how often `Any` stands in the package, by folder: ``python tools/count_any.py``.

Nothing of what it annotates is checked. The exit code is 1 where it stands more than `MAX_ANY`
times, imports aside.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "dtsne"
MAX_ANY = 60


def count_any(source: str) -> int:
    """Return how often the name is used."""
    return sum(
        ast.unparse(node) in ("Any", "typing.Any")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name | ast.Attribute)
    )


def main() -> int:
    """Print the number of each folder, and their sum."""
    found: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        folder = path.relative_to(SOURCE).parent.as_posix()
        found[folder] += count_any(path.read_text(encoding="utf-8"))
    for folder, number in found.most_common():
        print(f"{number:4}  {folder}")
    print(f"{found.total():4}  in all, of at most {MAX_ANY}")
    return int(found.total() > MAX_ANY)


if __name__ == "__main__":
    sys.exit(main())
