"""What the tests of reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

if TYPE_CHECKING:
    from dtsne.report import Report

OPTIONS = {"k": 12, "k_neighborhood": 6, "n_bootstrap": 100}


def blobs(n=120, d=4, seed=0):
    """Three groups of different spread, and a map of them with some noise."""
    rng = np.random.default_rng(seed)
    labels = np.array(["A", "B", "C"])[np.arange(n) % 3]
    codes = np.arange(n)[:, None] % 3
    X = 12.0 * codes + rng.normal(size=(n, d)) * (1.0 + codes)
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2)), labels


def sorted_neighbors(points):
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :-1]
    return order, np.take_along_axis(distances, order, axis=1)


def close(a, b, **tolerance):
    np.testing.assert_allclose(a, b, **{"rtol": 1e-7, "atol": 1e-9, **tolerance})


def assert_same(one: Report, other: Report, order=slice(None), *, map_shift=0.0, map_scale=1.0):
    """Check that two reports say the same of the same points, the map having another scale."""
    for name, values in one.points.columns().items():
        expected = other.points.columns()[name][order]
        if values.dtype.kind == "f":
            close(values, expected + (map_shift if name == "log_radius_map" else 0.0))
        else:
            np.testing.assert_array_equal(values, expected)
    for name, values in (one.groups.columns() | one.ratios.columns()).items():
        expected = (other.groups.columns() | other.ratios.columns())[name]
        if values.dtype.kind == "f":
            shift = map_shift if name == "log_radius_map" else 0.0
            close(values, expected * (map_scale if name == "spread_map" else 1.0) + shift)
        else:
            np.testing.assert_array_equal(values, expected)
    for name, value in one.quality.as_dict().items():
        expected = other.quality.as_dict()[name]
        if isinstance(value, float):
            close(value, expected)
        else:
            assert value == expected


def page(report):
    """Return what is printed, on one line."""
    return " ".join(str(report).split())
