"""Names that users write."""

from __future__ import annotations

import pytest

from dtsne.runtime._names import closest, listed


def test_many_names_are_counted():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcdefgh"), max_names=3) == "'a', 'b', 'c' and 5 more"
    assert listed([]) == ""


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("X_pcs", ["X_umap", "X_pca"], "the closest is 'X_pca'"),
        ("LEIDEN", ["leiden", "louvain"], "the closest is 'leiden'"),
        ("zzz", ["leiden", 7], "there are 'leiden', '7'"),
        ("zzz", [], "there are none"),
    ],
)
def test_the_closest_name_or_all(name, known, expected):
    assert closest(name, known) == expected
