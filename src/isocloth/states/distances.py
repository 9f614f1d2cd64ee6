"""Distances of coordinate vectors. Spearman's, one minus the correlation of ranks, is the thesis' (7.9)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, rankdata

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray

Kind = Literal["spearman", "pearson", "kendall", "cosine", "euclidean"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: fewest numbers that two vectors must have in common: with two, a correlation is always 1 or -1
FEWEST = 3

#: numbers closer than this part of the largest one are ties: a flat square has many, and rounding must not rank them
TIE = 1e-9


def distance(x: ArrayLike, y: ArrayLike, kind: Kind = "spearman") -> float:
    """Distance of two vectors of the same length; numbers that are NaN in one of them are left out of both.

    "spearman", "pearson", "kendall", "cosine" : 1 - correlation, from 0 to 2, blind to scale.
    "euclidean" : root of the mean square difference, in the vectors' unit.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"x has shape {a.shape} and y {b.shape}, expected two vectors of the same length")
    return float(distance_matrix(a[None], b[None], kind)[0, 0])


def distance_matrix(x: ArrayLike, y: ArrayLike | None = None, kind: Kind = "spearman") -> FloatArray:
    """Distances (n, m) of all rows of x (n, k) from all rows of y (m, k), or from each other."""
    if kind not in KINDS:
        raise InputError(f"distance {kind!r} is unknown; choose one of {', '.join(KINDS)}")
    a = _rows("x", x)
    b = a if y is None else _rows("y", y)
    if a.shape[1] != b.shape[1]:
        raise InputError(f"rows of x have {a.shape[1]} numbers and rows of y {b.shape[1]}, expected the same")
    if not (np.isnan(a).any() or np.isnan(b).any()):
        return _complete(a, b, kind)
    table = np.empty((len(a), len(b)))
    for i, row in enumerate(a):
        # rows of y that lack the same numbers are compared at once
        common = ~np.isnan(b) & ~np.isnan(row)
        patterns, which = np.unique(common, axis=0, return_inverse=True)
        for k, seen in enumerate(patterns):
            chosen = np.flatnonzero(which.reshape(-1) == k)
            table[i, chosen] = _complete(row[None, seen], b[chosen][:, seen], kind)[0]
    return table


def _rows(name: str, x: ArrayLike) -> FloatArray:
    a = np.asarray(x, dtype=np.float64)
    if a.ndim != 2:
        raise InputError(f"{name} has shape {a.shape}, expected (n, k): one vector per row")
    if np.isinf(a).any():
        raise InputError(f"{name} has infinite numbers; expected finite ones, or NaN for those that are not known")
    return a


def _complete(a: FloatArray, b: FloatArray, kind: Kind) -> FloatArray:
    if a.shape[1] < FEWEST:
        raise InputError(
            f"only {a.shape[1]} numbers are known of both vectors, expected at least {FEWEST}; "
            "for dGLI coordinates that are three visible segments"
        )
    if kind == "euclidean":
        return np.asarray(np.sqrt(np.mean((a[:, None] - b[None]) ** 2, axis=2)))
    if kind == "kendall":
        return np.array([[1.0 - kendalltau(p, q).statistic for q in b] for p in a])
    if kind == "spearman":
        a, b = ranks(a), ranks(b)
    if kind != "cosine":
        a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    la, lb = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    if not (la.all() and lb.all()):
        raise InputError(
            "a vector has all its numbers equal, which correlates with nothing; expected different numbers"
        )
    return np.asarray(1.0 - np.clip((a / la[:, None]) @ (b / lb[:, None]).T, -1.0, 1.0))


def ranks(x: FloatArray) -> FloatArray:
    """Ranks of the numbers in each row (n, k), from 1; ties, exact or to rounding, share their mean rank."""
    order = np.argsort(x, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(x, order, axis=1), axis=1)
    level = np.zeros(x.shape)
    level[:, 1:] = np.cumsum(steps > TIE * np.abs(x).max(axis=1, keepdims=True, initial=0.0), axis=1)
    levels = np.empty(x.shape)
    np.put_along_axis(levels, order, level, axis=1)
    return np.asarray(rankdata(levels, axis=1))
