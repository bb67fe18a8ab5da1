"""Print the share of public names whose types are known: ``python tools/verify_types.py``.

pyright decides, as it does for whoever imports the package. The exit code is 1 below `MIN_SHARE`:
the bases of the estimator stay unknown, as scikit-learn has no types.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
COMMAND = (
    Path(sys.executable).with_name("pyright"), "--pythonpath", sys.executable,
    "--verifytypes", "dtsne", "--ignoreexternal", "--outputjson",
)  # fmt: skip
MIN_SHARE = 0.98


def main() -> int:
    """Print the share, and the names that are not known."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}  # pyright ignores editable installs
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["typeCompleteness"]
    for symbol in found["symbols"]:
        for problem in symbol["diagnostics"]:
            if problem["severity"] == "error":
                print(f"{symbol['name']}: {problem['message'].splitlines()[0]}")
    share = found["completenessScore"]
    print(f"{share:.1%} of the public names are typed; at least {MIN_SHARE:.0%} must be")
    return int(share < MIN_SHARE)


if __name__ == "__main__":
    sys.exit(main())
