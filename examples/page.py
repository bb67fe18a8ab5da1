"""A page of the digits: dtSNE and t-SNE, and what to believe of each point of either.

Run with ``python examples/page.py digits.html`` and open the file in a browser.
"""

from __future__ import annotations

import sys

from dtsne import DTSNE
from dtsne.datasets import load


def main() -> None:
    digits = load("digits")
    model = DTSNE(perplexity=50).fit(digits.X)
    tsne = DTSNE(perplexity=50, density_scale=0).fit(digits.X)
    page = model.explore(
        others={"t-SNE": tsne.embedding_},
        report={"dtSNE": model.report(labels=digits.labels), "t-SNE": tsne.report()},
        ids=[f"digit-{i:04d}" for i in range(len(digits.X))],
        title="Handwritten digits",
    )
    written = page.save(sys.argv[1] if len(sys.argv) > 1 else "digits.html")
    print(f"{written}: {written.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
