"""Atomic writes: a file is complete, or as it was before."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a file to write, which takes its place at the end, and only if nothing went wrong.

    It lies next to the target: only within a file system one file replaces another in one step.
    Permissions are those of the file that was there, or of any new file.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    part = _begun(path, target)
    try:
        yield part
        _to_disk(part, os.O_RDWR)
        with suppress(FileNotFoundError):
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            part.unlink()
    with suppress(OSError):  # not all systems know this of folders
        _to_disk(target.parent, os.O_RDONLY)


def _begun(path: Path, target: Path) -> Path:
    """Make the file that is to take the place of another."""
    part = target.with_name(f".dtsne-{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise _cannot_write(path, error) from error
    return part


def check_output(
    path: str | os.PathLike[str],
    source: str | os.PathLike[str] | None = None,
    *,
    overwrite_source: bool = False,
) -> Path:
    """Raise what writing a file would raise, before the work whose result it is to hold.

    Parameters
    ----------
    path : path-like
        Where to write.
    source : path-like, optional
        The file that was read, which is not overwritten unless `overwrite_source`.
    overwrite_source : bool, default=False
        Allow that.

    Returns
    -------
    Path
        The path.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it to write to.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a file but a pipe or device; name a file to write to.")
    if source is not None and not overwrite_source and _are_same(path, Path(source)):
        raise FileExistsError(
            f"{path} is the file that was read, and is not overwritten; name another."
        )
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: make its folder first ({folder}).")
    for place in (folder, path):
        if place.exists() and not _may_write(place):
            raise PermissionError(f"{path} cannot be written: you may not write to {place}.")
    check_writable(path)
    return path


def check_writable(path: Path) -> None:
    """Make a file next to the target: some folders allow none, whatever their permissions say."""
    _begun(path, Path(os.path.realpath(path))).unlink()


def _may_write(place: Path) -> bool:
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _are_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _cannot_write(path: Path, error: OSError) -> OSError:
    reason = error.strerror or str(error)
    return type(error)(
        f"{path} cannot be written ({reason}); name a file in a folder that exists, can be written "
        "to, and has room."
    )


def _to_disk(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
