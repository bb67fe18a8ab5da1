"""One entrance to all sets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.datasets._real import REAL, load_digits, load_real
from dtsne.datasets._synthetic import MIXTURES, draw_mixture

if TYPE_CHECKING:
    from dtsne.datasets._dataset import Dataset


def names() -> tuple[str, ...]:
    """Return the names that `load` knows."""
    return (*MIXTURES, "digits", *REAL)


def load(name: str, seed: int = 0, *, n: int | None = None) -> Dataset:
    """Load a data set by name.

    Synthetic sets are drawn anew from `seed`. ``"digits"`` comes with scikit-learn. The other
    real sets are read from the folder named by the environment variable ``DTSNE_DATA``, or, where
    that is unset or lacks the file, downloaded with a checksum and cached (this needs
    ``pip install "dtsne[data]"``). ``"amazon"`` and ``"newsgroups"`` are published nowhere, and
    come from ``DTSNE_DATA`` only.

    Parameters
    ----------
    name : str
        One of `names`.
    seed : int, default=0
        Seed of the random draw: of the points of a synthetic set, and of the subset of any set.
        Without effect on a real set loaded whole.
    n : int, optional
        Return a random subset of n rows, drawn without replacement and kept in their order, as
        the paper does for its larger sets. All rows by default.

    Returns
    -------
    Dataset
        The set; see there for its fields and types.

    Raises
    ------
    ValueError
        If the name is unknown, if `n` is not between 1 and the size of the set, or if a
        downloaded file does not have the expected checksum.
    ImportError
        If a download is needed and a package of ``dtsne[data]`` is missing.
    OSError
        If a download fails. FileNotFoundError (a kind of OSError) if there is none to try.

    Examples
    --------
    >>> from dtsne.datasets import load
    >>> X, labels, description = load("G10-d", seed=1)
    >>> X.shape
    (2000, 50)
    """
    if name in MIXTURES:
        whole = draw_mixture(name, np.random.default_rng(seed))
    elif name == "digits":
        whole = load_digits()
    elif name in REAL:
        whole = load_real(name)
    else:
        raise ValueError(f"unknown data set {name!r}; choose one of {', '.join(names())}")
    return whole if n is None else _random_subset(whole, n, seed)


def _random_subset(whole: Dataset, n: int, seed: int) -> Dataset:
    size = len(whole.X)
    if not 1 <= n <= size:
        raise ValueError(f"n must be between 1 and {size}, the size of {whole.name!r}; got {n}")
    rows = np.sort(np.random.default_rng(seed).choice(size, n, replace=False))
    return replace(
        whole,
        X=whole.X[rows],
        labels=None if whole.labels is None else whole.labels[rows],
        description=f"{whole.description} Here a random subset of {n} rows (seed {seed}).",
    )
