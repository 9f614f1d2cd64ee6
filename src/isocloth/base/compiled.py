"""The one way kernels are compiled: cached on disk, without the interpreter's lock, the same bits every time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numba as nb
from numba.core.caching import IndexDataCacheFile

PACKAGE = Path(__file__).parents[1]


def sources() -> list[Path]:
    """All files of the package; every one may hold kernels that others inline."""
    return sorted(PACKAGE.rglob("*.py"))


def _digest(paths: Iterable[Path], root: Path) -> bytes:
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.digest()


#: what a source imports from the package: `from isocloth.x import a, b` or `import isocloth.x`
IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+isocloth((?:\.\w+)*)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+isocloth((?:\.\w+)*))",
    re.MULTILINE,
)


@cache
def _imported(source: Path) -> frozenset[Path]:
    """Sources of the package that a source imports itself, wherever in it the import stands."""
    found: set[Path] = set()
    for module, names, plain in IMPORTS.findall(source.read_text(encoding="utf-8")):
        base = PACKAGE.joinpath(*(module or plain).split(".")[1:])
        parts = [part for part in (base / name for name in re.findall(r"\w+", names)) if _file(part).is_file()]
        if base == PACKAGE and not parts:
            found.update(sources())  # which hands out names of any module
        elif base != PACKAGE:
            found.add(_file(base))
        found.update(map(_file, parts))
    return frozenset(path for path in found if path.is_file())


def _file(module: Path) -> Path:
    """The source of a module, or of a folder of them."""
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")


def _closure(source: Path) -> list[Path]:
    """A source with all that it imports, directly or through others."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return sorted(found)


@cache
def _stamp(source: Path) -> tuple[float, int]:
    """A stamp that changes with the content of any source that the kernels in one may call or take a constant from:
    itself, what it imports, and the folder it is in if that is outside the package.

    Content and not modification times: a package that is installed again, or checked out elsewhere, is the same. And
    not of the whole package: an edit compiles anew what may depend on it, and nothing else.
    """
    if source.is_relative_to(PACKAGE):
        digest = _digest(_closure(source), PACKAGE)
    else:
        digest = _digest(sources(), PACKAGE) + _digest(sorted(source.parent.glob("*.py")), source.parent)
        digest = hashlib.sha256(digest).digest()
    return float(int.from_bytes(digest[:6], "big")), int.from_bytes(digest[6:12], "big")


class _CacheFile(IndexDataCacheFile):
    """Numba's cache of one kernel, made safe for upgrades.

    Numba looks only at the file of the kernel itself, but the code of the kernels it calls is inlined: it would go on
    running the old ones without a word. And it stumbles over entries that mention a class which is no more.
    """

    _source: Path

    def _load_index(self) -> dict[Any, Any]:
        self._source_stamp = _stamp(self._source)
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


def embedded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of a kernel with a name of its own, for readers only: it computes as if it stood where it is called.

    Handing on named tuples of arrays to a function costs a counted reference for each of them, on the way in and out.
    """
    compiled: Callable[..., Any] = nb.njit(forceinline=True, nogil=True, fastmath={"contract"}, error_model="numpy")(
        function
    )
    return compiled


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of numbers, arrays and named tuples of them."""
    # No reordering of sums: a kernel exists on its own and inside its callers, optimised apart, and which of the two
    # runs depends on whether this process compiled it or took it from the cache. The bits must not.
    dispatcher = nb.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")(function)
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if type(file) is IndexDataCacheFile:
        file.__class__ = _CacheFile
        file.__dict__["_source"] = Path(function.__code__.co_filename)
    compiled: Callable[..., Any] = dispatcher
    return compiled
