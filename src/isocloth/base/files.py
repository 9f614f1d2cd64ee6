"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isocloth.base.errors import InputError, MissingFileError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure.

    The temporary name keeps the suffix, because many writers choose their format by it. A previous file
    at `path` is left untouched until the new one is complete.
    """
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise MissingFileError(
            f"cannot write {str(path)!r}: the folder {str(target.parent)!r} does not exist; create it first"
        )
    if target.exists() and not target.is_file():
        # A rename would replace a device or fail late on a folder.
        raise InputError(f"cannot write {str(path)!r}: it exists and is not a regular file; give another name")
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex[:12]}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
