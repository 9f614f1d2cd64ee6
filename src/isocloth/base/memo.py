"""What depends on a rest shape only, kept for the next simulation of it.

Rows, bending matrices, the order of elimination and the layout of the factor take a hundred times longer to make than
to use, and a learning loop makes a simulation of the same mesh in every episode. A function that is `memoised` looks
its arguments up by their content, so that an equal mesh, made anew, finds what was made for the first one.

Results are shared: their arrays become read-only. They are kept in memory up to `ENTRIES` results and `BYTES` bytes,
the one longest unused goes first; `clear()` lets go of all. A process has one memory, its threads share it.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputTypeError

#: results that are kept at the most; a cloth has about ten
ENTRIES = 256
#: bytes that these hold at the most; a cloth of 100 x 100 nodes has 85 MB, one of 17 x 17 has 2 MB
BYTES = 256 * 2**20

P = ParamSpec("P")
R = TypeVar("R")


class Memo:
    """Results by key, of which those last used stay, within bounds."""

    def __init__(self, entries: int = ENTRIES, nbytes: int = BYTES) -> None:
        self.most_entries, self.most_bytes = entries, nbytes
        self.hits = self.misses = self.nbytes = 0
        self._results: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: Any, make: Callable[[], R]) -> R:
        """The result of a key, made if it is not known.

        It is made without the lock, because making it may ask for others; of two threads that make the same one, both
        get that of the first.
        """
        with self._lock:
            if key in self._results:
                self.hits += 1
                self._results.move_to_end(key)
                found: R = self._results[key][0]
                return found
            self.misses += 1
        result = make()
        size = _freeze(result)
        with self._lock:
            if key in self._results:
                found = self._results[key][0]
                return found
            if size <= self.most_bytes:
                self._results[key] = result, size
                self.nbytes += size
            while self.nbytes > self.most_bytes or len(self._results) > self.most_entries:
                _, (_, gone) = self._results.popitem(last=False)
                self.nbytes -= gone
        return result

    def clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._results.clear()
            self.nbytes = 0

    def _after_fork(self) -> None:
        self._lock = Lock()  # the other process may have been holding it


_memo = Memo()
_varied: ContextVar[bool] = ContextVar("varied", default=False)


@contextmanager
def variations() -> Iterator[None]:
    """In here results are made anew and not kept: for many meshes that differ by little, each looked at once.

    What serves only to solve a step, and no value or derivative, may then be left out; see `varied`.
    """
    token = _varied.set(True)
    try:
        yield
    finally:
        _varied.reset(token)


def varied() -> bool:
    """Whether only values are asked for, inside `variations`."""
    return _varied.get()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_memo._after_fork)


def memoised(function: Callable[P, R]) -> Callable[P, R]:
    """A function that remembers its results by the content of its arguments.

    Arguments are numbers, strings, arrays, sparse matrices, tuples and dataclasses of these, and objects that name
    their content by a `digest`. The result must depend on these alone, and alias none of them.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def remember(*args: P.args, **kwargs: P.kwargs) -> R:
        if varied():
            return function(*args, **kwargs)
        key = (name, digest(*args, *(part for item in sorted(kwargs.items()) for part in item)))
        return _memo.get(key, lambda: function(*args, **kwargs))

    return remember


def memory() -> Memo:
    """The memory of this process."""
    return _memo


def clear() -> None:
    """Forget everything that is not in use."""
    _memo.clear()


def digest(*values: Any) -> bytes:
    """A name for the content of values."""
    total = hashlib.sha256()
    for value in values:
        for part in _content(value):
            total.update(part)
    return total.digest()


def _content(value: Any) -> Iterator[Any]:
    """Bytes that differ where values do, told apart by kind and size."""
    if isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape};".encode()
        yield np.ascontiguousarray(value).data if value.size else b""
    elif sp.issparse(value):
        matrix: Any = value
        rows = matrix.tocsr()
        yield from _content((rows.shape, rows.indptr, rows.indices, rows.data))
    elif isinstance(value, tuple):
        yield f"tuple {len(value)};".encode()
        for part in value:
            yield from _content(part)
    elif isinstance(getattr(value, "digest", None), bytes):
        yield b"digest;" + value.digest
    elif is_dataclass(value):
        yield f"{type(value).__name__};".encode()
        for field in fields(value):
            yield from _content(getattr(value, field.name))
    elif value is None or isinstance(value, (bool, int, float, str)):
        yield f"{type(value).__name__} {value!r};".encode()
    else:
        raise InputTypeError(f"{type(value).__name__}: expected numbers, arrays, or something with a digest")


def _freeze(value: Any) -> int:
    """Make the arrays of a result read-only; returns their bytes. What has `nbytes` of its own answers for itself."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
        return value.nbytes
    if sp.issparse(value):
        return sum(_freeze(getattr(value, part)) for part in ("data", "indices", "indptr"))
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if isinstance(value, tuple):
        return sum(_freeze(part) for part in value)
    if is_dataclass(value):
        return sum(_freeze(getattr(value, field.name)) for field in fields(value))
    return 0
