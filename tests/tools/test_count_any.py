"""What counts as a bare `Any`."""

from __future__ import annotations

import pytest
from count_any import count_any


@pytest.mark.parametrize(
    ("source", "bare", "names"),
    [
        ("from typing import Any", 0, 0),
        ("def f(x: Any, *y: Any, z: int) -> Any: ...", 3, 3),
        ("def f(x: dict[str, Any]) -> None: ...", 0, 1),
        ("x: Any = cast(Any, 1)", 1, 2),
        ("import typing\nasync def f(x: typing.Any) -> int: ...", 1, 1),
    ],
)
def test_any_is_counted(source, bare, names):
    assert count_any(source) == (bare, names)
