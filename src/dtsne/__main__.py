"""``python -m dtsne`` is the command ``dtsne``."""

from dtsne.cli import main

main()
