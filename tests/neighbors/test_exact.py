from __future__ import annotations

import numpy as np
import pytest

from dtsne.data._distances import nearest_in_matrix, pairwise_squared_distances
from dtsne.neighbors._exact import nearest_neighbors
from dtsne.runtime._errors import ParameterError


def test_matrix_of_distances_gives_the_same_neighbors(rng):
    X = rng.integers(0, 4, size=(40, 3)).astype(float)
    D = np.sqrt(pairwise_squared_distances(X))
    in_matrix = nearest_in_matrix(D, 7, own=np.arange(40))
    for found, expected in zip(in_matrix, nearest_neighbors(X, 7), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_queries_are_rows_of_the_whole(rng):
    X = rng.normal(size=(300, 4))
    rows = np.array([5, 299, 0])
    for part, whole in zip(
        nearest_neighbors(X, 9, queries=rows), nearest_neighbors(X, 9), strict=True
    ):
        np.testing.assert_array_equal(part, whole[rows])


def test_small_distances_far_from_the_origin_keep_their_digits(rng):
    X = rng.normal(size=(50, 3)) * 1e-3
    _, near = nearest_neighbors(X, 5)
    _, far = nearest_neighbors(X + 1e6, 5)
    np.testing.assert_allclose(far, near, rtol=1e-5)


def test_copies_are_neighbors_at_zero(rng):
    X = rng.normal(size=(20, 3))
    X[7] = X[3]
    indices, distances = nearest_neighbors(X, 2)
    assert indices[3, 0] == 7
    assert indices[7, 0] == 3
    assert distances[3, 0] == distances[7, 0] == 0


def test_pairwise_distances_are_symmetric_to_the_bit(rng):
    squared = pairwise_squared_distances(rng.normal(size=(100, 50)))
    np.testing.assert_array_equal(squared, squared.T)
    assert not np.diag(squared).any()


@pytest.mark.parametrize("k", [0, 20])
def test_impossible_number_of_neighbors(k, rng):
    with pytest.raises(ParameterError) as error:
        nearest_neighbors(rng.normal(size=(20, 3)), k)
    assert error.value.allowed.endswith("from 1 to 19")
