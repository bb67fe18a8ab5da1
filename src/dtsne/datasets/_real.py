"""Real sets, from the user's folder or from a download."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dtsne.datasets import _convert
from dtsne.datasets._dataset import Dataset, LabelledPoints
from dtsne.datasets._download import HIMC, MNIST, PBMC4K, SAMUSIK, RemoteFile, fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER_VARIABLE = "DTSNE_DATA"


@dataclass(frozen=True)
class Download:
    """The published files of a set, and the function that reads them."""

    files: tuple[RemoteFile, ...]
    convert: Callable[[Sequence[Path]], LabelledPoints]


@dataclass(frozen=True)
class RealSet:
    """Where a real set is found; `download` is None for a set that is published nowhere."""

    file: str
    description: str
    download: Download | None


REAL = {
    "mnist": RealSet(
        "mnist.npz",
        "MNIST: images of handwritten digits, 70000 × 784 grey values 0-255, the training images "
        "before the test images (LeCun, Cortes, Burges). No preprocessing. Usually "
        "quoted as CC BY-SA 3.0.",
        Download(MNIST, _convert.mnist),
    ),
    "samusik": RealSet(
        "samusik01_10k.npz",
        "Samusik: mouse bone marrow by mass cytometry, 10000 × 39 markers, a sample of the 86864 "
        "cells of animal 01, gated into 24 cell types and the unassigned (Samusik et al. "
        "2016, FlowRepository FR-FCM-ZZPH; from tjburns08/nnvis, Artistic-2.0). arcsinh(x/5).",
        Download(SAMUSIK, _convert.samusik),
    ),
    "amazon": RealSet(
        "amazon_5k.npz",
        "Amazon: product reviews of 8 categories (Ni 2018, Blitzer 2007), 5000 × 384, unit-norm "
        "sentence embeddings by all-MiniLM-L6-v2 of the first 700 characters; the paper used the "
        "Universal Sentence Encoder. No licence stated (research use).",
        None,
    ),
    "newsgroups": RealSet(
        "newsgroups20_minilm_4k.npz",
        "20 newsgroups: stripped posts, 4000 × 384, unit-norm sentence embeddings "
        "by all-MiniLM-L6-v2 of the first 700 characters. No licence stated (research "
        "use).",
        None,
    ),
    "pbmc4k": RealSet(
        "pbmc4k_10x_pca50.npz",
        "PBMC 4k: human blood cells by single-cell RNA sequencing, 4271 × 50, 8 clusters (10x "
        "Genomics; from ttgump/scDCC, Apache-2.0). UMI counts of 2000 genes, scaled to 10000 a "
        "cell, log(1 + x), first 50 principal components (randomised solver, seed 0).",
        Download(PBMC4K, _convert.pbmc4k),
    ),
    "himc": RealSet(
        "himc_pbmc_cytof_80k.npz",
        "HIMC: human blood cells by mass cytometry, 80415 × 37 markers, gated into 28 cell "
        "types (FlowRepository FR-FCM-Z2YR; from claradrachmann/cyDefine, GPL-3). Intensities "
        "rounded up to counts, arcsinh(x/5).",
        Download(HIMC, _convert.himc),
    ),
}


def load_digits() -> Dataset:
    """Load the digits that come with scikit-learn."""
    from sklearn.datasets import load_digits as load_bundled

    X, labels = load_bundled(return_X_y=True)
    return Dataset(
        name="digits",
        X=X,
        labels=labels.astype(np.int64),
        label_names=tuple("0123456789"),
        description=(
            "Digits: images of handwritten digits, 1797 × 64 grey values 0-16 (Alpaydin, Kaynak; "
            "UCI, bundled with scikit-learn). No preprocessing."
        ),
    )


def load_real(name: str) -> Dataset:
    """Load a real set from the user's folder, else from its publisher."""
    real = REAL[name]
    folder = os.environ.get(FOLDER_VARIABLE)
    local = Path(folder).expanduser() / real.file if folder else None
    table = _read_npz(local) if local is not None and local.is_file() else _download(name, real)
    return Dataset(
        name=name,
        X=table.X.astype(np.float32, copy=False),
        labels=table.labels.astype(np.int64, copy=False),
        label_names=table.label_names,
        description=real.description,
    )


def _read_npz(path: Path) -> LabelledPoints:
    with np.load(path, allow_pickle=False) as stored:
        return LabelledPoints(stored["X"], stored["y"], tuple(map(str, stored["label_names"])))


def _download(name: str, real: RealSet) -> LabelledPoints:
    remedy = f"set {FOLDER_VARIABLE} to a folder that holds {real.file}"
    if real.download is None:
        raise FileNotFoundError(
            f"{name!r} cannot be downloaded, as its embeddings are published nowhere: {remedy}"
        )
    paths = [fetch(file, remedy=remedy) for file in real.download.files]
    return real.download.convert(paths)
