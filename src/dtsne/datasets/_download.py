"""The published files of the real sets: where they are, their checksums, and how to get them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dtsne.runtime._errors import DataError
from dtsne.runtime._optional import optional

for_download = partial(optional, extra="data", purpose="downloading this data set")


@dataclass(frozen=True)
class RemoteFile:
    """A file with an address that does not change, and the checksum of its content."""

    url: str
    checksum: str


MNIST_MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist"  # torchvision's, as its checksums

MNIST = tuple(
    RemoteFile(f"{MNIST_MIRROR}/{name}-ubyte.gz", f"md5:{md5}")
    for name, md5 in {
        "train-images-idx3": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1": "ec29112dd5afa0611ce80d1b7f02629c",
    }.items()
)

GITHUB = "https://raw.githubusercontent.com"

SAMUSIK = (
    RemoteFile(
        f"{GITHUB}/tjburns08/nnvis/7892d404f648f42a5682cb5d7bea0d7f81d86429/data/samusik_cells.rda",
        "sha256:cb26fa388c125e9cec20eabd9dc453138417f9236e8b408c99b35a83a3313392",
    ),
)

PBMC4K = (
    RemoteFile(
        f"{GITHUB}/ttgump/scDCC/142e4e0370f4134751e92a160f95f97fce8db369"
        "/data/Small_Datasets/10X_PBMC_top2000.h5",
        "sha256:ec78ead405dfa988d6156c12068b49c0782ca58f5ed52c938d8ba8e8377eb16e",
    ),
)

HIMC_FOLDER = (
    f"{GITHUB}/claradrachmann/cyDefine/eddcc637dade9063fc8f93c671e43f16549ea44c/inst/extdata"
)

# One file for each cell type, in the order of the rows of the set.
HIMC_CHECKSUMS = {
    "B-IgDnegCD27neg": "239760b21aa5c0591108068550f8302e6873e83fcaeaf342c913136bb305cd90",
    "B-IgDnegCD27pos": "22cfbbe9a101d792512a1bca304291ebda2bd72c17a5a2f1f7e39db13be5b5fd",
    "B-IgDposCD27neg": "a179623f1641a52c0bb0cb869ef165a26c83097ce70d2fe1b7df0668f5051875",
    "B-IgDposCD27pos": "c7533db70e69935f194037784f48795ad080d60f137bc27092781b966b849812",
    "Basophil": "9590dfff56d0ffda117a9f15b96f3db8c14f500a96c2e06a3b35e0e58c28ba7c",
    "CD4-CM": "980eaaae1278e70198a385de66d1ae9f8b00fab431fc22d320f780eb0fdc56b6",
    "CD4-Eff": "a031a40f4d1e21d41d41a334fa6e30ab659c36c75835293d71455685e3ddff60",
    "CD4-EM": "754be120ef2f25231c297f146ee2953ff476fd3a0264a17c55b9b2de013ba4c7",
    "CD4-Naive": "7e41a548625bc0c88037e777aa25699a39a9fa94185274b92025b4ea4eef38f2",
    "CD4CD8dblneg": "0e45f66b40c6d53963e7c3c1cb17c428614deb33efd0a3a6a60cf7c945a9c762",
    "CD4CD8dblpos": "f47dd81fd04b6d9d1f26e6c2510b89da47dbfab188ccaaf5fe3d847b1daa4005",
    "CD4pos_Treg": "a2b47562b621ba0dc9c8e3027610ba56dd3b70f136cccd77a3050ce095e209b0",
    "CD56brightNK": "5068295766427d4b1ac3cd52acc7cef052132f76aa29d86386d41198077aff74",
    "CD8-CM": "5e92eb9cd859948e4a958873bfbef931cb3b501cf1613c13a28099c01c213dd4",
    "CD8-Eff": "e1bc0d905a32bccb1382b6df48a105de0ee5a9918676bdf67946e2ec7c7c7802",
    "CD8-EM": "8a2d441323fcc356e75a3dee78582dc020e08f8e77c671e4be4082aad9b53166",
    "CD8-Naive": "64d5de3cc6fd3c14c265a0ed6b3d29cbf48575e37aff29d2f5e680ddf96e57ed",
    "mDCs": "d8a482dfa19a9c7547cf6988e70035c2a3a35d31fe2c42c8c0a49fe2104977f9",
    "Monocytes-CD16negCD14neg": "2a3303b4d0be5e167efc532fea9ad57f11ecc5c8663a8251894a8c497d945f03",
    "Monocytes-CD16negCD14pos": "ad6ede6f12b29c5c44b49602fd0c5ae1759400e10b371b37fbf4dffedf46632b",
    "Monocytes-CD16posCD14neg": "e15009a52ceee2cb3e93f00307dac7b49eff705621dca3e1d551fd3a36743900",
    "Monocytes-CD16posCD14pos": "7b063e073e47aaa5b4a267a154c29e14b43430f0ac2e88bc675fffb8861029d3",
    "NK": "8bf76e5859fe71d1509a9f570b22cae17e2098b5c45b454bce3da92a06836805",
    "Non-pDC-non-mDC": "061232292df7f1b42712598fcf8fec7989cffa7a3d244e21647cfaed275cf6bb",
    "NKT": "7b9b9b290d47bafc88d7ad1863361fdcbe53f4f7651fc6c8ed18517003e03b33",
    "NonNK-nonDC": "24244ffc8fa49d2b556553c1745c1b029986dd0b489f4fd94bca006d314347b3",
    "pDCs": "f73ebe17da59933259237a55672c593df48ceae25914d2237b6467bacba025af",
    "Tcells_TCRgd": "bcef8e1f10a0d32c6d73874b826f8f098f697163060bf9b6fa23325c4cbd2f30",
}

HIMC = tuple(
    RemoteFile(
        f"{HIMC_FOLDER}/02Feb18_Helios2_Plate3_Sample1_HIMCctrl_{cell_type}.fcs",
        f"sha256:{sha256}",
    )
    for cell_type, sha256 in HIMC_CHECKSUMS.items()
)


def fetch(file: RemoteFile, *, remedy: str) -> Path:
    """Return the path of a file in the cache, downloading it first if it is not there.

    `remedy` is what the user can do without a download, for error messages.
    """
    pooch = for_download("pooch")
    name = file.url.rpartition("/")[2]
    try:
        path = pooch.retrieve(file.url, file.checksum, fname=name, path=pooch.os_cache("dtsne"))
    except OSError as error:  # which the errors of requests are, too
        raise OSError(f"cannot download {file.url} ({error}); {remedy}") from error
    except ValueError as error:
        reason = f"{file.url} does not have the expected checksum"
        raise DataError(reason, remedy, argument="file") from error
    return Path(path)
