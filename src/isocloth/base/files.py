"""Files that can be read to their end, and writing so that a reader never meets half of one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isocloth.base.errors import FileError, InputError, InputTypeError, MissingFileError


def as_path(path: object, what: str) -> Path:
    """A path from a text or a pathlib.Path; `what` names in the message what it leads to, "mesh file", say."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise InputTypeError(f"{what} is {path!r}: expected a path, a text or a pathlib.Path; give the name of a file")
    text = os.fspath(path)
    if not text or "\0" in text:
        raise InputError(f"{what} {text!r} cannot be a path: expected the name of a file")
    return Path(text)


def existing_file(path: object, what: str, missing: str = "{what} {path} does not exist") -> Path:
    """The path of a file that is there and ends: a device or a pipe may be read for ever.

    missing: how the message about a file that is not there begins.
    """
    found = as_path(path, what)
    try:
        if found.is_file():
            return found
        there, folder = found.exists(), found.is_dir()
    except OSError as error:  # a name that is too long, a folder that must not be entered
        raise FileError(
            f"{what} {str(path)!r} cannot be opened: {error.strerror}; expected a file that can be read, check the path"
        ) from error
    if not there:
        begin = missing.format(what=what, path=repr(str(path)))
        raise MissingFileError(f"{begin}: expected a file; check the name and the folder")
    if folder:
        raise MissingFileError(f"{what} {str(path)!r} is a folder, expected a file; check the path")
    raise FileError(
        f"{what} {str(path)!r} is a device or a pipe, which may never end: expected a regular file; copy its content "
        "to one"
    )


def check_place(path: object) -> Path:
    """Where a file can be written, as an absolute path; to be asked before what is written takes long to compute."""
    target = as_path(path, "the file to write").resolve()
    if not target.parent.is_dir():
        raise MissingFileError(
            f"cannot write {str(path)!r}: the folder {str(target.parent)!r} does not exist; create it first"
        )
    if target.exists() and not target.is_file():
        # A rename would replace a device or fail late on a folder.
        raise InputError(f"cannot write {str(path)!r}: it exists and is not a regular file; give another name")
    return target


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure.

    The temporary name keeps the suffix, because many writers choose their format by it. A previous file
    at `path` is left untouched until the new one is complete.
    """
    target = check_place(path)
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex[:12]}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
