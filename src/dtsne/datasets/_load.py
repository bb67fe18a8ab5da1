"""All data sets, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dtsne.datasets._real import REAL, load_digits, load_real
from dtsne.datasets._synthetic import MIXTURES, draw_mixture
from dtsne.runtime._errors import ParameterError

if TYPE_CHECKING:
    from dtsne.datasets._dataset import Dataset


def names() -> tuple[str, ...]:
    """Return the names of all data sets.

    Returns
    -------
    tuple of str
        The names, as :func:`load` takes them.

    See Also
    --------
    load : Loads one of them.

    Examples
    --------
    >>> from dtsne.datasets import names
    >>> "digits" in names()
    True
    """
    return (*MIXTURES, "digits", *REAL)


def load(name: str, seed: int = 0, *, n: int | None = None) -> Dataset:
    """Load a data set by name.

    Synthetic sets are drawn from `seed`. ``"digits"`` comes with scikit-learn. The other real
    sets are read from the folder in the environment variable ``DTSNE_DATA``. Where that is unset or
    lacks the file, they are downloaded with a checksum and cached, which requires
    ``pip install "dtsne[data]"``. ``"amazon"`` and ``"newsgroups"`` are published nowhere, and
    come from ``DTSNE_DATA`` only.

    Parameters
    ----------
    name : str
        One of `names`.
    seed : int, default=0
        Seeds the points of a synthetic set, and the choice of a subset. It has no effect on a
        real set with all its rows.
    n : int, optional
        Size of a random subset of the rows, drawn without replacement and in their order, as in
        the paper for its larger sets. All rows by default.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    ValueError
        If the name is unknown, if `n` is not between 1 and the size of the set, or if a
        downloaded file does not have the expected checksum.
    ImportError
        If a download is needed and a package of ``dtsne[data]`` is missing.
    OSError
        If a download fails; FileNotFoundError, a kind of OSError, if there is none to try.

    See Also
    --------
    names : The names of all sets.

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
        raise ParameterError("name", name, f"one of {', '.join(names())}")
    return whole if n is None else _random_subset(whole, n, seed)


def _random_subset(whole: Dataset, n: int, seed: int) -> Dataset:
    size = len(whole.X)
    if not 1 <= n <= size:
        raise ParameterError("n", n, f"from 1 to {size}, the size of {whole.name!r}")
    rows = np.sort(np.random.default_rng(seed).choice(size, n, replace=False))
    return replace(
        whole,
        X=whole.X[rows],
        labels=None if whole.labels is None else whole.labels[rows],
        description=f"{whole.description} Here a random subset of {n} rows (seed {seed}).",
    )
