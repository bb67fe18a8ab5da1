"""The methods of the comparison, by name: one small adapter each."""

from __future__ import annotations

from reproduce.methods._densne import DENSNE
from reproduce.methods._dtsne import DTSNE, PAPER, PLAIN
from reproduce.methods._largevis import LARGEVIS
from reproduce.methods._libraries import DENSMAP, LLE, PACMAP, TSNE, UMAP
from reproduce.methods._method import Method, Missing, digest_of_adapter
from reproduce.methods._ncvis import NCVIS

__all__ = [
    "METHODS",
    "OF_FIGURES",
    "OF_MNIST",
    "OF_THEORY",
    "Method",
    "Missing",
    "digest_of_adapter",
]

# The paper's six, then those that it leaves out.
METHODS: dict[str, Method] = {
    "dtsne": DTSNE,
    "largevis": LARGEVIS,
    "lle": LLE,
    "ncvis": NCVIS,
    "tsne": TSNE,
    "umap": UMAP,
    "densmap": DENSMAP,
    "pacmap": PACMAP,
    "densne": DENSNE,
    "dtsne-plain": PLAIN,
    "dtsne-paper": PAPER,
}
# Those of the paper's two figures in two dimensions, in its order.
OF_FIGURES = ("largevis", "ncvis", "tsne", "umap", "dtsne")
OF_MNIST = ("dtsne", "largevis", "lle", "ncvis", "tsne", "umap")
OF_THEORY = ("tsne", "dtsne-plain", "dtsne")
