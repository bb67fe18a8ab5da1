"""What an import brings along."""

from __future__ import annotations

import subprocess
import sys


def loaded_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())
