"""The one way kernels are compiled: cached on disk, without the interpreter's lock, the same bits every time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba as nb
from numba.core.caching import IndexDataCacheFile

#: where kernels are
ROOMS = ("obstacles", "terms", "contact", "solver", "simulation", "states", "developable", "reconstruction", "bench")
FILES = ("compiled.py", "tables.py", "problem.py")


def sources() -> list[Path]:
    """All files with kernels."""
    root = Path(__file__).parent
    return sorted([root / name for name in FILES] + [p for room in ROOMS for p in (root / room).glob("*.py")])


def _fingerprint() -> tuple[float, int]:
    """A stamp that changes whenever any source with kernels does."""
    stamps = "".join(f"{p.name}{p.stat().st_mtime_ns}{p.stat().st_size}" for p in sources())
    digest = hashlib.sha256(stamps.encode()).digest()
    return float(int.from_bytes(digest[:6], "big")), int.from_bytes(digest[6:12], "big")


_FINGERPRINT = _fingerprint()


class _CacheFile(IndexDataCacheFile):
    """Numba's cache of one kernel, made safe for upgrades.

    Numba looks only at the file of the kernel itself, but the code of the kernels it calls is inlined: it would go on
    running the old ones without a word. And it stumbles over entries that mention a class which is no more.
    """

    def _load_index(self) -> dict[Any, Any]:
        self._source_stamp = _FINGERPRINT
        try:
            entries: dict[Any, Any] = super()._load_index()
        except Exception:  # whatever is wrong with a cache, the remedy is to compile again
            return {}
        return entries


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A small function that becomes part of the kernels that call it; its sums may be reordered, to vectorise."""
    compiled: Callable[..., Any] = nb.njit(
        forceinline=True, nogil=True, fastmath={"contract", "reassoc"}, error_model="numpy"
    )(function)
    return compiled


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of numbers, arrays and named tuples of them."""
    # No reordering of sums: a kernel exists on its own and inside its callers, optimised apart, and which of the two
    # runs depends on whether this process compiled it or took it from the cache. The bits must not.
    dispatcher = nb.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")(function)
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if type(file) is IndexDataCacheFile:
        file.__class__ = _CacheFile
    compiled: Callable[..., Any] = dispatcher
    return compiled
