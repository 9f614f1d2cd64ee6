"""How well classes are apart: the Davies-Bouldin index; and few members that stand for a class."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.states.representations import Representation

#: distance below which two means are the same, to rounding
SAME = 1e-12


def davies_bouldin(descriptions: FloatArray, labels: ArrayLike, by: Representation) -> float:
    """Davies-Bouldin index of labelled descriptions (n, ...); lower is better (thesis 7.10).

    Mean over classes of the worst (s_i + s_j) / d(c_i, c_j), with c the mean of a class, s the mean distance of its
    members from it. Infinite if two classes have the same mean.
    """
    x, names = np.asarray(descriptions, dtype=np.float64), np.asarray(labels)
    if names.shape != (len(x),):
        raise InputError(f"labels have shape {names.shape}, expected ({len(x)},): one for every description")
    classes = np.unique(names)
    if len(classes) < 2:
        raise InputError(f"the labels name {len(classes)} class, expected at least two to tell apart")
    centres = np.array([by.centroid(x[names == c]) for c in classes])
    spread = np.array([by.distances(x[names == c], centres[k : k + 1]).mean() for k, c in enumerate(classes)])
    apart = by.distances(centres, centres)
    np.fill_diagonal(apart, np.inf)
    if not (apart > SAME).all():
        return float("inf")  # two classes with the same mean cannot be told apart
    ratio = (spread[:, None] + spread[None, :]) / apart
    return float(ratio.max(axis=1).mean())


def representatives(table: ArrayLike, labels: ArrayLike, reach: float) -> IntArray:
    """Members that stand for their classes, in increasing order: everyone is within `reach` of one of its own class.

    table : distances (n, n). The first of a class is its medoid; then the member farthest from all chosen ones is
    added until none is farther than `reach`. A compact class has one, a spread class several.
    """
    d, names = np.asarray(table, dtype=np.float64), np.asarray(labels)
    if d.shape != (len(names), len(names)):
        raise InputError(f"table has shape {d.shape}, expected {(len(names), len(names))}: all distances")
    chosen: list[int] = []
    for c in np.unique(names):
        members = np.flatnonzero(names == c)
        inside = d[np.ix_(members, members)]
        picked = [int(np.argmin(inside.sum(axis=1)))]
        while (nearest := inside[:, picked].min(axis=1)).max() > reach:
            picked.append(int(np.argmax(nearest)))
        chosen += members[picked].tolist()
    return np.array(sorted(chosen), dtype=np.int64)


def leave_one_out(table: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Leave-one-out accuracy of the nearest neighbour: part of the members it labels rightly, for every class, (c,)."""
    d = np.array(table, dtype=np.float64)
    names = np.asarray(labels)
    np.fill_diagonal(d, np.inf)
    right = names[np.argmin(d, axis=1)] == names
    return np.array([right[names == c].mean() for c in np.unique(names)])
