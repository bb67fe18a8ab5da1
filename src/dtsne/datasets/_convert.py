"""Published files as points and labels: pure functions of their paths."""

from __future__ import annotations

import gzip
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dtsne.datasets._dataset import LabelledPoints
from dtsne.datasets._download import for_download
from dtsne.runtime._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtsne.runtime._typing import FloatArray

CYTOF_COFACTOR = 5  # the usual one for mass cytometry
_AGAIN = "delete it, and download it again"


def mnist(paths: Sequence[Path]) -> LabelledPoints:
    """Join the training and the test images."""
    train_images, train_labels, test_images, test_labels = paths
    images = np.concatenate([read_idx(path, ndim=3) for path in (train_images, test_images)])
    labels = np.concatenate([read_idx(path, ndim=1) for path in (train_labels, test_labels)])
    if len(images) != len(labels):
        reason = f"MNIST is corrupt: it has {len(images)} images and {len(labels)} labels"
        raise DataError(reason, _AGAIN, argument="paths")
    return LabelledPoints(
        images.reshape(len(images), -1).astype(np.float32),
        labels.astype(np.int64),
        tuple("0123456789"),
    )


def read_idx(path: Path, *, ndim: int) -> NDArray[np.uint8]:
    """Read a gzipped IDX file of unsigned bytes.

    The format is four bytes (0, 0, element type, number of dimensions), the length of each
    dimension as a big-endian uint32, then the elements.
    """
    content = gzip.decompress(path.read_bytes())
    header = 4 + 4 * ndim
    if content[:4] != bytes([0, 0, 8, ndim]) or len(content) < header:
        reason = f"{path.name} is not an IDX file of unsigned bytes in {ndim} dimensions"
        raise DataError(reason, _AGAIN, argument="path")
    shape = tuple(int(length) for length in np.frombuffer(content[4:header], ">u4"))
    if len(content) != header + prod(shape):
        reason = f"{path.name} is corrupt: {len(content) - header} bytes instead of {prod(shape)}"
        raise DataError(reason, _AGAIN, argument="path")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


# The file numbers the populations from 1, in this order, and leaves the rest without a label.
# fmt: off
SAMUSIK_NAMES = (
    "unassigned", "B-cell Frac A-C (pro-B cells)", "Basophils", "CD4 T cells", "CD8 T cells",
    "Classical Monocytes", "CLP", "CMP", "Eosinophils", "gd T cells", "GMP", "HSC",
    "IgD- IgMpos B cells", "IgDpos IgMpos B cells", "IgM- IgD- B-cells", "Intermediate Monocytes",
    "Macrophages", "mDCs", "MEP", "MPP", "NK cells", "NKT cells", "Non-Classical Monocytes", "pDCs",
    "Plasma Cells",
)
# fmt: on


def samusik(paths: Sequence[Path]) -> LabelledPoints:
    """Take the surface markers, which are transformed in the file already, and the populations."""
    columns = _read_r_data_frame(paths[0])
    ordered = list(columns)
    # Before these stand time, cell length and barcodes; behind them DNA, viability and metadata.
    markers = ordered[ordered.index("Ter119") : ordered.index("MHCII") + 1]
    return LabelledPoints(
        np.stack([columns[marker] for marker in markers], axis=1).astype(np.float32),
        np.nan_to_num(columns["label"], nan=0).astype(np.int64),
        SAMUSIK_NAMES,
    )


def _read_r_data_frame(path: Path) -> dict[str, FloatArray]:
    """Read the only object of an .rda file as a dict of its columns."""

    def columns(values: dict[str, FloatArray], _attributes: object) -> dict[str, FloatArray]:
        return values

    # Named here, as rdata knows no tibbles and would warn.
    constructors = {"tbl_df": columns, "data.frame": columns}
    (frame,) = for_download("rdata").read_rda(path, constructor_dict=constructors).values()
    return {str(name): np.asarray(column) for name, column in frame.items()}


def pbmc4k(paths: Sequence[Path]) -> LabelledPoints:
    """Normalise the counts, and project them on their first 50 principal components."""
    from sklearn.decomposition import PCA

    with for_download("h5py").File(paths[0]) as file:
        counts, clusters = file["X"][:].astype(np.float64), file["Y"][:]
    log_counts = np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4)
    # The randomised solver, as in the stored set: the late components, whose variances nearly
    # agree, differ from those of an exact solver.
    pca = PCA(min(50, *counts.shape), svd_solver="randomized", random_state=0)
    return LabelledPoints(
        pca.fit_transform(log_counts).astype(np.float32),
        clusters.astype(np.int64) - 1,
        tuple(str(cluster) for cluster in range(1, clusters.max() + 1)),
    )


# fmt: off
HIMC_MARKERS = (
    "CD16", "CD26", "CD8a", "CD33", "CD161", "CCR10", "CCR7", "CCR9", "CD3", "ICOS", "CD45RA",
    "CD27", "CXCR3", "NKG2A", "CD14", "CD127", "CD57", "HLA-DR", "CD62L", "CD19", "IgG", "CD4",
    "IgD", "IgA", "CD86", "CCR6", "CD20", "CD56", "TCRgd", "CD123", "CD11c", "CD25", "CXCR5",
    "CD38", "a4b7", "PD-1", "CLA",
)
# fmt: on


def himc(paths: Sequence[Path]) -> LabelledPoints:
    """Join the files of the cell types, and undo the randomisation of the counts.

    The instrument's software adds noise from U(-1, 0) to the integer counts; rounding up takes it
    away.
    """
    intensities, cell_types = zip(*map(_read_himc_file, paths), strict=True)
    label_names = sorted(cell_types)
    return LabelledPoints(
        np.arcsinh(np.ceil(np.concatenate(intensities)) / CYTOF_COFACTOR).astype(np.float32),
        np.repeat(
            np.array([label_names.index(cell_type) for cell_type in cell_types], dtype=np.int64),
            [len(cells) for cells in intensities],
        ),
        tuple(label_names),
    )


def _read_himc_file(path: Path) -> tuple[FloatArray, str]:
    """Read the markers of the cells of one type, and the type, from an FCS file."""
    file = for_download("flowio").FlowData(path)
    # Channels are called "metal_marker", as in 209Bi_CD16.
    markers = [channel["pns"].rpartition("_")[2] for channel in file.channels.values()]
    cells = file.as_array(preprocess=False)[:, [markers.index(marker) for marker in HIMC_MARKERS]]
    # The original name of the file ends with the full name of the type; its present one is cut.
    cell_type = Path(file.text["fil"]).stem.rpartition("HIMCctrl_")[2]
    return cells, cell_type
