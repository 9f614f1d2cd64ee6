"""The discrete gradient of a height function: which edges the two flows run along, and which stay critical.

Lower ends of edges are joined from the bottom up, which makes trees along which every point flows down to a minimum.
Triangles are joined from the top down across the other edges, which makes trees along which every triangle flows up to
a maximum. An edge in neither kind of tree is critical: a 1-cell. Since

    points - edges + triangles = minima - critical edges + maxima,

whatever the height and however noisy, the cells always have the Euler characteristic of the surface. A minimum
(maximum) that is left after a climb (descent) of less than `detail` is noise: its tree is joined to the next one.

On the boundary the flow stays on the boundary, as in chapter 5: minima of the height along the boundary are 0-cells,
maxima are 1-cells, and a boundary minimum is joined to the rest by a 1-cell that flows down from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.reconstruction.triangulation.complex import Complex

#: roles of edges
FREE, DOWN, UP, CRITICAL = 0, 1, 2, 3


class Gradient(NamedTuple):
    """Roles of edges, and where the flows end."""

    role: IntArray  #: (ne,) DOWN in a tree of points, UP crossed by a tree of triangles, CRITICAL
    parent: IntArray  #: (n,) the next point on the way down; itself at a minimum
    minimum: IntArray  #: (n,) minimum that a point flows to
    upper: IntArray  #: (m,) the next triangle on the way up; itself at a maximum
    maximum: IntArray  #: (m,) triangle that a triangle flows up to
    minima: IntArray  #: points that are 0-cells
    maxima: IntArray  #: triangles that are 2-cells
    critical: IntArray  #: edges that are 1-cells


@kernel
def _find(parent: IntArray, v: int) -> int:
    root = v
    while parent[root] != root:
        root = parent[root]
    while parent[v] != root:
        parent[v], v = root, parent[v]
    return root


@kernel
def _join_boundary(
    order: IntArray, edges: IntArray, rank: IntArray, height: FloatArray, detail: float, tree: IntArray, role: IntArray
) -> None:
    """Join boundary points from the bottom up; maxima that stay are critical edges. `order`: boundary edges, upwards.

    `tree` is a forest of sets whose roots are their lowest points.
    """
    whole = np.arange(len(tree))  # sets that critical edges join as well
    for k in range(len(order)):
        e = order[k]
        a, b = edges[e, 0], edges[e, 1]
        if rank[a] < rank[b]:
            a, b = b, a
        ra, rb = _find(tree, a), _find(tree, b)
        wa, wb = _find(whole, a), _find(whole, b)
        if wa == wb:
            role[e] = CRITICAL  # closes the curve
            continue
        high, low = (ra, rb) if rank[ra] > rank[rb] else (rb, ra)
        if high == a or height[a] - height[high] < detail:
            tree[high] = low
            role[e] = DOWN
        else:
            role[e] = CRITICAL
        if rank[wa] > rank[wb]:
            whole[wa] = wb
        else:
            whole[wb] = wa


@kernel
def _join_points(
    order: IntArray,
    edges: IntArray,
    rank: IntArray,
    height: FloatArray,
    detail: float,
    tree: IntArray,
    fixed: BoolArray,
    role: IntArray,
) -> None:
    """Join points across interior edges from the bottom up. `fixed`: roots that stay, being minima on the boundary."""
    whole = np.arange(len(tree))
    for e in range(len(edges)):
        if role[e] != FREE:
            wa, wb = _find(whole, edges[e, 0]), _find(whole, edges[e, 1])
            whole[wa] = wb
    for k in range(len(order)):
        e = order[k]
        a, b = edges[e, 0], edges[e, 1]
        if rank[a] < rank[b]:
            a, b = b, a
        wa, wb = _find(whole, a), _find(whole, b)
        if wa == wb:
            continue
        whole[wa] = wb
        ra, rb = _find(tree, a), _find(tree, b)
        high, low = (ra, rb) if rank[ra] > rank[rb] else (rb, ra)
        if not fixed[high] and (high == a or height[a] - height[high] < detail):
            tree[high] = low
            role[e] = DOWN
        elif not fixed[low] and height[a] - height[low] < detail:
            tree[low] = high
            role[e] = DOWN
        else:
            role[e] = CRITICAL


@kernel
def _join_triangles(
    order: IntArray,
    edges: IntArray,
    edge_triangles: IntArray,
    top: IntArray,
    rank: IntArray,
    height: FloatArray,
    detail: float,
    role: IntArray,
) -> IntArray:
    """Join triangles across free edges from the top down; what is left free is critical. Returns roots (m,).

    `top`: highest point of every triangle; order: edges, downwards.
    """
    tree = np.arange(len(top))
    whole = np.arange(len(top))
    for k in range(len(order)):
        e = order[k]
        if role[e] != FREE:
            continue
        f, g = edge_triangles[e, 0], edge_triangles[e, 1]
        wf, wg = _find(whole, f), _find(whole, g)
        if wf == wg:
            role[e] = CRITICAL
            continue
        whole[wf] = wg
        a, b = edges[e, 0], edges[e, 1]
        upper = a if rank[a] > rank[b] else b
        rf, rg = _find(tree, f), _find(tree, g)
        low, high = (rf, rg) if rank[top[rf]] < rank[top[rg]] else (rg, rf)
        if top[low] == upper or height[top[low]] - height[upper] < detail:
            tree[low] = high
            role[e] = UP
        else:
            role[e] = CRITICAL
    for f in range(len(tree)):
        _find(tree, f)
        tree[f] = _find(tree, f)
    return tree


@kernel
def _walk(count: int, links: IntArray, roots: IntArray) -> IntArray:
    """Next node on the way to the root of every node, in a forest with edges `links` (l, 2)."""
    first = np.zeros(count + 2, dtype=np.int64)
    for k in range(len(links)):
        first[links[k, 0] + 2] += 1
        first[links[k, 1] + 2] += 1
    for v in range(count + 1):
        first[v + 1] += first[v]
    beside = np.empty(2 * len(links), dtype=np.int64)
    for k in range(len(links)):
        a, b = links[k, 0], links[k, 1]
        beside[first[a + 1]] = b
        first[a + 1] += 1
        beside[first[b + 1]] = a
        first[b + 1] += 1
    following = np.full(count, -1, dtype=np.int64)
    queue = np.empty(count, dtype=np.int64)
    size = 0
    for r in roots:
        following[r] = r
        queue[size] = r
        size += 1
    done = 0
    while done < size:
        v = queue[done]
        done += 1
        for k in range(first[v], first[v + 1]):
            w = beside[k]
            if following[w] < 0:
                following[w] = v
                queue[size] = w
                size += 1
    return following


def ranks(height: FloatArray) -> IntArray:
    """(n,) places of the points in the order of height; equal heights by their index."""
    order = np.lexsort((np.arange(len(height)), height))
    rank = np.empty(len(height), dtype=np.int64)
    rank[order] = np.arange(len(height))
    return rank


def gradient(surface: Complex, height: FloatArray, detail: float) -> Gradient:
    """The discrete gradient of `height` (n,) in m, without features of less than `detail` m."""
    rank = ranks(height)
    edges, n = surface.edges, len(surface.points)
    top_of_edge = np.maximum(rank[edges[:, 0]], rank[edges[:, 1]])
    low_of_edge = np.minimum(rank[edges[:, 0]], rank[edges[:, 1]])
    slope = np.abs(height[edges[:, 0]] - height[edges[:, 1]]) / surface.edge_lengths
    # of the edges down from a point the steepest comes first: it is Down of eq. (5.2)
    upwards = np.lexsort((low_of_edge, -slope, top_of_edge))
    role = np.zeros(len(edges), dtype=np.int64)
    tree = np.arange(n)
    on_boundary = surface.table.counts == 1
    _join_boundary(upwards[on_boundary[upwards]], edges, rank, height, detail, tree, role)
    fixed = surface.on_boundary & (tree == np.arange(n))
    _join_points(upwards[~on_boundary[upwards]], edges, rank, height, detail, tree, fixed, role)
    corners = rank[surface.triangles]
    top = np.take_along_axis(surface.triangles, corners.argmax(axis=1)[:, None], axis=1)[:, 0]
    maximum = _join_triangles(
        np.lexsort((-low_of_edge, -top_of_edge)), edges, surface.edge_triangles, top, rank, height, detail, role
    )
    minima = np.flatnonzero(tree == np.arange(n))
    maxima = np.flatnonzero(maximum == np.arange(len(maximum)))
    parent = _walk(n, edges[role == DOWN], minima)
    upper = _walk(len(maximum), surface.edge_triangles[role == UP], maxima)
    return Gradient(role, parent, _ends(parent), upper, _ends(upper), minima, maxima, np.flatnonzero(role == CRITICAL))


@kernel
def _ends(following: IntArray) -> IntArray:
    """Where the walk along `following` ends, for every node."""
    ends = following.copy()
    for v in range(len(ends)):
        _find(ends, v)
    return ends
