"""Nodes on arcs: one set on each, used by the charts on both of its sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.reconstruction.complex import Complex
from isocloth.reconstruction.patches import Patch, Skeleton
from isocloth.typing import FloatArray, IntArray


class Seams(NamedTuple):
    """Nodes on the arcs of a skeleton."""

    places: FloatArray  #: (n, N) positions of the nodes, in m
    on: list[IntArray]  #: nodes of every arc, from its first point on

    @property
    def edges(self) -> IntArray:
        """(k, 2) nodes that follow each other on an arc, smaller first."""
        return np.sort(np.concatenate([np.stack([a[:-1], a[1:]], axis=1) for a in self.on]), axis=1)


def seam_nodes(surface: Complex, skeleton: Skeleton, edge: float, *, even: bool = False) -> Seams:
    """Nodes evenly by arc length on every arc, about `edge` m apart; `even`: segments of each arc are even in number.

    A closed arc has three segments at least; of several arcs between the same two ends all but one have two.
    """
    ends = np.array([[a[0], a[-1]] for a in skeleton.arcs])
    names, numbered = np.unique(ends, return_inverse=True)
    places, on = [surface.points[names]], []
    seen: set[tuple[int, int]] = set()
    count, unit = len(names), 2 if even else 1
    for path, length, (a, b) in zip(skeleton.arcs, skeleton.lengths, numbered.reshape(-1, 2).tolist(), strict=True):
        pair = (min(a, b), max(a, b))
        least = 3 if a == b else 2 if pair in seen else 1
        seen.add(pair)
        segments = unit * max(round(length / (unit * edge)), -(-least // unit))
        inner = along(surface.points[path], np.arange(1, segments) / segments)
        places.append(inner)
        on.append(np.concatenate([[a], count + np.arange(len(inner)), [b]]).astype(np.int64))
        count += len(inner)
    return Seams(np.concatenate(places), on)


def along(path: FloatArray, share: FloatArray) -> FloatArray:
    """Positions (k, N) at shares (k,) of the length of a path (n, N)."""
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return np.stack([np.interp(share * arc[-1], arc, path[:, c]) for c in range(path.shape[1])], axis=1)


def around(skeleton: Skeleton, seams: Seams, patch: Patch) -> tuple[IntArray, FloatArray]:
    """Nodes (k,) around a patch, and how far each is along its boundary, in m."""
    nodes, distance, done = [], [], 0.0
    for arc, forward in patch.sides:
        on = seams.on[arc] if forward else seams.on[arc][::-1]
        nodes.append(on[:-1])
        distance.append(done + skeleton.lengths[arc] * np.arange(len(on) - 1) / (len(on) - 1))
        done += float(skeleton.lengths[arc])
    return np.concatenate(nodes), np.concatenate(distance)
