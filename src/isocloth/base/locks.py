"""Locks on files: whoever writes a file for minutes keeps others from writing it at the same time.

The lock is the operating system's, on a file of its own, so that it ends with its process, however that ends: a lock
that is left behind by a killed process is none. Where the system has no such locks (Windows), files are not locked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isocloth.base.errors import BusyError

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock `<path>.lock` beside a file; BusyError if another run, in this process or another, holds it.

    `what` says in the message what the owner is doing, "writing 'out.h5'", say. The lock file is removed at the end.
    """
    if fcntl is None:  # pragma: no cover
        yield
        return
    lock = path.with_name(path.name + ".lock")
    descriptor = _acquired(lock, what)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            lock.unlink()  # before it is let go: whoever waits for the name finds a new file
        os.close(descriptor)


def _acquired(lock: Path, what: str) -> int:
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise BusyError(
                f"process {owner or 'unknown'} is {what} now (it holds {str(lock)!r}): expected one run at a time; "
                "wait for it, end it, or give another name"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, str(os.getpid()).encode("ascii"))
                return descriptor
        os.close(descriptor)  # its owner has removed it in between: try the new one
