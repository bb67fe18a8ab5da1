"""Names that users write."""

from __future__ import annotations

import pytest

from dtsne.runtime._names import listed, nearest_names


def test_many_names_are_counted():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcdefgh"), max_names=3) == "'a', 'b', 'c' and 5 more"
    assert listed([]) == ""


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("X_pcs", ["X_umap", "X_pca"], "the nearest: 'X_pca', 'X_umap'"),
        ("LEIDEN", ["leiden", "louvain"], "the nearest: 'leiden'"),
        ("zzz", ["leiden", 7], "there are 'leiden', '7'"),
        ("zzz", [], "there are none"),
    ],
)
def test_the_nearest_names_or_all(name, known, expected):
    assert nearest_names(name, known) == expected
