"""Which candidates matter at an iterate of a step, on which side, and how they are linearised.

A step starts at x0, where nothing has crossed, and y is an iterate of its end. If a pair comes very close on the
straight way from x0 to y, or crosses, its closest points and normal are frozen at that moment: still apart, and on the
side where the pair began (section 3.2 of the collision paper, with the moment found by `ccd`). Otherwise a pair that
is near at y is linearised there.

Nodes near a side or a corner of a face meet all the faces around it in the same point, and so do edges that end
there. Of contacts that agree in their closest points, one is kept; and none if the node has another contact, with
less of a gap, on a face around that side or corner. In two layers that lie on each other this leaves six of ten.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.hashing import slot, table_size
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.broad import mean_displacement
from isocloth.contact.ccd import NEVER, TOUCH, advance
from isocloth.contact.distance import (
    EDGE_EDGE,
    NODE_FACE,
    Point,
    Points,
    Weights,
    closest,
    combine,
    dot,
    gather,
    minus,
)
from isocloth.contact.surface import Pairs, Surface

#: share of the separation, times omega, that counts as very close
CLOSE = 0.4

#: share of the distance at the start below which no pair is called close, however near it began
START = 0.9

#: share of the distance at rest that is kept where the mesh is finer than the cloth is thick
REST = 0.9

#: m: pairs as near as that at the start touch, up to rounding, and have no side to stay on
NO_SIDE = 1e-12

#: share of the separation by which one gap must be less than another to stand for it
NEARER = 1e-9

#: edge-edge pairs with closest points this near to an end, relative to the edge, are node-face pairs
END = 1e-9


class Contacts(NamedTuple):
    """Linearised contacts: normal . sum_k weights_k x[nodes_k] >= separation is to hold."""

    nodes: IntArray  #: (c, 4) vertices, first those of side a
    weights: FloatArray  #: (c, 4) signed: sum_k weights_k x[nodes_k] is closest point a - closest point b
    normal: FloatArray  #: (c, 3) unit vector from b to a
    gap: FloatArray  #: (c,) normal . sum_k weights_k y[nodes_k] - separation, in m
    key: IntArray  #: (c,) the pair's identity, the same at every iterate and step
    body: IntArray  #: (c,) 0 between layers of cloth, otherwise the obstacle's
    crossed: BoolArray  #: (c,) whether frozen at a moment before the end


@kernel
def pair_key(kind: int, a: int, b: int) -> int:
    """One number for a pair; a and b are less than 2^31."""
    return (kind << 62) | (a << 31) | b


@kernel
def _separation(kind: int, rest: Points, reach: float) -> float:
    """Distance to be kept by two parts of the cloth, in m: parts closer than that at rest keep a little less."""
    # most layers come from far apart, which their boxes tell at less cost
    far = reach / REST
    for c in range(3):
        low, high = rest[2][c], rest[2][c]
        low, high = min(low, rest[3][c]), max(high, rest[3][c])
        if kind == NODE_FACE:
            low, high = min(low, rest[1][c]), max(high, rest[1][c])
            first, last = rest[0][c], rest[0][c]
        else:
            first, last = min(rest[0][c], rest[1][c]), max(rest[0][c], rest[1][c])
        if first - high > far or low - last > far:
            return reach
    square, _ = closest(kind, rest)
    return min(reach, REST * math.sqrt(square))


@kernel
def _moved(body: IntArray, x0: FloatArray, y: FloatArray) -> FloatArray:
    """Length (V,) of the displacements relative to the mean of the cloth, in m."""
    drift = mean_displacement(body, x0, y)
    moved = np.empty(len(body))
    for v in range(len(body)):
        square = 0.0
        for c in range(3):
            square += (y[v, c] - x0[v, c] - drift[c]) ** 2
        moved[v] = math.sqrt(square)
    return moved


@kernel
def _apart(kind: int, x: Points, n: Point) -> float:
    """By how much the vector n separates the two sides, times its length."""
    h0, h1, h2 = dot(n, minus(x[0], x[3])), dot(n, minus(x[1], x[3])), dot(n, minus(x[2], x[3]))
    if kind == NODE_FACE:
        return h0 - max(h1, h2, 0.0)
    return min(h0, h1) - max(h2, 0.0)


@kernel
def _approach(kind: int, x0: Points, x1: Points, omega: float, kept: float) -> tuple[float, Points]:
    """Time at which a pair comes very close on its way, or 2.0, and the points then."""
    square, _ = closest(kind, x0)
    before = math.sqrt(square)
    if before <= NO_SIDE:
        return NEVER, x0
    least = TOUCH * (min(before, kept) if kept > 0.0 else before)
    return advance(kind, x0, x1, min(max(CLOSE * omega * kept, least), START * before))


@kernel
def _place(kind: int, i: int, j: int, k: int, l: int, w: Weights, vertices: int) -> int:
    """A number for the two corners, or the corner and the side, in which a pair is closest; otherwise -1."""
    on_i, on_j, on_k, on_l = abs(w[0]) > END, abs(w[1]) > END, abs(w[2]) > END, abs(w[3]) > END
    if kind == NODE_FACE:
        if on_j and on_k and on_l:
            return -1
        p, q, r = i, j if on_j else k if on_k else l, l if on_l else k if on_k else j
    else:
        if on_i and on_j and on_k and on_l:
            return -1
        p, q, r = i if on_i else j, k if on_k else l, l if on_l else k
        if on_i and on_j:
            p, q, r = q, i, j
    if q == r:
        p, q, r = min(p, q), max(p, q), vertices
    else:
        q, r = min(q, r), max(q, r)
    return (p * (vertices + 1) + q) * (vertices + 1) + r


@inlined
def _find(table: IntArray, key: int) -> int:
    """Where a key is in a table, or the free place, -1, in which it belongs."""
    at = slot(key, len(table))
    while table[at] != -1 and table[at] != key:
        at = (at + 1) & (len(table) - 1)
    return at


@inlined
def _part(node: int, a: int, b: int, vertices: int) -> int:
    """A number for a node and a side ab, or a corner if a is b."""
    return (node * vertices + min(a, b)) * vertices + max(a, b)


@kernel
def _end(i: int, j: int, k: int, l: int, w: Weights, vertices: int) -> int:
    """A number for node i and the side or corner of the face jkl in which it is closest; -1 inside."""
    on_j, on_k, on_l = abs(w[1]) > END, abs(w[2]) > END, abs(w[3]) > END
    if on_j and on_k and on_l:
        return -1
    return _part(i, j if on_j else k if on_k else l, l if on_l else k if on_k else j, vertices)


@kernel
def _leave_out_farther(numbers: FloatArray, labels: IntArray, count: int, vertices: int) -> int:
    """Mark (body -1) contacts of a node with a side or a corner, if one of the faces around leaves less of a gap.

    Returns how many are marked. Another face, not another place: what is left out always has something in its stead.
    """
    ends = 0
    for c in range(count):
        ends += labels[c, 8] >= 0
    table = np.full(table_size(ends), -1, dtype=np.int64)
    least = np.full(len(table), math.inf)
    for c in range(count):
        if labels[c, 8] >= 0:
            table[_find(table, labels[c, 8])] = labels[c, 8]
    if ends == 0:
        return 0
    for c in range(count):
        if labels[c, 8] == -2:  # no node and face, or frozen on the way
            continue
        for q in range(1, 4):
            for r in range(q, 4):
                at = _find(table, _part(labels[c, 0], labels[c, q], labels[c, r], vertices))
                if table[at] != -1:
                    least[at] = min(least[at], numbers[c, 7])
    marked = 0
    for c in range(count):
        if labels[c, 8] >= 0 and least[_find(table, labels[c, 8])] < numbers[c, 7] - NEARER * numbers[c, 8]:
            labels[c, 5] = -1
            marked += 1
    return marked


@kernel
def _distinct(numbers: FloatArray, labels: IntArray, count: int, vertices: int) -> Contacts:
    """The contacts of the first `count` rows that nothing nearer stands for; of those in a place the most violated."""
    kept = count - _leave_out_farther(numbers, labels, count, vertices)
    size = table_size(count)
    table = np.zeros(size, dtype=np.int64)  # 1 + number of a contact
    for c in range(count):
        place = labels[c, 7]
        if place < 0 or labels[c, 5] < 0:
            continue
        at = slot(place, size)
        while table[at] > 0 and labels[table[at] - 1, 7] != place:
            at = (at + 1) & (size - 1)
        other = table[at] - 1
        worst = c
        if other >= 0:
            # the moment of an approach is known to a hundredth only: within that the key decides, which stays the same
            noise = 1e-2 * max(numbers[c, 8], numbers[other, 8])
            more = numbers[other, 7] - numbers[c, 7]
            if more < -noise or (more <= noise and labels[c, 4] > labels[other, 4]):
                worst = other
            labels[c + other - worst, 5] = -1
            kept -= 1
        table[at] = worst + 1
    nodes, weights = np.empty((kept, 4), dtype=np.int64), np.empty((kept, 4))
    normal, gap = np.empty((kept, 3)), np.empty(kept)
    key, body = np.empty(kept, dtype=np.int64), np.empty(kept, dtype=np.int64)
    crossed = np.empty(kept, dtype=np.bool_)
    new = 0
    for c in range(count):
        if labels[c, 5] >= 0:
            for q in range(4):
                nodes[new, q], weights[new, q] = labels[c, q], numbers[c, q]
            for q in range(3):
                normal[new, q] = numbers[c, 4 + q]
            gap[new], key[new], body[new], crossed[new] = numbers[c, 7], labels[c, 4], labels[c, 5], labels[c, 6] > 0
            new += 1
    return Contacts(nodes, weights, normal, gap, key, body, crossed)


@kernel
def _larger(numbers: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
    """Copies with room for twice as many rows."""
    count = len(numbers)
    more, more_labels = np.empty((2 * count, 9)), np.empty((2 * count, 9), dtype=np.int64)
    for c in range(count):
        for q in range(9):
            more[c, q], more_labels[c, q] = numbers[c, q], labels[c, q]
    return more, more_labels


@kernel
def contacts(
    surface: Surface, pairs: Pairs, x0: FloatArray, y: FloatArray, rest: FloatArray, omega: float, margin: float
) -> Contacts:
    """As `contacts_and_near`, the contacts alone."""
    return contacts_and_near(surface, pairs, x0, y, rest, omega, margin, -1.0)[0]


@kernel
def _chosen(pairs: IntArray, far: BoolArray) -> IntArray:
    """Pairs (p, 2) that are not far."""
    out = np.empty((len(pairs) - far.sum(), 2), dtype=np.int64)
    count = 0
    for q in range(len(pairs)):
        if not far[q]:
            out[count, 0], out[count, 1] = pairs[q, 0], pairs[q, 1]
            count += 1
    return out


@kernel
def contacts_and_near(
    surface: Surface, pairs: Pairs, x0: FloatArray, y: FloatArray, rest: FloatArray, omega: float, margin: float,
    wander: float,
) -> tuple[Contacts, Pairs]:  # fmt: skip
    """Contacts among `pairs` at the iterate y (V, 3) of a step from x0 (V, 3); rest (n, 3) is the cloth at rest.

    Besides, those of the pairs that may become contacts at other iterates, while no coordinate of a vertex is more than
    `wander` (m) from y: of the candidates about half, as boxes meet long before what is in them does. None are told if
    it is negative.

    Pairs that come within 0.4 omega separation (m) on the way from x0 to y are linearised at that moment and always
    violated; others that are within separation + `margin` at y are linearised there. omega is about 0.5, and zero asks
    for crossings only. Edge-edge pairs that are closest at an end are left to the node-face pairs, except against
    sticks, which have no faces. A pair that touches at x0 has no side: it is taken as it lies at y.
    """
    node_face, edge_edge, faces, edges = pairs.node_face, pairs.edge_edge, surface.faces, surface.edges
    owner, reach = surface.body, surface.reach
    vertices = len(surface.body)
    moved = _moved(surface.body, x0, y)
    close = max(CLOSE * omega, TOUCH)
    # vertices go by sqrt(3) wander at most, so does their mean: a distance by twice that, ways of pairs by four times
    nearer = 2.0 * math.sqrt(3.0) * wander
    far = np.zeros(len(node_face) + len(edge_edge), dtype=np.bool_)
    # rows of what is found: weights, normal, gap, separation; and vertices, key, body, crossed, place, part of the face
    numbers, labels = np.empty((1024, 9)), np.empty((1024, 9), dtype=np.int64)
    count = 0
    for row in range(len(node_face) + len(edge_edge)):
        if row < len(node_face):
            kind, a, b = NODE_FACE, node_face[row, 0], node_face[row, 1]
            i, j, k, l = a, faces[b, 0], faces[b, 1], faces[b, 2]
            way = moved[i] + max(moved[j], moved[k], moved[l])
        else:
            other = row - len(node_face)
            kind, a, b = EDGE_EDGE, edge_edge[other, 0], edge_edge[other, 1]
            i, j, k, l = edges[a, 0], edges[a, 1], edges[b, 0], edges[b, 1]
            way = max(moved[i], moved[j]) + max(moved[k], moved[l])
        body = max(owner[i], owner[l])
        separation = reach[body]
        end = gather(y, i, j, k, l)
        square, w = closest(kind, end)
        # the distance changes by no more than the way: most candidates end here
        if square > max(separation + margin, close * separation + 1.01 * way) ** 2:
            longest = close * separation + 1.01 * (way + 2.0 * nearer)
            far[row] = square > (max(separation + margin, longest) + nearer) ** 2
            continue
        length = math.sqrt(square)
        n = combine(w, end)
        start = gather(x0, i, j, k, l)
        crossed = False
        # what parts the pair both at the start and at the end does so all the way, as vertices move linearly
        if min(_apart(kind, start, n), _apart(kind, end, n)) <= close * separation * length:
            if body == 0:
                separation = _separation(kind, gather(rest, i, j, k, l), separation)
            time, now = _approach(kind, start, end, omega, separation)
            crossed = time <= 1.0
            if crossed:
                square, w = closest(kind, now)
                length = math.sqrt(square)
                n = combine(w, now)
        if not crossed:
            if length >= separation + margin or length <= NO_SIDE:
                continue
            if kind == EDGE_EDGE and not surface.bare[body] and min(w[0], w[1], -w[2], -w[3]) <= END:
                continue
            if body == 0:
                separation = _separation(kind, gather(rest, i, j, k, l), separation)
                if length >= separation + margin:
                    continue
        n = (n[0] / length, n[1] / length, n[2] / length)
        if count == len(numbers):
            numbers, labels = _larger(numbers, labels)
        for q in range(4):
            numbers[count, q] = w[q]
        for q in range(3):
            numbers[count, 4 + q] = n[q]
        numbers[count, 7], numbers[count, 8] = dot(n, combine(w, end)) - separation, separation
        labels[count, 0], labels[count, 1], labels[count, 2], labels[count, 3] = i, j, k, l
        labels[count, 4], labels[count, 5], labels[count, 6] = pair_key(kind, a, b), body, int(crossed)
        place = _place(kind, i, j, k, l, w, vertices)
        labels[count, 7] = 2 * place + int(crossed) if place >= 0 else -1
        labels[count, 8] = -2 if crossed or kind != NODE_FACE else _end(i, j, k, l, w, vertices)
        count += 1
    near = Pairs(node_face[:0], edge_edge[:0])
    if wander >= 0.0:
        near = Pairs(_chosen(node_face, far[: len(node_face)]), _chosen(edge_edge, far[len(node_face) :]))
    return _distinct(numbers, labels, count, vertices), near


@kernel
def crossings(surface: Surface, pairs: Pairs, x0: FloatArray, y: FloatArray) -> IntArray:
    """Keys (c,) of the pairs that cross between x0 and y (V, 3), or come as near as a thousandth of the separation.

    Of the distance at the start, if that is less. Pairs that touch at the start have no side: they are passed over.
    """
    node_face, edge_edge, faces, edges = pairs.node_face, pairs.edge_edge, surface.faces, surface.edges
    owner, reach = surface.body, surface.reach
    moved = _moved(surface.body, x0, y)
    keys = np.empty(len(node_face) + len(edge_edge), dtype=np.int64)
    count = 0
    for row in range(len(keys)):
        if row < len(node_face):
            kind, a, b = NODE_FACE, node_face[row, 0], node_face[row, 1]
            i, j, k, l = a, faces[b, 0], faces[b, 1], faces[b, 2]
            way = moved[i] + max(moved[j], moved[k], moved[l])
        else:
            other = row - len(node_face)
            kind, a, b = EDGE_EDGE, edge_edge[other, 0], edge_edge[other, 1]
            i, j, k, l = edges[a, 0], edges[a, 1], edges[b, 0], edges[b, 1]
            way = max(moved[i], moved[j]) + max(moved[k], moved[l])
        separation = reach[max(owner[i], owner[l])]
        end = gather(y, i, j, k, l)
        square, _ = closest(kind, end)
        if square > (TOUCH * separation + 1.01 * way) ** 2:
            continue
        time, _ = _approach(kind, gather(x0, i, j, k, l), end, 0.0, separation)
        if time <= 1.0:
            keys[count] = pair_key(kind, a, b)
            count += 1
    return keys[:count]


@kernel
def smallest_distance(surface: Surface, pairs: Pairs, y: FloatArray, rest: FloatArray) -> float:
    """Smallest distance less separation among `pairs` at y (V, 3), in m; infinite if there are none."""
    least, _ = nearest_pair(surface, pairs, y, rest)
    return least


@kernel
def nearest_pair(
    surface: Surface, pairs: Pairs, y: FloatArray, rest: FloatArray
) -> tuple[float, tuple[int, int, int, int]]:
    """The same, and the vertices of the pair that is so near; any without pairs."""
    node_face, edge_edge, faces, edges = pairs.node_face, pairs.edge_edge, surface.faces, surface.edges
    owner, reach = surface.body, surface.reach
    least, who = math.inf, (0, 0, 0, 0)
    for row in range(len(node_face) + len(edge_edge)):
        if row < len(node_face):
            kind, a, b = NODE_FACE, node_face[row, 0], node_face[row, 1]
            i, j, k, l = a, faces[b, 0], faces[b, 1], faces[b, 2]
        else:
            other = row - len(node_face)
            kind, a, b = EDGE_EDGE, edge_edge[other, 0], edge_edge[other, 1]
            i, j, k, l = edges[a, 0], edges[a, 1], edges[b, 0], edges[b, 1]
        body = max(owner[i], owner[l])
        separation = reach[body]
        square, _ = closest(kind, gather(y, i, j, k, l))
        length = math.sqrt(square)
        if length - separation < least:
            if body == 0:
                separation = _separation(kind, gather(rest, i, j, k, l), separation)
            if length - separation < least:
                least, who = length - separation, (i, j, k, l)
    return least, who
