"""Archives of arrays (.npz) from anybody: read whole, or refused with one clear error."""

from __future__ import annotations

import os
import struct
import tokenize
import zipfile
import zlib
from typing import IO, Any

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import existing_file

#: what NumPy, the zip reader and the parser of array headers stumble on in damaged files
DAMAGED = (
    OSError, EOFError, ValueError, TypeError, KeyError, SyntaxError, RuntimeError, MemoryError, tokenize.TokenError,
    struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_archive(file: str | os.PathLike[str] | IO[bytes], what: str) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """All arrays of an .npz file by name; `what` says in messages what it should hold, "a checkpoint", say."""
    source: Any = file
    if not hasattr(file, "read"):
        source = existing_file(file, what)
    try:
        with np.load(source, allow_pickle=False) as archive:
            if isinstance(archive, np.lib.npyio.NpzFile):
                return {name: archive[name] for name in archive.files}
    except PermissionError:
        raise
    except DAMAGED as error:
        raise InputError(
            f"{what} {str(file)!r} is truncated, damaged or no .npz file ({type(error).__name__}: {error}): expected "
            "an archive of arrays; write it again"
        ) from error
    raise InputError(f"{what} {str(file)!r} holds one array: expected an archive of arrays (.npz); write it again")
