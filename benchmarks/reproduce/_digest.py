"""Digests: short names of the content of arrays, files and code.

The digest of a module covers all modules of the project that it imports, directly or not, so that
results are computed again after a change of any of them, and only then.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dtsne

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PACKAGES = {"dtsne": Path(dtsne.__file__).parent, "reproduce": Path(__file__).parent}


def digest_of(*arrays: np.ndarray[Any, Any]) -> str:
    """Return a name of the content of arrays."""
    return _hashed((np.ascontiguousarray(array).tobytes() for array in arrays), 24)


def digest_of_file(path: Path) -> str:
    """Return a name of the content of a file."""
    return _hashed([path.read_bytes()], 12)


@cache
def digest_of_code(module: str) -> str:
    """Return a name of the content of a module and of all that it imports."""
    return digest_of_closure(import_closure(module))


def digest_of_closure(files: Mapping[str, Path]) -> str:
    """Return a name of the content of modules."""
    parts = (f"{name}\n".encode() + path.read_bytes() for name, path in sorted(files.items()))
    return _hashed(parts, 12)


def import_closure(module: str, packages: Mapping[str, Path] = PACKAGES) -> dict[str, Path]:
    """Return the files of a module and of all modules of the packages that it imports.

    Imports within functions count, as do strings that name a module, such as "dtsne.data._base" or
    "_base" within the package `dtsne.data`. Imports for type checkers do not. Of a package that is
    loaded only for the sake of a module in it, nothing but the imports at the top level counts.
    """
    files: dict[str, Path] = {}
    seen: set[tuple[str, bool]] = set()
    to_do = [(module, True)]
    while to_do:
        name, is_used = to_do.pop()
        path = _file_of(name, packages)
        if path is None or (name, is_used) in seen:
            continue
        seen.add((name, is_used))
        files[name] = path
        parent = name.rpartition(".")[0]
        to_do.append((parent, False))
        package = name if path.name == "__init__.py" else parent
        for inner, outer in _imported(path.read_bytes(), package, is_used=is_used):
            # `from package import module` uses the module, not the package.
            to_do.append((inner if _file_of(inner, packages) else outer, True))
    return files


@cache
def _imported(source: bytes, package: str, *, is_used: bool) -> list[tuple[str, str]]:
    """Return what a module of a package imports: names, and the modules that these may be in."""
    found = []
    for node in _nodes(ast.parse(source), in_functions=is_used):
        match node:
            case ast.Import(names):
                found += [(alias.name, alias.name) for alias in names]
            case ast.ImportFrom(module, names, level):
                base = resolve_name("." * level + (module or ""), package)
                found += [(f"{base}.{alias.name}", base) for alias in names]
            case ast.Constant(str(text)) if is_used and ("." in text or text.startswith("_")):
                name = f"{package}.{text}" if text.startswith("_") else text
                found.append((name, name))
    return found


def _nodes(node: ast.AST, *, in_functions: bool) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, except those for type checkers."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not in_functions:
        return
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        children = node.orelse
    for child in children:
        yield from _nodes(child, in_functions=in_functions)


def _file_of(module: str, packages: Mapping[str, Path]) -> Path | None:
    """Return the file of a module of the packages, None if there is no such module."""
    top, *parts = module.split(".")
    if top not in packages or not all(part.isidentifier() for part in parts):
        return None
    path = packages[top].joinpath(*parts)
    for file in (path / "__init__.py", path.parent / f"{path.name}.py"):
        if file.is_file():
            return file
    return None


def _hashed(parts: Iterable[bytes], n_digits: int) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:n_digits]
