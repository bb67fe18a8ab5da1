"""The data sets of the paper, synthetic and real, by name."""

from dtsne.datasets._dataset import Dataset
from dtsne.datasets._load import load, names

__all__ = ["Dataset", "load", "names"]
