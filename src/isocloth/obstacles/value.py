"""Values: they compare, hash and pickle by their attributes, so that simulations and processes can share them."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np


class Value:
    """Equal to another of its type whose attributes are equal: arrays by content, functions by what they are.

    The attributes that `_transient` names are no part of the value: what was computed or seen on the way. They are
    neither compared nor pickled. Those of `_unhashed` are compared, but kept out of the hash, as they may be assigned.
    """

    _transient: ClassVar[frozenset[str]] = frozenset()
    _unhashed: ClassVar[frozenset[str]] = frozenset()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._transient}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Value) or type(other) is not type(self):
            return NotImplemented
        return same(Value.__getstate__(self), Value.__getstate__(other))

    def __hash__(self) -> int:
        kept = {name: value for name, value in Value.__getstate__(self).items() if name not in self._unhashed}
        return hash((type(self), _hashable(kept)))


def same(a: Any, b: Any) -> bool:
    """Whether two attributes are equal."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        both = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
        return both and a.dtype == b.dtype and np.array_equal(a, b)
    if type(a) is type(b):
        if isinstance(a, tuple | list):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
        if isinstance(a, partial):  # Python compares them by identity
            return same((a.func, a.args, a.keywords), (b.func, b.args, b.keywords))
    return bool(a == b)


def _hashable(value: Any) -> Any:
    """Something with a hash that is the same for equal values."""
    if isinstance(value, np.ndarray):
        return value.shape, (value + 0).tobytes()  # -0.0 and 0.0 are equal, their bytes are not
    if isinstance(value, tuple | list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, partial):
        return _hashable((value.func, value.args, value.keywords))
    try:
        hash(value)
    except TypeError:  # e.g. a callable object that compares but does not hash
        return type(value)
    return value
