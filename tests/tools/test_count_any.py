"""Uses of `Any` are counted, and its imports are not."""

from __future__ import annotations

import pytest
from count_any import count_any


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("from typing import Any", 0),
        ("def f(x: Any, *y: Any, z: int) -> Any: ...", 3),
        ("def f(x: dict[str, Any]) -> None: ...", 1),
        ("x: Any = cast(Any, 1)", 2),
        ("import typing\nasync def f(x: typing.Any) -> int: ...", 1),
        ("x = any(Any_ for Any_ in ())", 0),
    ],
)
def test_any_is_counted(source, number):
    assert count_any(source) == number
