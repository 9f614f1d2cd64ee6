"""The ribbon graph: the net with a cyclic order of the edges at every point, and the faces that follow from it.

Around a point the edges are ordered by their angle in its tangent plane. An edge has the sign -1 if the frames at its
ends turn in opposite senses. A graph with such orders and signs is a closed surface, orientable or not, in any ambient
dimension: walk along an edge, turn into the next one, and so on until a face is closed. Its Euler characteristic is
points - edges + faces; nothing is glued by guesswork.
"""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.triangulation.net import agreement, edge_in_plane


@kernel
def rotations(points: FloatArray, frames: FloatArray, around: IntArray, degree: IntArray) -> None:
    """Sort the neighbours of every point by their angle in its tangent plane, in place."""
    for v in range(len(points)):
        d = degree[v]
        angle = np.empty(d)
        for k in range(d):
            x, y = edge_in_plane(points, frames, v, around[v, k])
            angle[k] = math.atan2(y, x)
        order = np.argsort(angle, kind="mergesort")
        around[v, :d] = around[v, :d][order]


@kernel
def faces(frames: FloatArray, around: IntArray, degree: IntArray) -> tuple[IntArray, IntArray]:
    """Polygons between the edges: their points one after the other, and where each begins (faces + 1,).

    A state of the walk is an edge, a direction along it, and the sense in which faces are followed. Every face is
    walked twice, once in each sense; it is kept the first time.
    """
    n = len(degree)
    first = np.zeros(n + 1, dtype=np.int64)
    for v in range(n):
        first[v + 1] = first[v] + degree[v]
    darts = first[n]
    back = np.empty(darts, dtype=np.int64)  # place of v among the neighbours of w
    flip = np.empty(darts, dtype=np.bool_)
    for v in range(n):
        for k in range(degree[v]):
            w = around[v, k]
            for q in range(degree[w]):
                if around[w, q] == v:
                    back[first[v] + k] = q
            flip[first[v] + k] = agreement(frames, v, w) < 0.0
    seen = np.zeros((darts, 2), dtype=np.bool_)
    nodes = np.empty(2 * darts, dtype=np.int64)
    start = np.empty(2 * darts + 1, dtype=np.int64)
    count, size = 0, 0
    start[0] = 0
    for v0 in range(n):
        for k0 in range(degree[v0]):
            for s0 in range(2):
                if seen[first[v0] + k0, s0]:
                    continue
                v, k, s = v0, k0, s0
                while True:
                    dart = first[v] + k
                    seen[dart, s] = True
                    nodes[size] = v
                    size += 1
                    w = around[v, k]
                    q = back[dart]
                    s_w = 1 - s if flip[dart] else s
                    # the same side of the edge, walked backwards in the other sense
                    seen[first[w] + q, 1 - s_w] = True
                    k = (q + (1 if s_w == 0 else -1)) % degree[w]
                    v, s = w, s_w
                    if v == v0 and k == k0 and s == s0:
                        break
                count += 1
                start[count] = size
    return nodes[:size].copy(), start[: count + 1].copy()


@kernel
def remove_edge(around: IntArray, degree: IntArray, a: int, b: int) -> None:
    """Take the edge a-b out of the net, in place; the order of the others is kept."""
    for side in range(2):
        v, w = (a, b) if side == 0 else (b, a)
        kept = 0
        for k in range(degree[v]):
            if around[v, k] != w:
                around[v, kept] = around[v, k]
                kept += 1
        for k in range(kept, degree[v]):
            around[v, k] = -1
        degree[v] = kept


@kernel
def _remove_dangling_edges(around: IntArray, degree: IntArray) -> int:
    """Remove edges that end in a point with no other edge, until there are none; return how many."""
    removed = 0
    for v0 in range(len(degree)):
        v = v0
        while degree[v] == 1:
            w = around[v, 0]
            remove_edge(around, degree, v, w)
            removed += 1
            v = w
    return removed


@kernel
def _remove_twisted_once(
    points: FloatArray, around: IntArray, degree: IntArray, nodes: IntArray, start: IntArray
) -> int:
    """Remove the longest of the edges that a face has on both of its sides, of every such face; return how many."""
    removed = 0
    n = len(degree)
    for f in range(len(start) - 1):
        size = start[f + 1] - start[f]
        if size < 3:
            continue
        key = np.empty(size, dtype=np.int64)
        for i in range(size):
            a, b = nodes[start[f] + i], nodes[start[f] + (i + 1) % size]
            key[i] = min(a, b) * n + max(a, b)
        key.sort()
        worst, longest = -1, -1.0
        for i in range(size - 1):
            if key[i] == key[i + 1]:
                a, b = key[i] // n, key[i] % n
                squared = 0.0
                for c in range(points.shape[1]):
                    squared += (points[a, c] - points[b, c]) ** 2
                if squared > longest:
                    worst, longest = key[i], squared
        if worst >= 0:
            remove_edge(around, degree, worst // n, worst % n)
            removed += 1
    return removed


def remove_twisted_edges(
    points: FloatArray, frames: FloatArray, around: IntArray, degree: IntArray, rounds: int = 200
) -> tuple[IntArray, IntArray, int]:
    """Faces (nodes, start) after removing, in place, edges that have the same face on both sides; and their number.

    Where the orders of edges at neighbouring points contradict each other, or two edges cross unnoticed, the ribbon
    graph grows a tiny handle: a face that meets itself along an edge. So do threads that hang into a gap. On a surface
    sampled well enough no face does.
    """
    removed = 0
    for _ in range(rounds):
        removed += int(_remove_dangling_edges(around, degree))
        nodes, start = faces(frames, around, degree)
        step = int(_remove_twisted_once(points, around, degree, nodes, start))
        if step == 0:
            break
        removed += step
    return nodes, start, removed
